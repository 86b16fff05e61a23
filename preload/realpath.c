// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * realpath.c - realpath() and its variants, by one call of the module.
 *
 * glibc makes a readlink() for each component of the name, inside itself. Most names are already
 * what realpath() returns: they are absolute, and nothing on their path is a link. The module
 * finds this out with one walk (COSY_CALL_REALPATH). For all other names, and for all errors, the
 * next library's function is called.
 */
#include <linux/errno.h>

#include "next.h"
#include "watched.h"
#include "wrapper.h"

#define EXPORTED __attribute__((visibility("default")))

/* realpath() writes up to this many bytes. */
#define PATH_MAX	4096
/* The module takes names that are shorter. */
#define MAX_NAME	256
/*
 * After so many names in a row that the module cannot look up, as on NFS and 9p, it is only asked for
 * one of RETRY names, because each question costs an entry.
 */
#define MAX_MISSES	8
#define RETRY		32u

static unsigned int misses;	/* names since the last one that the module has looked up */

/* Return the length of @path if its text is canonical, otherwise 0. */
static size_t canonical_length(const char *path)
{
	size_t i = 0, component = 0;

	if (!path || path[0] != '/')
		return 0;
	while (path[i++] && i < MAX_NAME) {
		if (path[i] && path[i] != '/') {
			component++;
			continue;
		}
		/* Empty components, "." and "..". */
		if (!component || (path[i - 1] == '.' &&
				   (component == 1 || (component == 2 && path[i - 2] == '.'))))
			return 0;
		if (!path[i])
			return i;
		component = 0;
	}
	return 0;
}

/* Return the next library's function, which is called now. */
static void *next_of(enum cosy_function function)
{
	void *next = __atomic_load_n(&cosy_nexts[function], __ATOMIC_RELAXED);

	/* glibc makes calls itself. */
	if (cosy_counts_libc)
		cosy_before_libc();
	return next ? next : cosy_resolve(function);
}

/*
 * Return glibc's strdup(), which allocates the results that glibc's realpath() allocates. Return NULL
 * if there is none, or before glibc 2.33, in which realpath() leaves another value in errno.
 */
static void *duplicator(void)
{
	static void *found;
	void *strdup = __atomic_load_n(&found, __ATOMIC_RELAXED);

	if (!strdup && cosy_preload_next("fstatat")) {
		strdup = cosy_preload_next("strdup");
		__atomic_store_n(&found, strdup, __ATOMIC_RELAXED);
	}
	return strdup;
}

/* Count a name. Return true if the module is asked for it. */
static bool may_ask(void)
{
	unsigned int before = __atomic_fetch_add(&misses, 1, __ATOMIC_RELAXED);

	return before < MAX_MISSES || before % RETRY == 0;
}

/* Set @result to what @function returns for @path. Return false if the next one has to be called. */
static bool resolve(enum cosy_function function, const char *path, char *to, char **result)
{
	size_t length = canonical_length(path);
	char *(*duplicate)(const char *name);
	struct cosy_call call;
	long ret;

	if (!length || !may_enter(function, false, NULL) || !may_ask())
		return false;
	duplicate = duplicator();
	if (!duplicate)
		return false;
	call.nr = COSY_CALL_REALPATH;
	call.status = 0;
	SET(call, path, 0, 0);
	if (!make(function, &call, &ret) || ret)
		return false;
	__atomic_store_n(&misses, 0, __ATOMIC_RELAXED);
	/* What the last readlink() leaves. */
	cosy_failed(-EINVAL);
	*result = to ? to : duplicate(path);
	for (size_t i = 0; to && i <= length; i++)
		to[i] = path[i];
	return true;
}

EXPORTED char *realpath(const char *path, char *to)
{
	char *(*next)(const char *, char *), *result;

	if (resolve(COSY_FN_realpath, path, to, &result))
		return result;
	next = (char *(*)(const char *, char *))next_of(COSY_FN_realpath);
	return next(path, to);
}

EXPORTED char *__realpath_chk(const char *path, char *to, size_t room)
{
	char *(*next)(const char *, char *, size_t), *result;

	/* glibc ends the program if the buffer is too small. */
	if (room >= PATH_MAX && resolve(COSY_FN___realpath_chk, path, to, &result))
		return result;
	next = (char *(*)(const char *, char *, size_t))next_of(COSY_FN___realpath_chk);
	return next(path, to, room);
}

EXPORTED char *canonicalize_file_name(const char *path)
{
	char *(*next)(const char *), *result;

	if (resolve(COSY_FN_canonicalize_file_name, path, NULL, &result))
		return result;
	next = (char *(*)(const char *))next_of(COSY_FN_canonicalize_file_name);
	return next(path);
}
