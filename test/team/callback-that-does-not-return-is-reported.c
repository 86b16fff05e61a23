/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The watchdog reports a callback that does not return, once, with its worker and colour. While a
 * callback of COSY_COLOUR_ALONE runs, no other one does.
 */
// RUN: %compile
// RUN: COSY_EXECUTOR=user %bounded %t
#include "team.h"

static struct gate gate = GATE;
static atomic_uint reports, inside;
static struct cosy_team *team;

static void stuck(struct cosy_team *which, const struct cosy_team_stuck *what, void *data)
{
	CHECK(which == team);
	CHECK(data == &reports);
	EQUAL(what->colour, 42);
	CHECK(what->worker < 2);
	CHECK(what->ms >= 20);
	CHECK(!cosy_team_self());
	if (++reports == 1)
		open_gate(&gate);
}

static void work(void *arg)
{
	inside++;
	for (volatile int i = 0; i < 1000; i++)
		;
	inside--;
	(void)arg;
}

static void alone(void *arg)
{
	unsigned int *count = arg;

	for (int i = 0; i < 1000; i++)
		EQUAL(inside, 0);
	(*count)++;
}

int main(void)
{
	const struct cosy_team_options options = { .size = sizeof(options), .workers = 2,
						   .stuck_ms = 20, .stuck = stuck,
						   .data = &reports };
	unsigned int count = 0;

	alarm(600);
	EQUAL(cosy_team_create(&team, &options), 0);
	EQUAL(cosy_team_call(team, 42, pass_gate, &gate), 0);
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(reports, 1);
	EQUAL(cosy_team_destroy(team), 0);

	team = make_team(3);
	for (uint64_t i = 0; i < 20000; i++) {
		EQUAL(cosy_team_call(team, i % 50, work, NULL), 0);
		if (i % 100 == 0)
			EQUAL(cosy_team_call(team, COSY_COLOUR_ALONE, alone, &count), 0);
	}
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(count, 200);
	EQUAL(cosy_team_destroy(team), 0);
	return 0;
}
