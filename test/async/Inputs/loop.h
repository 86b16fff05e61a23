/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loop.h - common code of the tests of operations.
 */
#ifndef LOOP_H
#define LOOP_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cosy/async.h>

#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__,       \
				__LINE__, #condition);                         \
			_exit(1);                                              \
		}                                                              \
	} while (0)

/* Compare values, and print them if they differ. */
#define EQUAL(value, expected)                                                 \
	do {                                                                   \
		long long is = (long long)(value), want = (expected);          \
									       \
		if (is != want) {                                              \
			fprintf(stderr, "%s:%d: %s is %lld, should be %lld\n", \
				__FILE__, __LINE__, #value, is, want);         \
			_exit(1);                                              \
		}                                                              \
	} while (0)

static inline struct cosy_loop *make_loop(void)
{
	struct cosy_loop *loop;

	EQUAL(cosy_loop_create(&loop, NULL), 0);
	return loop;
}

/* Execute submitted operations, without waiting; none must complete. */
static inline void execute(struct cosy_loop *loop)
{
	EQUAL(cosy_wait(loop, 0, NULL), 0);
}

static inline int64_t result_of(struct cosy_loop *loop, struct cosy_async *op)
{
	EQUAL(cosy_wait_for(loop, op, NULL), 0);
	return op->result;
}

static inline uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Return true if a thread of this process sleeps. */
static inline bool sleeps(pid_t thread)
{
	char path[64], line[256] = "";
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	n = read(fd, line, sizeof(line) - 1);
	CHECK(n > 0);
	close(fd);
	return strstr(line, ") S ") != NULL;
}

#endif /* LOOP_H */
