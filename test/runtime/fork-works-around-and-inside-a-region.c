/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fork in the loop around a region and in an up-call inside one, and children that are the first
 * to use a region. The counts of a child begin at 0.
 */
// RUN: %compile %s -o %t -l:libcosy.a
// RUN: %run-all %t | FileCheck %s
// RUN: %vm env COSY_EXECUTOR=kernel %t | FileCheck %s
// RUN: %vm env COSY_EXECUTOR=auto %t | FileCheck %s
// CHECK: done
#include <sys/wait.h>
#include <unistd.h>

#include "region.h"

static int forked;
static pid_t child;

static void fork_once(uint64_t *frame)
{
	frame[2] += 2;
	if (forked)
		return;
	forked = 1;
	fflush(stdout);
	child = fork();
	CHECK(child >= 0);
}

REGION(calls, CALLS, 12)
REGION(mixed, MIXED, 20, fork_once)

static void check_calls(uint64_t n)
{
	uint64_t frame[4] = { n };

	if (run(&calls, frame) == 0)
		EQUAL(frame[1], n * (uint64_t)getpid());
}

static void wait_for(pid_t pid)
{
	int status;

	EQUAL(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	EQUAL(WEXITSTATUS(status), 0);
}

int main(void)
{
	uint64_t frame[7] = { 4, 0, 0 };

	/* Many children are the first to use the region. */
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			check_calls(10);
			_exit(0);
		}
		wait_for(pid);
	}
	check_calls(10);
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		check_calls(10);
		if (!pid)
			_exit(0);
		wait_for(pid);
	}
	if (run(&mixed, frame) == 0)
		CHECK(frame[1] == 4 && frame[2] == 8 && frame[3] == 20);
	if (forked && !child)
		return 0;
	if (forked)
		wait_for(child);
	printf("done\n");
	return 0;
}
