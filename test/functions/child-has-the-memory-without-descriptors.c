// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A process forks that may open no descriptor and write no file. As natively, the child has the memory of the
// functions, can allocate more, and what it changes is its own.
// RUN: %cosy-cc -O2 -Wall -Wextra -Werror %s -o %t
// RUN: %vm env COSY_EXECUTOR=kernel COSY_FUNCTIONS=kernel COSY_STATS=1 %t 2>&1 | FileCheck %s
// CHECK-DAG: done
// CHECK-DAG: function add: executor=kernel
#include <cosy.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../Inputs/check.h"

#define NUMBERS	200000u
#define MORE	((size_t)8 << 20)

COSY_FUNCTION void add(unsigned int *to)
{
	++*to;
}

static void run(unsigned int *number)
{
	COSY_START;
	getppid();
	add(number);
	COSY_END;
}

static void check_child(unsigned int *numbers)
{
	char *more;

	for (unsigned int i = 0; i < NUMBERS; i++)
		EQUAL(numbers[i], i + (i == 1000));
	run(&numbers[2000]);
	EQUAL(numbers[2000], 2001);
	more = cosy_calloc(1, MORE);
	CHECK(more);
	EQUAL(more[MORE - 1], 0);
	cosy_free(more);
	cosy_free(numbers);
}

/* Set the current limit, and return what it was. */
static rlim_t limit(__rlimit_resource_t resource, rlim_t current)
{
	struct rlimit limits;
	rlim_t before;

	EQUAL(getrlimit(resource, &limits), 0);
	before = limits.rlim_cur;
	limits.rlim_cur = current;
	EQUAL(setrlimit(resource, &limits), 0);
	return before;
}

int main(void)
{
	unsigned int *numbers = cosy_malloc(NUMBERS * sizeof(*numbers));
	rlim_t descriptors, size;
	int status;
	pid_t pid;

	CHECK(numbers);
	for (unsigned int i = 0; i < NUMBERS; i++)
		numbers[i] = i;
	run(&numbers[1000]);
	EQUAL(numbers[1000], 1001);
	descriptors = limit(RLIMIT_NOFILE, 0);
	size = limit(RLIMIT_FSIZE, 0);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		check_child(numbers);
		_exit(0);
	}
	limit(RLIMIT_NOFILE, descriptors);
	limit(RLIMIT_FSIZE, size);
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
	EQUAL(numbers[2000], 2000);
	puts("done");
	return 0;
}
