/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loops.h - loops and their rings, and entries that wait.
 */
#ifndef LOOPS_H
#define LOOPS_H

#include "../../../async/kernel/Inputs/ring.h"
#include "calls.h"

static struct loop loop;
static int ends[2];
static char received;

static long make_loop(void)
{
	long ret = create(&loop, 64);

	if (!ret)
		destroy(&loop);
	else if (loop.fd)
		close(loop.fd);
	return ret;
}

static void loop_begins(void)
{
	recreate();
	if (create(&loop, 64) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		die("a loop");
	prepare_recv(&loop);
}

static void loop_ends(long ret)
{
	(void)ret;
	close(ends[0]);
	close(ends[1]);
	destroy(&loop);
	if (ioctl(device, COSY_IOC_UNLOAD, &loop.recv))
		die("unload");
}

/* Return the result of an entry whose compound does not wait. If it cannot wait, it was left. */
static long not_waited(uint32_t index)
{
	if (collect(&loop) != (int)index)
		return 1;
	return loop.entries[index].status == COSY_ENTRY_LEFT ? -EAGAIN : entry_result(&loop, (int)index);
}

static long entry_waits(void)
{
	submit_recv(&loop, 5, ends[0], &received);
	if (execute(&loop))
		return not_waited(5);
	if (send(ends[1], "x", 1, 0) != 1 || execute(&loop) != 1 || collect(&loop) != 5)
		return 2;
	return entry_result(&loop, 5) == 1 ? 0 : entry_result(&loop, 5);
}

/* It still waits when the loop is closed. */
static long entry_stays(void)
{
	submit_recv(&loop, 6, ends[0], &received);
	if (execute(&loop))
		return not_waited(6);
	return 0;
}

static struct ring ring;

static long make_ring(void)
{
	long ret = ring_create(&ring, 64);

	if (!ret)
		ring_destroy(&ring);
	else if (ring.loop.fd)
		destroy(&ring.loop);
	return ret;
}

static void ring_begins(void)
{
	recreate();
	if (ring_create(&ring, 64) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		die("a ring");
}

static void ring_ends(long ret)
{
	(void)ret;
	close(ends[0]);
	close(ends[1]);
	ring_destroy(&ring);
}

/* Return 0 if the process has to make the call, as it does without a ring. */
static long ring_calls(void)
{
	long long result;

	ring_call(&ring, 1, SYS_newfstatat, AT_FDCWD, P(FILE_NAME), P(&st), 0);
	ring_call(&ring, 2, SYS_sendto, (unsigned int)ends[1], P("x"), 1, 0);
	while (ring.page->calls_head != ring.calls_tail) {
		if (ring_command(&ring, COSY_RING_MAX) < 0)
			return 1;
		while (ring_collect(&ring, &result))
			if (result < 0)
				return result;
	}
	return 0;
}

/* It waits, or is given back. */
static long ring_waits(void)
{
	ring_receive(&ring, 1, ends[0], &received, 1);
	if (ring_execute(&ring))
		return 1;
	if (ring.page->ngiven)
		return ring_gave(&ring, 1, SYS_recvfrom, 0) ? -ENOMEM : 2;
	if (ring.page->waiting != 1 || send(ends[1], "x", 1, 0) != 1)
		return 3;
	return ring_completes(&ring, 1, 1) ? 0 : 4;
}

static void try_loops(void)
{
	static const struct operation ops[] = {
		OPERATION("make a loop", NULL, make_loop, NULL, 0),
		OPERATION("an entry that waits", loop_begins, entry_waits, loop_ends, 0),
		OPERATION("an entry that still waits", loop_begins, entry_stays, loop_ends, 0),
		OPERATION("make a ring", NULL, make_ring, NULL, 0),
		OPERATION("calls of a ring", ring_begins, ring_calls, ring_ends, 0),
		OPERATION("a receive of a ring", ring_begins, ring_waits, ring_ends, 0),
	};

	device = dev;
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		try(&ops[i]);
}

#endif /* LOOPS_H */
