// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An administrator's limits: a run that exceeds them is finished in user mode, ends if its region
// can stop, or is killed. In a separate VM, because they apply to all processes.
// RUN: %cosy-cc -O2 %s -o %t
// RUN: %root/scripts/vm/run -- sh %S/Inputs/limits-of-the-administrator.sh %t | FileCheck %s
#include <cosy.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// CHECK: max_run_operations=10000
// CHECK-NEXT: limits-of-the-administrator-end-a-region.c:37: executor=kernel runs=1 syscalls=1000000 entries={{[1-9]$}}
// CHECK-NEXT: 1000000 calls
// CHECK-NEXT: limits-of-the-administrator-end-a-region.c:48: executor=kernel runs=1
// CHECK-NEXT: stopped: Timer expired, errno Timer expired, before 1000000
// CHECK-NEXT: status 137
// CHECK-NEXT: max_run_ms=30
// CHECK-NEXT: limits-of-the-administrator-end-a-region.c:37: executor=kernel runs=1 syscalls=1000000
// CHECK-NEXT: 1000000 calls
// CHECK-NEXT: limits-of-the-administrator-end-a-region.c:48: executor=kernel
// CHECK-NEXT: stopped: Timer expired, errno Timer expired, before 1000000
// CHECK-NEXT: status 137
// CHECK-NEXT: none
// CHECK-NEXT: limits-of-the-administrator-end-a-region.c:37: executor=kernel runs=1 syscalls=1000000
// CHECK-NEXT: 1000000 calls
int main(int argc, char **argv)
{
	long n = 0;

	if (argc < 2)
		return 1;
	if (!strcmp(argv[1], "plain")) {
		long sum = 0;

		n = 1000000;
		COSY_START;
		for (long i = 0; i < n; i++)
			sum += getpid() > 0;
		COSY_END;
		printf("%ld calls\n", sum);
	}
	if (!strcmp(argv[1], "stop")) {
		const struct cosy_stop *why;
		int error;

		errno = 0;
		COSY_START_WITH(COSY_MAX_OPERATIONS(1ull << 50),
				COSY_AT_LIMIT(COSY_STOP));
		while (n < 1000000)
			n += getpid() > 0;
		COSY_END;
		error = errno;
		why = cosy_last_error();
		printf("stopped: %s, errno %s, %s 1000000\n",
		       why ? strerror(why->error) : "no", strerror(error),
		       n < 1000000 ? "before" : "after");
	}
	return 0;
}
