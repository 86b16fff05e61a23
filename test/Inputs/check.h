/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * check.h - checks of tests in C. The first one that fails ends the process with status 1, and says
 * what was expected and what came.
 */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((noreturn, format(printf, 3, 4), unused))
static void check_failed(const char *file, int line, const char *fmt, ...)
{
	const int error = errno;
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "%s:%d: expected ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "; errno: %s\n", strerror(error));
	_exit(1);
}

/* Check a condition that compares nothing, such as a pointer or a function that tests something. */
#define CHECK(condition) \
	((condition) ? (void)0 : check_failed(__FILE__, __LINE__, "%s", #condition))

/* Check that two numbers are equal. */
#define EQUAL(value, expected)                                                 \
	do {                                                                   \
		const long long is_ = (long long)(value);                      \
		const long long want_ = (long long)(expected);                 \
									       \
		if (is_ != want_)                                              \
			check_failed(__FILE__, __LINE__, "%s == %lld; it is %lld", \
				     #value, want_, is_);                      \
	} while (0)

/* Check that two strings are equal. */
#define EQUAL_TEXT(value, expected)                                            \
	do {                                                                   \
		const char *is_ = (value), *want_ = (expected);                \
									       \
		if (strcmp(is_, want_))                                        \
			check_failed(__FILE__, __LINE__, "%s to be \"%s\"; it is \"%s\"", \
				     #value, want_, is_);                      \
	} while (0)

__attribute__((unused))
static void check_bytes(const char *file, int line, const char *what, const void *value,
			const void *expected, size_t size)
{
	const unsigned char *is = (const unsigned char *)value;
	const unsigned char *want = (const unsigned char *)expected;

	for (size_t i = 0; i < size; i++)
		if (is[i] != want[i])
			check_failed(file, line, "%s[%zu] == %#x; it is %#x", what, i, want[i], is[i]);
}

/* Check that two arrays of @size bytes are equal. */
#define EQUAL_BYTES(value, expected, size) \
	check_bytes(__FILE__, __LINE__, #value, value, expected, size)

#endif /* TEST_CHECK_H */
