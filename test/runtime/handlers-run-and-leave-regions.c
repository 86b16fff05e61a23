/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A timer's handler runs regions itself and, every other time, leaves the
 * interrupted region by siglongjmp; up-calls leave by longjmp.
 */
// RUN: %compile %s -o %t -l:libcosy.a
// RUN: %run-all %t | FileCheck %s
// RUN: %vm env COSY_EXECUTOR=kernel %t | FileCheck %s
// RUN: %vm env COSY_EXECUTOR=auto %t | FileCheck %s
// CHECK: done
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "region.h"

static sigjmp_buf out;
static volatile sig_atomic_t may_jump, handled, jumped;
static int upcalls, compounds;

static void maybe_leave(uint64_t *frame)
{
	frame[2] += 2;
	if (++upcalls % 7 == 0)
		siglongjmp(out, 2);
}

REGION(calls, CALLS, 12)
REGION(mixed, MIXED, 20, maybe_leave)

static void run_calls(uint64_t n)
{
	uint64_t frame[4] = { n };

	if (run(&calls, frame) != 0)
		return;
	EQUAL(frame[1], n * (uint64_t)getpid());
	compounds++;
}

static void handler(int number)
{
	int saved = errno;

	(void)number;
	handled++;
	run_calls(3);
	errno = saved;
	if (may_jump && handled % 2) {
		may_jump = 0;
		jumped++;
		siglongjmp(out, 1);
	}
}

int main(void)
{
	struct itimerval interval = { { 0, 500 }, { 0, 500 } };
	struct sigaction action = { .sa_handler = handler };
	volatile int rounds;

	EQUAL(sigaction(SIGALRM, &action, NULL), 0);
	EQUAL(setitimer(ITIMER_REAL, &interval, NULL), 0);
	/* And until there were enough of them, on a machine of any speed. */
	for (rounds = 0; rounds < 300 || (compounds && (handled <= 20 || jumped <= 5)); rounds++) {
		if (!sigsetjmp(out, 1)) {
			may_jump = 1;
			run_calls(5000);
			may_jump = 0;
		}
		if (!sigsetjmp(out, 1)) {
			uint64_t frame[7] = { 5, 0, 0 };

			if (run(&mixed, frame) == 0)
				CHECK(frame[1] == 5 && frame[3] == 30);
		}
	}
	interval = (struct itimerval){ 0 };
	setitimer(ITIMER_REAL, &interval, NULL);
	printf("done\n");
	return 0;
}
