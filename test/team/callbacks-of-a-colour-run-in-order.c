/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Callbacks of one colour run in the order in which they were queued, those of different colours at
 * the same time. Wrong arguments and wrong threads are refused. A child has no team.
 */
// RUN: %compile
// RUN: %everywhere
// RUN: %thread-sanitizer
// RUN: COSY_EXECUTOR=user %bounded %t
#include "team.h"

static struct cosy_team *team;
static unsigned int next;

static void in_order(void *arg)
{
	EQUAL((uintptr_t)arg, next);
	EQUAL(cosy_team_colour(), 7);
	CHECK(cosy_team_self() == team);
	next++;
	/* Queued after all that are queued already. */
	if (next <= 1000)
		EQUAL(cosy_team_call(team, 7, in_order, (void *)((uintptr_t)arg + 1000)), 0);
}

static void order(void)
{
	struct gate gate = GATE;

	EQUAL(cosy_team_call(team, 7, pass_gate, &gate), 0);
	for (uintptr_t i = 0; i < 1000; i++)
		EQUAL(cosy_team_call(team, 7, in_order, (void *)i), 0);
	EQUAL(info_of(team).queued, 1001);
	open_gate(&gate);
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(next, 2000);
	EQUAL(info_of(team).queued, 0);
}

/* Four callbacks are at the gate at once, although all colours were queued on one worker. */
static void start_four(void *gate)
{
	for (uint64_t i = 0; i < 4; i++)
		EQUAL(cosy_team_call(team, 100 + i, pass_gate, gate), 0);
}

static void parallel(void)
{
	struct gate gate = GATE;

	EQUAL(cosy_team_call(team, 0, start_four, &gate), 0);
	await_at_gate(&gate, 4);
	open_gate(&gate);
	EQUAL(cosy_team_wait(team, NULL), 0);
	CHECK(info_of(team).stolen >= 3);
}

/* A callback does not return: what it has queued before runs on other workers. */
static void queue_and_stay(void *gate)
{
	EQUAL(cosy_team_call(team, 200, pass_gate, gate), 0);
	pass_gate(gate);
}

static void stuck(void)
{
	struct gate gate = GATE;

	EQUAL(cosy_team_call(team, 201, queue_and_stay, &gate), 0);
	await_at_gate(&gate, 2);
	EQUAL(cosy_team_wait(team, &(struct timespec){ .tv_nsec = 1000 }), -ETIME);
	open_gate(&gate);
	EQUAL(cosy_team_wait(team, NULL), 0);
}

static void from_inside(void *arg)
{
	(void)arg;
	EQUAL(cosy_team_wait(team, NULL), -EDEADLK);
	EQUAL(cosy_team_destroy(team), -EDEADLK);
	CHECK(cosy_team_loop() != NULL);
}

static void refused(void)
{
	struct cosy_team_options options = { .size = sizeof(options), .workers = COSY_TEAM_MAX + 1 };
	const struct cosy_callback high = { .fn = from_inside, .priority = 2 };
	struct { struct cosy_team_options known; uint64_t more; } larger = { 0 };
	struct { struct cosy_loop_options known; uint64_t more[4]; } loop = { 0 };
	struct cosy_coloured op = { 0 };
	struct cosy_team *other;
	int status;
	pid_t pid;

	EQUAL(cosy_team_create(&other, &options), -EINVAL);
	options = (struct cosy_team_options){ .size = sizeof(options), .flags = 2 };
	EQUAL(cosy_team_create(&other, &options), -EINVAL);
	options = (struct cosy_team_options){ .size = sizeof(options), .stuck_ms = 1 };
	EQUAL(cosy_team_create(&other, &options), -EINVAL);
	options = (struct cosy_team_options){ .size = 1 };
	EQUAL(cosy_team_create(&other, &options), -EINVAL);
	larger.known.size = sizeof(larger);
	EQUAL(cosy_team_create(&other, &larger.known), 0);
	EQUAL(cosy_team_destroy(other), 0);
	larger.more = 1;
	EQUAL(cosy_team_create(&other, &larger.known), -EINVAL);
	/* The same for the options of the loops. */
	loop.known.size = sizeof(loop);
	options = (struct cosy_team_options){ .size = sizeof(options), .workers = 1, .loop = &loop.known };
	EQUAL(cosy_team_create(&other, &options), 0);
	EQUAL(cosy_team_destroy(other), 0);
	loop.more[0] = 1;
	EQUAL(cosy_team_create(&other, &options), -EINVAL);
	EQUAL(cosy_team_call_with(team, 0, &high), -EINVAL);
	EQUAL(cosy_team_wait(team, &(struct timespec){ .tv_nsec = 1000000000 }), -EINVAL);
	EQUAL(cosy_team_resize(team, COSY_TEAM_MAX + 1), -EINVAL);
	CHECK(!cosy_team_loop());
	CHECK(!cosy_team_self());
	EQUAL(cosy_team_colour(), 0);
	EQUAL(cosy_team_cancel(&op), -EPERM);
	cosy_team_stay(true);
	EQUAL(cosy_team_call(team, 0, from_inside, NULL), 0);
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(cosy_team_destroy(NULL), 0);
	pid = fork();
	if (!pid) {
		EQUAL(cosy_team_call(team, 0, from_inside, NULL), -EPERM);
		EQUAL(cosy_team_wait(team, NULL), -EPERM);
		EQUAL(cosy_team_destroy(team), 0);
		_exit(0);
	}
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
}

int main(void)
{
	alarm(600);
	team = make_team(4);
	order();
	for (int i = 0; i < 50; i++) {
		parallel();
		stuck();
	}
	refused();
	EQUAL(info_of(team).workers, 4);
	EQUAL(cosy_team_destroy(team), 0);
	return 0;
}
