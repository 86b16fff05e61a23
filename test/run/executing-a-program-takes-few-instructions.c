// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Before a program is executed under `cosy run`, its name is looked for among those of programs that
 * make few calls, and the environment for LD_PRELOAD. With 40 variables, half of them on the heap, this
 * takes fewer than 3,000 instructions in user mode: 2,730 with a name that is not listed. It took 4,322
 * when each name of the list was read to its end.
 */

// RUN: %cc -O2 -Wall %s -o %t
// RUN: for n in 0 100; do env -i LD_PRELOAD=%build/lib/cosy-preload/lib/x86_64-linux-gnu/libcosy-preload.so valgrind --tool=callgrind --callgrind-out-file=/dev/null %t $n 2>&1 | sed -n 's/.*Collected : //p'; done >%t.out
// RUN: awk '{ count[NR] = $1 } END { each = (count[2] - count[1]) / 100; print each; exit !(each > 500 && each < 3000) }' %t.out
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char fixed[20][40];

int main(int argc, char **argv)
{
	char *arguments[] = { "name-without-file", "a", "b", "c", NULL }, name[20];
	int n = argc > 1 ? atoi(argv[1]) : 0;

	for (int i = 0; i < 20; i++) {
		snprintf(fixed[i], sizeof(fixed[i]), "FIXED_%d=value of variable %d", i, i);
		putenv(fixed[i]);
		snprintf(name, sizeof(name), "HEAP_%d", i);
		setenv(name, "value on the heap", 1);
	}
	/* They fail, so that all are counted in one process. */
	for (int i = 0; i < n; i++)
		execve("/nonexistent/name-without-file", arguments, environ);
	return 0;
}
