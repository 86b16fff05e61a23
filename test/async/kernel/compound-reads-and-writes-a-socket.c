// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * read() and write() of a compound wait for sockets, and are reported as calls of the process are.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/compounds.h"

static __u64 frame[NREGS + 1];
static char buffer[8], large[1 << 16];
static struct loop loop;
static int sv[2], watch;

/* Connect sv[], and report events of sv[0] to @watch. */
static void watched_pair(void)
{
	char path[64];

	pair(sv);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", sv[0]);
	check(inotify_add_watch(watch, path, IN_ACCESS | IN_MODIFY) >= 0, "a socket is watched");
	frame[FD] = (__u64)sv[0];
}

static void close_pair(void)
{
	close(sv[0]);
	close(sv[1]);
}

/* A compound that answers is reported as the same calls of the process are. */
static void answers(void)
{
	struct told before, native, start_of, compound;
	__u64 copy;
	bool good;

	watched_pair();
	copy = LOAD_FOR_LOOPS(READ(GOT, FD, BUF, SIZE), BR(GOT, SLE, 0, 10),
			      WRITE(SENT, FD, BUF, GOT), JMP(0), EXIT(1));
	frame[BUF] = (uintptr_t)buffer;
	frame[SIZE] = sizeof(buffer);

	/* By calls. The last one reads nothing, as the compound does at the end. */
	before = told(watch);
	send(sv[1], "abc", 3, 0);
	read(sv[0], buffer, sizeof(buffer));
	write(sv[0], buffer, 3);
	send(sv[1], "de", 2, 0);
	read(sv[0], buffer, sizeof(buffer));
	write(sv[0], buffer, 2);
	read(sv[0], buffer, 0);
	native = told(watch);
	check(native.events && native.syscw - before.syscw == 2,
	      "calls of the process are reported: %u events, %llu writes", native.events,
	      native.syscw - before.syscw);
	recv(sv[1], large, sizeof(large), 0);

	start_of = told(watch);
	start(&loop, 3, copy, frame, 0, 0);
	/* check() writes, too. */
	good = go(&loop, 0) == 0;
	send(sv[1], "abc", 3, 0);
	good &= go(&loop, 0) == 0;
	send(sv[1], "de", 2, 0);
	good &= go(&loop, 0) == 0;
	shutdown(sv[1], SHUT_WR);
	good &= go(&loop, 1) == 1;
	compound = told(watch);
	check(good && collect(&loop) == 3 && entry_result(&loop, 3) == 1 && frame[GOT] == 0,
	      "the compound waits in read() until the peer ends");
	check(recv(sv[1], large, sizeof(large), 0) == 5 && !memcmp(large, "abcde", 5),
	      "it has sent what it received");
	check(told_same(&before, &native, &start_of, &compound),
	      "its calls are reported in the same way: %u events and %u, %llu reads and %llu",
	      native.events, compound.events, native.syscr - before.syscr,
	      compound.syscr - start_of.syscr);
	close_pair();
}

/* A write that waits several times is one write. */
static void waits_in_write(void)
{
	struct told before, after;
	size_t received = 0;
	__u64 put;
	bool good;

	watched_pair();
	put = LOAD_FOR_LOOPS(WRITE(SENT, FD, BUF, SIZE), EXIT(2));
	frame[BUF] = (uintptr_t)must_map(1 << 20);
	frame[SIZE] = 1 << 20;
	before = told(watch);
	start(&loop, 3, put, frame, 0, 0);
	good = go(&loop, 0) == 0;
	while (received < frame[SIZE]) {
		ssize_t n = recv(sv[1], large, sizeof(large), MSG_DONTWAIT);

		received += n > 0 ? (size_t)n : 0;
		execute(&loop);
	}
	after = told(watch);
	check(good && collect(&loop) == 3 && entry_result(&loop, 3) == 2 &&
	      frame[SENT] == 1 << 20, "the compound waits in write()");
	check(after.wchar - before.wchar == 1 << 20 && after.syscw - before.syscw == 1 &&
	      after.events == 1, "it is reported as one write: %llu bytes, %llu writes, %u events",
	      after.wchar - before.wchar, after.syscw - before.syscw, after.events);
	munmap((void *)(uintptr_t)frame[BUF], 1 << 20);
	frame[BUF] = (uintptr_t)buffer;
}

/* Entries cannot wait for these files, and do not wait for these calls. */
static void does_not_wait(void)
{
	const int fds[] = { watch, device, loop.fd };
	__u64 get = LOAD_FOR_LOOPS(READ(GOT, FD, BUF, SIZE), EXIT(3));

	for (int i = 0; i < 3; i++) {
		frame[FD] = (__u64)fds[i];
		frame[SIZE] = 8;
		start(&loop, 3, get, frame, 0, 0);
		check(go(&loop, 1) == 1 && collect(&loop) == 3 &&
		      is_left(&loop, 3, COSY_STEP, 0) && entry_result(&loop, 3) == COSY_STEP_CALL,
		      "a read of another file is left to the process");
	}
	frame[FD] = 1000;
	check(run(&loop, get, frame, 0, 0) == 3 && (long long)frame[GOT] == -EBADF,
	      "EBADF: the descriptor is not open");
	frame[FD] = (__u64)sv[0];
	frame[SIZE] = 0;
	check(run(&loop, get, frame, 0, 0) == 3 && frame[GOT] == 0,
	      "a read of no bytes does not wait");
	frame[SIZE] = -1ull;
	check(run(&loop, get, frame, 0, 0) == 3 && (long long)frame[GOT] == -EFAULT,
	      "EFAULT: more bytes than there are addresses");
	close_pair();
}

int main(void)
{
	device = open_device();
	load_all();
	create(&loop, 64);
	check(loop.page->features & COSY_ASYNC_FILE_IO, "the loop says that it waits in read()");
	watch = inotify_init1(IN_NONBLOCK);
	answers();
	waits_in_write();
	does_not_wait();
	close(watch);
	destroy(&loop);
	return finish();
}
