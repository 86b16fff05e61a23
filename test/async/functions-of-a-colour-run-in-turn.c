/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Several threads run a loop with COSY_ASYNC functions. Those of one colour, and callbacks of that
 * colour, run one after the other; those of different colours at the same time.
 */
// RUN: %async-compile -O2
// RUN: %everywhere
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cosy/task.h>

#include "exclusive.h"
#include "run-threads.h"

#define THREADS	4
#define GROUPS	8
#define FUNCTIONS 3
#define ROUNDS	200

static struct cosy_loop *loop;

/* What all functions and callbacks of a colour change. */
struct group {
	int fds[FUNCTIONS][2];
	struct cosy_coloured tick;
	unsigned int rounds;
	unsigned int nested;
	unsigned int ticks;
	unsigned int ended;
	bool inside;
};

/* Another thread gets its chance to be inside, too. */
static void enter_and_yield(struct group *group)
{
	enter(&group->inside);
	sched_yield();
}

/* The caller has the colour until this is suspended, and again when it is resumed. */
COSY_ASYNC static unsigned int receive(struct group *group, int fd)
{
	unsigned char byte;
	ssize_t n = recv(fd, &byte, 1, 0);

	enter_and_yield(group);
	EQUAL(n, 1);
	group->nested++;
	leave(&group->inside);
	return byte;
}

COSY_ASYNC static unsigned int play(struct group *group, unsigned int which)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		unsigned char byte = (unsigned char)i;

		EQUAL(send(group->fds[which][1], &byte, 1, 0), 1);
		sum += receive(group, group->fds[which][0]);
		enter_and_yield(group);
		group->rounds++;
		leave(&group->inside);
	}
	return sum;
}

static void ended(struct cosy_async *op)
{
	struct group *group = op->data;
	unsigned int sum = 0;

	for (unsigned int i = 0; i < ROUNDS; i++)
		sum += (unsigned char)i;
	enter_and_yield(group);
	EQUAL(op->result, sum);
	group->ended++;
	leave(&group->inside);
}

static void ticked(struct cosy_coloured *op)
{
	struct group *group = op->op.data;

	enter_and_yield(group);
	group->ticks++;
	leave(&group->inside);
	if (group->ticks < ROUNDS)
		EQUAL(cosy_async_call(loop, cosy_colour(op, (uintptr_t)group, ticked),
				      SYS_getpid, 0, 0, 0, 0, 0, 0), 0);
}

static void serial(void)
{
	static struct group groups[GROUPS];

	for (int i = 0; i < GROUPS; i++) {
		struct group *group = &groups[i];

		for (unsigned int n = 0; n < FUNCTIONS; n++) {
			EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, group->fds[n]), 0);
			EQUAL(COSY_SPAWN(loop, play(group, n), .done = ended,
					 .data = group, .colour = (uintptr_t)group), 0);
		}
		group->tick.op.data = group;
		EQUAL(cosy_async_call(loop, cosy_colour(&group->tick, (uintptr_t)group,
							ticked),
				      SYS_getpid, 0, 0, 0, 0, 0, 0), 0);
	}
	EQUAL(run_threads(loop, THREADS), 0);
	for (int i = 0; i < GROUPS; i++) {
		EQUAL(groups[i].rounds, FUNCTIONS * ROUNDS);
		EQUAL(groups[i].nested, FUNCTIONS * ROUNDS);
		EQUAL(groups[i].ticks, ROUNDS);
		EQUAL(groups[i].ended, FUNCTIONS);
		EQUAL(groups[i].inside, false);
		for (int n = 0; n < FUNCTIONS; n++) {
			close(groups[i].fds[n][0]);
			close(groups[i].fds[n][1]);
		}
	}
}

/* Functions of two colours, and two without one, wait for each other: both have to run. */
static pthread_barrier_t both;

COSY_ASYNC static void meet(void)
{
	pthread_barrier_wait(&both);
}

static void parallel(uint64_t first, uint64_t second)
{
	pthread_barrier_init(&both, NULL, 2);
	EQUAL(COSY_SPAWN(loop, meet(), .colour = first), 0);
	EQUAL(COSY_SPAWN(loop, meet(), .colour = second), 0);
	EQUAL(run_threads(loop, 2), 0);
	pthread_barrier_destroy(&both);
}

/* A function that waits is cancelled, and one is when its loop is destroyed. */
static unsigned int cancelled;

COSY_ASYNC static int wait_for_ever(int fd)
{
	char byte;
	ssize_t n = recv(fd, &byte, 1, 0);

	EQUAL(n, -1);
	EQUAL(errno, ECANCELED);
	return 7;
}

static void was_cancelled(struct cosy_async *op)
{
	EQUAL(op->result, 7);
	cancelled++;
}

static void ends(void)
{
	struct cosy_async op = { 0 };
	int fds[2];

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(COSY_SPAWN(loop, wait_for_ever(fds[0]), .op = &op, .done = was_cancelled,
			 .colour = 1), 0);
	while (cosy_wait(loop, 0, NULL))
		;
	EQUAL(cosy_async_pending(&op), true);
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(run_threads(loop, 2), 0);
	EQUAL(cancelled, 1);
	EQUAL(COSY_SPAWN(loop, wait_for_ever(fds[0]), .done = was_cancelled, .colour = 1), 0);
	while (cosy_wait(loop, 0, NULL))
		;
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(cancelled, 2);
}

int main(void)
{
	alarm(600);
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	serial();
	parallel(1, 2);
	parallel(0, 0);
	ends();
	return 0;
}
