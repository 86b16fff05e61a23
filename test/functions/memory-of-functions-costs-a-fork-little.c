// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A process that has memory of functions forks by few instructions more: libcosy looks only at its segments, and
// not at the whole table for them, which has 32,768 entries.
// RUN: %cosy-cc -O2 -Wall -Wextra -Werror %s -o %t
// RUN: for n in 0 10; do \
// RUN:   valgrind --tool=callgrind --callgrind-out-file=/dev/null %t $n 2>%t.log || { cat %t.log; exit 1; }; \
// RUN:   sed -n 's/.*Collected : *//p' %t.log | tail -n 1 >%t.$n; \
// RUN: done
// RUN: echo "$(cat %t.0) instructions, with 10 forks $(cat %t.10)"
// RUN: test $(($(cat %t.10) - $(cat %t.0))) -lt 100000
#include <cosy.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "../Inputs/check.h"

int main(int argc, char **argv)
{
	int status;

	CHECK(argc > 1 && cosy_malloc(1));
	for (int n = atoi(argv[1]); n; n--) {
		const pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid)
			_exit(0);
		EQUAL(waitpid(pid, &status, 0), pid);
		EQUAL(status, 0);
	}
	return 0;
}
