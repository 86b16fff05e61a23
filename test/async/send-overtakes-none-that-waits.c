/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A send does not overtake one that waits for room in its socket, also if it has no operation, and if there is room
 * again, and the one that waits was not made yet.
 */
// RUN: %compile
// RUN: %everywhere
#include "descriptors.h"

#define PART 1000

static char first[PART], second[PART];
/* What fills a socket can be told from the parts, also if it comes late. */
static const char zeros[4096];

/* Take all that a stream has. Return the bytes. */
static size_t drain(int fd, char *taken, size_t size)
{
	size_t at = 0;
	ssize_t n;

	while ((n = recv(fd, taken + at, size - at, MSG_DONTWAIT)) > 0)
		at += (size_t)n;
	return at;
}

/* @quiet: the second one has no operation. */
static void order_of_sends(void (*open_both)(int fds[2]), bool quiet)
{
	static char taken[LARGE];
	struct timespec little = { .tv_nsec = 1000000 };
	struct cosy_async idle = { 0 }, a = { 0 }, b = { 0 };
	int fds[2], other[2];
	char byte;
	size_t n;

	open_both(fds);
	open_both(other);
	/* Something else waits, too, so that the thread keeps the ring. */
	EQUAL(cosy_async_recv(loop, &idle, other[0], &byte, 1, 0), 0);
	execute(loop);
	set_nonblock(fds[0], true);
	while (send(fds[0], zeros, sizeof(zeros), MSG_DONTWAIT) > 0)
		;
	while (send(fds[0], zeros, 1, MSG_DONTWAIT) > 0)
		;
	set_nonblock(fds[0], false);
	EQUAL(cosy_async_send(loop, &a, fds[0], first, PART, MSG_NOSIGNAL), 0);
	EQUAL(cosy_wait(loop, 1, &little), 0);
	CHECK(cosy_async_pending(&a));
	/* There is room, and no thread has waited for the loop since. */
	do {
		n = drain(fds[1], taken, LARGE);
	} while (!n);
	EQUAL(cosy_async_send(loop, quiet ? NULL : &b, fds[0], second, PART, MSG_NOSIGNAL), 0);
	while (cosy_async_pending(&a) || cosy_async_pending(&b))
		CHECK(cosy_wait(loop, 1, NULL) >= 0);
	EQUAL(a.result, PART);
	EQUAL(b.result, quiet ? 0 : PART);
	execute(loop);
	for (n = 0; n < 2 * PART;) {
		size_t more = drain(fds[1], taken + n, LARGE - n);

		for (size_t i = n; i < n + more; i++) {
			/* The rest of what filled the socket. */
			if (!taken[i]) {
				memmove(taken + i, taken + i + 1, n + more - i - 1);
				more--;
				i--;
			}
		}
		n += more;
		if (!more)
			CHECK(cosy_wait(loop, 0, NULL) >= 0);
	}
	EQUAL(n, 2 * PART);
	EQUAL(memcmp(taken, first, PART), 0);
	EQUAL(memcmp(taken + PART, second, PART), 0);
	EQUAL(cosy_cancel(loop, &idle), 0);
	EQUAL(result_of(loop, &idle), -ECANCELED);
	end(fds[0]);
	end(fds[1]);
	end(other[0]);
	end(other[1]);
}

static void stream_pair(int fds[2])
{
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
}

int main(void)
{
	memset(first, 'a', sizeof(first));
	memset(second, 'b', sizeof(second));
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	for (int quiet = 0; quiet < 2; quiet++) {
		order_of_sends(stream_pair, quiet);
		order_of_sends(tcp_pair, quiet);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	puts("passed");
	return 0;
}
