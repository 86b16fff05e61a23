/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A process that cannot open /dev/cosy any more when it must: its regions run natively, and the
 * reason is printed once, if statistics were requested.
 */
// RUN: %cosy-cc -O1 -Wall -Wextra -D_GNU_SOURCE %s -o %t
// RUN: %vm sh -c 'COSY_STATS=1 %t 2>&1' | FileCheck %s
// RUN: %vm sh -c 'COSY_STATS=0 %t 2>&1' | FileCheck --check-prefix=QUIET --implicit-check-not=cosy: %s
// CHECK: cosy: {{.*}}regions-run-natively-without-access.c:47: does not run in the kernel: /dev/cosy: Permission denied{{$}}
// CHECK-NOT: does not run
// CHECK: fork: 5 5
// CHECK-NOT: any more
// CHECK-DAG: regions-run-natively-without-access.c:47: executor=native runs=2
// CHECK-DAG: regions-run-natively-without-access.c:58: executor=native runs=2
// CHECK: regions-run-natively-without-access.c:47: does not run in the kernel any more: /dev/cosy: Permission denied{{$}}
// CHECK: closed: 5 5
// CHECK: open: 5 5
// CHECK-DAG: regions-run-natively-without-access.c:47: executor=kernel runs=2
// CHECK-DAG: regions-run-natively-without-access.c:58: executor=kernel runs=2
// QUIET: fork: 5 5
// QUIET: closed: 5 5
// QUIET: open: 5 5
#include <cosy.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* From now on no file can be opened. */
static void confine(void)
{
	struct landlock_ruleset_attr all = { .handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE };
	int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_landlock_restrict_self, rules, 0))
		perror("landlock");
}

static int first(void)
{
	int n = 0;

	COSY_START;
	for (int i = 0; i < 5; i++)
		n += getppid() > 0;
	COSY_END;
	return n;
}

static int second(void)
{
	int n = 0;

	COSY_START;
	for (int i = 0; i < 5; i++)
		n += getppid() >= 0;
	COSY_END;
	return n;
}

/* @closed: the process has a statistics file, but closes it. */
static void in_child(const char *what, int closed)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		if (closed)
			first();
		confine();
		if (closed)
			close_range(3, ~0u, 0);
		first();
		second();
		printf("%s: %d %d\n", what, first(), second());
		exit(0);
	}
	waitpid(child, NULL, 0);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	in_child("fork", 0);
	in_child("closed", 1);
	first();
	second();
	printf("open: %d %d\n", first(), second());
	return 0;
}
