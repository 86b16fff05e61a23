/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The program closes libcosy's descriptor, before a run and in the middle of
 * one, and opens another file with its number.
 */
// RUN: %compile %s -o %t -l:libcosy.a
// RUN: %t && COSY_EXECUTOR=user %t
// RUN: %vm env COSY_EXECUTOR=kernel COSY_STATS=1 %t 2>&1 | FileCheck %s
// RUN: %vm env COSY_EXECUTOR=kernel %t | FileCheck --check-prefix=PLAIN %s
// Every run is completed in the kernel.
// CHECK-DAG: prog.c:20: executor=kernel runs=28 syscalls=280 entries={{[0-9]+}} upcalls=140{{$}}
// CHECK-DAG: prog.c:12: executor=kernel runs=28 syscalls=84 entries={{[0-9]+$}}
// CHECK-DAG: replaced yes
// PLAIN-COUNT-28: compound ran
// PLAIN: replaced yes
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../Inputs/descriptors.h"
#include "region.h"

/* The path to open in place of the device, or NULL. */
static const char *replacement;
static int replaced;

/* Open the highest possible descriptor of the program, less @spare. */
static void limit_numbers(rlim_t spare)
{
	struct rlimit limit;

	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max - spare;
	EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void lose_device(void)
{
	int fd = device();
	int other;

	if (fd < 0)
		return;
	EQUAL(close(fd), 0);
	if (replacement) {
		other = open(replacement, O_RDWR);
		if (other < 0)
			other = open(replacement, O_RDONLY);
		CHECK(other >= 0);
		limit_numbers(0);
		EQUAL(dup2(other, fd), fd);
		limit_numbers(200);
		close(other);
	}
	replaced++;
}

static void lose_device_thunk(uint64_t *frame)
{
	lose_device();
	frame[2] += 2;
}

REGION(calls, CALLS, 12)
REGION(mixed, MIXED, 20, lose_device_thunk)

static void run_both(void)
{
	uint64_t a[4] = { 3 };
	uint64_t b[7] = { 5, 0, 0 };

	if (run(&calls, a) == 0)
		EQUAL(a[1], 3 * (uint64_t)getpid());
	lose_device();
	if (run(&mixed, b) == 0) {
		EQUAL(b[0], 0);
		EQUAL(b[1], 5);
		EQUAL(b[2], 10);
		EQUAL(b[3], 30);
		printf("compound ran\n");
	}
}

int main(void)
{
	static const char *const replacements[] = {
		NULL, "/dev/null", "/dev/zero", "/proc/self/status", "/",
		"/etc/passwd", "/dev/random",
	};

	limit_numbers(200);
	for (size_t i = 0; i < sizeof(replacements) / sizeof(char *); i++) {
		replacement = replacements[i];
		for (int j = 0; j < 3; j++)
			run_both();
		closefrom(3);
		run_both();
	}
	printf("replaced %s\n", replaced ? "yes" : "never");
	return 0;
}
