/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The watchdog reports a callback that does not return, once, with its worker and colour, and not too early,
 * whatever signals come. While a callback of COSY_COLOUR_ALONE runs, no other one does.
 */
// RUN: %compile
// RUN: COSY_EXECUTOR=user %bounded %t
#include <signal.h>
#include <time.h>

#include "team.h"

static struct gate gate = GATE;
static atomic_uint reports, inside;
static struct cosy_team *team;
static uint64_t began;

static uint64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void handle(int signal)
{
	(void)signal;
}

/* Let only threads take SIGUSR1 that are not the program's. */
static void block_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	EQUAL(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
}

static void stay(void *arg)
{
	block_signal();
	pass_gate(arg);
}

static void stuck(struct cosy_team *which, const struct cosy_team_stuck *what, void *data)
{
	CHECK(which == team);
	CHECK(data == &reports);
	EQUAL(what->colour, 42);
	EQUAL(what->worker, 0);
	CHECK(what->ms >= 50);
	/* Both are rounded down. */
	CHECK(milliseconds() - began + 1 >= what->ms);
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
	const struct cosy_team_options options = { .size = sizeof(options), .workers = 1,
						   .stuck_ms = 50, .stuck = stuck,
						   .data = &reports };
	unsigned int count = 0;

	alarm(600);
	signal(SIGUSR1, handle);
	EQUAL(cosy_team_create(&team, &options), 0);
	block_signal();
	began = milliseconds();
	EQUAL(cosy_team_call(team, 42, stay, &gate), 0);
	while (!reports) {
		EQUAL(kill(getpid(), SIGUSR1), 0);
		usleep(1000);
	}
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
