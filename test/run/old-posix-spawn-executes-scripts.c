// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A program that was linked with the posix_spawn() of glibc before 2.15 executes scripts without
 * "#!". One that is linked with the present one does not.
 */

// RUN: %cc -O1 -Wall -DOLD %s -o %t.old && %cc -O1 -Wall %s -o %t.new
// RUN: %t.old %t.script && %t.new %t.script
// RUN: %build/bin/cosy run %t.old %t.script && %build/bin/cosy run %t.new %t.script
// RUN: %vm %build/bin/cosy run %t.old %t.script
// RUN: %vm %build/bin/cosy run %t.new %t.script

#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>

#include "Inputs/device.h"

#ifdef OLD
#define VERSION "GLIBC_2.2.5"
#define RESULT	0
#else
#define VERSION "GLIBC_2.15"
#define RESULT	ENOEXEC
#endif

__asm__(".symver posix_spawn, posix_spawn@" VERSION);
__asm__(".symver posix_spawnp, posix_spawnp@" VERSION);

static void check_child(int result, pid_t child)
{
	int status;

	EQUAL(result, RESULT);
	if (!result)
		CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
}

int main(int argc, char **argv)
{
	char *args[2] = { argv[1], NULL };
	pid_t child = 0;
	int fd;

	EQUAL(argc, 2);
	fd = open(args[0], O_CREAT | O_WRONLY | O_TRUNC, 0755);
	CHECK(fd >= 0);
	EQUAL(write(fd, "exit 7\n", 7), 7);
	EQUAL(close(fd), 0);
	warm_up();
	check_child(posix_spawn(&child, args[0], NULL, NULL, args, NULL), child);
	warm_up();
	check_child(posix_spawnp(&child, args[0], NULL, NULL, args, NULL), child);
	return 0;
}
