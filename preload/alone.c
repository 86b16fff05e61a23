// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * alone.c - decides which processes make all calls natively.
 *
 * These are processes with COSY_EXECUTOR=native, processes whose program is named in
 * COSY_RUN_EXCEPT (names separated by colons) or in COSY_EXCEPT_FILE (one name per line), and
 * processes that have gained privileges by exec.
 *
 * The environment is read when the library is loaded. Later, another thread may change it, or
 * it may contain pointers to memory that the program has unmapped. getenv() is not called,
 * because the program may define it.
 *
 * A wrapper may be called on a small stack, such as an alternate signal stack. So no large
 * variable is on the stack.
 */
#define _GNU_SOURCE
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "device/sys.h"
#include "state.h"

#define COSY_EXCEPT_FILE	"/etc/cosy/run-except"

/* The number of bytes of it that are read. */
#define MAX_EXCEPT	4096

/* Bits of @environment. */
#define ENVIRONMENT_READ	1
#define ENVIRONMENT_ALONE	2
#define ENVIRONMENT_FIRST_CALL	4
#define ENVIRONMENT_DEBUG	8
#define ENVIRONMENT_NO_LIBC	16

static uint8_t environment;
static const char *name;	/* of the program; set when the environment is read */

static bool equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* Set @value if @variable is NAME=VALUE with this name. The first one counts. */
static void take(const char **value, const char *variable, const char *prefix)
{
	while (*prefix && *variable == *prefix) {
		variable++;
		prefix++;
	}
	if (!*prefix && !*value)
		*value = variable;
}

/* Return the program's name as it was passed to exec(), without its directories. */
static const char *program(void)
{
	const char *path = (const char *)getauxval(AT_EXECFN);
	const char *last = path;

	for (; path && *path; path++) {
		if (*path == '/')
			last = path + 1;
	}
	return last;
}

/**
 * struct search - the search for a name in a list that is read in parts
 * @name:  the name
 * @at:    number of bytes of the current element that are equal to those of @name
 * @other: the current element is another name
 * @found: an element was equal to @name
 */
struct search {
	const char *name;
	size_t at;
	bool other;
	bool found;
};

/* Continue a search with the next @size bytes of the list. */
static void search_part(struct search *search, const char *part, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (part[i] == ':' || part[i] == '\n') {
			search->found |= !search->other && search->at &&
					 !search->name[search->at];
			search->at = 0;
			search->other = false;
		} else if (!search->other && part[i] &&
			   search->name[search->at] == part[i]) {
			search->at++;
		} else {
			search->other = true;
		}
	}
}

static bool search_ends(struct search *search)
{
	search_part(search, "\n", 1);
	return search->found;
}

static bool is_listed(const char *list, const char *element)
{
	struct search search = { .name = element };
	size_t size = 0;

	while (list[size])
		size++;
	search_part(&search, list, size);
	return search_ends(&search);
}

/* Reads only the first MAX_EXCEPT bytes. */
bool cosy_is_in_except_file(void)
{
	struct search search = { .name = name };
	char part[128];
	long fd, size;

	fd = cosy_sys(__NR_openat, AT_FDCWD, (long)COSY_EXCEPT_FILE,
		      O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	for (size_t i = 0; i < MAX_EXCEPT; i += sizeof(part)) {
		size = cosy_sys(__NR_read, fd, (long)part, sizeof(part));
		if (size <= 0)
			break;
		search_part(&search, part, (size_t)size);
	}
	cosy_sys(__NR_close, fd, 0, 0);
	return search_ends(&search);
}

__attribute__((constructor(101))) static void read_environment(void)
{
	const char *executor = NULL, *except = NULL, *debug = NULL, *libc = NULL;
	uint8_t found = ENVIRONMENT_READ;

	for (char **at = __environ; at && *at; at++) {
		take(&executor, *at, "COSY_EXECUTOR=");
		take(&except, *at, "COSY_RUN_EXCEPT=");
		take(&debug, *at, "COSY_DEBUG=");
		take(&libc, *at, "COSY_RUN_LIBC=");
	}
	name = program();
	if (getauxval(AT_SECURE) || !name ||
	    (executor && equal(executor, "native")) ||
	    (except && is_listed(except, name)))
		found |= ENVIRONMENT_ALONE;
	else if (executor && equal(executor, "kernel"))
		found |= ENVIRONMENT_FIRST_CALL;
	if (debug && *debug && !equal(debug, "0"))
		found |= ENVIRONMENT_DEBUG;
	if (libc && equal(libc, "0"))
		found |= ENVIRONMENT_NO_LIBC;
	environment = found;
}

/*
 * Return true if Valgrind runs the process. Valgrind recognises these rotations, which change nothing, and
 * answers the request 0x1001. Its header, which defines the same, is not installed everywhere.
 */
static bool is_on_valgrind(void)
{
	const uint64_t request[6] = { 0x1001 };
	uint64_t answer = 0;

	__asm__ volatile("rolq $3, %%rdi\n\t"
			 "rolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi\n\t"
			 "rolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(request), "m"(request)
			 : "cc");
	return answer;
}

bool cosy_always_native(void)
{
	/* Valgrind does not know what the module writes, and would report it as uninitialised. */
	return environment & ENVIRONMENT_ALONE || is_on_valgrind();
}

bool cosy_is_loaded(void)
{
	return environment;
}

bool cosy_prints_messages(void)
{
	return environment & ENVIRONMENT_DEBUG;
}

bool cosy_opens_at_first_call(void)
{
	return environment & ENVIRONMENT_FIRST_CALL;
}

bool cosy_leaves_libc(void)
{
	return environment & ENVIRONMENT_NO_LIBC;
}
