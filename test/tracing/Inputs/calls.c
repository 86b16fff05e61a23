/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * calls.c - a region that repeats some calls until it is told to stop, or N
 * times.
 *
 *	calls [N]	without N until standard input ends
 */
#include <cosy.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static __attribute__((noinline)) long region(int fd, long round)
{
	long sum = 0;
	int i;

	COSY_START;
	for (i = 0; i < 5; i++) {
		sum += lseek(fd, round + i, SEEK_SET);
		if (sum < 0)
			perror("lseek");
		sum += dup(-1);
	}
	COSY_END;
	return sum;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : -1, sum = 0, i;
	struct pollfd input = { .fd = 0, .events = POLLIN };
	int fd = fileno(tmpfile());

	for (i = 0; i != rounds; i++) {
		sum += region(fd, i);
		if (rounds < 0 && poll(&input, 1, 1))
			break;
	}
	printf("%s\n", sum == i * (i - 1) / 2 * 5 + i * 5 || rounds < 0 ? "right" : "wrong");
	return 0;
}
