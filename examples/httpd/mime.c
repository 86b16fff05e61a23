// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * mime.c - a hash table of extensions.
 */
#include "mime.h"

#include <errno.h>
#include <error.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BUCKETS 1024
#define TYPE_MAX 100 /* Bytes of a type; a header has a fixed size. */

/* An entry and its two strings are one allocation: "html\0text/html". */
struct entry {
	struct entry *next;
	const char *type;
	char extension[];
};

static struct entry *table[BUCKETS];

static unsigned int hash(const char *extension)
{
	uint32_t value = 0;

	for (; *extension; extension++)
		value = value * 31 + ((unsigned char)*extension | 0x20);
	return value % BUCKETS;
}

static bool add(struct entry **entries, const char *extension, const char *type)
{
	struct entry **bucket = &entries[hash(extension)];
	size_t size = strlen(extension) + 1;
	struct entry *entry = malloc(sizeof(*entry) + size + strlen(type) + 1);

	if (!entry)
		return false;
	entry->type = strcpy(entry->extension + size, type);
	strcpy(entry->extension, extension);
	entry->next = *bucket;
	*bucket = entry;
	return true;
}

static void free_all(struct entry **entries)
{
	struct entry *entry, *next;

	for (int i = 0; i < BUCKETS; i++) {
		for (entry = entries[i]; entry; entry = next) {
			next = entry->next;
			free(entry);
		}
	}
}

/* A line is "TYPE EXTENSION...". */
static bool add_line(struct entry **entries, char *line)
{
	static const char blank[] = " \t\r\n";
	char *rest, *type, *extension;

	line[strcspn(line, "#")] = 0;
	type = strtok_r(line, blank, &rest);
	while (type && strlen(type) <= TYPE_MAX && (extension = strtok_r(NULL, blank, &rest)))
		if (!add(entries, extension, type))
			return false;
	return true;
}

bool mime_load(const char *file)
{
	struct entry *entries[BUCKETS] = { NULL };
	FILE *stream = fopen(file, "re");
	char *line = NULL;
	size_t size = 0;
	bool ok = stream;

	while (ok && getline(&line, &size, stream) >= 0)
		ok = add_line(entries, line);
	ok = ok && !ferror(stream);
	if (ok) {
		free_all(table);
		memcpy(table, entries, sizeof(table));
	} else {
		error(0, errno, "cannot read %s (--types names another file)", file);
		free_all(entries);
	}
	free(line);
	if (stream)
		fclose(stream);
	return ok;
}

const char *mime_type(const char *name)
{
	const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash : name, '.');

	if (dot) {
		for (struct entry *entry = table[hash(dot + 1)]; entry; entry = entry->next)
			if (!strcasecmp(entry->extension, dot + 1))
				return entry->type;
	}
	return "application/octet-stream";
}
