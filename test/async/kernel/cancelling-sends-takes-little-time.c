// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The time of a COSY_RING_CANCEL_SEND hardly depends on the number of sends that wait. Otherwise a page full
 * of them would keep a thread in the kernel for hours.
 */

// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/ring.h"

#include <sys/resource.h>
#include <time.h>

/* For each, several sends wait: the module lets only some of them wait for one file. */
#define SOCKETS	64
#define CANCELS	4096

/* Return the CPU time of this process. */
static uint64_t cpu_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Let @n sends wait for each socket. Return the time of CANCELS for other operations. */
static uint64_t time_of_cancels(unsigned int n)
{
	int sv[SOCKETS][2], fd = -1;
	struct ring ring = { 0 };
	uint64_t op = 0, began;

	if (ring_create(&ring, 2 * CANCELS))
		die("ring");
	for (int i = 0; i < SOCKETS; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv[i]))
			die("socketpair");
		while (send(sv[i][0], "x", 1, MSG_DONTWAIT) == 1)
			;
		for (unsigned int j = 0; j < n; j++) {
			fd = dup(sv[i][0]);
			if (fd < 0)
				die("dup");
			ring_call(&ring, ++op, SYS_sendto, (unsigned int)fd, (uintptr_t)"x", 1, 0);
		}
	}
	check(ring_execute(&ring) == 0 && ring.page->sending == n * SOCKETS, "%u sends wait",
	      n * SOCKETS);
	for (int i = 0; i < CANCELS; i++)
		ring_call(&ring, 0, COSY_RING_CANCEL_SEND, 0, ++op, 0, 0);
	began = cpu_time();
	check(ring_command(&ring, COSY_ASYNC_CANCEL_FD | (unsigned int)fd + 1) == (long long)COSY_ASYNC_ENTERED,
	      "no call is given back");
	began = cpu_time() - began;
	ring_destroy(&ring);
	for (int i = 0; i < SOCKETS; i++) {
		close(sv[i][0]);
		close(sv[i][1]);
	}
	close_range((unsigned int)device + 1, ~0u, 0);
	return began;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int main(void)
{
	const struct rlimit limit = { 8192, 8192 };
	uint64_t few = UINT64_MAX, many = UINT64_MAX;

	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit");
	device = open_device();
	time_of_cancels(1);
	/* On a busy host, the VM counts the time in which it does not run, too. */
	for (int i = 0; i < 5; i++) {
		few = lesser(few, time_of_cancels(1));
		many = lesser(many, time_of_cancels(32));
	}
	printf("%llu us with 64 sends, %llu us with 2048\n", (unsigned long long)few / 1000,
	       (unsigned long long)many / 1000);
	/* A walk over all of them takes 32 times as long. */
	check(many < 8 * few, "with 32 times as many sends, it takes less than 8 times as long");
	return finish();
}
