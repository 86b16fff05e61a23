/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * access.c - what the program accesses, for the check of COSY_BATCH.
 */
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "device/export.h"
#include "check/check.h"

/* Objects have addresses in the kernel's half, where no memory of a program is. */
#define OBJECT(kind, value)	\
	(1ULL << 63 | (uint64_t)(kind) << 56 | ((value) & ((1ULL << 56) - 1)))
enum { NAME = COSY_BATCH_STREAM + 1, DIRECTORY };

/* What readdir() has returned last: it is overwritten by the next call. */
static _Thread_local COSY_TLS struct entry {
	const void *dir;
	const struct dirent *entry;
	size_t size;
} last_entry;

/*
 * Memory
 */

static void record_memory(const void *p, size_t size, enum cosy_stamp_kind kind,
			  const char *site)
{
	struct cosy_batch_access a = {
		.address = (uintptr_t)p,
		.size = size,
		.kind = kind,
		.site = site,
	};

	cosy_batch_record(&a);
}

COSY_EXPORT void cosy_batch_read(const void *p, size_t size, const char *site)
{
	if (!cosy_batch_is_idle())
		record_memory(p, size, COSY_STAMP_READ, site);
}

COSY_EXPORT void cosy_batch_write(const void *p, size_t size, const char *site)
{
	if (!cosy_batch_is_idle())
		record_memory(p, size, COSY_STAMP_WRITE, site);
}

COSY_EXPORT void cosy_batch_update(const void *p, size_t size, const char *site)
{
	if (!cosy_batch_is_idle())
		record_memory(p, size, COSY_STAMP_UPDATE, site);
}

COSY_EXPORT void cosy_batch_result(const void *p, size_t size, int64_t result,
				   int written, int counts, const char *site)
{
	if (result < 0 || !p)
		return;
	/* Calls that read memory and do not return its size have read it all. */
	if (counts && (uint64_t)result < size && (written || result))
		size = result;
	if (written)
		cosy_batch_write(p, size, site);
	else
		cosy_batch_read(p, size, site);
}

COSY_EXPORT void cosy_batch_read_string(const char *s, size_t size, const char *site)
{
	size_t length;

	if (cosy_batch_is_idle() || !s)
		return;
	length = strnlen(s, size);
	cosy_batch_read(s, length < size ? length + 1 : size, site);
}

COSY_EXPORT void cosy_batch_write_string(const char *s, size_t size, const char *site)
{
	size_t length;

	if (cosy_batch_is_idle() || !s || !size)
		return;
	length = strnlen(s, size);
	cosy_batch_write(s, length < size ? length + 1 : size, site);
}

COSY_EXPORT void cosy_batch_free(void *p, const char *site)
{
	struct cosy_batch_access a = {
		.address = (uintptr_t)p,
		.kind = COSY_STAMP_WRITE,
		.site = site,
		.verb = "frees",
	};

	if (cosy_batch_is_idle() || !p)
		return;
	a.size = malloc_usable_size(p);
	cosy_batch_record(&a);
}

COSY_EXPORT void cosy_batch_new(const void *p, size_t size)
{
	if (!cosy_batch_is_idle() && p)
		cosy_batch_forget((uintptr_t)p, size < SIZE_MAX ? size : strlen(p) + 1);
}

COSY_EXPORT void cosy_batch_entry(const void *dir, const struct dirent *entry,
				  const char *site)
{
	if (cosy_batch_is_idle())
		return;
	if (last_entry.entry && last_entry.dir == dir && last_entry.entry != entry)
		cosy_batch_write(last_entry.entry, last_entry.size, site);
	last_entry = (struct entry){ dir, entry, entry ? entry->d_reclen : 0 };
}

/*
 * Objects
 */

static enum cosy_stamp_kind change_kind(int change)
{
	return change ? COSY_STAMP_WRITE : COSY_STAMP_READ;
}

static void record_object(uint64_t address, enum cosy_stamp_kind kind, const char *verb,
			  const char *object, const char *site)
{
	struct cosy_batch_access a = {
		.address = address,
		.size = 1,
		.kind = kind,
		.site = site,
		.verb = verb,
		.object = object,
	};

	cosy_batch_record(&a);
}

static void record_descriptor(int fd, enum cosy_stamp_kind kind, const char *verb,
			      const char *site)
{
	char text[40];

	snprintf(text, sizeof(text), "file descriptor %d", fd);
	record_object(OBJECT(COSY_BATCH_DESCRIPTOR, (unsigned int)fd), kind, verb, text, site);
}

COSY_EXPORT void cosy_batch_object(unsigned int object, uint64_t value, int change,
				   const char *site)
{
	if (cosy_batch_is_idle())
		return;
	if (object == COSY_BATCH_DESCRIPTOR)
		record_descriptor((int)value, change_kind(change), change ? "changes" : "uses",
				  site);
	else
		record_object(OBJECT(object, value ? value : (uintptr_t)stdout),
			      change_kind(change), "uses", "the stream", site);
}

COSY_EXPORT void cosy_batch_close(int fd, const char *site)
{
	if (!cosy_batch_is_idle())
		record_descriptor(fd, COSY_STAMP_WRITE, "closes", site);
}

COSY_EXPORT void cosy_batch_open(int fd)
{
	if (!cosy_batch_is_idle() && fd >= 0)
		cosy_batch_forget(OBJECT(COSY_BATCH_DESCRIPTOR, (unsigned int)fd), 1);
}

/* FNV-1a; two names with the same value would be taken for one. */
static uint64_t hash_name(uint64_t hash, const char *name)
{
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3ULL;
	return hash;
}

COSY_EXPORT void cosy_batch_path(int dirfd, const char *path, int change,
				 const char *site)
{
	uint64_t hash = 0xcbf29ce484222325ULL;
	char text[160];

	if (cosy_batch_is_idle() || !path)
		return;
	cosy_batch_read_string(path, SIZE_MAX, site);
	if (*path != '/') {
		hash ^= (unsigned int)dirfd;
		if (dirfd == AT_FDCWD)
			record_object(OBJECT(DIRECTORY, 0), COSY_STAMP_READ, "uses",
				      "the working directory", site);
		else
			record_descriptor(dirfd, COSY_STAMP_READ, "uses", site);
	}
	snprintf(text, sizeof(text), "the file \"%s\"", path);
	record_object(OBJECT(NAME, hash_name(hash, path)), change_kind(change),
		      change ? "changes" : "looks up", text, site);
}

COSY_EXPORT void cosy_batch_chdir(const char *site)
{
	if (!cosy_batch_is_idle())
		record_object(OBJECT(DIRECTORY, 0), COSY_STAMP_WRITE, "changes",
			      "the working directory", site);
}
