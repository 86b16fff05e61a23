// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A compound is left for an up-call, for a call that the loop cannot wait for, and for a fault. It is
 * resumed by the same entry, or moves to another entry and another loop.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/compounds.h"

#include <signal.h>

static __u64 frame[NREGS + 1];
static char buffer[8];
static struct loop loop, other;
static int sv[2];
static __u64 up;	/* receives, and leaves for up-call 2, @ROUNDS times */

/* Prepare for compounds that receive a byte. */
static void set_up(void)
{
	load_all();
	create(&loop, 64);
	create(&other, 64);
	pair(sv);
	frame[FD] = (__u64)sv[0];
	frame[BUF] = (uintptr_t)buffer;
	frame[SIZE] = 1;
	frame[ROUNDS] = 99;
	up = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), UPCALL(2),
			    ADDI(ROUNDS, ROUNDS, 1), BR(ROUNDS, ULT, 2, 0), EXIT(1));
}

/* Execute until entry @index completes because the compound leaves for its up-call. */
static bool leaves(struct loop *in, int index)
{
	return go(in, 1) == 1 && collect(in) == index && is_left(in, index, COSY_UPCALL, 8);
}

static void upcalls(void)
{
	start(&loop, 5, up, frame, 0, 0);
	check(go(&loop, 0) == 0, "the compound waits");
	send(sv[1], "xy", 2, 0);
	check(leaves(&loop, 5) && entry_result(&loop, 5) == 2 && frame[GOT] == 1,
	      "it leaves for its up-call");
	check(go(&loop, 0) == 0, "it stays outside until the up-call is made");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
	      (long long)COSY_ASYNC_ENTERED, "it does not wait for the descriptor");
	frame[GOT] = 50;
	start(&loop, 5, up, frame, 8, COSY_COMPOUND_RESUMED);
	check(leaves(&loop, 5), "it resumes, and makes the next call");
	check(frame[GOT] == 1 && buffer[0] == 'y', "it has received the second byte");
	start(&loop, 5, up, frame, 8, COSY_COMPOUND_RESUMED);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 &&
	      loop.entries[5].status == COSY_ENTRY_DONE && entry_result(&loop, 5) == 1 &&
	      frame[ROUNDS] == 2, "it resumes, and ends");
}

/* A compound is left, and never resumed. The entry can be used for another operation. */
static void entry_is_used_again(void)
{
	start(&loop, 5, up, frame, 0, 0);
	send(sv[1], "x", 1, 0);
	check(leaves(&loop, 5), "the compound leaves for its up-call");
	submit(&loop, 5, 0, SYS_getpid, 0, 0, 0, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && entry_result(&loop, 5) == getpid(),
	      "its entry makes a call");
	start(&loop, 5, up, frame, 0, 0);
	send(sv[1], "x", 1, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 5, "the compound leaves again");
	start(&loop, 5, receive, frame, 0, 0);
	send(sv[1], "x", 1, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && entry_result(&loop, 5) == 2,
	      "its entry runs another compound");
}

static void calls_that_do_not_wait(void)
{
	__u64 call = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, MSG_WAITALL), EXIT(0));

	start(&loop, 5, call, frame, 0, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && is_left(&loop, 5, COSY_STEP, 0) &&
	      entry_result(&loop, 5) == COSY_STEP_CALL, "MSG_WAITALL is left to the process");
	call = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, MSG_DONTWAIT), EXIT(0));
	check(run(&loop, call, frame, 0, 0) == 0 && (long long)frame[GOT] == -EAGAIN,
	      "EAGAIN: MSG_DONTWAIT does not wait");
	frame[FD] = (__u64)device;
	check(run(&loop, receive, frame, 0, 0) == 2 && (long long)frame[GOT] == -ENOTSOCK,
	      "ENOTSOCK: the descriptor is no socket");
	frame[FD] = 1000;
	check(run(&loop, receive, frame, 0, 0) == 2 && (long long)frame[GOT] == -EBADF,
	      "EBADF: the descriptor is not open");
	frame[FD] = (__u64)sv[0];
	frame[BUF] = -4096ull;
	check(run(&loop, receive, frame, 0, 0) == 2 && (long long)frame[GOT] == -EFAULT,
	      "EFAULT: a buffer in the kernel, and nothing to receive");
	frame[BUF] = 8;
	send(sv[1], "x", 1, 0);
	check(run(&loop, receive, frame, 0, 0) == 2 && (long long)frame[GOT] == -EFAULT,
	      "EFAULT: the buffer is unmapped");
	frame[BUF] = -4096ull;
	check(run(&loop, receive, frame, 0, 0) == 2 && (long long)frame[GOT] == -EFAULT,
	      "EFAULT: a buffer in the kernel");
	frame[BUF] = (uintptr_t)buffer;
}

/*
 * A lseek that is joined with a read of a file. What is cached is read at once. Otherwise the read may wait for a
 * disk, so the process makes it. The module does not read files of /proc.
 */
static void joined_calls(void)
{
	__u64 both = LOAD_FOR_LOOPS(
		OP(SYS, .dst = ROUNDS, .width = 3, .imm = SYS_lseek, .c = COSY_HINT_JOIN), ARG(FD), ARGI(1),
		ARGI(SEEK_SET), SYS(GOT, SYS_read, 3), ARG(FD), ARG(BUF), ARG(SIZE), EXIT(0));
	int cached = open("/tmp", O_TMPFILE | O_RDWR, 0600), file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	check(write(cached, "abc", 3) == 3 && file >= 0, "there are files");
	frame[FD] = (__u64)cached;
	start(&loop, 5, both, frame, 0, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && entry_result(&loop, 5) == 0 &&
	      frame[ROUNDS] == 1 && frame[GOT] == 1 && buffer[0] == 'b' &&
	      lseek(cached, 0, SEEK_CUR) == 2, "the lseek is made, and what is cached is read");
	close(cached);
	frame[FD] = (__u64)file;
	start(&loop, 5, both, frame, 0, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && is_left(&loop, 5, COSY_STEP, 4) &&
	      entry_result(&loop, 5) == COSY_STEP_CALL && frame[ROUNDS] == 1 &&
	      lseek(file, 0, SEEK_CUR) == 1, "the lseek is made, and the read is left to the process");
	frame[FD] = (__u64)sv[0];
	close(file);
}

/* A store that faults must be done by the process. */
static void faults(void)
{
	__u64 wrong = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), STORE(8, SIZE, GOT), EXIT(0));

	check(run(&loop, wrong, frame, 0, 0) == COSY_STEP_FAULT && is_left(&loop, 7, COSY_STEP, 7) &&
	      frame[GOT] == 1, "a store to an unmapped address is left to the process");
	wrong = LOAD_FOR_LOOPS(LIBC(GOT, SYS_recvfrom, 6), ARGI(-1), ARGI(0), ARGI(0), ARGI(0),
			       ARGI(0), ARGI(0), EXIT(0));
	start(&loop, 7, wrong, frame, 0, 0);
	loop.entries[7].args[3] = 8;
	check(go(&loop, 1) == 1 && collect(&loop) == 7 && is_left(&loop, 7, COSY_RESULT, 0) &&
	      entry_result(&loop, 7) == -EBADF,
	      "a store of errno to an unmapped address is left to the process");
}

/* A compound that moves is resumed with another entry, and by another loop. */
static void moves(void)
{
	const __u64 flags = COSY_COMPOUND_RESUMED | COSY_COMPOUND_MOVES;

	frame[ROUNDS] = 99;
	up = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), UPCALL(2),
			    ADDI(ROUNDS, ROUNDS, 1), BR(ROUNDS, ULT, 3, 0), EXIT(1));
	start(&loop, 5, up, frame, 0, COSY_COMPOUND_MOVES);
	check(go(&loop, 0) == 0, "the compound waits");
	send(sv[1], "xyz", 3, 0);
	check(leaves(&loop, 5) && frame[GOT] == 1, "it leaves for its up-call");
	start(&loop, 9, up, frame, 8, flags);
	check(leaves(&loop, 9) && buffer[0] == 'y', "another entry resumes it");
	start(&other, 5, up, frame, 8, flags);
	check(leaves(&other, 5) && buffer[0] == 'z', "another loop resumes it");
	/* Nothing was kept that the entry could continue instead. */
	frame[ROUNDS] = 99;
	start(&loop, 5, receive, frame, 0, 0);
	send(sv[1], "a", 1, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && entry_result(&loop, 5) == 2,
	      "its first entry runs another compound");
	start(&loop, 5, up, frame, 8, COSY_COMPOUND_RESUMED);
	frame[ROUNDS] = 2;
	check(go(&loop, 1) == 1 && collect(&loop) == 5 &&
	      loop.entries[5].status == COSY_ENTRY_DONE && entry_result(&loop, 5) == 1,
	      "its first entry resumes it, too");

	frame[ROUNDS] = 99;
	start(&loop, 5, up, frame, 0, COSY_COMPOUND_MOVES);
	check(go(&loop, 0) == 0, "the compound waits");
	close(dup(loop.fd));
	check(collect(&loop) == 5 && is_left(&loop, 5, COSY_AGAIN, 0),
	      "it is given back when a descriptor of the loop is closed");
	start(&other, 5, up, frame, 0, flags);
	send(sv[1], "b", 1, 0);
	check(leaves(&other, 5), "another loop resumes it");
}

/* A descriptor is closed while a compound waits. Only such waits are stale. */
static void stale_waits(void)
{
	const uint64_t stale = COSY_ASYNC_CANCEL | COSY_ASYNC_CANCEL_FD;
	const unsigned int number = (unsigned int)sv[0];
	int fd = dup(sv[0]);

	start(&loop, 5, receive, frame, 0, COSY_COMPOUND_MOVES);
	check(go(&loop, 0) == 0 && enter_loop(&loop, stale | number) ==
	      (long long)COSY_ASYNC_ENTERED, "a wait for an open file is not stale");
	close(sv[0]);
	check(enter_loop(&other, stale | number) == (long long)COSY_ASYNC_ENTERED,
	      "another loop has no stale wait");
	check(enter_loop(&loop, stale | 0xffffffffu) == (long long)COSY_ASYNC_ENTERED,
	      "another number has no stale wait");
	check(dup2(device, sv[0]) == sv[0] &&
	      enter_loop(&loop, stale | number) == (long long)(COSY_ASYNC_ENTERED | 1),
	      "the wait is stale when the number is another file's");
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && entry_result(&loop, 5) == 2 &&
	      (long long)frame[GOT] == -ECANCELED, "ECANCELED for the stale wait");
	dup2(fd, sv[0]);
	close(fd);
}

/* After a call that raises a signal, the thread returns. */
static void call_that_raises_a_signal(void)
{
	__u64 pipe = LOAD_FOR_LOOPS(SEND(SENT, FD, BUF, SIZE, 0), ADDI(ROUNDS, ROUNDS, 1), EXIT(0));

	signal(SIGPIPE, SIG_IGN);
	close(sv[1]);
	start(&loop, 5, pipe, frame, 0, COSY_COMPOUND_MOVES);
	check(go(&loop, 1) == 1 && collect(&loop) == 5 && is_left(&loop, 5, COSY_RESULT, 0) &&
	      entry_result(&loop, 5) == -EPIPE, "a compound that moves is left after EPIPE");
	check(run(&loop, pipe, frame, 0, 0) == 0 && (long long)frame[SENT] == -EPIPE,
	      "a compound that does not move continues");
}

int main(void)
{
	device = open_device();
	set_up();
	upcalls();
	entry_is_used_again();
	calls_that_do_not_wait();
	joined_calls();
	faults();
	moves();
	stale_waits();
	call_that_raises_a_signal();
	close(sv[0]);
	destroy(&loop);
	destroy(&other);
	return finish();
}
