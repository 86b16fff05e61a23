/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Callbacks of operations have colours of the team, from each worker's loop. A colour stays where an
 * operation of it is outstanding. Destroying a team cancels what waits.
 */
// RUN: %compile
// RUN: %everywhere
// RUN: %thread-sanitizer
// RUN: COSY_EXECUTOR=user %bounded %t
#include "team.h"

#define CHAINS	16
#define ROUNDS	500

static struct cosy_team *team;

/* A chain of receives. Its callbacks submit the next one. */
struct chain {
	struct cosy_coloured op;
	int fds[2];
	char byte;
	unsigned int rounds;
	unsigned int calls;
};

static struct chain chains[CHAINS];

static void count(void *arg)
{
	struct chain *chain = arg;

	chain->calls++;
}

static void received(struct cosy_coloured *op)
{
	struct chain *chain = op->op.data;

	EQUAL(op->op.result, 1);
	EQUAL(chain->byte, (char)chain->rounds);
	EQUAL(cosy_team_colour(), (uintptr_t)chain);
	chain->rounds++;
	EQUAL(cosy_team_call(team, (uintptr_t)chain, count, chain), 0);
	if (chain->rounds == ROUNDS)
		return;
	chain->byte = (char)chain->rounds;
	EQUAL(write(chain->fds[1], &chain->byte, 1), 1);
	EQUAL(cosy_async_recv(cosy_team_loop(), cosy_colour(op, (uintptr_t)chain, received),
			      chain->fds[0], &chain->byte, 1, 0), 0);
}

static void begin(void *arg)
{
	struct chain *chain = arg;

	chain->op.op.data = chain;
	EQUAL(cosy_async_recv(cosy_team_loop(), cosy_colour(&chain->op, (uintptr_t)chain, received),
			      chain->fds[0], &chain->byte, 1, 0), 0);
	EQUAL(write(chain->fds[1], "", 1), 1);
}

static void exchange(void)
{
	for (int i = 0; i < CHAINS; i++) {
		struct chain *chain = &chains[i];

		chain->rounds = chain->calls = 0;
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, chain->fds), 0);
		EQUAL(cosy_team_call(team, (uintptr_t)chain, begin, chain), 0);
	}
	EQUAL(cosy_team_wait(team, NULL), 0);
	for (int i = 0; i < CHAINS; i++) {
		EQUAL(chains[i].rounds, ROUNDS);
		EQUAL(chains[i].calls, ROUNDS);
		close(chains[i].fds[0]);
		close(chains[i].fds[1]);
	}
}

/*
 * The colour of a callback that has an outstanding operation is not stolen: it waits until the worker
 * is free, although others are.
 */
static struct gate gate = GATE;
static struct cosy_loop *loop;
static struct cosy_coloured waits;
static struct timespec hour = { .tv_sec = 3600 };
static bool was_cancelled;

static void expired(struct cosy_coloured *op)
{
	EQUAL(op->op.result, -ECANCELED);
	was_cancelled = true;
}

static void on_the_same_worker(void *arg)
{
	(void)arg;
	CHECK(cosy_team_loop() == loop);
	EQUAL(cosy_team_cancel(&waits), 0);
}

static void submit(void *arg)
{
	(void)arg;
	loop = cosy_team_loop();
	EQUAL(cosy_async_timer(loop, cosy_colour(&waits, 5, expired), &hour, 0), 0);
	EQUAL(cosy_team_call(team, 6, pass_gate, &gate), 0);
	cosy_team_stay(true);
}

static void stay(void *arg)
{
	(void)arg;
	/* Also without an operation. */
	CHECK(cosy_team_loop() == loop);
	cosy_team_stay(false);
}

static void nothing(void *arg)
{
	(void)arg;
}

static void stays(void)
{
	EQUAL(cosy_team_call(team, 5, submit, NULL), 0);
	await_at_gate(&gate, 1);
	for (int i = 0; i < 100; i++)
		EQUAL(cosy_team_call(team, 1000 + (uint64_t)i, nothing, NULL), 0);
	EQUAL(cosy_team_call(team, 5, on_the_same_worker, NULL), 0);
	EQUAL(cosy_team_call(team, 5, stay, NULL), 0);
	open_gate(&gate);
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(was_cancelled, true);
}

/* An operation without cosy_colour() after its first completion keeps its colour. */
static unsigned int again;

static void resubmit(struct cosy_coloured *op)
{
	EQUAL(cosy_team_colour(), 11);
	EQUAL(op->op.result, getpid());
	if (++again < 1000)
		EQUAL(cosy_async_call(cosy_team_loop(), &op->op, SYS_getpid, 0, 0, 0, 0, 0, 0), 0);
}

static void submit_other(void *arg)
{
	static struct cosy_coloured op;

	(void)arg;
	EQUAL(cosy_async_call(cosy_team_loop(), cosy_colour(&op, 11, resubmit), SYS_getpid, 0, 0, 0,
			      0, 0, 0), 0);
}

/* A colour that never becomes idle does not keep the worker from its loop. */
static bool was_called;

static void set_called(struct cosy_coloured *op)
{
	EQUAL(op->op.result, 0);
	was_called = true;
}

static void run_until_called(void *arg)
{
	if (!was_called)
		EQUAL(cosy_team_call(cosy_team_self(), 3, run_until_called, arg), 0);
}

static void start_endless(void *arg)
{
	static const struct timespec little = { .tv_nsec = 1000000 };
	static struct cosy_coloured timer;

	EQUAL(cosy_async_timer(cosy_team_loop(), cosy_colour(&timer, 3, set_called), &little, 0), 0);
	run_until_called(arg);
}

static void endless(void)
{
	struct cosy_team *one = make_team(1);

	EQUAL(cosy_team_call(one, 3, start_endless, NULL), 0);
	EQUAL(cosy_team_wait(one, NULL), 0);
	EQUAL(was_called, true);
	EQUAL(cosy_team_destroy(one), 0);
}

/* What waits when the team is destroyed. */
static atomic_uint ended, submitted;

static void end(struct cosy_coloured *op)
{
	int err;

	EQUAL(op->op.result, -ECANCELED);
	err = cosy_async_timer(cosy_team_loop(), cosy_colour(op, 1, end), &hour, 0);
	/* The loop of this worker may not be closed yet. */
	if (!err)
		return;
	EQUAL(err, -ESHUTDOWN);
	/* Callbacks may still be queued, and run. */
	EQUAL(cosy_team_call(team, 77, count, &chains[1]), 0);
	ended++;
}

static void wait_long(void *arg)
{
	EQUAL(cosy_async_timer(cosy_team_loop(), cosy_colour(arg, 1, end), &hour, 0), 0);
	submitted++;
}

int main(void)
{
	static struct cosy_coloured timers[10];

	alarm(600);
	team = make_team(3);
	for (int i = 0; i < 4; i++)
		exchange();
	stays();
	endless();
	EQUAL(cosy_team_call(team, 12, submit_other, NULL), 0);
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(again, 1000);
	chains[1].calls = 0;
	for (uint64_t i = 0; i < 10; i++)
		EQUAL(cosy_team_call(team, i, wait_long, &timers[i]), 0);
	await_count(&submitted, 10);
	EQUAL(cosy_team_wait(team, &(struct timespec){ .tv_nsec = 1000000 }), -ETIME);
	EQUAL(cosy_team_destroy(team), 0);
	EQUAL(ended, 10);
	EQUAL(chains[1].calls, 10);
	return 0;
}
