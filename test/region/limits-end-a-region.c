// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits of a region: it ends, is killed or continues at the same place on every
// executor. Regions that end or are killed never run natively.
// RUN: %cosy-cc -O0 -Wno-cosy %s -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 -Wno-cosy %s -o %t && %run-all %t | FileCheck %s
// RUN: %clang -O2 -c -fverify-intermediate-code %s -o %t.o -fplugin-arg-cosy-Wno-cosy
// RUN: COSY_EXECUTOR=native COSY_STATS=1 %t 2>&1 | FileCheck --check-prefix=USER %s
#include <cosy.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// USER: limits-end-a-region.c:51: executor=user
static void report(const char *what)
{
	int error = errno;
	const struct cosy_stop *f = cosy_last_error();

	if (!f)
		printf("%s: ended\n", what);
	else
		printf("%s: line %u, %s in %s, %s, errno %s\n", what, f->line,
		       f->call ? f->call : "no call", f->function,
		       strerror(f->error), strerror(error));
}

static int add(int a, int b)
{
	return a + b;
}

static long sum_to(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += i;
	return sum;
}

static void operations(int rounds)
{
	long i = 0, inner = 0;
	char text[2] = "a";

	COSY_START_WITH(COSY_MAX_OPERATIONS(5000), COSY_AT_LIMIT(COSY_STOP));
	for (i = 0; i < rounds; i++) {
		text[0] = 'a' + i % 26;
		for (int k = 0; k < 3; k++)
			inner = add(inner, k) + (getpid() < 0);
		if (i % 50 == 49)
			fflush(stdout); /* an up-call does not count */
	}
	COSY_END;
	report("operations");
	printf("%s %s %s\n", i == rounds ? "all" : i > 100 ? "many" : "few",
	       inner == 3 * i || inner == 3 * i + 1 || inner == 3 * i + 3 ? "sound" : "torn",
	       text[0] == 'a' + i % 26 || text[0] == 'a' + (i - 1) % 26 ? "sound" : "torn");
}

/* The result is exact, and the same on every executor. */
static void exact(void)
{
	long i = 0, j = 0, k = 0;

	COSY_START_WITH(COSY_MAX_OPERATIONS(100000), COSY_AT_LIMIT(COSY_STOP),
			COSY_STOP_ON_ERROR);
	while (i >= 0) {
		i++;
		if (i % 3 == 0) {
			j += getppid() >= 0;
			continue;
		}
		do {
			k++;
		} while (k % 7);
	}
	COSY_END;
	report("exact");
	printf("%ld %ld %ld\n", i, j, k);
}

/* A loop in a function is not a loop of the region: it continues there. */
static long elsewhere(void)
{
	long n = 0, s = 0;

	COSY_START_WITH(COSY_MAX_OPERATIONS(200), COSY_AT_LIMIT(COSY_STOP));
	while (n < 1000) {
		s = sum_to(1000);
		n += getppid() >= 0;
	}
	COSY_END;
	report("elsewhere");
	return s;
}

static void forward(int fd)
{
	int again = 0;

back:
	COSY_START_WITH(COSY_MAX_OPERATIONS(2000), COSY_AT_LIMIT(COSY_STOP));
	again++;
	while (getppid() >= 0) {
		if (again == 1 && close(fd) < 0)
			goto back;
		if (again == 2 && close(fd) < 0)
			return;
	}
	COSY_END;
	report("not reached");
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void cpu_time(void)
{
	double took = 3;

	/*
	 * Other processes sometimes use the CPUs of an emulated machine, which counts as this
	 * one's time.
	 */
	for (int i = 0; i < 30 && took > 2; i++) {
		double begin = seconds();
		long n = 0;

		COSY_START_WITH(COSY_MAX_MS(60), COSY_AT_LIMIT(COSY_STOP));
		while (n >= 0)
			n += getpid() > 0;
		COSY_END;
		took = seconds() - begin;
	}
	/* The place differs from run to run. */
	printf("cpu time: %s, %s\n",
	       cosy_last_error() ? strerror(cosy_last_error()->error) : "ended", took < 0.05 ? "too early" : took > 2 ? "too late" : "in time");
}

/* While it sleeps it uses none. */
static void asleep(void)
{
	struct timespec long_time = {0, 150000000};
	int i;

	COSY_START_WITH(COSY_MAX_MS(500), COSY_AT_LIMIT(COSY_STOP));
	for (i = 0; i < 4; i++)
		nanosleep(&long_time, NULL);
	COSY_END;
	report("asleep");
}

static void killed(int by_time)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		long n = 0;

		if (by_time) {
			COSY_START_WITH(COSY_MAX_MS(20), COSY_AT_LIMIT(COSY_KILL));
			while (n >= 0)
				n += getpid() > 0;
			COSY_END;
		} else {
			COSY_START_WITH(COSY_MAX_OPERATIONS(5000),
					COSY_AT_LIMIT(COSY_KILL));
			while (n >= 0)
				n += sum_to(10) + (getppid() < 0);
			COSY_END;
		}
		_exit(1);
	}
	waitpid(pid, &status, 0);
	printf("killed: %s\n", WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "no");
}

static void resumed(void)
{
	long n = 0;

	COSY_START_WITH(COSY_MAX_OPERATIONS(100), COSY_MAX_MS(1));
	for (int i = 0; i < 20000; i++)
		n += getpid() > 0;
	COSY_END;
	report("resumed");
	printf("%ld\n", n);
}

int main(void)
{
	operations(3);
	// CHECK: operations: ended
	// CHECK-NEXT: all sound sound
	operations(1000000);
	// CHECK-NEXT: operations: line {{5[0-9]}}, no call in operations, Timer expired, errno Timer expired
	// CHECK-NEXT: many sound sound
	exact();
	// CHECK-NEXT: exact: line {{[78][0-9]}}, no call in exact, Timer expired, errno Timer expired
	// CHECK-NEXT: {{^[0-9]+ [0-9]+ [0-9]+$}}
	printf("%ld\n", elsewhere());
	// CHECK-NEXT: elsewhere: line 9{{[0-9]}}, no call in elsewhere
	// CHECK-NEXT: 499500
	forward(-1);
	cpu_time();
	// CHECK-NEXT: cpu time: Timer expired, in time
	asleep();
	// CHECK-NEXT: asleep: ended
	killed(0);
	// CHECK-NEXT: killed: Killed
	killed(1);
	// CHECK-NEXT: killed: Killed
	resumed();
	// CHECK-NEXT: resumed: ended
	// CHECK-NEXT: 20000
	fprintf(stderr, "done\n");
	return 0;
}
