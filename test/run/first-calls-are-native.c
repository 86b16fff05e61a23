// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A process makes its first calls natively; with COSY_EXECUTOR=kernel, it makes none natively,
 * also after fork(). In a program that is built with -fcosy-auto one call of each function must be
 * native, because the dynamic linker resolves the function during that call.
 */

// RUN: %cc -O1 -Wall %s -o %t
// RUN: %cosy-cc -fcosy-auto -O1 -Wall %s -o %t.auto
// RUN: %vm %build/bin/cosy run %t later
// RUN: %vm env COSY_EXECUTOR=auto %build/bin/cosy run %t later
// RUN: %vm env COSY_EXECUTOR=native %build/bin/cosy run %t never
// RUN: %vm env COSY_EXECUTOR=kernel %build/bin/cosy run %t first
// RUN: %vm env COSY_EXECUTOR=kernel2 %build/bin/cosy run %t later
// RUN: %vm %t.auto later
// RUN: %vm env COSY_EXECUTOR=kernel %t.auto second

#include <stdlib.h>
#include <sys/wait.h>

#include "Inputs/device.h"

static void check_calls(const char *opened)
{
	struct stat st;

	CHECK(!has_device());
	EQUAL(stat("/", &st), 0);
	EQUAL(has_device(), !strcmp(opened, "first"));
	warm_up();
	EQUAL(has_device(), !!strcmp(opened, "never"));
}

int main(int argc, char **argv)
{
	const char *opened;
	int status;
	pid_t child;

	EQUAL(argc, 2);
	opened = argv[1];
	if (!strcmp(opened, "second")) {
		struct stat st;

		EQUAL(stat("/", &st), 0);
		opened = "first";
	}
	check_calls(opened);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		check_calls(opened);
		_exit(0);
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	/* Before fork() it has closed the device. */
	check_calls(opened);
	return 0;
}
