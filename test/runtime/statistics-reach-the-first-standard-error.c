/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * COSY_STATS: the lines go where the standard error was when the program began, or
 * to a file, however the program ends and whatever it does with its descriptors.
 */
// RUN: %compile %s -o %t -l:libcosy.a
// RUN: for how in close exit underscore other vfork kept; do \
// RUN:   COSY_STATS=1 COSY_EXECUTOR=user %t $how %t.mine 2>%t.err || exit 1; \
// RUN:   FileCheck %s < %t.err && diff %t.mine - <<< mine || exit 1; \
// RUN:   rm -f %t.stats && COSY_STATS=%t.stats COSY_EXECUTOR=user %t $how %t.mine 2>%t.err || exit 1; \
// RUN:   FileCheck %s < %t.stats && count 0 < %t.err || exit 1; \
// RUN:   COSY_EXECUTOR=user %t $how %t.mine 2>&1 | count 0 || exit 1; \
// RUN: done
// RUN: %vm sh -c 'COSY_STATS=1 COSY_EXECUTOR=kernel %t underscore %t.mine 2>&1' | FileCheck --check-prefix=KERNEL %s
// CHECK: {{^}}cosy: prog.c:12: executor=user runs=2 syscalls=8 entries=0{{$}}
// CHECK-NOT: cosy:
// KERNEL: cosy: prog.c:12: executor=kernel runs=2 syscalls=8
// KERNEL-NOT: cosy:

// A program that closes both its own descriptor and libcosy's has no lines, and none of its files
// gets them.
// RUN: COSY_STATS=1 COSY_EXECUTOR=user %t all %t.mine 2>&1 | count 0
// RUN: diff %t.mine - <<< mine

// The shared library has the same results.
// RUN: %compile %s -o %t.shared -lcosy -Wl,-rpath,%lib
// RUN: COSY_STATS=1 COSY_EXECUTOR=user %t.shared underscore %t.mine 2>&1 | FileCheck %s

// RUN: COSY_STATS=/nowhere/file COSY_EXECUTOR=user %t exit %t.mine 2>&1 | FileCheck --check-prefix=NOWHERE %s
// NOWHERE: {{^}}cosy: cannot open /nowhere/file: No such file or directory (COSY_STATS){{$}}
// NOWHERE-NOT: cosy:
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "region.h"

REGION(calls, CALLS, 12)

static void close_error(void)
{
	close(STDERR_FILENO);
}

/* A file of the program as descriptor 2. */
static void replace_error(const char *name)
{
	int fd = open(name, O_WRONLY | O_APPEND);

	CHECK(fd >= 0);
	EQUAL(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	uint64_t frame[4] = { 4 };
	FILE *mine = fopen(argv[2], "we");
	pid_t pid;

	CHECK(mine && fprintf(mine, "mine\n") > 0);
	EQUAL(fclose(mine), 0);
	run(&calls, frame);
	frame[0] = 4;
	run(&calls, frame);
	if (!strcmp(how, "close"))
		atexit(close_error);
	else if (!strcmp(how, "underscore"))
		_exit(0);
	else if (!strcmp(how, "other"))
		replace_error(argv[2]);
	else if (!strcmp(how, "kept"))
		closefrom(3);
	if (!strcmp(how, "all")) {
		closefrom(2);
		EQUAL(open(argv[2], O_WRONLY | O_APPEND), STDERR_FILENO);
	}
	if (!strcmp(how, "vfork")) {
		pid = vfork();
		if (!pid)
			_exit(0);
		EQUAL(waitpid(pid, NULL, 0), pid);
	}
	return 0;
}
