// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A function that never ends delays other tasks not much more than native code that
 * does the same: a task that sleeps soon wakes up, a task that computes gets half of the CPU. On
 * one CPU that counts instructions, so that the figures do not depend on the host.
 */
// REQUIRES: long
// RUN: %clang -O2 -Wall -Werror %s -o %t -L%lib -l:libcosy.a
// RUN: %root/scripts/vm/run --icount -- %t | %FileCheck %s
// CHECK: in the kernel
// CHECK: waits no longer than 4 ms more
// CHECK: sleeps no longer than 4 ms more
// CHECK: has its half
#include <cosy.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct figures {
	double gap;	/* longest time between two reads of the clock */
	double late;	/* longest duration of a sleep of 1 ms */
	double share;	/* of the CPU */
	bool in_kernel;	/* the other process spends its time in the kernel */
};

/* The longest time between two checks of the budget. */
COSY_FUNCTION
static uint64_t spin(volatile uint64_t *p)
{
	uint64_t i;

	for (i = 0; p[0] != 1; i++)
		p[1] = p[1] * 31 + p[2];
	return i;
}

static double now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static int run(void)
{
	uint64_t *p = cosy_calloc(4, sizeof(*p));

	if (write(STDOUT_FILENO, "", 1) != 1)
		return 1;
	COSY_START;
	getppid();
	spin(p);
	COSY_END;
	return 0;
}

static bool in_kernel(pid_t pid)
{
	long user = 0, system = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld",
			 &user, &system) != 2)
		exit(1);
	fclose(f);
	return system > user;
}

static struct figures measure(const char *where)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	struct figures f = { 0 };
	double begin, last, cpu;
	int fds[2], status;
	pid_t pid;
	char c;

	setenv("COSY_FUNCTIONS", where, 1);
	if (pipe(fds))
		exit(1);
	pid = fork();
	if (!pid) {
		dup2(fds[1], STDOUT_FILENO);
		execl("/proc/self/exe", "latency", "run", NULL);
		_exit(1);
	}
	if (read(fds[0], &c, 1) != 1)
		exit(1);
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	for (int i = 0; i < 100; i++) {
		begin = now(CLOCK_MONOTONIC);
		nanosleep(&ms, NULL);
		begin = now(CLOCK_MONOTONIC) - begin;
		if (begin > f.late)
			f.late = begin;
	}
	cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	begin = last = now(CLOCK_MONOTONIC);
	while (last - begin < 0.5) {
		double t = now(CLOCK_MONOTONIC);

		if (t - last > f.gap)
			f.gap = t - last;
		last = t;
	}
	f.share = (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (last - begin);
	f.in_kernel = in_kernel(pid);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(fds[0]);
	close(fds[1]);
	return f;
}

int main(int argc, char **argv)
{
	struct figures native, kernel;

	(void)argv;
	if (argc > 1)
		return run();
	native = measure("native");
	kernel = measure("kernel");
	printf("%s\n", kernel.in_kernel && !native.in_kernel ? "in the kernel" : "not in the kernel");
	printf("gap %.2f and %.2f ms, sleep of 1 ms %.2f and %.2f ms, share %.2f and %.2f\n",
	       native.gap * 1e3, kernel.gap * 1e3, native.late * 1e3, kernel.late * 1e3,
	       native.share, kernel.share);
	printf("%s\n", kernel.gap < native.gap + 4e-3 ? "waits no longer than 4 ms more" :
							"waits too long");
	printf("%s\n", kernel.late < native.late + 4e-3 ? "sleeps no longer than 4 ms more" :
							  "sleeps too long");
	printf("%s\n", kernel.share > 0.4 ? "has its half" : "has too little");
	return 0;
}
