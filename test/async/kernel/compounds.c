// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Entries that run compounds. They are parked when their recvfrom or sendto would block, resume
 * with their registers, and are returned to the process for work in user mode. Writes, closes and
 * cancels of the process meanwhile do no harm.
 */

// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

#include "Inputs/coroutine.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

static __u64 echo, receive, send_all;

static void load_all(void)
{
	/* Until no more data can be received: exit 0. A call that fails: exit 1. */
	echo = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), BR(GOT, SLT, 0, 19), BR(GOT, EQ, 0, 18),
			      SEND(SENT, FD, BUF, GOT, MSG_NOSIGNAL), ADDI(ROUNDS, ROUNDS, 1),
			      JMP(0), EXIT(0), EXIT(1));
	receive = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), EXIT(2));
	send_all = LOAD_FOR_LOOPS(SEND(SENT, FD, BUF, SIZE, MSG_NOSIGNAL), EXIT(3));
}

static bool echoes(struct loop *loop, int fd, const char *text)
{
	char got[64];
	ssize_t n = (ssize_t)strlen(text);

	if (send(fd, text, n, 0) != n || go(loop, 0))
		return false;
	return recv(fd, got, sizeof(got), MSG_DONTWAIT) == n && !memcmp(got, text, n);
}

static void serving(void)
{
	static char buffers[64][64];
	static __u64 frames[64][NREGS + 1];
	int sv[64][2];
	unsigned int good = 0;
	struct loop loop;

	create(&loop, 64);
	check(loop.page->features & COSY_ASYNC_COMPOUNDS, "the loop says that it runs compounds");
	for (uint32_t i = 0; i < 64; i++) {
		pair(sv[i]);
		frames[i][FD] = (__u64)sv[i][0];
		frames[i][BUF] = (uintptr_t)buffers[i];
		frames[i][SIZE] = sizeof(buffers[i]);
		start(&loop, i, echo, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0 && loop.page->submit_head == loop.tail, "all of them wait");
	check(!readable(loop.fd), "there is nothing to do");
	for (int i = 0; i < 64; i++)
		good += echoes(&loop, sv[i][1], i & 1 ? "one" : "another") &&
			echoes(&loop, sv[i][1], "and again");
	check(good == 64, "each one answers: %u", good);
	for (int i = 0; i < 64; i++)
		send(sv[i][1], "together", 8, 0);
	check(readable(loop.fd) && go(&loop, 0) == 0 && !readable(loop.fd),
	      "the loop can be polled");
	good = 0;
	for (int i = 0; i < 64; i++) {
		char got[64];

		good += recv(sv[i][1], got, 64, MSG_DONTWAIT) == 8;
		close(sv[i][1]);
	}
	check(good == 64, "all at once: %u", good);
	check(go(&loop, 64) == 64, "the end of each connection ends one");
	good = 0;
	for (int i; (i = collect(&loop)) >= 0; close(sv[i][0]))
		good += loop.entries[i].status == COSY_ENTRY_DONE && entry_result(&loop, i) == 0 &&
			frames[i][ROUNDS] == 3 && frames[i][GOT] == 0;
	check(good == 64, "by its exit, with its outputs: %u", good);
	destroy(&loop);
}

/* Arguments that are wrong. */
static void refused(void)
{
	__u64 frame[NREGS + 1] = { 0 }, plain;
	struct cosy_run sync;
	struct loop loop;
	char byte;
	int sv[2];

	create(&loop, 64);
	pair(sv);
	frame[FD] = (__u64)sv[0];
	frame[BUF] = (uintptr_t)&byte;
	frame[SIZE] = 1;
	plain = must_load(device, NREGS, EXIT(0));
	check(run(&loop, plain, frame, 0, 0) == -ENOENT, "a compound that was not loaded for loops");
	check(run(&loop, echo + 1000, frame, 0, 0) == -ENOENT, "none");
	check(run_frame(device, echo, frame, &sync) == -ENOENT, "one for loops is not run otherwise");
	check(run(&loop, echo, frame, 0, 8) == -EINVAL, "unknown flags");
	check(run(&loop, echo, frame, 0, 1ull << 63) == -EINVAL, "more of them");
	check(run(&loop, echo, frame, 1, 0) == -EINVAL, "it does not begin in the middle");
	check(run(&loop, echo, frame, 1, COSY_COMPOUND_RESUMED) == -EINVAL, "nor at an argument");
	check(run(&loop, echo, frame, 20, COSY_COMPOUND_RESUMED) == -EINVAL, "nor behind the end");
	check(run(&loop, echo, frame, 1ull << 32, COSY_COMPOUND_RESUMED) == -EINVAL, "far behind");
	check(run(&loop, echo, (__u64 *)8, 0, 0) == -EFAULT, "no registers");
	check(run(&loop, echo, (__u64 *)-64, 0, 0) == -EFAULT, "registers in the kernel");
	for (int i = 0; i < 4; i++) {
		const long long fds[] = { -1, sv[0], loop.fd, 1ll << 40 };

		start(&loop, 7, echo, frame, 0, 0);
		loop.entries[7].args[0] = (__u64)fds[i];
		check(go(&loop, 1) == 1 && collect(&loop) == 7 && entry_result(&loop, 7) == -EBADF,
		      "descriptor %lld has no compounds", fds[i]);
	}
	submit(&loop, 7, COSY_ENTRY_SILENT, COSY_ENTRY_COMPOUND, (__u64)device, echo,
	       (uintptr_t)frame, 0);
	check(go(&loop, 1) == 1 && loop.entries[7].status == COSY_ENTRY_FREE, "not silent");
	submit(&loop, 7, 0, COSY_ENTRY_SPECIAL + 1, (__u64)device, echo, (uintptr_t)frame, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 7 && entry_result(&loop, 7) == -EINVAL,
	      "another special number");
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

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

/*
 * The frame is unmapped when the compound ends. Its outputs are lost, and the process is killed.
 */
static void losing_frame(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		__u64 *frame = must_map(4096);
		struct loop loop;
		char byte;
		int sv[2];

		prctl(PR_SET_DUMPABLE, 0);
		create(&loop, 64);
		pair(sv);
		frame[FD] = (__u64)sv[0];
		frame[BUF] = (uintptr_t)&byte;
		frame[SIZE] = 1;
		start(&loop, 0, receive, frame, 0, 0);
		go(&loop, 0);
		munmap(frame, 4096);
		send(sv[1], "x", 1, 0);
		go(&loop, 1);
		_exit(0);
	}
	waitpid(child, &status, 0);
	check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "without its frame: SIGSEGV");
}

/* Receive what is there. Return the number of bytes. */
static size_t drain(int fd)
{
	static char in[1 << 20];
	size_t received = 0;

	for (ssize_t n; (n = recv(fd, in, sizeof(in), MSG_DONTWAIT)) > 0;)
		received += (size_t)n;
	return received;
}

static void sending(void)
{
	static char out[1 << 20], in[1 << 20];
	static __u64 frame[NREGS + 1];
	size_t received = 0;
	struct loop loop;
	int sv[2], ended = 0;

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (char)(i * 7 + (i >> 8));
	create(&loop, 64);
	pair(sv);
	frame[FD] = (__u64)sv[0];
	frame[BUF] = (uintptr_t)out;
	frame[SIZE] = sizeof(out);
	start(&loop, 0, send_all, frame, 0, 0);
	check(go(&loop, 0) == 0, "more than goes at once");
	while (received < sizeof(in)) {
		ssize_t n = recv(sv[1], in + received, sizeof(in) - received, MSG_DONTWAIT);

		if (n > 0)
			received += (size_t)n;
		ended += execute(&loop);
	}
	check(ended == 1 && collect(&loop) == 0 && entry_result(&loop, 0) == 3 &&
	      frame[SENT] == sizeof(out) && !memcmp(in, out, sizeof(in)),
	      "all of it comes, once, and is one send");
	start(&loop, 0, send_all, frame, 0, 0);
	check(go(&loop, 0) == 0 && enter_loop(&loop, COSY_ASYNC_CANCEL | 0) ==
	      (long long)COSY_ASYNC_ENTERED && go(&loop, 1) == 1 && collect(&loop) == 0,
	      "cancelled");
	received = drain(sv[1]);
	check(received && frame[SENT] == received, "it tells what it has sent: %llu of %zu",
	      (unsigned long long)frame[SENT], received);
	close(sv[1]);
	check(run(&loop, send_all, frame, 0, 0) == 3 && (long long)frame[SENT] == -EPIPE, "EPIPE");
	close(sv[0]);
	destroy(&loop);
}

static __u64 receive_twice(void)
{
	return LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), RECV(SENT, FD, BUF, SIZE, 0), EXIT(1));
}

/*
 * All compounds that wait for a socket receive before one of them receives again. That is the
 * first one, unless the kernel had work between its two calls, which delays it.
 */
static void taking_turns(void)
{
	static __u64 frames[3][NREGS + 1];
	char bytes[] = "---";
	struct loop loop;
	int sv[2], ended;
	__u64 twice;

	create(&loop, 64);
	pair(sv);
	twice = receive_twice();
	for (uint32_t i = 0; i < 3; i++) {
		frames[i][FD] = (__u64)sv[0];
		frames[i][BUF] = (uintptr_t)&bytes[i];
		frames[i][SIZE] = 1;
		start(&loop, i, twice, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0, "three wait for a socket");
	send(sv[1], "abcd", 4, 0);
	check(go(&loop, 1) == 1, "one of them ends");
	ended = collect(&loop);
	/* Its second byte follows its first one. */
	check(ended >= 0 && ended < 3 && bytes[ended] == 'd' && strspn(bytes, "abcd") == 3 &&
	      bytes[0] != bytes[1] && bytes[1] != bytes[2] && bytes[0] != bytes[2],
	      "they take turns: %s, %d has ended", bytes, ended);
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

static void cancelling(void)
{
	static __u64 frames[3][NREGS + 1];
	static char buffers[3][8];
	struct loop loop;
	int sv[2], other[2];
	__u64 twice;

	create(&loop, 64);
	pair(sv);
	pair(other);
	twice = receive_twice();
	for (uint32_t i = 0; i < 3; i++) {
		frames[i][FD] = (__u64)sv[0];
		frames[i][BUF] = (uintptr_t)buffers[i];
		frames[i][SIZE] = 1;
		if (i)
			start(&loop, i, twice, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0, "two wait for a socket");
	send(sv[1], "ab", 2, 0);
	check(go(&loop, 0) == 0 && buffers[1][0] && buffers[2][0], "each receives once");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 1) == (long long)COSY_ASYNC_ENTERED &&
	      go(&loop, 1) == 1 && collect(&loop) == 1 && (long long)frames[1][SENT] == -ECANCELED,
	      "one is cancelled");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 1) == -ENOENT, "once");
	start(&loop, 1, twice, frames[1], 0, COSY_COMPOUND_CANCELLED);
	check(go(&loop, 1) == 1 && collect(&loop) == 1 && (long long)frames[1][GOT] == -ECANCELED &&
	      (long long)frames[1][SENT] == -ECANCELED, "one that is cancelled before");
	start(&loop, 1, twice, frames[1], 0, 0);
	check(go(&loop, 0) == 0, "it waits again");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)other[0]) ==
	      (long long)COSY_ASYNC_ENTERED &&
	      enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)device) ==
	      (long long)COSY_ASYNC_ENTERED &&
	      enter_loop(&loop, COSY_ASYNC_CANCEL_FD | 0xffffffffu) == (long long)COSY_ASYNC_ENTERED,
	      "nobody waits for other descriptors");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
	      (long long)(COSY_ASYNC_ENTERED | 2), "two wait for this one");
	check(go(&loop, 1) == 1 && collect(&loop) == 2 && (long long)frames[2][SENT] == -ECANCELED,
	      "the call of one fails, and it ends");
	frames[1][SENT] = 0;
	send(sv[1], "z", 1, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 1 && (long long)frames[1][GOT] == -ECANCELED &&
	      frames[1][SENT] == 1, "that of the other one fails once");

	/* The socket's number belongs to another file. */
	start(&loop, 0, twice, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "it waits");
	send(sv[1], "!", 1, 0);
	dup2(other[0], sv[0]);
	check(go(&loop, 0) == 0 && (long long)*(volatile __u64 *)&loop.entries[0].args[0] == device,
	      "what it waited for is gone; it waits for what is there now");
	send(other[1], "?", 1, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && (long long)frames[0][GOT] == -ECANCELED &&
	      frames[0][SENT] == 1 && buffers[0][0] == '?', "and receives that");
	close(sv[0]);
	close(sv[1]);
	close(other[0]);
	close(other[1]);
	destroy(&loop);
}

/* If poll() and recvfrom() disagree, the call is made. */
static void not_asked(void)
{
	static __u64 frame[NREGS + 1];
	struct sockaddr_in name = { .sin_family = AF_INET };
	int low = 100, sv[2], listener;
	char buffer[8];
	struct loop loop;
	__u64 answer;

	create(&loop, 64);
	frame[BUF] = (uintptr_t)buffer;
	frame[SIZE] = sizeof(buffer);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	check(!bind(listener, (struct sockaddr *)&name, sizeof(name)) && !listen(listener, 1),
	      "a socket that listens");
	frame[FD] = (__u64)listener;
	check(run(&loop, receive, frame, 0, 0) == 2 && (long long)frame[GOT] == -ENOTCONN,
	      "receives nothing, at once");
	close(listener);

	pair(sv);
	frame[FD] = (__u64)sv[0];
	check(!setsockopt(sv[0], SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low)) &&
	      send(sv[1], "0123456789", 10, 0) == 10, "less than the low-water mark");
	check(run(&loop, receive, frame, 0, 0) == 2 && frame[GOT] == sizeof(buffer),
	      "is enough for a small buffer");
	close(sv[0]);
	close(sv[1]);

	/* The sender is not notified when the receiver of a datagram has room again. */
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sv))
		die("socketpair");
	answer = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), SEND(SENT, FD, BUF, SIZE, 0), EXIT(1));
	frame[FD] = (__u64)sv[0];
	while (send(sv[0], "x", 1, MSG_DONTWAIT) == 1)
		;
	start(&loop, 0, answer, frame, 0, 0);
	check(go(&loop, 0) == 0, "waits for a datagram");
	send(sv[1], "x", 1, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && is_left(&loop, 0, COSY_STEP, 7),
	      "and not until it can send one");
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

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

/* close() of a socket that the process declares unused. */
static void closing(void)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 1 };
	static __u64 frames[2][NREGS + 1];
	struct sockaddr_in name = { .sin_family = AF_INET };
	__u8 used[32] = { 0 };
	__u64 end, wait_and_end;
	struct loop loop;
	int sv[2], lingering, zero = open("/dev/zero", O_RDONLY);
	char buffer[8];

	create(&loop, 64);
	check(loop.page->features & COSY_ASYNC_CLOSES, "the loop says that it closes sockets");
	end = LOAD_FOR_LOOPS(SYS(GOT, SYS_close, 1), ARG(FD), EXIT(2));
	wait_and_end = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), SYS(SENT, SYS_close, 1),
				      ARG(FD), EXIT(3));
	pair(sv);
	for (int i = 0; i < 2; i++) {
		frames[i][FD] = (__u64)sv[0];
		frames[i][BUF] = (uintptr_t)buffer;
		frames[i][SIZE] = sizeof(buffer);
	}
	/* The map: none, one that contains it, one at an unmapped address. */
	for (int i = 0; i < 3; i++) {
		loop.page->nused = 256;
		loop.page->used = i == 0 ? 0 : i == 1 ? (uintptr_t)used : 8;
		used[sv[0] / 8] = (__u8)(1 << sv[0] % 8);
		start(&loop, 1, end, frames[1], 0, 0);
		check(go(&loop, 1) == 1 && collect(&loop) == 1 && is_left(&loop, 1, COSY_STEP, 0) &&
		      entry_result(&loop, 1) == COSY_STEP_CALL && fcntl(sv[0], F_GETFD) >= 0,
		      "it is left to the process to close what it uses");
	}
	used[sv[0] / 8] = (__u8)~used[sv[0] / 8];
	loop.page->used = (uintptr_t)used;
	start(&loop, 0, wait_and_end, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "one waits for the socket");
	start(&loop, 1, end, frames[1], 0, 0);
	/*
	 * Before 6.6 the socket is closed on the return to user mode, and the other one ends
	 * first.
	 */
	check(go(&loop, 2) == 2 && collect(&loop) + collect(&loop) == 1 &&
	      entry_result(&loop, 1) == 2 && frames[1][GOT] == 0 &&
	      fcntl(sv[0], F_GETFD) < 0, "another one closes it");
	check(recv(sv[1], buffer, 1, 0) == 0, "that ends the connection");
	check(is_left(&loop, 0, COSY_STEP, 7) && (long long)frames[0][GOT] == -ECANCELED,
	      "the one that waits is told, and closes nothing");
	close(sv[1]);

	/* No data after the map is used. */
	pair(sv);
	loop.page->nused = 0;
	frames[0][FD] = (__u64)sv[0];
	start(&loop, 0, wait_and_end, frames[0], 0, 0);
	check(go(&loop, 0) == 0 && send(sv[1], "x", 1, 0) == 1 && go(&loop, 1) == 1 &&
	      collect(&loop) == 0 && frames[0][SENT] == 0 && recv(sv[1], buffer, 1, 0) == 0,
	      "one closes what it has waited for");
	close(sv[1]);

	/* Other sockets may take longer, and do more work. */
	lingering = socket(AF_INET, SOCK_STREAM, 0);
	check(!bind(lingering, (struct sockaddr *)&name, sizeof(name)) &&
	      !setsockopt(lingering, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) &&
	      zero >= 0, "files of other kinds");
	for (int i = 0; i < 5; i++) {
		const int fds[] = { lingering, zero, device, loop.fd, -1 };

		frames[1][FD] = (__u64)fds[i];
		start(&loop, 1, end, frames[1], 0, 0);
		check(go(&loop, 1) == 1 && collect(&loop) == 1 && is_left(&loop, 1, COSY_STEP, 0),
		      "are left to the process");
	}
	close(lingering);
	close(zero);
	destroy(&loop);
}

/* accept() waits for a listening socket without O_NONBLOCK. */
static void accepting(void)
{
	static __u64 frames[2][NREGS + 1];
	struct sockaddr_in name = { .sin_family = AF_INET };
	socklen_t size = sizeof(name);
	struct loop loop;
	int listener = socket(AF_INET, SOCK_STREAM, 0), client, sv[2];
	__u64 one, flags;

	create(&loop, 64);
	check(loop.page->features & COSY_ASYNC_ACCEPTS, "the loop says that it waits in accept()");
	one = LOAD_FOR_LOOPS(SYS(GOT, SYS_accept4, 4), ARG(FD), ARG(BUF), ARG(SIZE),
			     ARGI(SOCK_CLOEXEC), EXIT(1));
	flags = LOAD_FOR_LOOPS(SYS(GOT, SYS_accept4, 4), ARG(FD), ARG(BUF), ARG(SIZE), ARGI(12345),
			       EXIT(1));
	check(!bind(listener, (struct sockaddr *)&name, sizeof(name)) && !listen(listener, 4) &&
	      !getsockname(listener, (struct sockaddr *)&name, &size), "a socket that listens");
	for (__u32 i = 0; i < 2; i++) {
		frames[i][FD] = (__u64)listener;
		start(&loop, i, one, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0, "two wait");
	client = socket(AF_INET, SOCK_STREAM, 0);
	check(!connect(client, (struct sockaddr *)&name, size) && go(&loop, 1) == 1 &&
	      collect(&loop) == 0 && fcntl((int)frames[0][GOT], F_GETFD) == FD_CLOEXEC,
	      "the first one gets the connection");
	close((int)frames[0][GOT]);
	close(client);
	check(go(&loop, 0) == 0, "the other one waits");
	/* It is too late to notify the client. */
	client = socket(AF_INET, SOCK_STREAM, 0);
	frames[0][BUF] = 8;
	frames[0][SIZE] = 8;
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 1) == (long long)COSY_ASYNC_ENTERED &&
	      go(&loop, 1) == 1 && collect(&loop) == 1 && (long long)frames[1][GOT] == -ECANCELED,
	      "it is cancelled");
	check(!connect(client, (struct sockaddr *)&name, size) &&
	      run(&loop, one, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EFAULT,
	      "no address");
	close(client);
	check(run(&loop, flags, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EINVAL,
	      "unknown flags");
	start(&loop, 0, one, frames[0], 0, 0);
	check(go(&loop, 0) == 0 && !shutdown(listener, SHUT_RD) && go(&loop, 1) == 1 &&
	      collect(&loop) == 0 && (long long)frames[0][GOT] == -EINVAL, "it listens no more");
	pair(sv);
	for (int i = 0; i < 3; i++) {
		const int fds[] = { sv[0], device, 1000 };
		const int errors[] = { EINVAL, ENOTSOCK, EBADF };

		frames[0][FD] = (__u64)fds[i];
		check(run(&loop, one, frames[0], 0, 0) == 1 &&
		      (long long)frames[0][GOT] == -errors[i], "error %d", errors[i]);
	}
	close(sv[0]);
	close(sv[1]);
	close(listener);
	destroy(&loop);
}

/* recvmsg() and sendmsg(): the system call reads the message each time. */
static void messages(void)
{
	static __u64 frames[2][NREGS + 1];
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 }, sent = {
		.header = {
			.cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
		},
	};
	static char large[1 << 20], bytes[8];
	struct iovec to[2] = { { bytes, 2 }, { bytes + 2, 3 } };
	struct iovec from = { large, sizeof(large) }, two = { (void *)"hi", 2 };
	struct msghdr in = { .msg_iov = to, .msg_iovlen = 2 };
	struct msghdr out = { .msg_iov = &from, .msg_iovlen = 1 };
	struct msghdr passing = {
		.msg_iov = &two,
		.msg_iovlen = 1,
		.msg_control = &sent,
		.msg_controllen = sizeof(sent),
	};
	__u64 get, peek, all, put;
	struct loop loop;
	int sv[2], fd;

	create(&loop, 64);
	check(loop.page->features & COSY_ASYNC_MESSAGES, "the loop says that it waits in recvmsg()");
	get = LOAD_FOR_LOOPS(RECVMSG(GOT, FD, BUF, 0), EXIT(1));
	peek = LOAD_FOR_LOOPS(RECVMSG(GOT, FD, BUF, MSG_PEEK), EXIT(1));
	all = LOAD_FOR_LOOPS(RECVMSG(GOT, FD, BUF, MSG_WAITALL), EXIT(1));
	put = LOAD_FOR_LOOPS(SENDMSG(GOT, FD, BUF, 0), EXIT(1));
	pair(sv);
	frames[0][FD] = (__u64)sv[0];
	frames[0][BUF] = (uintptr_t)&in;
	start(&loop, 0, get, frames[0], 0, 0);
	check(go(&loop, 0) == 0 && !readable(loop.fd), "it waits");
	send(sv[1], "hello", 5, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && frames[0][GOT] == 5 &&
	      !memcmp(bytes, "hello", 5), "for a message in two pieces");

	/* A descriptor is received with it. */
	in.msg_control = &control;
	in.msg_controllen = sizeof(control);
	memcpy(CMSG_DATA(&sent.header), &device, sizeof(int));
	start(&loop, 0, peek, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "it waits to look");
	frames[1][FD] = (__u64)sv[1];
	frames[1][BUF] = (uintptr_t)&passing;
	check(run(&loop, put, frames[1], 0, 0) == -1000 && frames[1][GOT] == 2, "one is sent");
	go(&loop, 0);
	while (collect(&loop) >= 0)
		;
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	check(frames[0][GOT] == 2 && in.msg_controllen == CMSG_SPACE(sizeof(int)) &&
	      !ioctl(fd, COSY_IOC_UNLOAD, &peek), "it sees the message, and its descriptor");
	close(fd);
	in.msg_controllen = sizeof(control);
	check(run(&loop, get, frames[0], 0, 0) == 1 && frames[0][GOT] == 2 &&
	      in.msg_controllen == CMSG_SPACE(sizeof(int)), "and then another one receives it");
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	check(fd != device && !close(fd), "with a descriptor of its own");
	in.msg_control = NULL;
	in.msg_controllen = 0;

	/* Errors are returned immediately. */
	frames[0][BUF] = 8;
	check(run(&loop, get, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EFAULT,
	      "no message");
	frames[0][BUF] = (uintptr_t)&in;
	in.msg_iov = (void *)8;
	check(run(&loop, get, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EFAULT,
	      "no pieces");
	in.msg_iov = to;
	in.msg_iovlen = 1ul << 40;
	check(run(&loop, get, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EMSGSIZE,
	      "too many pieces");
	in.msg_iovlen = 2;
	frames[0][FD] = (__u64)device;
	check(run(&loop, get, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -ENOTSOCK,
	      "no socket");
	frames[0][FD] = 1000;
	check(run(&loop, get, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EBADF, "no file");
	frames[0][FD] = (__u64)sv[0];
	start(&loop, 0, all, frames[0], 0, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && is_left(&loop, 0, COSY_STEP, 0),
	      "MSG_WAITALL is left to the process");

	/* The message is unmapped while it waits. */
	frames[0][BUF] = (uintptr_t)must_map(4096);
	memcpy((void *)(uintptr_t)frames[0][BUF], &in, sizeof(in));
	start(&loop, 0, get, frames[0], 0, 0);
	check(go(&loop, 0) == 0 && !munmap((void *)(uintptr_t)frames[0][BUF], 4096) &&
	      send(sv[1], "x", 1, 0) == 1 && go(&loop, 1) == 1 && collect(&loop) == 0 &&
	      (long long)frames[0][GOT] == -EFAULT, "the message goes");
	frames[0][BUF] = (uintptr_t)&in;
	check(run(&loop, get, frames[0], 0, 0) == 1 && frames[0][GOT] == 1, "not what was sent");
	start(&loop, 0, get, frames[0], 0, 0);
	check(go(&loop, 0) == 0 && enter_loop(&loop, COSY_ASYNC_CANCEL | 0) ==
	      (long long)COSY_ASYNC_ENTERED && go(&loop, 1) == 1 && collect(&loop) == 0 &&
	      (long long)frames[0][GOT] == -ECANCELED, "one is cancelled");

	/* Sends as much as there is room for, like an operation, and waits if there is none. */
	frames[0][BUF] = (uintptr_t)&out;
	check(run(&loop, put, frames[0], 0, 0) == 1 && frames[0][GOT] > 0 &&
	      frames[0][GOT] < sizeof(large), "a part is sent");
	start(&loop, 0, put, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "there is no room");
	while (recv(sv[1], large, sizeof(large), MSG_DONTWAIT) > 0)
		;
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && frames[0][GOT] > 0, "until there is some");
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

/* Each connection wakes one waiter, and is never lost. */
#define ACCEPTS 40

static struct sockaddr_in listener_name = { .sin_family = AF_INET };

/* Entries that were begun, and that have resumed. */
static __u64 executed(const struct loop *loop)
{
	unsigned long long n = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", loop->fd);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "executed: %llu", &n);
	if (file)
		fclose(file);
	return n;
}

/* Listen at listener_name, on a free port. */
static int listen_for(int connections)
{
	socklen_t size = sizeof(listener_name);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	listener_name.sin_port = 0;
	if (bind(listener, (struct sockaddr *)&listener_name, size) ||
	    listen(listener, connections) ||
	    getsockname(listener, (struct sockaddr *)&listener_name, &size))
		die("listen");
	return listener;
}

static int connect_one(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&listener_name, sizeof(listener_name)))
		die("connect");
	return fd;
}

static void *accept_one(void *listener)
{
	close(accept(*(int *)listener, NULL, NULL));
	return NULL;
}

/* Connect two TCP sockets. */
static void tcp_pair(int sv[2])
{
	int listener = listen_for(1);

	sv[1] = connect_one();
	sv[0] = accept(listener, NULL, NULL);
	if (sv[0] < 0)
		die("accept");
	close(listener);
}

/* What TCP sockets report without poll(): nothing, data, urgent data, the end, an error. */
static void waiting_for_tcp(void)
{
	const struct linger reset = { .l_onoff = 1 };
	static __u64 frame[NREGS + 1];
	char buffer[8] = "";
	struct loop loop;
	int sv[2];

	create(&loop, 64);
	frame[BUF] = (uintptr_t)buffer;
	frame[SIZE] = sizeof(buffer);
	for (int waits = 0; waits < 2; waits++) {
		tcp_pair(sv);
		frame[FD] = (__u64)sv[0];
		for (int i = 0; i < 4; i++) {
			if (waits) {
				start(&loop, 0, receive, frame, 0, 0);
				check(go(&loop, 0) == 0, "nothing to receive");
			}
			if (i == 0)
				send(sv[1], "abc", 3, 0);
			else if (i == 1)
				send(sv[1], "dx", 2, MSG_OOB);
			else if (i == 2)
				send(sv[1], "e", 1, 0);
			else
				shutdown(sv[1], SHUT_WR);
			if (!waits)
				start(&loop, 0, receive, frame, 0, 0);
			check(go(&loop, 1) == 1 && collect(&loop) == 0 &&
			      entry_result(&loop, 0) == 2, "it is received");
			check(i == 0 ? frame[GOT] == 3 && !memcmp(buffer, "abc", 3) :
			      i == 1 ? frame[GOT] == 1 && buffer[0] == 'd' :
			      i == 2 ? frame[GOT] == 1 && buffer[0] == 'e' :
				       frame[GOT] == 0,
			      "message %d: %lld, '%c'", i, (long long)frame[GOT], buffer[0]);
		}
		close(sv[0]);
		close(sv[1]);

		tcp_pair(sv);
		frame[FD] = (__u64)sv[0];
		if (waits) {
			start(&loop, 0, receive, frame, 0, 0);
			check(go(&loop, 0) == 0, "nothing yet");
		}
		setsockopt(sv[1], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		close(sv[1]);
		if (!waits)
			start(&loop, 0, receive, frame, 0, 0);
		check(go(&loop, 1) == 1 && collect(&loop) == 0 &&
		      (long long)frame[GOT] == -ECONNRESET, "a reset: %lld",
		      (long long)frame[GOT]);
		close(sv[0]);
	}
	destroy(&loop);
}

static void accepting_in_turn(void)
{
	static __u64 frames[2 * ACCEPTS][NREGS + 1];
	struct loop loop, other, *loops[] = { &loop, &other };
	int listener = listen_for(2 * ACCEPTS), clients[ACCEPTS], fd, index;
	unsigned int ended = 0;
	struct rlimit files;
	__u64 one, before;
	pthread_t thread;

	one = LOAD_FOR_LOOPS(SYS(GOT, SYS_accept, 3), ARG(FD), ARGI(0), ARGI(0), EXIT(1));
	create(&loop, 64);
	create(&other, 64);
	for (uint32_t i = 0; i < ACCEPTS; i++) {
		frames[i][FD] = (__u64)listener;
		start(&loop, i, one, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0, "many wait");
	for (uint32_t i = 0; i < 3; i++)
		clients[i] = connect_one();
	before = executed(&loop);
	check(go(&loop, 3) == 3 && executed(&loop) - before == 3, "three connections wake three");
	for (uint32_t i = 0; i < 3; i++) {
		check(collect(&loop) == (int)i, "those that have waited for longest");
		close((int)frames[i][GOT]);
		close(clients[i]);
	}

	/* The notified one is cancelled. The next one gets the connection. */
	clients[0] = connect_one();
	for (uint32_t i = 3; i < 6; i++)
		enter_loop(&loop, COSY_ASYNC_CANCEL | i);
	check(go(&loop, 4) == 4, "three are cancelled, and the next one goes on");
	for (int i = 3; i < 7; i++) {
		index = collect(&loop);
		ended += index == 6 ? (int)frames[6][GOT] >= 0 && !close((int)frames[6][GOT]) :
				      (long long)frames[index][GOT] == -ECANCELED;
	}
	check(ended == 4, "with the connection");
	close(clients[0]);

	/* Another loop also waits. The first one is notified, and ends. */
	frames[ACCEPTS][FD] = (__u64)listener;
	start(&other, 0, one, frames[ACCEPTS], 0, 0);
	check(go(&other, 0) == 0, "another loop waits behind them");
	clients[0] = connect_one();
	check(readable(loop.fd) && !readable(other.fd), "it is not told");
	destroy(&loop);
	check(readable(other.fd) && go(&other, 1) == 1 && collect(&other) == 0 &&
	      !close((int)frames[ACCEPTS][GOT]), "it is when the first one is gone");
	close(clients[0]);

	/* One that is left does not keep the connection. */
	create(&loop, 64);
	for (int i = 0; i < 2; i++) {
		start(loops[i], 0, one, frames[i], 0, 0);
		check(go(loops[i], 0) == 0, "one waits");
	}
	clients[0] = connect_one();
	close(dup(loop.fd));
	check(collect(&loop) == 0 && is_left(&loop, 0, COSY_AGAIN, 0) && readable(other.fd) &&
	      go(&other, 1) == 1 && collect(&other) == 0 && !close((int)frames[1][GOT]),
	      "one that is given back passes it on");
	close(clients[0]);

	/* The same for one that has no free number for it. */
	for (int i = 0; i < 2; i++) {
		start(loops[i], 0, one, frames[i], 0, 0);
		go(loops[i], 0);
	}
	clients[0] = connect_one();
	getrlimit(RLIMIT_NOFILE, &files);
	fd = dup(0);
	close(fd);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ (rlim_t)fd, files.rlim_max });
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && (long long)frames[0][GOT] == -EMFILE,
	      "no number is left");
	setrlimit(RLIMIT_NOFILE, &files);
	check(readable(other.fd) && go(&other, 1) == 1 && collect(&other) == 0 &&
	      !close((int)frames[1][GOT]), "the other one gets it");
	close(clients[0]);

	/* A thread that blocks gets a connection that the loop does not accept. */
	start(&loop, 0, one, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "one waits");
	pthread_create(&thread, NULL, accept_one, &listener);
	usleep(100000);
	clients[0] = connect_one();
	destroy(&loop);
	pthread_join(thread, NULL);
	close(clients[0]);
	destroy(&other);
	close(listener);
}

static int exclusive_epoll;

static void *wait_for_epoll(void *unused)
{
	struct epoll_event event;

	epoll_wait(exclusive_epoll, &event, 1, 10000);
	return unused;
}

/* Other pollers of the socket, or of the loop. */
static void polling(void)
{
	static __u64 frame[NREGS + 1];
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE };
	int sv[2], epoll = epoll_create1(EPOLL_CLOEXEC);
	pthread_t thread;
	struct loop loop;
	char byte;

	create(&loop, 64);
	pair(sv);
	exclusive_epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_ctl(exclusive_epoll, EPOLL_CTL_ADD, sv[0], &event))
		die("EPOLL_CTL_ADD");
	pthread_create(&thread, NULL, wait_for_epoll, NULL);
	usleep(100000);
	frame[FD] = (__u64)sv[0];
	frame[BUF] = (uintptr_t)&byte;
	frame[SIZE] = 1;
	start(&loop, 0, receive, frame, 0, 0);
	check(go(&loop, 0) == 0, "it waits, and so does a thread that takes events alone");
	send(sv[1], "x", 1, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && frame[GOT] == 1, "both are told");
	pthread_join(thread, NULL);
	close(exclusive_epoll);

	event.events = EPOLLIN;
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, loop.fd, &event))
		die("EPOLL_CTL_ADD");
	start(&loop, 0, receive, frame, 0, 0);
	check(go(&loop, 0) == 0 && epoll_wait(epoll, &event, 1, 0) == 0, "nothing to do");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 0) == (long long)COSY_ASYNC_ENTERED &&
	      epoll_wait(epoll, &event, 1, 0) == 1, "who polls the loop is told that one is cancelled");
	check(go(&loop, 1) == 1 && collect(&loop) == 0, "it ends");
	start(&loop, 0, receive, frame, 0, 0);
	check(go(&loop, 0) == 0 && epoll_wait(epoll, &event, 1, 0) == 0, "nothing to do again");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
	      (long long)(COSY_ASYNC_ENTERED | 1) && epoll_wait(epoll, &event, 1, 0) == 1,
	      "or that one is interrupted");
	close(epoll);
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

/*
 * A parked compound needs neither the compound's handle, nor the device, nor the loop's
 * descriptor.
 */
static void giving_back(void)
{
	static __u64 frame[NREGS + 1];
	__u64 handle = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), ADDI(ROUNDS, ROUNDS, 5),
				      RECV(SENT, FD, BUF, SIZE, 0), EXIT(1));
	struct loop loop, other;
	char byte;
	int sv[2], fd;

	create(&loop, 64);
	pair(sv);
	frame[FD] = (__u64)sv[0];
	frame[BUF] = (uintptr_t)&byte;
	frame[SIZE] = 1;
	start(&loop, 0, handle, frame, 0, 0);
	check(go(&loop, 0) == 0 && !ioctl(device, COSY_IOC_UNLOAD, &handle), "unloaded");
	send(sv[1], "x", 1, 0);
	check(go(&loop, 0) == 0, "it goes on");
	fd = dup(loop.fd);
	close(fd);
	check(collect(&loop) == 0 && is_left(&loop, 0, COSY_AGAIN, 8) && frame[GOT] == 1 &&
	      frame[ROUNDS] == 5, "closing a descriptor gives it back");
	start(&loop, 0, 0, frame, 8, COSY_COMPOUND_RESUMED);
	check(go(&loop, 0) == 0, "the loop takes it again");
	close(loop.fd);
	check(collect(&loop) == 0 && is_left(&loop, 0, COSY_AGAIN, 8), "closing the last one does, too");
	munmap(loop.page, loop.size);
	create(&loop, 64);
	start(&loop, 0, echo, frame, 0, 0);
	check(go(&loop, 0) == 0 && enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
	      (long long)(COSY_ASYNC_ENTERED | 1), "a call is interrupted");
	close(dup(loop.fd));
	check(collect(&loop) == 0 && is_left(&loop, 0, COSY_AGAIN, 7) &&
	      (long long)frame[GOT] == -ECANCELED, "and stays so when it is given back");
	frame[ROUNDS] = 5;
	create(&other, 64);
	handle = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), ADDI(ROUNDS, ROUNDS, 5),
				RECV(SENT, FD, BUF, SIZE, 0), EXIT(1));
	start(&other, 3, handle, frame, 8, COSY_COMPOUND_RESUMED);
	send(sv[1], "x", 1, 0);
	check(go(&other, 1) == 1 && collect(&other) == 3 && entry_result(&other, 3) == 1 &&
	      frame[ROUNDS] == 5 && frame[SENT] == 1, "another loop ends it");
	destroy(&loop);
	close(sv[0]);
	close(sv[1]);
	destroy(&other);
}

/* A thread that enters a loop; @tid is 0 until it runs. */
struct entrant {
	struct loop *loop;
	uint64_t what;
	pthread_t thread;
	pid_t tid;
	long long entered;
};

static void *enter_in_thread(void *arg)
{
	struct entrant *entrant = arg;

	__atomic_store_n(&entrant->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	entrant->entered = enter_loop(entrant->loop, entrant->what);
	return NULL;
}

/* Return when the thread sleeps. It sleeps only for this reason. */
static void begin_to_enter(struct entrant *entrant, struct loop *loop, uint64_t what)
{
	*entrant = (struct entrant){ .loop = loop, .what = what };
	pthread_create(&entrant->thread, NULL, enter_in_thread, entrant);
	while (!__atomic_load_n(&entrant->tid, __ATOMIC_ACQUIRE) || !is_asleep(entrant->tid))
		usleep(1000);
}

/*
 * A thread has found the loop's file, and enters after the last descriptor was closed. No thread
 * can enter after it, so it must not leave a waiting compound.
 */
static void closed_before_entered(uint64_t what)
{
	static __u64 frame[NREGS + 1];
	struct entrant blocked, late;
	struct loop loop;
	int sv[2], pipes[2];
	char byte, got;

	create(&loop, 64);
	loop.page->sleep_ns = COSY_ASYNC_FOR_EVER;
	loop.page->sleep_fd = -1;
	pair(sv);
	if (pipe(pipes))
		die("pipe");
	submit(&loop, 0, 0, SYS_read, (uint64_t)pipes[0], (uintptr_t)&byte, 1, 0);
	begin_to_enter(&blocked, &loop, 1);
	frame[FD] = (__u64)sv[0];
	frame[BUF] = (uintptr_t)&got;
	frame[SIZE] = 1;
	start(&loop, 1, receive, frame, 0, 0);
	begin_to_enter(&late, &loop, COSY_ASYNC_AWAIT | what | COSY_ASYNC_MAX_DONE);
	close(loop.fd);
	check(write(pipes[1], "x", 1) == 1 && !pthread_join(blocked.thread, NULL) &&
	      blocked.entered == (long long)(COSY_ASYNC_ENTERED | 1) && collect(&loop) == 0,
	      "the first thread leaves");
	pthread_join(late.thread, NULL);
	check(late.entered == (long long)COSY_ASYNC_ENTERED && loop.page->submit_head == loop.tail,
	      "the second one has executed what was submitted: %#llx", late.entered);
	check(collect(&loop) == 1 && is_left(&loop, 1, COSY_AGAIN, 0), "and gives the compound back");
	munmap(loop.page, loop.size);
	for (int i = 0; i < 2; i++) {
		close(sv[i]);
		close(pipes[i]);
	}
}

/* It prevents neither other tasks from running nor a signal from being delivered. */
static void endless(void)
{
	static __u64 frames[2][NREGS + 1];
	__u64 handle = LOAD_FOR_LOOPS(ADDI(ROUNDS, ROUNDS, 1), JMP(0));
	unsigned int completed = 0;
	struct loop loop;
	int status;
	pid_t child;

	create(&loop, 64);
	start(&loop, 0, handle, frames[0], 0, 0);
	start(&loop, 1, handle, frames[1], 0, 0);
	for (uint32_t i = 2; i < 34; i++)
		submit(&loop, i, 0, SYS_getpid, 0, 0, 0, 0);
	for (int i = 0; i < 100; i++)
		completed += (unsigned int)enter_loop(&loop, COSY_ASYNC_MAX_DONE);
	check(completed == 32, "the others complete: %u", completed);
	check(readable(loop.fd), "there is more to do");
	destroy(&loop);
	child = fork();
	if (!child) {
		create(&loop, 64);
		start(&loop, 0, handle, frames[0], 0, 0);
		for (;;)
			enter_loop(&loop, COSY_ASYNC_MAX_DONE);
	}
	usleep(50000);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	check(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "killed");
}

/*
 * Threads that enter, send, cancel and close at the same time. Each compound ends once.
 */
#define PAIRS 8
#define MOVES 2000000

static struct {
	struct loop loop;
	int sv[PAIRS][2];
	bool stop;
} race;

static void *disturb(void *unused)
{
	unsigned int seed = 1;

	while (!__atomic_load_n(&race.stop, __ATOMIC_RELAXED)) {
		unsigned int i = (unsigned int)rand_r(&seed) % PAIRS;
		char got[64];

		switch (rand_r(&seed) % 6) {
		case 0:
			enter_loop(&race.loop, COSY_ASYNC_CANCEL_FD | (unsigned int)race.sv[i][0]);
			break;
		case 1:
			enter_loop(&race.loop, 1);
			break;
		case 2:
			close(dup(race.loop.fd));
			break;
		case 3:
			recv(race.sv[i][1], got, sizeof(got), MSG_DONTWAIT);
			break;
		default:
			send(race.sv[i][1], "data", 4, MSG_DONTWAIT | MSG_NOSIGNAL);
			break;
		}
	}
	return unused;
}

static void racing(void)
{
	static __u64 frames[PAIRS][NREGS + 1];
	static char buffers[PAIRS][64];
	bool inside[PAIRS] = { false };
	unsigned int ended = 0, left = 0, wrong = 0, started = 0;
	pthread_t threads[2];

	create(&race.loop, 64);
	for (int i = 0; i < PAIRS; i++)
		pair(race.sv[i]);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, disturb, NULL);
	for (int move = 0; move < MOVES && (ended < 50 || left < 50); move++) {
		uint32_t n = (uint32_t)move % PAIRS;
		int index;

		if (!inside[n]) {
			frames[n][FD] = (__u64)race.sv[n][0];
			frames[n][BUF] = (uintptr_t)buffers[n];
			frames[n][SIZE] = sizeof(buffers[n]);
			frames[n][ROUNDS] = 0;
			start(&race.loop, n, echo, frames[n], 0, 0);
			inside[n] = true;
			started++;
		}
		if (move % 16 == 0)
			enter_loop(&race.loop, COSY_ASYNC_CANCEL | n);
		enter_loop(&race.loop, COSY_ASYNC_MAX_DONE);
		while ((index = collect(&race.loop)) >= 0) {
			const struct cosy_async_entry *entry = &race.loop.entries[index];

			wrong += index >= PAIRS || !inside[index];
			if (entry->status == COSY_ENTRY_LEFT) {
				left++;
				start(&race.loop, (uint32_t)index, echo, frames[index],
				      (uint32_t)entry->args[1], COSY_COMPOUND_RESUMED);
				continue;
			}
			wrong += entry_result(&race.loop, index) != 1 ||
				 ((long long)frames[index][GOT] != -ECANCELED &&
				  (long long)frames[index][SENT] != -ECANCELED);
			inside[index] = false;
			ended++;
		}
	}
	__atomic_store_n(&race.stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	check(!wrong && ended && left, "%u started, %u ended, %u given back, %u wrong", started, ended,
	      left, wrong);
	for (int i = 0; i < PAIRS; i++) {
		close(race.sv[i][0]);
		close(race.sv[i][1]);
	}
	destroy(&race.loop);
}

/* So many compounds wait that their registers exceed the user's limit. */
static unsigned int wait_until_refused(__u64 handle)
{
	static __u64 frame[COSY_MAX_REGS];
	static char byte;
	unsigned int n = 0;
	struct loop loop;
	int sv[2];

	if (create(&loop, 1 << 14))
		die("a loop");
	frame[BUF] = (uintptr_t)&byte;
	frame[SIZE] = 1;
	for (;; n++) {
		if (n % 32 == 0) {
			pair(sv);
			frame[FD] = (__u64)sv[0];
		}
		start(&loop, n, handle, frame, 0, 0);
		if (go(&loop, 0))
			break;
		if (n % 32 == 31) {
			close(sv[0]);
			close(sv[1]);
		}
	}
	check(n && collect(&loop) == (int)n && entry_result(&loop, (int)n) == -EDQUOT,
	      "%u wait, then there is no more memory for this user", n);
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
	return n;
}

static void charged(void)
{
	const struct cosy_op ops[] = { RECV(GOT, FD, BUF, SIZE, 0), EXIT(2) };
	const uid_t uid = 61001;
	unsigned int first;
	__u64 handle;

	if (!geteuid() && setresuid(uid, uid, uid))
		die("setresuid");
	handle = load_for_loops(ops, sizeof(ops) / sizeof(*ops), COSY_MAX_REGS);
	first = wait_until_refused(handle);
	check(wait_until_refused(handle) == first, "the loop gives all of it back");
}

/* A thread for which a filter forbids sendto(), write() and recvfrom(). */
struct filtered {
	struct loop *loop;
	int watch;
	bool entered;
	struct told told;
};

static void *enter_filtered(void *arg)
{
	struct filtered *thread = arg;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendto, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_recvfrom, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return NULL;
	thread->entered = go(thread->loop, 1) == 1;
	thread->told = told(thread->watch);
	return NULL;
}

/* Enter a loop in such a thread. Return what the kernel reports of it, and events of @watch. */
static struct told filtered(struct loop *loop, int watch)
{
	struct filtered thread = { .loop = loop, .watch = watch };
	pthread_t id;

	check(!pthread_create(&id, NULL, enter_filtered, &thread) && !pthread_join(id, NULL) &&
	      thread.entered, "a thread with a filter enters");
	return thread.told;
}

/* Calls that have begun, and then may not be made by the thread that continues them. */
static void forbidden(void)
{
	int watch = inotify_init1(IN_NONBLOCK), sv[2];
	static char out[1 << 20], path[64];
	static __u64 frame[NREGS + 1];
	struct loop loop;
	struct told report;
	size_t received;
	__u64 write_all;

	write_all = LOAD_FOR_LOOPS(WRITE(SENT, FD, BUF, SIZE), EXIT(3));
	create(&loop, 64);
	pair(sv);
	frame[FD] = (__u64)sv[0];
	frame[BUF] = (uintptr_t)out;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", sv[0]);
	inotify_add_watch(watch, path, IN_MODIFY);
	for (int writes = 0; writes < 2; writes++) {
		const char *call = writes ? "write" : "sendto";

		frame[SIZE] = sizeof(out);
		start(&loop, 0, writes ? write_all : send_all, frame, 0, 0);
		check(go(&loop, 0) == 0, "%s: more than goes at once", call);
		received = drain(sv[1]);
		report = filtered(&loop, watch);
		check(collect(&loop) == 0 && is_left(&loop, 0, COSY_AGAIN, writes ? 4 : 7),
		      "%s: it is left after the call", call);
		check(received && !drain(sv[1]) && frame[SENT] == received,
		      "%s: with what it has sent: %llu of %zu", call,
		      (unsigned long long)frame[SENT], received);
		check(report.events == (unsigned int)writes &&
		      report.syscw == (unsigned int)writes &&
		      report.wchar == (writes ? received : 0),
		      "%s: and is told of: %u events, %llu writes", call, report.events,
		      report.syscw);
	}
	start(&loop, 0, send_all, frame, 0, 0);
	filtered(&loop, watch);
	check(collect(&loop) == 0 && is_left(&loop, 0, COSY_STEP, 0) && !drain(sv[1]),
	      "a call that has not begun is left to the process");

	frame[SIZE] = 1;
	for (int all = 0; all < 2; all++) {
		frame[GOT] = 0;
		start(&loop, 0, receive, frame, 0, 0);
		check(go(&loop, 0) == 0, "it waits");
		check(enter_loop(&loop, all ? COSY_ASYNC_CANCEL :
					      COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
		      (long long)(COSY_ASYNC_ENTERED | !all), "it is cancelled");
		filtered(&loop, watch);
		check(collect(&loop) == 0 && is_left(&loop, 0, COSY_AGAIN, 7) &&
		      (long long)frame[GOT] == -ECANCELED,
		      "a call that was cancelled is not left to the process");
	}
	close(watch);
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

/* Results that mean something else inside the kernel. */
static void odd_results(void)
{
	const long long results[] = { -512, -513, -514, -516, -529, -530, -1, -4095, -4096 };
	int fd = open("/proc/self/mem", O_RDONLY);
	static __u64 frame[NREGS + 1];
	struct loop loop;
	__u64 seek;

	seek = LOAD_FOR_LOOPS(SYS(GOT, SYS_lseek, 3), ARG(FD), ARG(SIZE), ARGI(SEEK_SET), EXIT(3));
	create(&loop, 64);
	frame[FD] = (__u64)fd;
	for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++) {
		frame[SIZE] = (__u64)results[i];
		frame[GOT] = 0;
		check(run(&loop, seek, frame, 0, 0) == 3 && (long long)frame[GOT] == results[i] &&
		      loop.entries[7].status == COSY_ENTRY_DONE, "a compound's call returns %lld",
		      results[i]);
		submit(&loop, 5, 0, SYS_lseek, (__u64)fd, (__u64)results[i], SEEK_SET, 0);
		check(go(&loop, 1) == 1 && collect(&loop) == 5 && entry_result(&loop, 5) == results[i],
		      "a call returns %lld", results[i]);
	}
	close(fd);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	load_all();
	serving();
	refused();
	leaving();
	moving();
	losing_frame();
	sending();
	taking_turns();
	cancelling();
	not_asked();
	waiting_for_tcp();
	file_io();
	closing();
	accepting();
	messages();
	accepting_in_turn();
	polling();
	giving_back();
	closed_before_entered(0);
	closed_before_entered(COSY_ASYNC_SLEEP);
	endless();
	racing();
	forbidden();
	odd_results();
	charged();
	return finish();
}
