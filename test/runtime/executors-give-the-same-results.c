/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Each executor gives the same results; COSY_STATS shows which one was used.
 */
// RUN: %compile %s -o %t -l:libcosy.a
// RUN: %run-all %t | FileCheck %s
// CHECK: exit 0, left 0, failures 0, r2 0, sum 0, errno 0
// CHECK: exit 0, left 0, failures 4, r2 322, sum 472, errno 0
// CHECK: exit 1, left 4, failures 1, r2 7, sum 0, errno 0

// RUN: COSY_STATS=1 COSY_EXECUTOR=user %t 2>&1 >/dev/null | FileCheck --check-prefix=USER %s
// USER-DAG: {{^}}cosy: prog.c:12: executor=user runs=3 syscalls=1001 entries=0{{$}}
// USER-DAG: {{^}}cosy: prog.c:20: executor=user runs=3 syscalls=9 entries=0 upcalls=5{{$}}

// RUN: COSY_STATS=1 COSY_EXECUTOR=native %t 2>&1 >/dev/null | FileCheck --check-prefix=NATIVE %s
// NATIVE-DAG: {{^}}cosy: prog.c:12: executor=native runs=3{{$}}
// NATIVE-DAG: {{^}}cosy: prog.c:20: executor=native runs=3{{$}}

// Also without counting, which uses another path into the kernel.
// RUN: %vm env COSY_EXECUTOR=kernel %t | FileCheck %s
// RUN: %vm env COSY_EXECUTOR=auto COSY_STATS=1 %t 2>&1 >/dev/null | FileCheck --check-prefix=KERNEL %s
// One entry for each run and each up-call; a signal or a time slice may add some.
// KERNEL-DAG: {{^}}cosy: prog.c:12: executor=kernel runs=3 syscalls=1001 entries={{[3-9]$}}
// KERNEL-DAG: {{^}}cosy: prog.c:20: executor=kernel runs=3 syscalls=9 entries={{([89]|1[0-9])}} upcalls=5{{$}}

// The shared library has the same results.
// RUN: %compile %s -o %t.shared -lcosy -Wl,-rpath,%lib
// RUN: %run-all %t.shared | FileCheck %s

// A program without COSY_STATS prints only its own output.
// RUN: COSY_EXECUTOR=user %t 2>&1 | not grep cosy
// RUN: COSY_EXECUTOR=user COSY_STATS=0 %t 2>&1 | not grep cosy
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "region.h"

static void change_r2(uint64_t *frame)
{
	EQUAL(errno, EBADF);
	errno = 0;
	frame[2] = frame[2] * 3 + 4;
}

REGION(calls, CALLS, 12)
REGION(mixed, MIXED, 20, change_r2)

static uint64_t sum_of_pids(uint64_t n)
{
	uint64_t frame[4] = { n };
	uint64_t sum = 0;

	if (run(&calls, frame) == 0)
		return frame[1];
	while (n--)
		sum += (uint64_t)getpid();
	return sum;
}

static void run_mixed(uint64_t n, uint64_t start)
{
	uint64_t frame[7] = { n, 0, start };
	int64_t exit;

	memset(frame + 3, 0x55, sizeof(frame) - 24);
	errno = 0;
	exit = run(&mixed, frame);
	if (exit < 0) {
		exit = 0;
		frame[3] = 0;
		for (; frame[0]; frame[0]--) {
			frame[1] += close(-1) < 0;
			change_r2(frame);
			if (frame[2] & 1) {
				exit = 1;
				break;
			}
			frame[3] += frame[2];
			getpid();
		}
	}
	printf("exit %d, left %d, failures %d, r2 %lu, sum %lu, errno %d\n",
	       (int)exit, (int)frame[0], (int)frame[1], frame[2], frame[3],
	       errno);
}

int main(void)
{
	EQUAL(sum_of_pids(0), 0);
	EQUAL(sum_of_pids(1), (uint64_t)getpid());
	EQUAL(sum_of_pids(1000), (uint64_t)getpid() * 1000);
	run_mixed(0, 0);
	run_mixed(4, 2);
	run_mixed(4, 1);
	return 0;
}
