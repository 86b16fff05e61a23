/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * functions.h - common code of the tests of COSY_ASYNC functions.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <linux/seccomp.h>

#include <cosy/task.h>

#include "filter.h"
#include "loop.h"

static struct cosy_loop *loop;

static inline void open_pair(int fds[2])
{
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
}

/* Close a descriptor; the loop must remove its state of it. */
static inline void close_fd(int fd)
{
	cosy_cancel_fd(loop, fd);
	EQUAL(close(fd), 0);
}

/* Let all functions run until they wait. */
static inline void settle(void)
{
	struct timespec time = { .tv_nsec = 1000000 };
	int idle = 0;

	while (idle < 3) {
		int n = cosy_wait(loop, 0, NULL);

		CHECK(n >= 0);
		idle = n ? 0 : idle + 1;
		nanosleep(&time, NULL);
	}
}

/* Receive @size bytes while the loop executes what sends them. */
static inline void receive_from_loop(int fd, char *in, size_t size)
{
	size_t received = 0;

	while (received < size) {
		ssize_t n = recv(fd, in + received, size - received, MSG_DONTWAIT);

		received += n > 0 ? (size_t)n : 0;
		CHECK(cosy_wait(loop, 0, NULL) >= 0);
	}
}

/* Return true if parts of functions always run as compounds. COSY_EXECUTOR=auto measures what is faster. */
static inline bool runs_compounds(void)
{
	const char *executor = getenv("COSY_EXECUTOR");
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	return info.kernel && executor && !strcmp(executor, "kernel");
}

/* The number of attempts of the loop if compounds run, whose calls are none; otherwise 0. */
static inline uint64_t attempts(void)
{
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	return runs_compounds() ? info.attempts : 0;
}

/* Run a function to its end. */
#define RESULT(...) \
	({ \
		struct cosy_async op_ = { 0 }; \
		EQUAL(COSY_SPAWN(loop, __VA_ARGS__, .op = &op_), 0); \
		result_of(loop, &op_); \
	})

/* Close the descriptors of the loops in the module. Return: their number. */
static inline int close_loops(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int closed = 0;

	CHECK(dir);
	while ((entry = readdir(dir))) {
		if (!descriptor_is(atoi(entry->d_name), "anon_inode:[cosy-loop]"))
			continue;
		EQUAL(close(atoi(entry->d_name)), 0);
		closed++;
	}
	closedir(dir);
	return closed;
}

/* Install a filter that forbids entering the module. @flags: SECCOMP_FILTER_FLAG_TSYNC, or 0 */
static inline void forbid_lseek(unsigned int flags)
{
	forbid(SYS_lseek, EPERM, flags);
}

#endif /* FUNCTIONS_H */
