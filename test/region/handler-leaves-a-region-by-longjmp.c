// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A timer's handler repeatedly leaves a region by siglongjmp() at any place. Each call
 * and store before has been executed once and in order, and the region can be entered again.
 */
// A call through a pointer that is not guessed is an up-call.
// RUN: %cosy-cc -O2 -mllvm -cosy-max-targets=0 %s -o %t
// RUN: %run-all --vm %t | %FileCheck %s
// CHECK: 200 jumps, consistent
#include <cosy.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static sigjmp_buf out;
static volatile sig_atomic_t inside, jumps;

/* In the order of the region: each equals the next one, or is 1 more. */
static volatile long before, after, rounds;

static void handler(int sig)
{
	(void)sig;
	if (!inside)
		return;
	inside = 0;
	jumps++;
	siglongjmp(out, 1);
}

static void up(void)
{
	after = after + 1;
}

static void (*volatile native)(void) = up;

static __attribute__((noinline)) void region(int fd)
{
	COSY_START;
	for (;;) {
		before = before + 1;
		write(fd, "x", 1);
		native();
		rounds = rounds + 1;
	}
	COSY_END;
}

int main(void)
{
	struct sigaction action = { .sa_handler = handler };
	struct itimerval interval = { { 0, 700 }, { 0, 700 } };
	int fd = fileno(tmpfile());
	volatile int wrong = 0;
	struct stat st;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &interval, NULL);
	while (jumps < 200) {
		if (!sigsetjmp(out, 1)) {
			inside = 1;
			region(fd);
		}
		fstat(fd, &st);
		if (before - st.st_size > 1 || before < st.st_size || st.st_size - after > 1 ||
		    st.st_size < after || after - rounds > 1 || after < rounds ||
		    before - rounds > 1)
			wrong++;
		/* Repeat the part that the jump skipped. */
		if (st.st_size < before)
			wrong += write(fd, "x", 1) != 1;
		after = rounds = before;
	}
	interval = (struct itimerval){ 0 };
	setitimer(ITIMER_REAL, &interval, NULL);
	printf("%d jumps, %s\n", (int)jumps, wrong ? "inconsistent" : "consistent");
	return 0;
}
