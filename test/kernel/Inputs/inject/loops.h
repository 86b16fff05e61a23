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

/* Return the error of an entry's receive, or the result of its compound. */
static long result_of(uint32_t index)
{
	const long result = entry_result(&loop, (int)index);

	return result == 2 ? (long)loop.frames[index][2] : result;
}

/* The same if its compound does not wait. If it cannot wait, it was left. */
static long not_waited(uint32_t index)
{
	if (collect(&loop) != (int)index)
		return 1;
	return loop.entries[index].status == COSY_ENTRY_LEFT ? -EAGAIN : result_of(index);
}

static long entry_waits(void)
{
	submit_recv(&loop, 5, ends[0], &received);
	if (execute(&loop))
		return not_waited(5);
	if (send(ends[1], "x", 1, 0) != 1 || execute(&loop) != 1 || collect(&loop) != 5)
		return 2;
	return result_of(5) == 1 ? 0 : result_of(5);
}

/* It still waits when the loop is closed. */
static long entry_stays(void)
{
	submit_recv(&loop, 6, ends[0], &received);
	if (execute(&loop))
		return not_waited(6);
	return 0;
}

/* No thread takes it. It is cancelled, or the process has to make the call. */
static long entry_for_a_thread(void)
{
	submit(&loop, 7, COSY_ENTRY_THREAD, SYS_getpid, 0, 0, 0, 0);
	if (execute(&loop))
		return collect(&loop) == 7 && loop.entries[7].status == COSY_ENTRY_USER ? -ENOMEM : 1;
	return enter_loop(&loop, COSY_ASYNC_CANCEL | 7) == COSY_ASYNC_ENTERED ? 0 : 2;
}

/* The process has to make the call: files on tmpfs are not read from a disk. */
static long entry_reads(void)
{
	int fd = open(FILE_NAME, O_RDONLY | O_CLOEXEC);
	long ret = 1;

	submit(&loop, 8, COSY_ENTRY_BUFFERED, SYS_pread64, (unsigned int)fd, P(buffer), 100, 0);
	if (execute(&loop) == 1 && collect(&loop) == 8)
		ret = loop.entries[8].status == COSY_ENTRY_USER ? 0 : entry_result(&loop, 8);
	close(fd);
	return ret;
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

/* Return 0 if operation 1 completes with a result of at least @least, otherwise its error. */
static long completes(long long least)
{
	long long result = 1;

	if (ring_execute(&ring) != 1 || ring_collect(&ring, &result) != 1)
		return ring.page->ngiven ? -ENOMEM : 1;
	return result >= least ? 0 : result;
}

/* Return 0 if operation 1 waits. It may be given back, or fail. */
static long waits(uint32_t nr)
{
	long long result = 2;

	if (ring_execute(&ring)) {
		ring_collect(&ring, &result);
		return result;
	}
	if (ring.page->ngiven)
		return ring_gave(&ring, 1, nr, 0) ? -ENOMEM : 3;
	return ring.page->waiting == 1 ? 0 : 4;
}

static void write_receive(struct cosy_ring_entry entry)
{
	ring.receives[ring.receives_tail++ % ring.loop.n] = entry;
	__atomic_store_n(&ring.page->receives_tail, ring.receives_tail, __ATOMIC_RELEASE);
}

static long ring_waits(void)
{
	long ret;

	ring_receive(&ring, 1, ends[0], &received, 1);
	ret = waits(SYS_recvfrom);
	if (ret)
		return ret;
	return send(ends[1], "x", 1, 0) == 1 ? completes(1) : 5;
}

/* The ring's table of descriptors is enlarged while a receive waits. */
static long ring_waits_for_many(void)
{
	const int far = 300;
	long long result;
	long ret;

	ring_receive(&ring, 1, ends[0], &received, 1);
	ret = waits(SYS_recvfrom);
	if (ret || dup2(ends[0], far) != far)
		return ret;
	ring_receive(&ring, 2, far, &received, 1);
	if (ring_execute(&ring))
		ret = ring_collect(&ring, &result) == 2 ? result : 5;
	else if (ring.page->ngiven)
		ret = ring_gave(&ring, 2, SYS_recvfrom, 0) ? -ENOMEM : 6;
	else if (ring_command(&ring, COSY_ASYNC_CANCEL) != (COSY_ASYNC_ENTERED | 2))
		ret = 7;
	close(far);
	return ret;
}

static long ring_sends(void)
{
	long ret;

	while (send(ends[1], buffer, 4096, MSG_DONTWAIT) > 0)
		;
	ring_call(&ring, 1, SYS_sendto, (unsigned int)ends[1], P("x"), 1, 0);
	ret = waits(SYS_sendto);
	if (ret)
		return ret;
	while (recv(ends[0], buffer, 4096, MSG_DONTWAIT) > 0)
		;
	return completes(1);
}

static long ring_accepts(void)
{
	struct sockaddr name = { .sa_family = AF_UNIX };
	socklen_t size = sizeof(name);
	int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	long long accepted = 1;
	long ret;

	if (bind(listening, &name, sizeof(name.sa_family)) || listen(listening, 1) ||
	    getsockname(listening, &name, &size))
		die("a listening socket");
	write_receive((struct cosy_ring_entry){ .nr = SYS_accept4, .op = 1,
						.args = { (unsigned int)listening } });
	ret = waits(SYS_accept4);
	if (!ret) {
		if (connect(fd, &name, size) || ring_execute(&ring) != 1)
			ret = ring.page->ngiven ? -ENOMEM : 5;
		else if (ring_collect(&ring, &accepted) == 1 && accepted < 0)
			ret = accepted;
		else
			close((int)accepted);
	}
	close(fd);
	close(listening);
	return ret;
}

static long ring_replies(void)
{
	const uint32_t place = ring.calls_tail << 1 | COSY_RING_LINKED;

	ring_call(&ring, 1, SYS_sendto, (unsigned int)ends[0], P("x"), 1, 0);
	ring.calls[0].flags = COSY_RING_LINKED;
	write_receive((struct cosy_ring_entry){ .nr = SYS_recvfrom, .flags = place, .op = 1,
						.args = { (unsigned int)ends[0], P(&received), 1 } });
	if (send(ends[1], "y", 1, 0) != 1)
		return 2;
	return completes(1);
}

static long ring_takes_a_buffer(void)
{
	uint32_t *numbers = (uint32_t *)(ring.done + ring.loop.n);

	numbers[0] = 2;
	ring.page->buffer_start = P(buffer);
	ring.page->buffer_size = 16;
	ring.page->nbuffers = 1;
	write_receive((struct cosy_ring_entry){ .nr = COSY_RING_RECEIVE, .op = 1,
						.args = { (unsigned int)ends[0] } });
	if (send(ends[1], "x", 1, 0) != 1)
		return 2;
	return completes(1);
}

/* The memory was not used before. If it cannot be made present, the process has to make the call. */
static long ring_reads(void)
{
	int fd = open(SCRATCH "/cached", O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
	void *unused = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long ret = 1;

	if (unused != MAP_FAILED && write(fd, buffer, 4096) == 4096) {
		ring_call(&ring, 1, SYS_pread64, (unsigned int)fd, P(unused), 8192, 0);
		ret = completes(4096);
	}
	munmap(unused, 8192);
	close(fd);
	unlink(SCRATCH "/cached");
	return ret;
}

static void try_loops(void)
{
	static const struct operation ops[] = {
		OPERATION("make a loop", NULL, make_loop, NULL, 0),
		OPERATION("an entry that waits", loop_begins, entry_waits, loop_ends, 0),
		OPERATION("an entry that still waits", loop_begins, entry_stays, loop_ends, 0),
		OPERATION("an entry for a thread", loop_begins, entry_for_a_thread, loop_ends, 0),
		OPERATION("an entry that reads", loop_begins, entry_reads, loop_ends, 0),
		OPERATION("make a ring", NULL, make_ring, NULL, 0),
		OPERATION("calls of a ring", ring_begins, ring_calls, ring_ends, 0),
		OPERATION("a read of a ring", ring_begins, ring_reads, ring_ends, 0),
		OPERATION("a receive of a ring", ring_begins, ring_waits, ring_ends, 0),
		OPERATION("receives of a ring", ring_begins, ring_waits_for_many, ring_ends, 0),
		OPERATION("a send of a ring", ring_begins, ring_sends, ring_ends, 0),
		OPERATION("an accept of a ring", ring_begins, ring_accepts, ring_ends, 0),
		OPERATION("a reply of a ring", ring_begins, ring_replies, ring_ends, 0),
		OPERATION("a receive into a buffer", ring_begins, ring_takes_a_buffer, ring_ends, 0),
	};

	device = dev;
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		try(&ops[i]);
}

#endif /* LOOPS_H */
