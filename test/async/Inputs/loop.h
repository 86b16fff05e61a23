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
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cosy/async.h>

#include "../../Inputs/asleep.h"
#include "../../Inputs/check.h"

#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif

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

/*
 * Return true if a pipe or FIFO, without data, can be read without waiting: pipes since Linux 6.5. On
 * others, an operation waits for an event before a thread makes its call.
 */
static inline bool has_nowait(int fd)
{
	char byte;
	struct iovec iov = { &byte, 1 };

	return preadv2(fd, &iov, 1, -1, RWF_NOWAIT) < 0 && errno == EAGAIN;
}

/* Open both ends of a FIFO without a name, which is a pipe that lacks RWF_NOWAIT on every kernel. */
static inline void open_fifo(int fds[2])
{
	char name[64];

	snprintf(name, sizeof(name), "/tmp/async-fifo-%d", getpid());
	EQUAL(mkfifo(name, 0600), 0);
	fds[0] = open(name, O_RDONLY | O_NONBLOCK);
	fds[1] = open(name, O_WRONLY);
	CHECK(fds[0] >= 0 && fds[1] >= 0);
	EQUAL(fcntl(fds[0], F_SETFL, 0), 0);
	EQUAL(unlink(name), 0);
}

/* Return true if a descriptor refers to a file of that name. */
static inline bool descriptor_is(int fd, const char *file)
{
	char path[64], name[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, name, sizeof(name) - 1);
	name[n > 0 ? n : 0] = 0;
	return !strcmp(name, file);
}

/* Close the descriptors, below @end, by which loops enter the module, if there are any. */
static inline void lose_module(int end)
{
	for (int fd = 3; fd < end; fd++)
		if (descriptor_is(fd, "anon_inode:[cosy-loop]"))
			EQUAL(close(fd), 0);
}

#endif /* LOOP_H */
