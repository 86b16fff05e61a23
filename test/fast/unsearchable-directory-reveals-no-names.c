// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A process that may not search a directory cannot learn from the time of calls
 * which names the kernel has cached there. On a CPU that counts instructions.
 */
// RUN: %clang -O2 -Wall -Werror -fplugin-arg-cosy-Wno-cosy-few-calls %s -o %t -L%lib -l:libcosy.a
// RUN: %root/scripts/vm/run --icount -- env COSY_EXECUTOR=kernel %t | %FileCheck %s
// CHECK: stat: permission denied for both, at the same cost
// CHECK-NEXT: access: permission denied for both, at the same cost
// CHECK-NEXT: stat below: permission denied for both, at the same cost
// CHECK-NEXT: access below: permission denied for both, at the same cost
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#define RUNS 100
/* Instructions. A walk costs about 500 more than a lookup in the cache. */
#define SAME 50

/* The minimum cost of a stat() or access(), and its error. */
static uint64_t cost(const char *name, bool by_access, int *error)
{
	uint64_t least = UINT64_MAX, time;
	struct stat st;
	int ret;

	for (int i = 0; i < RUNS; i++) {
		errno = 0;
		time = __rdtsc();
		if (by_access) {
			COSY_START;
			ret = access(name, R_OK);
			COSY_END;
		} else {
			COSY_START;
			ret = stat(name, &st);
			COSY_END;
		}
		time = __rdtsc() - time;
		*error = ret ? errno : 0;
		if (time < least)
			least = time;
	}
	return least;
}

static void compare(const char *what, const char *cached_name, const char *other_name,
		    bool by_access)
{
	int cached_error, other_error;
	uint64_t cached = cost(cached_name, by_access, &cached_error);
	uint64_t other = cost(other_name, by_access, &other_error);
	uint64_t difference = cached > other ? cached - other : other - cached;

	printf("%s: permission %s for both, at %s cost\n", what,
	       cached_error == EACCES && other_error == EACCES ? "denied" : "not denied",
	       difference < SAME ? "the same" : "another");
	fprintf(stderr, "%s: %ju and %ju instructions\n", what, (uintmax_t)cached,
		(uintmax_t)other);
}

int main(void)
{
	char directory[] = "/tmp/unsearchable.XXXXXX";
	int status = 0;
	pid_t child;

	if (!mkdtemp(directory) || chdir(directory) ||
	    close(open("cached", O_CREAT | O_WRONLY, 0644)) || mkdir("closed", 0700) ||
	    close(open("closed/cached", O_CREAT | O_WRONLY, 0644))) {
		perror(directory);
		return 1;
	}
	child = fork();
	if (child > 0)
		waitpid(child, &status, 0);
	if (child < 0 || status || (child && chmod(".", 0711)) || setuid(65534)) {
		perror(directory);
		return 1;
	}
	if (!child) {
		compare("stat", "cached", "absent", false);
		compare("access", "cached", "absent", true);
		return 0;
	}
	compare("stat below", "closed/cached", "closed/absent", false);
	compare("access below", "closed/cached", "closed/absent", true);
	return 0;
}
