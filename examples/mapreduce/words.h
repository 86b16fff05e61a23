// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * words.h - the words of a text: what is done for one chunk of it, and for one part of the words.
 *
 * The text is divided into chunks. words_map() lists the words of a chunk, and divides them into parts
 * by their hash. words_reduce() merges a part of all chunks, and sorts it. words_print() merges the
 * parts. Functions for different chunks, or for different parts, may run at the same time.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "memory.h"

/* Numbers of lines, in order; @next continues them. */
struct lines {
	struct lines *next;
	uint32_t count;
	uint32_t line[13];
};

/* A word, in lower case, of a chunk or of a part. @next: in the same part, or the same bucket. */
struct word {
	struct word *next;
	const char *text;
	uint32_t length;
	uint32_t hash;
	uint64_t count;
	struct lines *first;
	struct lines *last;
};

/* A piece of the text; @before: number of newlines before it. */
struct chunk {
	const char *start;
	size_t size;
	uint32_t newlines;
	uint32_t before;
	struct memory memory;
	struct word **parts;
};

/* Words with certain hashes, of all chunks, sorted. */
struct part {
	struct memory memory;
	struct word **words;
	size_t count;
	size_t printed;
};

struct job {
	const char *text;
	size_t size;
	struct chunk *chunks;
	size_t nchunks;
	struct part *parts;
	size_t nparts;
	int lists_lines;
};

/** words_divide() - divide the text of @job into chunks of about @size bytes, between words */
void words_divide(struct job *job, size_t size, size_t nparts, struct source *source);

/** words_map() - list the words of a chunk */
void words_map(const struct job *job, struct chunk *chunk);

/** words_number() - after all chunks were mapped: count the lines before each */
void words_number(struct job *job);

/** words_reduce() - merge a part of the words of all chunks */
void words_reduce(const struct job *job, struct part *part);

/** words_print() - print all words in their order: with their number, or with each of their lines */
void words_print(struct job *job, FILE *out);

/** words_free() - free the memory of all chunks and parts */
void words_free(struct job *job);

#endif /* WORDS_H */
