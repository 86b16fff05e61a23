/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * On workers, operations and functions without a colour have colour 0: their callbacks and parts run one
 * at a time, whatever worker they were submitted on. Colour 0 stays on the worker whose loop it has used.
 */
// RUN: %async-compile -O2
// RUN: %everywhere
// RUN: %async-compile -O1 -fsanitize=thread
// RUN: COSY_EXECUTOR=user %bounded %t
#include <cosy/task.h>

#include "team.h"

#define COLOURS	40
#define ROUNDS	100

static struct cosy_team *team;

/* Only colour 0 uses these. */
static bool inside;
static unsigned int callbacks, parts, ended;

static void alone(unsigned int *count)
{
	EQUAL(cosy_team_colour(), 0);
	EQUAL(inside, false);
	inside = true;
	if (++*count % 16 == 0)
		sched_yield();
	EQUAL(inside, true);
	inside = false;
}

static void called(struct cosy_async *op)
{
	EQUAL(op->result, getpid());
	free(op);
	alone(&callbacks);
}

COSY_ASYNC static int exchange(int fd, int peer)
{
	char byte;

	for (int i = 0; i < ROUNDS; i++) {
		if (send(peer, "x", 1, 0) != 1 || recv(fd, &byte, 1, 0) != 1)
			return 1;
		alone(&parts);
	}
	return 0;
}

static void returned(struct cosy_async *op)
{
	EQUAL(op->result, 0);
	alone(&ended);
}

/* By many colours, on all workers. */
static void submit(void *arg)
{
	int *fds = arg;

	for (int i = 0; i < ROUNDS; i++) {
		struct cosy_async *op = calloc(1, sizeof(*op));

		op->done = called;
		EQUAL(cosy_async_getpid(cosy_team_loop(), op), 0);
	}
	EQUAL(COSY_SPAWN(cosy_team_loop(), exchange(fds[0], fds[1]), .done = returned), 0);
}

static void from_all_colours(void)
{
	static int fds[COLOURS][2];

	for (int i = 0; i < COLOURS; i++) {
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds[i]), 0);
		EQUAL(cosy_team_call(team, 1 + (uint64_t)i, submit, fds[i]), 0);
	}
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(callbacks, COLOURS * ROUNDS);
	EQUAL(parts, COLOURS * ROUNDS);
	EQUAL(ended, COLOURS);
}

/*
 * A program for one thread: two receives of one descriptor wait at a time, and others compute. The bytes
 * arrive in the order in which the receives were submitted.
 */
#define BYTES	500

static struct cosy_loop *loop;
static struct cosy_async receives[2];
static char bytes[2];
static int pair[2];
static unsigned int arrived;

static void computes(void *arg)
{
	(void)arg;
	for (volatile int i = 0; i < 20000; i++)
		;
}

static void received(struct cosy_async *op)
{
	EQUAL(cosy_team_colour(), 0);
	CHECK(cosy_team_loop() == loop);
	CHECK(op == &receives[arrived % 2]);
	EQUAL(op->result, 1);
	EQUAL(bytes[arrived % 2], (char)arrived);
	arrived++;
	if (arrived + 1 < BYTES)
		EQUAL(cosy_async_recv(loop, op, pair[0], &bytes[(arrived + 1) % 2], 1, 0), 0);
	if (arrived < BYTES)
		EQUAL(write(pair[1], &(char){ (char)arrived }, 1), 1);
	EQUAL(cosy_team_call(team, 1000 + arrived, computes, NULL), 0);
}

static void begin(void *arg)
{
	(void)arg;
	loop = cosy_team_loop();
	for (int i = 0; i < 2; i++) {
		receives[i].done = received;
		EQUAL(cosy_async_recv(loop, &receives[i], pair[0], &bytes[i], 1, 0), 0);
	}
	EQUAL(write(pair[1], &(char){ 0 }, 1), 1);
}

static void as_in_one_thread(void)
{
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	EQUAL(cosy_team_call(team, 0, begin, NULL), 0);
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(arrived, BYTES);
}

int main(void)
{
	alarm(600);
	team = make_team(4);
	from_all_colours();
	as_in_one_thread();
	EQUAL(cosy_team_destroy(team), 0);
	return 0;
}
