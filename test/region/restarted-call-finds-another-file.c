// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A handler with SA_RESTART interrupts a call of a region, and another file has the number of
 * libcosy's descriptor when the kernel restarts the entry. What that file returns is not the
 * call's result: the call continues, as natively.
 */
// RUN: %cosy-cc -O2 %s -o %t
// RUN: %run-all --vm %t | %FileCheck %s
#include <cosy.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "../Inputs/descriptors.h"

static const char *file;
static int in[2], number;

/* The thread waits in its read(). */
static void handler(int sig)
{
	struct rlimit limit, all;
	int other;

	(void)sig;
	if (number >= 0) {
		other = open(file, O_RDONLY);
		/* The number is the highest of the process, above the soft limit. */
		if (other < 0 || getrlimit(RLIMIT_NOFILE, &limit))
			abort();
		all = (struct rlimit){ limit.rlim_max, limit.rlim_max };
		if (setrlimit(RLIMIT_NOFILE, &all) || dup2(other, number) != number ||
		    setrlimit(RLIMIT_NOFILE, &limit))
			abort();
		close(other);
	}
	if (write(in[1], "12345", 5) != 5)
		abort();
}

int main(void)
{
	/* lseek() returns 0, EINVAL or ENXIO. */
	static const char *const files[] = { "/dev/null", "/dev/random", "/proc/self", "/etc/passwd" };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	char buffer[16];

	if (pipe(in))
		abort();
	sigaction(SIGALRM, &action, NULL);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const struct itimerval soon = { .it_value.tv_usec = 100000 };
		int fd = in[0];
		ssize_t n, total = 0;

		/* Now there is a descriptor. */
		COSY_START;
		for (int j = 0; j < 8; j++)
			total += getppid() < 0;
		COSY_END;
		number = device();
		file = files[i];
		setitimer(ITIMER_REAL, &soon, NULL);
		COSY_START;
		n = read(fd, buffer, sizeof(buffer));
		for (int j = 0; n > 0 && j < 8; j++)
			total += n + (getppid() < 0);
		COSY_END;
		// CHECK: /dev/null: 5 40{{$}}
		// CHECK: /dev/random: 5 40{{$}}
		// CHECK: /proc/self: 5 40{{$}}
		// CHECK: /etc/passwd: 5 40{{$}}
		printf("%s: %zd %zd\n", file, n, total);
		if (n < 0)
			return 1;
	}
	return 0;
}
