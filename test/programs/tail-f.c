// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tail -f - print the last lines of a file, and the text appended while another program runs
// RUN: %cosy-cc -O2 -D_GNU_SOURCE %s -o %t
// RUN: %run-all --before 'seq 1 2000 >%t.log' %t 3 %t.log %t.log >%t.out
// RUN: FileCheck %s <%t.out
// CHECK: {{^}}1998
// CHECK-NEXT: 1999
// CHECK-NEXT: 2000
// CHECK-NEXT: appended 1
// CHECK: appended 20
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char buf[4096];

/* Seek to the start of the last lines. */
static int seek_lines(int fd, int lines)
{
	off_t at;
	ssize_t n;

	COSY_START;
	at = lseek(fd, 0, SEEK_END);
	while (at > 0) {
		off_t from = at > (off_t)sizeof(buf) ? at - (off_t)sizeof(buf) : 0;

		n = pread(fd, buf, at - from, from);
		if (n <= 0)
			return -1;
		while (n-- > 0) {
			if (buf[n] == '\n' && lines-- == 0) {
				lseek(fd, from + n + 1, SEEK_SET);
				return 0;
			}
		}
		at = from;
	}
	lseek(fd, 0, SEEK_SET);
	COSY_END;
	return 0;
}

/* Print appended text until a process has ended. */
static int follow(int fd, pid_t writer)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	int ended = 0;
	ssize_t n;

	COSY_START;
	for (;;) {
		while ((n = read(fd, buf, sizeof(buf))) > 0)
			if (write(STDOUT_FILENO, buf, n) != n)
				return 1;
		if (n < 0 && errno != EINTR)
			return 1;
		if (ended)
			break;
		if (waitpid(writer, NULL, WNOHANG) == writer)
			ended = 1;
		else
			nanosleep(&pause, NULL);
	}
	COSY_END;
	return 0;
}

static void append(const char *name)
{
	int fd = open(name, O_WRONLY | O_APPEND);
	struct timespec pause = { .tv_nsec = 3000000 };

	for (int i = 1; i <= 20; i++) {
		dprintf(fd, "appended %d\n", i);
		nanosleep(&pause, NULL);
	}
	_exit(0);
}

int main(int argc, char *argv[])
{
	pid_t writer;
	int fd;

	if (argc != 4)
		return 2;
	fd = open(argv[2], O_RDONLY);
	if (fd < 0 || seek_lines(fd, atoi(argv[1])) < 0) {
		perror(argv[2]);
		return 1;
	}
	writer = fork();
	if (!writer)
		append(argv[3]);
	return follow(fd, writer);
}
