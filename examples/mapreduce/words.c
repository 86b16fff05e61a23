// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * words.c - the words of a text.
 */
#include "words.h"
#include "../common/allocated.h"

#include <ctype.h>
#include <error.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1 << 14, PART_BUCKETS = 1 << 15, MAX_WORD = 1 << 16 };

static int is_letter(char c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}

void words_divide(struct job *job, size_t size, size_t nparts, struct source *source)
{
	const size_t most = job->size / size + 1;
	size_t at = 0;

	job->chunks = allocated(calloc(most, sizeof(*job->chunks)), 1);
	job->parts = allocated(calloc(nparts, sizeof(*job->parts)), 1);
	job->nparts = nparts;
	for (size_t i = 0; i < nparts; i++)
		job->parts[i].memory.source = source;
	while (at < job->size) {
		struct chunk *chunk = &job->chunks[job->nchunks++];
		size_t end = job->size - at > size ? at + size : job->size;

		while (end < job->size && is_letter(job->text[end]))
			end++;
		chunk->start = job->text + at;
		chunk->size = end - at;
		chunk->memory.source = source;
		chunk->parts = allocated(calloc(nparts, sizeof(*chunk->parts)), 1);
		at = end;
	}
}

/* Append a number to the lines of a word, unless it is the last one already. */
static void add_line(struct memory *memory, struct word *word, uint32_t line)
{
	struct lines *last = word->last;

	if (last && last->line[last->count - 1] == line)
		return;
	if (!last || last->count == sizeof(last->line) / sizeof(*last->line)) {
		struct lines *more = memory_allocate(memory, sizeof(*more));

		more->next = NULL;
		more->count = 0;
		if (last)
			last->next = more;
		else
			word->first = more;
		word->last = last = more;
	}
	last->line[last->count++] = line;
}

/* Look up a word in a table, or add it with no lines and a count of 0. @text is in lower case. */
static struct word *look_up(struct memory *memory, struct word **bucket, const char *text,
			    uint32_t length, uint32_t hash, int *is_new)
{
	struct word *word;

	for (word = *bucket; word; word = word->next) {
		if (word->hash == hash && word->length == length &&
		    !memcmp(word->text, text, length)) {
			*is_new = 0;
			return word;
		}
	}
	word = memory_allocate(memory, sizeof(*word));
	*word = (struct word){ .next = *bucket, .length = length, .hash = hash };
	*bucket = word;
	*is_new = 1;
	return word;
}

static struct word **new_table(struct memory *memory, size_t buckets)
{
	struct word **table = memory_allocate(memory, buckets * sizeof(*table));

	return memset(table, 0, buckets * sizeof(*table));
}

static void map_word(const struct job *job, struct chunk *chunk, struct word **table,
		     const char *text, uint32_t length, uint32_t hash)
{
	struct word *word;
	int is_new;

	word = look_up(&chunk->memory, &table[hash % BUCKETS], text, length, hash, &is_new);
	if (is_new)
		word->text = memcpy(memory_allocate(&chunk->memory, length), text, length);
	word->count++;
	if (job->lists_lines)
		add_line(&chunk->memory, word, chunk->newlines);
}

/* Divide the words by their hashes. */
static void partition(const struct job *job, struct chunk *chunk, struct word **table)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		struct word *word, *next;

		for (word = table[i]; word; word = next) {
			struct word **part = &chunk->parts[(word->hash >> 16) % job->nparts];

			next = word->next;
			word->next = *part;
			*part = word;
		}
	}
}

void words_map(const struct job *job, struct chunk *chunk)
{
	struct word **table = new_table(&chunk->memory, BUCKETS);
	const char *p = chunk->start, *end = p + chunk->size;
	char *lower = allocated(malloc(MAX_WORD), 1);
	uint32_t length = 0, hash = 2166136261u;

	for (; p < end; p++) {
		if (is_letter(*p)) {
			if (length == MAX_WORD)
				error(1, 0, "a word is longer than %d letters", MAX_WORD);
			lower[length++] = (char)(*p | 32);
			hash = (hash ^ (uint32_t)(*p | 32)) * 16777619u;
			continue;
		}
		if (length)
			map_word(job, chunk, table, lower, length, hash);
		length = 0;
		hash = 2166136261u;
		chunk->newlines += *p == '\n';
	}
	if (length)
		map_word(job, chunk, table, lower, length, hash);
	free(lower);
	partition(job, chunk, table);
}

void words_number(struct job *job)
{
	uint32_t before = 1;

	for (size_t i = 0; i < job->nchunks; i++) {
		job->chunks[i].before = before;
		before += job->chunks[i].newlines;
	}
}

static int compare(const void *a, const void *b)
{
	const struct word *x = *(struct word *const *)a, *y = *(struct word *const *)b;
	const size_t length = x->length < y->length ? x->length : y->length;
	int order = memcmp(x->text, y->text, length);

	return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* Add a word of a chunk to the same word of a part. */
static void merge(struct part *part, struct word *word, const struct chunk *chunk,
		  const struct word *more)
{
	word->count += more->count;
	for (const struct lines *l = more->first; l; l = l->next) {
		for (uint32_t i = 0; i < l->count; i++)
			add_line(&part->memory, word, chunk->before + l->line[i]);
	}
}

void words_reduce(const struct job *job, struct part *part)
{
	struct word **table = new_table(&part->memory, PART_BUCKETS);
	const size_t index = (size_t)(part - job->parts);
	size_t count = 0;

	for (size_t i = 0; i < job->nchunks; i++) {
		const struct chunk *chunk = &job->chunks[i];

		for (const struct word *w = chunk->parts[index]; w; w = w->next) {
			struct word *word;
			int is_new;

			word = look_up(&part->memory, &table[w->hash % PART_BUCKETS], w->text,
				       w->length, w->hash, &is_new);
			/* The chunk keeps the text. */
			word->text = w->text;
			count += (size_t)is_new;
			merge(part, word, chunk, w);
		}
	}
	part->words = allocated(malloc((count + 1) * sizeof(*part->words)), 1);
	for (size_t i = 0; i < PART_BUCKETS; i++) {
		for (struct word *word = table[i]; word; word = word->next)
			part->words[part->count++] = word;
	}
	qsort(part->words, part->count, sizeof(*part->words), compare);
}

/* Return the part whose next word comes first, or NULL. */
static struct part *first_part(struct job *job)
{
	struct part *first = NULL;

	for (size_t i = 0; i < job->nparts; i++) {
		struct part *part = &job->parts[i];

		if (part->printed < part->count &&
		    (!first || compare(&part->words[part->printed],
				       &first->words[first->printed]) < 0))
			first = part;
	}
	return first;
}

void words_print(struct job *job, FILE *out)
{
	struct part *part;

	while ((part = first_part(job))) {
		const struct word *word = part->words[part->printed++];

		if (!job->lists_lines) {
			fprintf(out, "%lu %.*s\n", word->count, (int)word->length, word->text);
			continue;
		}
		for (const struct lines *l = word->first; l; l = l->next) {
			for (uint32_t i = 0; i < l->count; i++)
				fprintf(out, "%.*s %u\n", (int)word->length, word->text,
					l->line[i]);
		}
	}
}

void words_free(struct job *job)
{
	for (size_t i = 0; i < job->nchunks; i++) {
		memory_free(&job->chunks[i].memory);
		free(job->chunks[i].parts);
	}
	for (size_t i = 0; i < job->nparts; i++) {
		memory_free(&job->parts[i].memory);
		free(job->parts[i].words);
	}
	free(job->chunks);
	free(job->parts);
}
