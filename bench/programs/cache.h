/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cache.h - a small cache: what a server does with a request.
 *
 *	SET key value	-> OK, or FULL
 *	GET key		-> VALUE value, or NONE
 *
 * A request and an answer are one line. The functions are in a header, so that the plugin sees them
 * as those of a server that is one file. They use no memory but that of a struct cache, so that they
 * may also be part of a COSY_FUNCTION.
 */
#ifndef CACHE_H
#define CACHE_H

#include <string.h>

#define CACHE_LINE    64 /* Bytes of a line, with its end. */
#define CACHE_BUCKETS 1024
#define CACHE_ITEMS   1024

struct cache_item {
	struct cache_item *next;
	char key[CACHE_LINE], value[CACHE_LINE];
};

/* struct cache - a cache; all 0 at first. @used: number of @items that are in use */
struct cache {
	struct cache_item *buckets[CACHE_BUCKETS];
	unsigned int used;
	struct cache_item items[CACHE_ITEMS];
};

/* Return the place of the item @key, which is NULL if there is none. */
static struct cache_item **cache_find(struct cache *cache, const char *key)
{
	unsigned int hash = 5381;
	struct cache_item **item;

	for (const char *c = key; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	item = &cache->buckets[hash % CACHE_BUCKETS];
	while (*item && strcmp((*item)->key, key))
		item = &(*item)->next;
	return item;
}

static size_t cache_set(struct cache *cache, const char *key, const char *value, char *answer)
{
	struct cache_item **item = cache_find(cache, key);

	if (!*item && cache->used == CACHE_ITEMS) {
		memcpy(answer, "FULL\n", 5);
		return 5;
	}
	if (!*item) {
		*item = &cache->items[cache->used++];
		strcpy((*item)->key, key);
	}
	strcpy((*item)->value, value);
	memcpy(answer, "OK\n", 3);
	return 3;
}

static size_t cache_get(struct cache *cache, const char *key, char *answer)
{
	const struct cache_item *item = *cache_find(cache, key);
	size_t size;

	if (!item) {
		memcpy(answer, "NONE\n", 5);
		return 5;
	}
	size = strlen(item->value);
	memcpy(answer, "VALUE ", 6);
	memcpy(answer + 6, item->value, size);
	answer[6 + size] = '\n';
	return size + 7;
}

/* Return the next word of a line, and end it with 0. Sets @line to what follows. */
static char *cache_word(char **line)
{
	char *word = *line;
	size_t size = strcspn(word, " ");

	*line = word + size + (word[size] != 0);
	word[size] = 0;
	return word;
}

/*
 * Answer the request at the beginning of @in, which has @size bytes.
 *
 * Return: the size of the answer in @answer, of 2 * CACHE_LINE bytes; 0 if the request is incomplete.
 */
static size_t cache_answer(struct cache *cache, char *in, size_t size, char *answer)
{
	char *end = memchr(in, '\n', size), *key;
	const char *command;

	if (!end)
		return 0;
	*end = 0;
	command = cache_word(&in);
	key = cache_word(&in);
	if (!strcmp(command, "GET"))
		return cache_get(cache, key, answer);
	if (!strcmp(command, "SET"))
		return cache_set(cache, key, in, answer);
	memcpy(answer, "ERROR\n", 6);
	return 6;
}

#endif /* CACHE_H */
