/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * asleep.h - tell whether another thread or process sleeps: for tests that do something while a call
 * waits. The kernel says so, which needs no time limit.
 */
#ifndef COSY_TEST_ASLEEP_H
#define COSY_TEST_ASLEEP_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Read a file of a thread in /proc; the text is empty if the thread has ended. */
static inline void read_of_thread(pid_t thread, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", thread, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, size - 1);
	text[n < 0 ? 0 : n] = 0;
	if (fd >= 0)
		close(fd);
}

static inline bool is_asleep(pid_t thread)
{
	char text[256];
	const char *state;

	read_of_thread(thread, "stat", text, sizeof(text));
	state = strrchr(text, ')');
	return state && state[2] == 'S';
}

/* Return true if a thread sleeps in the module, which is entered by lseek(). */
static inline bool is_asleep_in_module(pid_t thread)
{
	char text[256];

	read_of_thread(thread, "syscall", text, sizeof(text));
	return strchr(text, ' ') && atoi(text) == SYS_lseek && is_asleep(thread);
}

/* Return when it does. */
static inline void wait_until_asleep_in_module(pid_t thread)
{
	while (!is_asleep_in_module(thread))
		usleep(1000);
}

#endif /* COSY_TEST_ASLEEP_H */
