/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * COSY_ASYNC functions with colours of a team: a function and the callbacks of its colour run one
 * after the other, and the colour stays on the worker whose loop makes the function's calls.
 */
// RUN: %async-compile -O2
// RUN: %everywhere
#include <fcntl.h>

#include <cosy/task.h>

#include "team.h"

#define FUNCTIONS	20
#define ROUNDS		200

static struct cosy_team *team;
static atomic_uint ended;

struct state {
	int fds[2];
	bool inside;
	unsigned int rounds;
	unsigned int calls;
	struct cosy_loop *loop;
};

static struct state states[FUNCTIONS];

static void call(void *arg)
{
	struct state *state = arg;

	EQUAL(state->inside, false);
	state->inside = true;
	state->calls++;
	CHECK(cosy_team_loop() == state->loop);
	EQUAL(write(state->fds[1], "x", 1), 1);
	state->inside = false;
}

COSY_ASYNC static int receive(struct state *state)
{
	char byte;

	while (state->rounds < ROUNDS) {
		EQUAL(cosy_team_call(team, (uintptr_t)state, call, state), 0);
		if (recv(state->fds[0], &byte, 1, 0) != 1)
			return 1;
		EQUAL(cosy_team_colour(), (uintptr_t)state);
		EQUAL(state->inside, false);
		state->rounds++;
	}
	return 7;
}

static void returned(struct cosy_async *op)
{
	EQUAL(op->result, 7);
	ended++;
}

static void start(void *arg)
{
	for (int i = 0; i < FUNCTIONS; i++) {
		struct state *state = &states[i];

		state->loop = cosy_team_loop();
		EQUAL(COSY_SPAWN(state->loop, receive(state), .done = returned,
				 .colour = (uintptr_t)state), 0);
	}
	(void)arg;
}

/* Functions that wait when the team is destroyed see their calls fail. */
static atomic_uint cancelled, started;

COSY_ASYNC static int wait_long(int fd)
{
	char byte;
	ssize_t n = recv(fd, &byte, 1, 0);

	return n < 0 && errno == ECANCELED ? 0 : 1;
}

static void ends(struct cosy_async *op)
{
	EQUAL(op->result, 0);
	cancelled++;
}

static void start_long(void *arg)
{
	for (uintptr_t i = 0; i < 3; i++)
		EQUAL(COSY_SPAWN(cosy_team_loop(), wait_long(states[0].fds[0]), .done = ends,
				 .colour = i), 0);
	started = 1;
	(void)arg;
}

int main(void)
{
	alarm(600);
	team = make_team(3);
	for (int i = 0; i < FUNCTIONS; i++)
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, states[i].fds), 0);
	EQUAL(cosy_team_call(team, 0, start, NULL), 0);
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(ended, FUNCTIONS);
	for (int i = 0; i < FUNCTIONS; i++)
		EQUAL(states[i].calls, ROUNDS);
	EQUAL(cosy_team_call(team, 0, start_long, NULL), 0);
	await_count(&started, 1);
	EQUAL(cosy_team_wait(team, &(struct timespec){ .tv_nsec = 1000000 }), -ETIME);
	EQUAL(cosy_team_destroy(team), 0);
	EQUAL(cancelled, 3);
	return 0;
}
