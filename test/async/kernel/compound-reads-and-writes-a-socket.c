// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * read() and write() of a compound wait for sockets, and are reported as calls of the process are.
 */
// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

#include "Inputs/compounds.h"

/*
 * read() and write(): the loop waits for sockets. For files of other types the compound is left.
 */
static void file_io(void)
{
	static __u64 frame[NREGS + 1];
	char buffer[8] = "", large[1 << 16], path[64];
	struct told before, native, start_of, compound;
	int sv[2], watch = inotify_init1(IN_NONBLOCK);
	size_t received = 0;
	struct loop loop;
	__u64 copy;
	bool good;

	create(&loop, 64);
	check(loop.page->features & COSY_ASYNC_FILE_IO, "the loop says that it waits in read()");
	pair(sv);
	copy = LOAD_FOR_LOOPS(READ(GOT, FD, BUF, SIZE), BR(GOT, SLE, 0, 10),
			      WRITE(SENT, FD, BUF, GOT), JMP(0), EXIT(1));
	frame[BUF] = (uintptr_t)buffer;
	frame[SIZE] = sizeof(buffer);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", sv[0]);
	check(inotify_add_watch(watch, path, IN_ACCESS | IN_MODIFY) >= 0, "a socket is watched");

	/* The same by calls, and by the compound. It reads once more, for the end. */
	before = told(watch);
	send(sv[1], "abc", 3, 0);
	read(sv[0], buffer, sizeof(buffer));
	write(sv[0], buffer, 3);
	send(sv[1], "de", 2, 0);
	read(sv[0], buffer, sizeof(buffer));
	write(sv[0], buffer, 2);
	read(sv[0], buffer, 0);
	native = told(watch);
	check(native.events && native.syscw - before.syscw == 2, "calls are told of");
	recv(sv[1], large, sizeof(large), 0);

	start_of = told(watch);
	frame[FD] = (__u64)sv[0];
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
	      "it waits in read() until the end");
	check(recv(sv[1], large, sizeof(large), 0) == 5 && !memcmp(large, "abcde", 5),
	      "it has answered");
	check(told_same(&before, &native, &start_of, &compound),
	      "its calls are told of in the same way: %u events and %u, %llu reads and %llu",
	      native.events, compound.events, native.syscr - before.syscr,
	      compound.syscr - start_of.syscr);
	close(sv[0]);
	close(sv[1]);

	/* A write that waits several times is one write. */
	pair(sv);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", sv[0]);
	inotify_add_watch(watch, path, IN_ACCESS | IN_MODIFY);
	copy = LOAD_FOR_LOOPS(WRITE(SENT, FD, BUF, SIZE), EXIT(2));
	frame[FD] = (__u64)sv[0];
	frame[BUF] = (uintptr_t)must_map(1 << 20);
	frame[SIZE] = 1 << 20;
	before = told(watch);
	start(&loop, 3, copy, frame, 0, 0);
	good = go(&loop, 0) == 0;
	while (received < frame[SIZE]) {
		ssize_t n = recv(sv[1], large, sizeof(large), MSG_DONTWAIT);

		received += n > 0 ? (size_t)n : 0;
		execute(&loop);
	}
	compound = told(watch);
	check(good && collect(&loop) == 3 && entry_result(&loop, 3) == 2 &&
	      frame[SENT] == 1 << 20, "it waits in write()");
	check(compound.wchar - before.wchar == 1 << 20 && compound.syscw - before.syscw == 1 &&
	      compound.events == 1, "and is one: %u events", compound.events);
	munmap((void *)(uintptr_t)frame[BUF], 1 << 20);
	frame[BUF] = (uintptr_t)buffer;

	/* Files that entries cannot wait for. */
	copy = LOAD_FOR_LOOPS(READ(GOT, FD, BUF, SIZE), EXIT(3));
	for (int i = 0; i < 3; i++) {
		const int fds[] = { watch, device, loop.fd };

		frame[FD] = (__u64)fds[i];
		frame[SIZE] = 8;
		start(&loop, 3, copy, frame, 0, 0);
		check(go(&loop, 1) == 1 && collect(&loop) == 3 &&
		      is_left(&loop, 3, COSY_STEP, 0) && entry_result(&loop, 3) == COSY_STEP_CALL,
		      "a read of another file is left to the process");
	}
	frame[FD] = 1000;
	check(run(&loop, copy, frame, 0, 0) == 3 && (long long)frame[GOT] == -EBADF, "no file");
	frame[FD] = (__u64)sv[0];
	frame[SIZE] = 0;
	check(run(&loop, copy, frame, 0, 0) == 3 && frame[GOT] == 0, "nothing is read at once");
	frame[SIZE] = -1ull;
	check(run(&loop, copy, frame, 0, 0) == 3 && (long long)frame[GOT] == -EFAULT,
	      "more than there are addresses");
	close(sv[0]);
	close(sv[1]);
	close(watch);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	load_all();
	file_io();
	return finish();
}
