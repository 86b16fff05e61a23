/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * With a seed, colours run in a random order that the seed determines, and each colour still in the
 * order in which its callbacks were queued.
 */
// RUN: %compile
// RUN: COSY_TEAM_SEED=1 %t > %t.1
// RUN: COSY_TEAM_SEED=1 %t | diff %t.1 -
// RUN: COSY_TEAM_SEED=2 %t > %t.2
// RUN: %not diff -q %t.1 %t.2
// RUN: %t > %t.0
// RUN: %not diff -q %t.1 %t.0
// RUN: sort %t.1 > %t.sorted
// RUN: sort %t.2 | diff %t.sorted -
// RUN: sort %t.0 | diff %t.sorted -
#include "team.h"

static struct cosy_team *team;
static unsigned int counts[10];

static void print(void *arg)
{
	unsigned int *count = arg;

	printf("%u %u\n", (unsigned int)(count - counts), ++*count);
	if (*count < 10)
		EQUAL(cosy_team_call(team, cosy_team_colour(), print, arg), 0);
}

static void start(void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < 10; i++)
		EQUAL(cosy_team_call(team, i, print, &counts[i]), 0);
}

int main(void)
{
	team = make_team(1);
	EQUAL(cosy_team_call(team, 99, start, NULL), 0);
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(cosy_team_destroy(team), 0);
	return 0;
}
