/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Threads on other processors execute the operations of a loop; callbacks run in the
 * thread that waits.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "cpus.h"

static struct cosy_loop *new_loop(void)
{
	struct cosy_loop *loop;

	EQUAL(cosy_loop_create(&loop, NULL), 0);
	EQUAL(cosy_loop_cpus(loop, cpus, ncpus), 0);
	return loop;
}

/* An operation runs on the processor that is named for it. */
static void named(void)
{
	struct cosy_loop *loop = new_loop();
	unsigned int at[MAX_CPUS];
	struct cosy_async ops[MAX_CPUS] = { 0 }, wrong = { 0 };

	for (int round = 0; round < 50; round++) {
		memset(at, 0xff, sizeof(at));
		for (unsigned int i = 0; i < ncpus; i++)
			EQUAL(cosy_async_call(loop, cosy_async_on(&ops[i], cpus[i]),
					      SYS_getcpu, (uintptr_t)&at[i], 0, 0, 0, 0, 0), 0);
		EQUAL(cosy_loop_run(loop), 0);
		for (unsigned int i = 0; i < ncpus; i++) {
			EQUAL(ops[i].result, 0);
			EQUAL(at[i], cpus[i]);
		}
	}
	EQUAL(cosy_async_call(loop, cosy_async_on(&wrong, 1023), SYS_getpid, 0, 0, 0, 0, 0,
			      0), -EINVAL);
	EQUAL(cosy_async_pending(&wrong), false);
	EQUAL(cosy_async_call(loop, cosy_async_on(&wrong, UINT32_MAX), SYS_getpid, 0, 0, 0,
			      0, 0, 0), -EINVAL);
	/* A name applies to one submission. */
	wrong.state = 0;
	EQUAL(cosy_async_call(loop, &wrong, SYS_getpid, 0, 0, 0, 0, 0, 0), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(wrong.result, getpid());
	EQUAL(cosy_loop_destroy(loop), 0);

	/* Without processors a name has no effect. */
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	EQUAL(cosy_async_call(loop, cosy_async_on(&wrong, 1023), SYS_getpid, 0, 0, 0, 0, 0,
			      0), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(wrong.result, getpid());
	EQUAL(cosy_loop_destroy(loop), 0);
}

static pthread_t waits;
static unsigned int delivered;

static void in_this_thread(struct cosy_async *op)
{
	EQUAL(pthread_equal(pthread_self(), waits) != 0, true);
	(void)op;
	delivered++;
}

/* The loop chooses processors for many calls of all kinds. Their results are correct. */
static void chosen(void)
{
	enum { OPS = 600 };
	static struct cosy_async ops[OPS];
	static struct stat status[OPS];
	static unsigned int at[OPS];
	static char bytes[OPS];
	struct cosy_loop *loop = new_loop();
	struct cosy_loop_info info;
	char name[] = "/tmp/cosy-cpus-XXXXXX";
	int fd = mkstemp(name), got = 0;

	waits = pthread_self();
	EQUAL(write(fd, "abcdefghij", 10), 10);
	for (int i = 0; i < OPS; i++) {
		ops[i] = (struct cosy_async){ .done = in_this_thread };
		switch (i % 4) {
		case 0:
			EQUAL(cosy_async_stat(loop, &ops[i], name, &status[i]), 0);
			break;
		case 1:
			EQUAL(cosy_async_pread(loop, &ops[i], fd, &bytes[i], 1, i / 4 % 10), 0);
			break;
		case 2:
			EQUAL(cosy_async_fsync(loop, &ops[i], fd), 0);
			break;
		default:
			EQUAL(cosy_async_call(loop, &ops[i], SYS_getcpu, (uintptr_t)&at[i], 0, 0,
					      0, 0, 0), 0);
			break;
		}
	}
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(delivered, OPS);
	for (int i = 0; i < OPS; i++) {
		EQUAL(ops[i].result, i % 4 == 1);
		if (i % 4 == 0)
			EQUAL(status[i].st_size, 10);
		if (i % 4 == 1)
			EQUAL(bytes[i], "abcdefghij"[i / 4 % 10]);
		if (i % 4 == 3)
			for (unsigned int c = 0; c < ncpus; c++)
				got |= at[i] == cpus[c];
	}
	EQUAL(got, 1);
	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	EQUAL(info.submitted, OPS);
	EQUAL(info.completed, OPS);
	EQUAL(info.outstanding, 0);
	EQUAL(info.threads >= ncpus, true);
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(unlink(name), 0);
	close(fd);
}

/* Operations on one descriptor stay in order, although other operations run on all processors. */
static void ordered(void)
{
	enum { BYTES = 1000 };
	static struct cosy_async in[BYTES], out[BYTES], other[BYTES];
	static unsigned char got[BYTES], sent[BYTES];
	struct cosy_loop *loop = new_loop();
	int fds[2];

	EQUAL(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	for (int i = 0; i < BYTES; i++) {
		sent[i] = (unsigned char)(i * 7);
		EQUAL(cosy_async_recv(loop, &in[i], fds[0], &got[i], 1, 0), 0);
		EQUAL(cosy_async_call(loop, &other[i], SYS_getpid, 0, 0, 0, 0, 0, 0), 0);
		EQUAL(cosy_async_send(loop, &out[i], fds[1], &sent[i], 1, 0), 0);
	}
	EQUAL(cosy_loop_run(loop), 0);
	for (int i = 0; i < BYTES; i++) {
		EQUAL(in[i].result, 1);
		EQUAL(out[i].result, 1);
		EQUAL(got[i], sent[i]);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	close(fds[0]);
	close(fds[1]);
}

/* A server whose connections are opened and closed continually, so numbers are used again. */
static unsigned int answered;

struct connection {
	struct cosy_async op;
	struct cosy_loop *loop;
	int fds[2];
	int rounds;
	char byte;
};

static void request(struct connection *c);

static void answer(struct cosy_async *op)
{
	struct connection *c = op->data;

	EQUAL(op->result, 1);
	EQUAL(c->byte, 'r');
	answered++;
	/* The order is kept: it is sent before the descriptor is closed. */
	EQUAL(cosy_async_send(c->loop, NULL, c->fds[1], "a", 1, 0), 0);
	EQUAL(cosy_async_close(c->loop, NULL, c->fds[1]), 0);
	EQUAL(recv(c->fds[0], &c->byte, 1, 0), 1);
	EQUAL(c->byte, 'a');
	EQUAL(recv(c->fds[0], &c->byte, 1, 0), 0);
	close(c->fds[0]);
	if (--c->rounds)
		request(c);
}

static void request(struct connection *c)
{
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, c->fds), 0);
	EQUAL(write(c->fds[0], "r", 1), 1);
	EQUAL(cosy_async_recv(c->loop, &c->op, c->fds[1], &c->byte, 1, 0), 0);
}

static void reused(void)
{
	static struct connection connections[20];
	struct cosy_loop *loop = new_loop();

	for (int i = 0; i < 20; i++) {
		connections[i] = (struct connection){
			.op = { .done = answer, .data = &connections[i] },
			.loop = loop,
			.rounds = 50,
		};
		request(&connections[i]);
	}
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(answered, 1000);
	EQUAL(cosy_loop_destroy(loop), 0);
}

/* Operations that wait on a processor are cancelled, singly and by descriptor. */
static void cancelled(void)
{
	struct cosy_async ops[8] = { 0 }, timer = { 0 };
	const struct timespec hour = { .tv_sec = 3600 };
	struct cosy_loop *loop = new_loop();
	int fds[2];
	char byte;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	for (int i = 0; i < 8; i++)
		EQUAL(cosy_async_recv(loop, cosy_async_on(&ops[i], cpus[(unsigned int)i % ncpus]),
				      fds[0], &byte, 1, 0), 0);
	EQUAL(cosy_async_timer(loop, &timer, &hour, 0), 0);
	EQUAL(cosy_cancel(loop, &ops[3]), 0);
	EQUAL(cosy_wait_for(loop, &ops[3], NULL), 0);
	EQUAL(ops[3].result, -ECANCELED);
	EQUAL(cosy_cancel(loop, &ops[3]), -ENOENT);
	EQUAL(cosy_cancel_fd(loop, fds[0]), 7);
	EQUAL(cosy_cancel(loop, &timer), 0);
	EQUAL(cosy_loop_run(loop), 0);
	for (int i = 0; i < 8; i++)
		EQUAL(ops[i].result, -ECANCELED);
	/* Closing ends the operations on all processors, too. */
	for (int i = 0; i < 8; i++)
		EQUAL(cosy_async_recv(loop, cosy_async_on(&ops[i], cpus[(unsigned int)i % ncpus]),
				      fds[0], &byte, 1, 0), 0);
	EQUAL(cosy_async_close(loop, &timer, fds[0]), 0);
	EQUAL(cosy_loop_run(loop), 0);
	for (int i = 0; i < 8; i++)
		EQUAL(ops[i].result, -ECANCELED);
	EQUAL(timer.result, 0);
	EQUAL(fcntl(fds[0], F_GETFD), -1);
	EQUAL(cosy_loop_destroy(loop), 0);
	close(fds[1]);
}

/* Wait for the operations that are not in @mask, and check that those in it wait. */
static void pending(struct cosy_loop *loop, struct cosy_async *ops, unsigned int mask)
{
	struct cosy_async timer = { 0 };
	const struct timespec little = { .tv_nsec = 20000000 };

	for (unsigned int i = 0; i < 4; i++) {
		if (!(mask >> i & 1) && cosy_async_pending(&ops[i]))
			EQUAL(cosy_wait_for(loop, &ops[i], NULL), 0);
	}
	EQUAL(cosy_async_timer(loop, &timer, &little, 0), 0);
	EQUAL(cosy_wait_for(loop, &timer, NULL), 0);
	for (unsigned int i = 0; i < 4; i++)
		EQUAL(cosy_async_pending(&ops[i]), mask >> i & 1);
}

/* Calls that close some descriptors end the waits for these, and for no others. */
static void replaced(void)
{
	struct cosy_loop *loop = new_loop();
	struct cosy_async ops[4] = { 0 }, op = { 0 };
	int pairs[4][2];
	char bytes[4];

	for (unsigned int i = 0; i < 4; i++) {
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]), 0);
		EQUAL(cosy_async_recv(loop, &ops[i], pairs[i][0], &bytes[i], 1, 0), 0);
	}
	/* Between the two numbers there are other descriptors. */
	EQUAL(cosy_async_call(loop, &op, SYS_dup2, (uint64_t)pairs[0][0], (uint64_t)pairs[3][0], 0,
			      0, 0, 0), 0);
	EQUAL(cosy_wait_for(loop, &op, NULL), 0);
	EQUAL(op.result, pairs[3][0]);
	pending(loop, ops, 7);
	EQUAL(ops[3].result, -ECANCELED);
	/* To a lower number. */
	EQUAL(cosy_async_call(loop, &op, SYS_dup3, (uint64_t)pairs[1][0], (uint64_t)pairs[0][0],
			      O_CLOEXEC, 0, 0, 0), 0);
	EQUAL(cosy_wait_for(loop, &op, NULL), 0);
	EQUAL(op.result, pairs[0][0]);
	pending(loop, ops, 6);
	/* These close no descriptor. */
	EQUAL(cosy_async_call(loop, &op, SYS_dup2, (uint64_t)pairs[1][0], (uint64_t)pairs[1][0], 0,
			      0, 0, 0), 0);
	EQUAL(cosy_wait_for(loop, &op, NULL), 0);
	EQUAL(op.result, pairs[1][0]);
	EQUAL(cosy_async_call(loop, &op, SYS_close_range, (uint64_t)pairs[1][0],
			      (uint64_t)pairs[2][0], 1 << 2 /* CLOEXEC */, 0, 0, 0), 0);
	EQUAL(cosy_wait_for(loop, &op, NULL), 0);
	pending(loop, ops, 6);
	EQUAL(cosy_async_call(loop, &op, SYS_close_range, (uint64_t)pairs[2][0],
			      (uint64_t)pairs[2][0], 0, 0, 0, 0), 0);
	EQUAL(cosy_wait_for(loop, &op, NULL), 0);
	pending(loop, ops, 2);
	EQUAL(write(pairs[1][1], "x", 1), 1);
	EQUAL(cosy_wait_for(loop, &ops[1], NULL), 0);
	EQUAL(ops[1].result, 1);
	EQUAL(cosy_loop_destroy(loop), 0);
	for (unsigned int i = 0; i < 4; i++) {
		close(pairs[i][0]);
		close(pairs[i][1]);
	}
}

/* The largest number that could be a descriptor takes no memory if it is none. */
static void no_descriptor(void)
{
	struct cosy_loop *loop = new_loop();
	struct cosy_async op = { 0 };
	struct rusage before, after;
	char byte;

	EQUAL(getrusage(RUSAGE_SELF, &before), 0);
	EQUAL(cosy_async_recv(loop, &op, (1 << 24) - 1, &byte, 1, 0), 0);
	EQUAL(cosy_wait_for(loop, &op, NULL), 0);
	EQUAL(op.result, -EBADF);
	EQUAL(cosy_async_close(loop, &op, (1 << 24) - 1), 0);
	EQUAL(cosy_wait_for(loop, &op, NULL), 0);
	EQUAL(op.result, -EBADF);
	EQUAL(getrusage(RUSAGE_SELF, &after), 0);
	/* In KiB. */
	CHECK(after.ru_maxrss - before.ru_maxrss < 32 << 10);
	EQUAL(cosy_loop_destroy(loop), 0);
}

static volatile sig_atomic_t pipes;

static void on_pipe(int signal)
{
	(void)signal;
	pipes++;
}

/* The signal of a call is delivered to the process. */
static void signals(void)
{
	struct cosy_loop *loop = new_loop();
	struct cosy_async op = { 0 };
	bool by_thread;
	int fds[2], err;

	signal(SIGPIPE, on_pipe);
	EQUAL(pipe(fds), 0);
	/* Then its signal may interrupt the wait before the result is there. */
	by_thread = !has_nowait(fds[0]);
	close(fds[0]);
	EQUAL(cosy_async_write(loop, &op, fds[1], "x", 1), 0);
	do
		err = cosy_wait_for(loop, &op, NULL);
	while (err == -EINTR && by_thread);
	EQUAL(err, 0);
	EQUAL(op.result, -EPIPE);
	EQUAL(pipes, 1);
	EQUAL(cosy_loop_destroy(loop), 0);
	close(fds[1]);
}

static unsigned int ended;

static void end(struct cosy_async *op)
{
	EQUAL(op->result, -ECANCELED);
	ended++;
}

/* Wrong arguments, a child, and destroying with outstanding operations and too early. */
static void ends(void)
{
	unsigned int twice[2] = { cpus[0], cpus[0] }, none[1] = { 1023 }, many[65] = { 0 };
	struct cosy_async waiting = { .done = end }, lock = { 0 };
	char name[] = "/tmp/cosy-cpus-XXXXXX";
	int fd = mkstemp(name), other = open(name, O_RDWR), fds[2], status;
	cpu_set_t all, one;
	struct cosy_loop *loop;
	char byte;
	pid_t pid;

	EQUAL(cosy_loop_create(&loop, NULL), 0);
	EQUAL(cosy_loop_cpus(loop, twice, 2), -EINVAL);
	EQUAL(cosy_loop_cpus(loop, none, 1), -EINVAL);
	EQUAL(cosy_loop_cpus(loop, many, 65), -EINVAL);
	if (ncpus > 1) {
		EQUAL(sched_getaffinity(0, sizeof(all), &all), 0);
		CPU_ZERO(&one);
		CPU_SET(cpus[0], &one);
		EQUAL(sched_setaffinity(0, sizeof(one), &one), 0);
		EQUAL(cosy_loop_cpus(loop, &cpus[1], 1), -EINVAL);
		EQUAL(sched_setaffinity(0, sizeof(all), &all), 0);
	}
	EQUAL(cosy_loop_cpus(loop, NULL, 0), 0);
	EQUAL(cosy_loop_cpus(loop, NULL, 0), -EBUSY);
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(cosy_async_recv(loop, &waiting, fds[0], &byte, 1, 0), 0);
	pid = fork();
	if (!pid)
		_exit(cosy_loop_cpus(loop, NULL, 0) != -EPERM || cosy_loop_destroy(loop));
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);

	/* A thread waits for a lock. Then the call cannot be cancelled. */
	EQUAL(flock(fd, LOCK_EX), 0);
	EQUAL(cosy_async_flock(loop, &lock, other, LOCK_EX), 0);
	while (cosy_loop_destroy(loop) != -EBUSY) {
		/* This succeeds only if its thread had not begun. Then the loop is freed. */
		EQUAL(cosy_async_pending(&lock), false);
		EQUAL(cosy_loop_create(&loop, NULL), 0);
		EQUAL(cosy_loop_cpus(loop, NULL, 0), 0);
		EQUAL(cosy_async_recv(loop, &waiting, fds[0], &byte, 1, 0), 0);
		EQUAL(cosy_async_flock(loop, &lock, other, LOCK_EX), 0);
		usleep(100000);
	}
	/* The thread continues. */
	EQUAL(cosy_async_pending(&waiting), true);
	EQUAL(flock(fd, LOCK_UN), 0);
	EQUAL(cosy_wait_for(loop, &lock, NULL), 0);
	EQUAL(lock.result, 0);
	ended = 0;
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(ended, 1);
	EQUAL(unlink(name), 0);
	close(fd);
	close(other);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	alarm(600);
	find_cpus();
	named();
	chosen();
	ordered();
	reused();
	cancelled();
	replaced();
	no_descriptor();
	signals();
	ends();
	return 0;
}
