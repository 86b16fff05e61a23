// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A child of vfork() that runs compounds, also after it has closed all descriptors, leaves its parent the
// descriptors that it had. And a child in a PID namespace of its own, which has its parent's number, does not
// unload what its parent has loaded.
// RUN: %compile %s -o %t -lcosy -Wl,-rpath,%lib
// RUN: %vm env COSY_EXECUTOR=kernel %t
#include <cosy.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../Inputs/descriptors.h"
#include "region.h"

#define COMPOUNDS	10

REGION(calls, CALLS, 12)

static struct cosy *compounds[COMPOUNDS + 1];

static void wait_for(pid_t pid)
{
	int status;

	CHECK(pid > 0);
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
}

/* Return true if the compound gives the result of the native code. */
static bool works(struct cosy *compound)
{
	uint64_t frame[4] = { 3 };

	return !cosy_run(compound, frame) && frame[1] == 3 * (uint64_t)getpid();
}

static void check_vfork(void)
{
	pid_t pid;
	int open;

	for (int i = 0; i <= COMPOUNDS; i++) {
		compounds[i] = cosy_init(calls_image, (size_t)(calls_end - calls_image));
		CHECK(compounds[i]);
	}
	CHECK(works(compounds[COMPOUNDS]));
	open = count_descriptors("");
	for (int i = 0; i < COMPOUNDS; i++) {
		pid = vfork();
		if (!pid) {
			if (i % 2)
				close_range(3, ~0u, 0);
			_exit(!works(compounds[i]));
		}
		wait_for(pid);
		CHECK(works(compounds[i]));
		CHECK(works(compounds[COMPOUNDS]));
	}
	EQUAL(count_descriptors(""), open);
}

static void run_here(void)
{
	uint64_t frame[4] = { 3 };

	EQUAL(run(&calls, frame), 0);
	EQUAL(frame[1], 3 * getpid());
}

/* In the first process of a namespace. */
static void check_namespaces(void)
{
	uint64_t handle;
	pid_t pid;

	EQUAL(getpid(), 1);
	run_here();
	handle = calls.handle;
	CHECK(handle);
	EQUAL(unshare(CLONE_NEWPID), 0);
	pid = fork();
	if (!pid) {
		EQUAL(getpid(), 1);
		/* They are unloaded when others are added. */
		cosy_regions_remove(&calls, 1);
		cosy_regions_add(&calls, 0);
		_exit(0);
	}
	wait_for(pid);
	run_here();
	EQUAL(calls.handle, handle);
}

int main(void)
{
	pid_t pid;

	check_vfork();
	EQUAL(unshare(CLONE_NEWPID), 0);
	pid = fork();
	if (!pid) {
		check_namespaces();
		_exit(0);
	}
	wait_for(pid);
	return 0;
}
