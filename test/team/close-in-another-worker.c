/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A colour may use a descriptor on one worker, move, and close it on another one: the first worker's loop
 * forgets it, so that the next file with the same number is right there. What was submitted there is made, or
 * cancelled, before the descriptor is closed.
 */
// RUN: %async-compile -O2
// RUN: %everywhere
#include <cosy/task.h>
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

/* How a descriptor is closed. */
enum way { CLOSE, DUP2, RANGE, WAYS };

static enum way way;
static struct cosy_coloured closing;
static atomic_uint closes_ended;
static int64_t close_result;

static void closed(struct cosy_coloured *op)
{
	close_result = op->op.result;
	closes_ended++;
}

static void close_here(void *arg)
{
	struct cosy_loop *loop = cosy_team_loop();
	const int fd = *(int *)arg;
	struct cosy_async *op = cosy_colour(&closing, cosy_team_colour(), closed);

	CHECK(loop == loops[SECOND]);
	closes_ended = 0;
	if (way == CLOSE)
		EQUAL(cosy_async_close(loop, op, fd), 0);
	else if (way == DUP2)
		EQUAL(cosy_async_dup2(loop, op, 0, fd), 0);
	else
		EQUAL(cosy_async_close_range(loop, op, (unsigned int)fd, (unsigned int)fd, 0), 0);
}

/* Wait until the close has ended, and check that it has closed. */
static void await_closed(int fd, int peer)
{
	char byte;

	EQUAL(cosy_team_wait(team, MINUTE), 0);
	EQUAL(closes_ended, 1);
	EQUAL(close_result, way == DUP2 ? fd : 0);
	EQUAL(recv(peer, &byte, 1, MSG_DONTWAIT), 0);
	if (way == DUP2)
		close(fd);
	EQUAL(fcntl(fd, F_GETFD), -1);
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

/* Make a connection, and let the first worker wait for a byte. */
static void wait_at_first(int fds[2])
{
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	receive.fd = fds[0];
	receive.ended = 0;
	EQUAL(cosy_team_call(team, FIRST, begin, NULL), 0);
	await_waiting(loops[FIRST]);
}

static void send_and_close(void *arg)
{
	EQUAL(cosy_async_send(cosy_team_loop(), NULL, *(int *)arg, "z", 1, 0), 0);
	close_here(arg);
}

/* @several: both workers have used the descriptor. */
static void what_waits_is_cancelled(bool several)
{
	int fds[2];
	char byte;

	wait_at_first(fds);
	EQUAL(cosy_team_call(team, SECOND, several ? send_and_close : close_here, &fds[0]), 0);
	if (several)
		EQUAL(recv(fds[1], &byte, 1, 0), 1);
	await_closed(fds[0], fds[1]);
	EQUAL(receive.ended, 1);
	EQUAL(receive.result, -ECANCELED);
	close(fds[1]);
}

/* Close while the first worker runs a callback. That must not have ended when the close is complete. */
static void close_beside_callback(int *fd)
{
	closes_ended = 0;
	EQUAL(cosy_team_call(team, SECOND, close_here, fd), 0);
	await_count(&closes_ended, 1);
	EQUAL(gates[FIRST].inside, 1);
}

/* The descriptor is closed after what waits is complete, whose callback runs after that which is running. */
static void close_waits_for_no_callback(void)
{
	int fds[2];

	wait_at_first(fds);
	stop(FIRST);
	close_beside_callback(&fds[0]);
	EQUAL(receive.ended, 0);
	go_on(FIRST);
	await_closed(fds[0], fds[1]);
	EQUAL(receive.result, -ECANCELED);
	close(fds[1]);
}

static struct cosy_coloured sending;
static int64_t sent;

static void has_sent(struct cosy_coloured *op)
{
	sent = op->op.result;
}

/* Submit a receive and a send, and let the callback, and so its worker, do something else for long. */
static void submit_and_stop(void *arg)
{
	begin(NULL);
	EQUAL(cosy_async_send(cosy_team_loop(), cosy_colour(&sending, cosy_team_colour(), has_sent),
			      receive.fd, "y", 1, 0), 0);
	pass_gate(arg);
}

/* What was submitted and has not begun comes before the close, too. */
static void what_has_not_begun_is_made(void)
{
	int fds[2];
	char byte = 0;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	receive.fd = fds[0];
	gates[FIRST] = (struct gate)GATE;
	EQUAL(cosy_team_call(team, FIRST, submit_and_stop, &gates[FIRST]), 0);
	await_at_gate(&gates[FIRST], 1);
	close_beside_callback(&fds[0]);
	EQUAL(recv(fds[1], &byte, 1, MSG_DONTWAIT), 1);
	EQUAL(byte, 'y');
	go_on(FIRST);
	EQUAL(cosy_team_wait(team, MINUTE), 0);
	EQUAL(sent, 1);
	await_closed(fds[0], fds[1]);
	EQUAL(receive.result, -ECANCELED);
	close(fds[1]);
}

COSY_ASYNC static long receive_by_function(int fd)
{
	char byte;

	return recv(fd, &byte, 1, 0) < 0 ? -errno : 0;
}

static atomic_uint returned;
static int64_t return_value;

static void has_returned(struct cosy_async *op)
{
	return_value = op->result;
	returned++;
}

static void begin_function(void *arg)
{
	(void)arg;
	EQUAL(COSY_SPAWN(cosy_team_loop(), receive_by_function(receive.fd), .done = has_returned,
			 .colour = FIRST), 0);
}

/* The same for a call of a function. */
static void function_that_waits_is_cancelled(void)
{
	int fds[2];

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	receive.fd = fds[0];
	returned = 0;
	EQUAL(cosy_team_call(team, FIRST, begin_function, NULL), 0);
	await_waiting(loops[FIRST]);
	EQUAL(cosy_team_call(team, SECOND, close_here, &fds[0]), 0);
	await_closed(fds[0], fds[1]);
	EQUAL(returned, 1);
	EQUAL(return_value, -ECANCELED);
	close(fds[1]);
}

/* Let the close begin, and cancel it before it has waited for long enough to answer in place of the other worker. */
static void close_and_cancel(void *arg)
{
	close_here(arg);
	EQUAL(cosy_wait(cosy_team_loop(), 0, NULL), 0);
	EQUAL(cosy_team_cancel(&closing), 0);
}

/* A close that waits for the first worker can be cancelled; then nothing is closed. */
static void close_is_cancelled(void)
{
	int fds[2];

	wait_at_first(fds);
	stop(FIRST);
	closes_ended = 0;
	EQUAL(cosy_team_call(team, SECOND, close_and_cancel, &fds[0]), 0);
	await_count(&closes_ended, 1);
	EQUAL(close_result, -ECANCELED);
	go_on(FIRST);
	EQUAL(cosy_team_wait(team, MINUTE), 0);
	EQUAL(receive.result, -ECANCELED);
	CHECK(fcntl(fds[0], F_GETFD) >= 0);
	close(fds[0]);
	close(fds[1]);
}

static void forget(void *arg)
{
	EQUAL(cosy_cancel_fd(cosy_team_loop(), *(int *)arg), 0);
}

/* A program that closes it otherwise cancels before. */
static void other_closes_cancel(void)
{
	int fds[2];

	wait_at_first(fds);
	EQUAL(cosy_team_call(team, SECOND, forget, &fds[0]), 0);
	EQUAL(cosy_team_wait(team, MINUTE), 0);
	EQUAL(receive.result, -ECANCELED);
	close(fds[0]);
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
	for (way = CLOSE; way < WAYS; way++) {
		what_waits_is_cancelled(false);
		what_waits_is_cancelled(true);
		close_waits_for_no_callback();
		what_has_not_begun_is_made();
		function_that_waits_is_cancelled();
	}
	way = CLOSE;
	close_is_cancelled();
	other_closes_cancel();
	EQUAL(cosy_team_destroy(team), 0);
	return 0;
}
