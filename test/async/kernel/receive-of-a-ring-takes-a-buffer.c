// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Receives of a ring that take one of its buffers (COSY_RING_RECEIVE), without libcosy; and pages with
 * wrong numbers, addresses and sizes.
 * attacks-on-a-ring-fail.c changes these while the module reads them.
 */

// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/ring.h"

#include <sys/wait.h>

#include "../../kernel/filter.h"

#define SIZE 16
#define N 64

static struct ring ring;
static char memory[N][SIZE];
static int sv[2];

static uint32_t *numbers(void)
{
	return (void *)((char *)ring.page + ring.page->buffers);
}

/* Let the ring have buffers @first to @first + @n - 1; it takes the last one first. */
static void provide(uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		numbers()[i] = first + i;
	ring.page->nbuffers = n;
	ring.page->buffer_start = (uintptr_t)memory;
	ring.page->buffer_size = SIZE;
}

static void receive(uint64_t op, int fd)
{
	ring.receives[ring.receives_tail++ % ring.loop.n] = (struct cosy_ring_entry){
		.nr = COSY_RING_RECEIVE, .op = op, .args = { (unsigned int)fd },
	};
	__atomic_store_n(&ring.page->receives_tail, ring.receives_tail, __ATOMIC_RELEASE);
}

static bool waits(unsigned int n)
{
	return ring_execute(&ring) == 0 && !ring.page->ngiven && ring.page->waiting == n;
}

/* Return true if an operation completes with @text in a buffer. */
static bool receives(uint64_t op, uint32_t number, const char *text)
{
	size_t length = strlen(text);

	return ring_completes(&ring, op, (long long)number << COSY_RING_BUFFER_SHIFT | (long long)length) &&
	       !memcmp(memory[number], text, length);
}

static void usual(void)
{
	unsigned int waited = 0, right = 0;

	provide(3, 2);
	receive(1, sv[0]);
	check(waits(1) && ring.page->nbuffers == 2,
	      "a receive without data waits, and takes no buffer");
	send(sv[1], "one", 3, 0);
	check(receives(1, 4, "one") && ring.page->nbuffers == 1,
	      "after an event it takes the last buffer");
	send(sv[1], "two", 3, 0);
	receive(2, sv[0]);
	check(receives(2, 3, "two") && !ring.page->nbuffers,
	      "a receive with data takes a buffer at once");
	receive(3, sv[0]);
	check(waits(1), "without a buffer it waits for something to receive");
	send(sv[1], "three", 5, 0);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 3, COSY_RING_RECEIVE, COSY_RING_WAITED) &&
	      ring.page->given[0].args[0] == (uint64_t)sv[0],
	      "with data and without a buffer it is given back");
	receive(4, sv[0]);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 4, COSY_RING_RECEIVE, 0),
	      "a receive with data and without a buffer is given back at once");
	provide(9, 1);
	receive(5, sv[0]);
	check(receives(5, 9, "three"), "with a buffer it has the data that came meanwhile");
	provide(0, N);
	for (int i = 0; i < 20; i++) {
		receive(6, sv[0]);
		if (i % 3)
			waited += waits(1);
		send(sv[1], "again and again", 15, 0);
		right += receives(6, N - 1 - (unsigned int)i, "again and again");
	}
	check(waited == 13, "a receive before its data waits, 13 times: %u", waited);
	check(right == 20, "each of 20 receives has 15 bytes in a buffer: %u", right);
	check(ring.page->nbuffers == N - 20, "twenty receives take twenty buffers");
	send(sv[1], "more than one buffer takes", 26, 0);
	receive(7, sv[0]);
	check(receives(7, N - 21, "more than one bu"),
	      "a receive has no more than the size of its buffer");
	receive(8, sv[0]);
	check(receives(8, N - 22, "ffer takes"), "the next one has the rest");
}

static void ends(void)
{
	int fds[2], pipes[2];

	provide(0, 4);
	socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
	receive(1, fds[0]);
	check(waits(1), "a receive waits: nothing completes or is given back");
	receive(2, fds[0]);
	check(ring_execute(&ring) == 0 && ring.page->ngiven == 2 &&
	      ring.page->given[0].nr == COSY_RING_RECEIVE && ring.page->given[0].op == 1 &&
	      ring.page->given[1].nr == COSY_RING_RECEIVE && ring.page->given[1].op == 2,
	      "a second receive of the descriptor gives both back, in their order");
	receive(3, fds[0]);
	check(waits(1), "a receive waits, to be cancelled");
	ring_call(&ring, 0, COSY_RING_CANCEL, (unsigned int)fds[0], 3, 0, 0);
	check(waits(0), "COSY_RING_CANCEL ends it: nothing waits");
	receive(4, fds[0]);
	check(waits(1), "a receive waits, to be put back");
	ring_command(&ring, COSY_ASYNC_CANCEL);
	check(!ring.page->waiting && ring.page->receives_head == ring.receives_tail - 1 &&
	      ring.receives[ring.page->receives_head % N].nr == COSY_RING_RECEIVE &&
	      ring.receives[ring.page->receives_head % N].op == 4,
	      "COSY_ASYNC_CANCEL puts it back into the ring");
	check(waits(1), "executed again, it waits");
	ring_command(&ring, COSY_ASYNC_CANCEL_FD | (unsigned int)fds[0]);
	check(ring_gave(&ring, 4, COSY_RING_RECEIVE, COSY_RING_WAITED),
	      "COSY_ASYNC_CANCEL_FD gives it back");
	receive(5, fds[0]);
	check(waits(1), "a receive waits before its peer closes");
	close(fds[1]);
	check(ring_completes(&ring, 5, 0) && ring.page->nbuffers == 4,
	      "the end of the data completes it with 0, and takes no buffer");
	close(fds[0]);
	receive(6, fds[0]);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 6, COSY_RING_RECEIVE, 0),
	      "a receive of a closed descriptor is given back");
	if (pipe(pipes))
		die("pipe");
	receive(7, pipes[0]);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 7, COSY_RING_RECEIVE, 0),
	      "a receive of a pipe is given back");
	close(pipes[0]);
	close(pipes[1]);
	ring_call(&ring, 8, COSY_RING_RECEIVE, (unsigned int)sv[0], 0, 0, 0);
	ring_execute(&ring);
	check(ring.page->nbuffers == 4 && !ring.page->waiting,
	      "COSY_RING_RECEIVE in the ring of calls takes no buffer, and does not wait");
	ring.head = ring.page->done_tail;
	socketpair(AF_UNIX, SOCK_DGRAM, 0, fds);
	receive(9, fds[0]);
	check(waits(1), "a receive waits for a datagram");
	send(fds[1], "", 0, 0);
	check(ring_completes(&ring, 9, 0) && ring.page->nbuffers == 4,
	      "an empty datagram completes it with 0, and takes no buffer");
	close(fds[0]);
	close(fds[1]);
}

/* The last receive has no effect but to be given back, and the data stays. */
static void refuses(const char *what)
{
	char text[8] = "";

	send(sv[1], "data", 4, 0);
	receive(1, sv[0]);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 1, COSY_RING_RECEIVE, 0) &&
	      recv(sv[0], text, sizeof(text), MSG_DONTWAIT) == 4 && !strcmp(text, "data"),
	      "%s", what);
}

/* The address is none of this process, or cannot be written. */
static void fails(const char *what)
{
	char text[8] = "";
	uint32_t before = ring.page->nbuffers;

	send(sv[1], "data", 4, 0);
	receive(1, sv[0]);
	check(ring_completes(&ring, 1, -EFAULT) && ring.page->nbuffers == before &&
	      recv(sv[0], text, sizeof(text), MSG_DONTWAIT) == 4 && !strcmp(text, "data"),
	      "%s", what);
}

static void wrong(void)
{
	static const uint64_t addresses[] = { 8, 0xffff888000000000, 0xffffffff81000000, 1ull << 47,
					      ~0ull, 1ull << 63 };

	provide(0, 4);
	ring.page->nbuffers = N + 1;
	refuses("more buffers than places");
	ring.page->nbuffers = ~0u;
	refuses("2^32 buffers");
	provide(0, 4);
	ring.page->buffer_size = 0;
	refuses("no size");
	ring.page->buffer_size = 1ull << 31;
	refuses("a size that a result cannot be");
	ring.page->buffer_size = ~0ull;
	refuses("the largest size");
	for (unsigned int i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		provide(0, 4);
		ring.page->buffer_start = addresses[i];
		fails("a wrong address");
	}
	provide(~0u - 3, 4);
	fails("a number beyond the memory");
	provide(0, 4);
	ring.page->buffer_size = INT32_MAX;
	ring.page->buffer_start = 0x7fffffff0000;
	fails("a buffer beyond the memory of a process");
	/* 2^31 * size + start is an address of this process again, or not: there is no other effect. */
	provide(0x80000000u, 4);
	send(sv[1], "data", 4, 0);
	receive(1, sv[0]);
	check(receives(1, 3, "data"), "the first bit of a number counts for nothing");
	/* The offset in the page is only for the process. */
	provide(0, 4);
	ring.page->buffers = ~0u;
	send(sv[1], "data", 4, 0);
	receive(1, sv[0]);
	check(receives(1, 3, "data"), "a wrong offset has no effect");
}

/* A thread with a filter makes the call itself. */
static void watched(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		ring_create(&ring, N);
		provide(0, 4);
		socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
		receive(1, sv[0]);
		if (!waits(1))
			_exit(1);
		filter(SYS_fork, -1, SECCOMP_RET_ERRNO | EPERM);
		send(sv[1], "x", 1, 0);
		if (ring_execute(&ring) || !ring_gave(&ring, 1, COSY_RING_RECEIVE, COSY_RING_WAITED))
			_exit(2);
		receive(2, sv[0]);
		if (ring_execute(&ring) || !ring_gave(&ring, 2, COSY_RING_RECEIVE, 0))
			_exit(3);
		_exit(ring.page->nbuffers == 4 ? 0 : 4);
	}
	waitpid(child, &status, 0);
	check(!status, "with a seccomp filter it is given back: %#x", status);
}

int main(void)
{
	device = open_device();
	watched();
	ring_create(&ring, N);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		die("socketpair");
	usual();
	ends();
	wrong();
	ring_destroy(&ring);
	return finish();
}
