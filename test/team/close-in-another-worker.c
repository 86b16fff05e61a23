/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A colour may use a descriptor on one worker, move, and close it on another one: the first worker's loop
 * forgets it, so that the next file with the same number is right there. What waits there by epoll is
 * cancelled.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>

#include "team.h"

#define MINUTE	(&(struct timespec){ .tv_sec = 60 })

/* Colours that stay, each on a worker, and one that moves. */
enum { FIRST, SECOND, MOVES };

static struct cosy_team *team;
static struct cosy_loop *loops[2];
static struct gate gates[2];

static pthread_barrier_t barrier;

/* Keep the running colour on a worker of its own. */
static void settle(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&barrier);
	loops[cosy_team_colour()] = cosy_team_loop();
	cosy_team_stay(true);
}

static void stop(int worker)
{
	gates[worker] = (struct gate)GATE;
	EQUAL(cosy_team_call(team, (uint64_t)worker, pass_gate, &gates[worker]), 0);
	await_at_gate(&gates[worker], 1);
}

static void go_on(int worker)
{
	open_gate(&gates[worker]);
}

/* A receive of a byte, by the colour that begins it. */
static struct receive {
	struct cosy_coloured op;
	int fd;
	char byte;
	atomic_uint ended;
	int64_t result;
} receive;

static void received(struct cosy_coloured *op)
{
	receive.result = op->op.result;
	receive.ended = 1;
}

static void begin(void *arg)
{
	(void)arg;
	EQUAL(cosy_async_recv(cosy_team_loop(), cosy_colour(&receive.op, cosy_team_colour(), received),
			      receive.fd, &receive.byte, 1, 0), 0);
}

/* Queue the first callback of the colour that moves, which so lives on this worker. */
static void begin_here(void *arg)
{
	(void)arg;
	EQUAL(cosy_team_call(team, MOVES, begin, NULL), 0);
}

static void await_waiting(struct cosy_loop *loop)
{
	struct cosy_loop_info info;

	do {
		sched_yield();
		EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	} while (!info.waiting);
}

static struct cosy_coloured closing;

static void closed(struct cosy_coloured *op)
{
	EQUAL(op->op.result, 0);
}

static void close_here(void *arg)
{
	struct cosy_loop *loop = cosy_team_loop();

	CHECK(loop == loops[SECOND]);
	EQUAL(cosy_async_close(loop, cosy_colour(&closing, cosy_team_colour(), closed), *(int *)arg), 0);
}

/* Receive a byte from a descriptor that waits for it in the loop of the first worker. */
static void receive_at_first(uint64_t colour, int fd, int peer)
{
	receive.fd = fd;
	receive.ended = 0;
	EQUAL(cosy_team_call(team, FIRST, colour == MOVES ? begin_here : begin, NULL), 0);
	await_waiting(loops[FIRST]);
	EQUAL(write(peer, "x", 1), 1);
	if (colour == FIRST)
		EQUAL(cosy_team_wait(team, MINUTE), 0);
	else
		await_count(&receive.ended, 1);
	EQUAL(receive.result, 1);
	EQUAL(receive.byte, 'x');
}

static void number_is_used_again(void)
{
	int fds[2], again[2];

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	stop(SECOND);
	receive_at_first(MOVES, fds[0], fds[1]);
	/* The colour is stolen from the worker that is stuck. */
	stop(FIRST);
	go_on(SECOND);
	EQUAL(cosy_team_call(team, MOVES, close_here, &fds[0]), 0);
	while (fcntl(fds[0], F_GETFD) >= 0)
		sched_yield();
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, again), 0);
	EQUAL(again[0], fds[0]);
	go_on(FIRST);
	receive_at_first(FIRST, again[0], again[1]);
	close(fds[1]);
	close(again[0]);
	close(again[1]);
}

static void what_waits_is_cancelled(void)
{
	int fds[2];

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	receive.fd = fds[0];
	EQUAL(cosy_team_call(team, FIRST, begin, NULL), 0);
	await_waiting(loops[FIRST]);
	EQUAL(cosy_team_call(team, SECOND, close_here, &fds[0]), 0);
	EQUAL(cosy_team_wait(team, MINUTE), 0);
	EQUAL(receive.result, -ECANCELED);
	close(fds[1]);
}

int main(void)
{
	alarm(600);
	team = make_team(2);
	pthread_barrier_init(&barrier, NULL, 2);
	EQUAL(cosy_team_call(team, FIRST, settle, NULL), 0);
	EQUAL(cosy_team_call(team, SECOND, settle, NULL), 0);
	EQUAL(cosy_team_wait(team, NULL), 0);
	CHECK(loops[FIRST] != loops[SECOND]);
	number_is_used_again();
	/* The module does not tell for which descriptors it waits. */
	if (!strcmp(getenv("COSY_EXECUTOR"), "user"))
		what_waits_is_cancelled();
	EQUAL(cosy_team_destroy(team), 0);
	return 0;
}
