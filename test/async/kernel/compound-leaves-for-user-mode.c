// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A compound is left for an up-call, for a call that the loop cannot wait for, and for a fault. It is
 * resumed by the same entry, or moves to another entry and another loop.
 */
// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

#include "Inputs/compounds.h"

#include <signal.h>

/* Up-calls, and other work of the process for the compound. */
static void leaving(void)
{
	static __u64 frame[NREGS + 1];
	__u64 up, direct, wrong;
	char buffer[8] = "";
	struct loop loop;
	int sv[2];

	create(&loop, 64);
	pair(sv);
	up = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), UPCALL(2),
			    ADDI(ROUNDS, ROUNDS, 1), BR(ROUNDS, ULT, 2, 0), EXIT(1));
	frame[FD] = (__u64)sv[0];
	frame[BUF] = (uintptr_t)buffer;
	frame[SIZE] = 1;
	frame[ROUNDS] = 99;
	start(&loop, 5, up, frame, 0, 0);
	check(go(&loop, 0) == 0, "it waits");
	send(sv[1], "xy", 2, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && is_left(&loop, 5, COSY_UPCALL, 8) &&
	      entry_result(&loop, 5) == 2 && frame[GOT] == 1, "it leaves for its up-call");
	check(go(&loop, 0) == 0, "and waits for it");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
	      (long long)COSY_ASYNC_ENTERED, "not for the descriptor");
	frame[GOT] = 50;
	start(&loop, 5, up, frame, 8, COSY_COMPOUND_RESUMED);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && is_left(&loop, 5, COSY_UPCALL, 8),
	      "it goes on, and makes the next call");
	check(frame[GOT] == 1 && buffer[0] == 'y', "by its registers");
	start(&loop, 5, up, frame, 8, COSY_COMPOUND_RESUMED);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 &&
	      loop.entries[5].status == COSY_ENTRY_DONE && entry_result(&loop, 5) == 1 &&
	      frame[ROUNDS] == 2, "until it ends");

	/* Left, and never resumed. The entry can be used for another operation. */
	start(&loop, 5, up, frame, 0, 0);
	send(sv[1], "x", 1, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && is_left(&loop, 5, COSY_UPCALL, 8), "left");
	submit(&loop, 5, 0, SYS_getpid, 0, 0, 0, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && entry_result(&loop, 5) == getpid(),
	      "the entry makes a call");
	start(&loop, 5, up, frame, 0, 0);
	send(sv[1], "x", 1, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 5, "left again");
	start(&loop, 5, receive, frame, 0, 0);
	send(sv[1], "x", 1, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && entry_result(&loop, 5) == 2,
	      "the entry runs another compound");

	/* Calls that the loop cannot wait for. */
	direct = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, MSG_WAITALL), EXIT(0));
	start(&loop, 5, direct, frame, 0, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && is_left(&loop, 5, COSY_STEP, 0) &&
	      entry_result(&loop, 5) == COSY_STEP_CALL, "MSG_WAITALL is left to the process");
	direct = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, MSG_DONTWAIT), EXIT(0));
	check(run(&loop, direct, frame, 0, 0) == 0 && (long long)frame[GOT] == -EAGAIN,
	      "MSG_DONTWAIT does not wait");
	frame[FD] = (__u64)device;
	check(run(&loop, receive, frame, 0, 0) == 2 && (long long)frame[GOT] == -ENOTSOCK,
	      "no socket");
	frame[FD] = 1000;
	check(run(&loop, receive, frame, 0, 0) == 2 && (long long)frame[GOT] == -EBADF, "no file");
	frame[FD] = (__u64)sv[0];
	frame[BUF] = -4096ull;
	check(run(&loop, receive, frame, 0, 0) == 2 && (long long)frame[GOT] == -EFAULT,
	      "a buffer in the kernel, and nothing to receive");
	frame[BUF] = 8;
	send(sv[1], "x", 1, 0);
	check(run(&loop, receive, frame, 0, 0) == 2 && (long long)frame[GOT] == -EFAULT, "no buffer");
	frame[BUF] = -4096ull;
	check(run(&loop, receive, frame, 0, 0) == 2 && (long long)frame[GOT] == -EFAULT,
	      "a buffer in the kernel");
	frame[BUF] = (uintptr_t)buffer;

	/* A store that faults must be done by the process. */
	wrong = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), STORE(8, SIZE, GOT), EXIT(0));
	check(run(&loop, wrong, frame, 0, 0) == COSY_STEP_FAULT && is_left(&loop, 7, COSY_STEP, 7) &&
	      frame[GOT] == 1, "a fault");
	/* So must a store of errno to an unmapped address. */
	wrong = LOAD_FOR_LOOPS(LIBC(GOT, SYS_recvfrom, 6), ARGI(-1), ARGI(0), ARGI(0), ARGI(0),
			       ARGI(0), ARGI(0), EXIT(0));
	start(&loop, 7, wrong, frame, 0, 0);
	loop.entries[7].args[3] = 8;
	check(go(&loop, 1) == 1 && collect(&loop) == 7 && is_left(&loop, 7, COSY_RESULT, 0) &&
	      entry_result(&loop, 7) == -EBADF, "errno");
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

/* A compound that moves is resumed with another entry, and by another loop. */
static void moving(void)
{
	static __u64 frame[NREGS + 1];
	const __u64 flags = COSY_COMPOUND_RESUMED | COSY_COMPOUND_MOVES;
	struct loop loop, other;
	char buffer[8] = "";
	int sv[2], fd;
	__u64 up, pipe;

	signal(SIGPIPE, SIG_IGN);
	create(&loop, 64);
	create(&other, 64);
	pair(sv);
	up = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), UPCALL(2),
			    ADDI(ROUNDS, ROUNDS, 1), BR(ROUNDS, ULT, 3, 0), EXIT(1));
	frame[FD] = (__u64)sv[0];
	frame[BUF] = (uintptr_t)buffer;
	frame[SIZE] = 1;
	frame[ROUNDS] = 99;
	start(&loop, 5, up, frame, 0, COSY_COMPOUND_MOVES);
	check(go(&loop, 0) == 0, "it waits");
	send(sv[1], "xyz", 3, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && is_left(&loop, 5, COSY_UPCALL, 8) &&
	      frame[GOT] == 1, "it leaves for its up-call");
	start(&loop, 9, up, frame, 8, flags);
	check(go(&loop, 1) == 1 && collect(&loop) == 9 && is_left(&loop, 9, COSY_UPCALL, 8) &&
	      buffer[0] == 'y', "another entry continues it");
	start(&other, 5, up, frame, 8, flags);
	check(go(&other, 1) == 1 && collect(&other) == 5 && is_left(&other, 5, COSY_UPCALL, 8) &&
	      buffer[0] == 'z', "and another loop");
	/* Nothing was kept that the entry could continue instead. */
	frame[ROUNDS] = 99;
	start(&loop, 5, receive, frame, 0, 0);
	send(sv[1], "a", 1, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && entry_result(&loop, 5) == 2,
	      "its entry runs another compound");
	start(&loop, 5, up, frame, 8, COSY_COMPOUND_RESUMED);
	frame[ROUNDS] = 2;
	check(go(&loop, 1) == 1 && collect(&loop) == 5 &&
	      loop.entries[5].status == COSY_ENTRY_DONE && entry_result(&loop, 5) == 1,
	      "and ends it");

	/* Closing a descriptor of the loop gives it back, and forgets it. */
	frame[ROUNDS] = 99;
	start(&loop, 5, up, frame, 0, COSY_COMPOUND_MOVES);
	check(go(&loop, 0) == 0, "it waits");
	close(dup(loop.fd));
	check(collect(&loop) == 5 && is_left(&loop, 5, COSY_AGAIN, 0), "it is given back");
	start(&other, 5, up, frame, 0, flags);
	send(sv[1], "b", 1, 0);
	check(go(&other, 1) == 1 && collect(&other) == 5 && is_left(&other, 5, COSY_UPCALL, 8),
	      "another loop continues it");

	/* A descriptor is closed while a compound waits. Only such waits are stale. */
	start(&loop, 5, receive, frame, 0, COSY_COMPOUND_MOVES);
	check(go(&loop, 0) == 0 &&
	      enter_loop(&loop, COSY_ASYNC_CANCEL | COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
	      (long long)COSY_ASYNC_ENTERED, "its file is open");
	fd = dup(sv[0]);
	close(sv[0]);
	check(enter_loop(&other, COSY_ASYNC_CANCEL | COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
	      (long long)COSY_ASYNC_ENTERED, "none of another loop");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | COSY_ASYNC_CANCEL_FD | 0xffffffffu) ==
	      (long long)COSY_ASYNC_ENTERED, "nor for another number");
	check(dup2(device, sv[0]) == sv[0] &&
	      enter_loop(&loop, COSY_ASYNC_CANCEL | COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
	      (long long)(COSY_ASYNC_ENTERED | 1), "its number is another file's");
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && entry_result(&loop, 5) == 2 &&
	      (long long)frame[GOT] == -ECANCELED, "the call fails");
	close(sv[0]);

	/* After a call that raises a signal, the thread returns. */
	frame[FD] = (__u64)fd;
	close(sv[1]);
	pipe = LOAD_FOR_LOOPS(SEND(SENT, FD, BUF, SIZE, 0), ADDI(ROUNDS, ROUNDS, 1), EXIT(0));
	start(&loop, 5, pipe, frame, 0, COSY_COMPOUND_MOVES);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && is_left(&loop, 5, COSY_RESULT, 0) &&
	      entry_result(&loop, 5) == -EPIPE, "it is left");
	check(run(&loop, pipe, frame, 0, 0) == 0 && (long long)frame[SENT] == -EPIPE,
	      "one that does not move goes on");
	close(fd);
	destroy(&loop);
	destroy(&other);
}

int main(void)
{
	device = open_device();
	load_all();
	leaving();
	moving();
	return finish();
}
