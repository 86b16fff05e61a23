/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A child that a callback has forked is no worker of the team, which it can destroy: it makes another team, queues
 * callbacks, submits operations, and waits for them.
 */
// RUN: %compile
// RUN: %everywhere
#include "team.h"

static struct cosy_team *team, *own;
static atomic_uint ran;
static struct cosy_coloured op;

static void complete(struct cosy_coloured *coloured)
{
	EQUAL(coloured->op.result, getpid());
	ran++;
}

static void submit(void *arg)
{
	(void)arg;
	CHECK(cosy_team_self() == own);
	EQUAL(cosy_async_call(cosy_team_loop(), cosy_colour(&op, 7, complete), SYS_getpid, 0, 0, 0, 0, 0, 0), 0);
}

static void count(void *arg)
{
	(void)arg;
	ran++;
}

/* @arg: not NULL: the child destroys the team first. */
static void in_child(void *arg)
{
	EQUAL(cosy_team_call(team, 1, count, NULL), -EPERM);
	EQUAL(cosy_team_wait(team, NULL), -EPERM);
	if (arg)
		EQUAL(cosy_team_destroy(team), 0);
	own = make_team(2);
	for (uint64_t i = 0; i < 1000; i++)
		EQUAL(cosy_team_call(own, i, count, NULL), 0);
	EQUAL(cosy_team_call(own, 1, submit, NULL), 0);
	EQUAL(cosy_team_wait(own, NULL), 0);
	EQUAL(ran, 1001);
	EQUAL(cosy_team_destroy(own), 0);
	if (!arg)
		EQUAL(cosy_team_destroy(team), 0);
	CHECK(!cosy_team_self());
}

static void fork_child(void *arg)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		in_child(arg);
		_exit(0);
	}
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
}

int main(void)
{
	alarm(600);
	team = make_team(2);
	for (uint64_t i = 0; i < 10; i++)
		EQUAL(cosy_team_call(team, i, fork_child, i % 2 ? &team : NULL), 0);
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(cosy_team_destroy(team), 0);
	return 0;
}
