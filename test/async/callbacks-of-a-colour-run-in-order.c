/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Several threads run a loop. Callbacks of one colour run one after the other, in the
 * order of completion; those of different colours at the same time.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "exclusive.h"
#include "run-threads.h"

#define THREADS	4
#define CHAINS	16
#define ROUNDS	500

static struct cosy_loop *loop;

/* A chain of reads. Its callbacks have its colour, and submit the next read. */
struct chain {
	struct cosy_coloured op;
	struct cosy_coloured tick;
	int fds[2];
	char byte;
	unsigned int rounds;
	unsigned int ticks;
	bool inside;
};

static void ticked(struct cosy_coloured *op)
{
	struct chain *chain = op->op.data;

	enter(&chain->inside);
	EQUAL(op->op.result, getpid());
	chain->ticks++;
	leave(&chain->inside);
	if (chain->ticks < ROUNDS)
		EQUAL(cosy_async_call(loop, cosy_colour(op, (uintptr_t)chain, ticked),
				      SYS_getpid, 0, 0, 0, 0, 0, 0), 0);
}

static void received(struct cosy_coloured *op)
{
	struct chain *chain = op->op.data;

	enter(&chain->inside);
	EQUAL(op->op.result, 1);
	EQUAL(chain->byte, (char)chain->rounds);
	chain->rounds++;
	chain->byte = (char)chain->rounds;
	leave(&chain->inside);
	if (chain->rounds == ROUNDS)
		return;
	EQUAL(write(chain->fds[1], &chain->byte, 1), 1);
	EQUAL(cosy_async_recv(loop, cosy_colour(op, (uintptr_t)chain, received),
			      chain->fds[0], &chain->byte, 1, 0), 0);
}

static void serial(void)
{
	static struct chain chains[CHAINS];

	for (int i = 0; i < CHAINS; i++) {
		struct chain *chain = &chains[i];

		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, chain->fds), 0);
		chain->op.op.data = chain->tick.op.data = chain;
		EQUAL(write(chain->fds[1], "", 1), 1);
		EQUAL(cosy_async_recv(loop, cosy_colour(&chain->op, (uintptr_t)chain,
							received),
				      chain->fds[0], &chain->byte, 1, 0), 0);
		EQUAL(cosy_async_call(loop, cosy_colour(&chain->tick, (uintptr_t)chain,
							ticked),
				      SYS_getpid, 0, 0, 0, 0, 0, 0), 0);
	}
	EQUAL(run_threads(loop, THREADS), 0);
	for (int i = 0; i < CHAINS; i++) {
		EQUAL(chains[i].rounds, ROUNDS);
		EQUAL(chains[i].ticks, ROUNDS);
		EQUAL(chains[i].inside, false);
		close(chains[i].fds[0]);
		close(chains[i].fds[1]);
	}
}

/* Callbacks of two colours wait for each other, which ends only if both run. */
static pthread_barrier_t both;

static void meet(struct cosy_coloured *op)
{
	(void)op;
	pthread_barrier_wait(&both);
}

static void parallel(void)
{
	struct cosy_coloured ops[2] = { 0 };

	pthread_barrier_init(&both, NULL, 2);
	for (uint64_t i = 0; i < 2; i++)
		EQUAL(cosy_async_call(loop, cosy_colour(&ops[i], i, meet),
				      SYS_getpid, 0, 0, 0, 0, 0, 0), 0);
	EQUAL(run_threads(loop, 2), 0);
	pthread_barrier_destroy(&both);
}

/*
 * The first callback of the colour waits until the others are due, so that their order is known.
 */
static unsigned int order;

static void in_order(struct cosy_coloured *op)
{
	EQUAL((uintptr_t)op->op.data, order);
	order++;
	if (order == 1)
		pthread_barrier_wait(&both);
	free(op);
}

static void let_go(struct cosy_coloured *op)
{
	(void)op;
	pthread_barrier_wait(&both);
}

static void ordered(void)
{
	struct cosy_coloured last = { 0 };

	order = 0;
	pthread_barrier_init(&both, NULL, 2);
	for (uintptr_t i = 0; i < 40; i++) {
		struct cosy_coloured *op = calloc(1, sizeof(*op));

		op->op.data = (void *)i;
		EQUAL(cosy_async_call(loop, cosy_colour(op, 7, in_order),
				      SYS_getpid, 0, 0, 0, 0, 0, 0), 0);
	}
	EQUAL(cosy_async_call(loop, cosy_colour(&last, 8, let_go), SYS_getpid,
			      0, 0, 0, 0, 0, 0), 0);
	EQUAL(run_threads(loop, 3), 0);
	EQUAL(order, 40);
	pthread_barrier_destroy(&both);
}

static atomic_uint called;

static void count(struct cosy_coloured *op)
{
	(void)op;
	called++;
}

/* In a callback, another one of its colour is delivered, and called later. */
static struct cosy_coloured inner;

static void nest(struct cosy_coloured *op)
{
	(void)op;
	EQUAL(cosy_async_call(loop, cosy_colour(&inner, 3, count), SYS_getpid,
			      0, 0, 0, 0, 0, 0), 0);
	EQUAL(cosy_wait_for(loop, &inner.op, NULL), 0);
	EQUAL(called, 0);
}

static void nested(void)
{
	struct cosy_coloured op = { 0 };

	called = 0;
	EQUAL(cosy_async_call(loop, cosy_colour(&op, 3, nest), SYS_getpid,
			      0, 0, 0, 0, 0, 0), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(called, 1);
}

static void stop(struct cosy_coloured *op)
{
	(void)op;
	called++;
	cosy_loop_stop(loop);
}

/* Stopping, a child, and destroying with outstanding operations. */
static void ends(void)
{
	struct cosy_coloured op = { 0 }, waits = { 0 };
	const struct timespec hour = { .tv_sec = 3600 };
	int status;
	pid_t pid;

	called = 0;
	EQUAL(run_threads(loop, THREADS), 0);
	EQUAL(cosy_async_timer(loop, cosy_colour(&waits, 1, count), &hour, 0), 0);
	EQUAL(cosy_async_call(loop, cosy_colour(&op, 2, stop), SYS_getpid,
			      0, 0, 0, 0, 0, 0), 0);
	EQUAL(cosy_loop_run(loop), 1);
	EQUAL(called, 1);
	pid = fork();
	if (!pid)
		_exit(cosy_loop_run(loop) != -EPERM);
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
	EQUAL(cosy_cancel(loop, &waits.op), 0);
	EQUAL(cosy_async_call(loop, cosy_colour(&op, 2, count), SYS_getpid,
			      0, 0, 0, 0, 0, 0), 0);
	EQUAL(run_threads(loop, 2), 0);
	EQUAL(waits.op.result, -ECANCELED);
	EQUAL(called, 3);
	EQUAL(cosy_async_timer(loop, cosy_colour(&waits, 1, count), &hour, 0), 0);
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(called, 4);
}

int main(void)
{
	alarm(600);
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	serial();
	parallel();
	for (int i = 0; i < 20; i++)
		ordered();
	nested();
	ends();
	return 0;
}
