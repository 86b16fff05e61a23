// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * SIGKILL immediately ends a user function in the kernel that never returns.
 */
// RUN: %clang -O2 -Wall -Werror -pthread %s -o %t -L%lib -l:libcosy.a
// RUN: %vm env COSY_FUNCTIONS=kernel %t | %FileCheck %s
// CHECK: in the kernel
// CHECK: killed within 100 ms
#include <cosy.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

COSY_FUNCTION
static long spin(volatile long *p)
{
	while (*p >= 0)
		++*p;
	return *p;
}

static void *watch(void *arg)
{
	volatile long *p = arg;

	while (!*p)
		usleep(1000);
	if (write(STDOUT_FILENO, "", 1) != 1)
		_exit(1);
	return NULL;
}

static int run(void)
{
	long *p = cosy_malloc(sizeof(*p));
	pthread_t thread;

	*p = 0;
	pthread_create(&thread, NULL, watch, p);
	COSY_START;
	getppid();
	spin(p);
	COSY_END;
	return 0;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Return the CPU time of a process. */
static double time_of(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Return 1 if a process spends its time in the kernel. */
static int in_kernel(pid_t pid)
{
	long first[2] = { -1, -1 }, times[2];
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	/* Wait until it has used enough user and system time, in ticks. */
	do {
		FILE *f = fopen(path, "r");

		if (!f || fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u"
				    " %*u %*u %*u %ld %ld", &times[0], &times[1]) != 2)
			return 0;
		fclose(f);
		if (first[0] < 0)
			memcpy(first, times, sizeof(first));
		usleep(10000);
	} while (times[0] + times[1] < first[0] + first[1] + 20);
	return times[1] - first[1] > times[0] - first[0];
}

int main(int argc, char **argv)
{
	double took = 1;
	bool first = true;
	int status;

	if (argc > 1)
		return run();
	/*
	 * The time of the process counts, because others may use the CPUs. Ending also takes time,
	 * so it is tried for ten minutes.
	 */
	for (double begin = now(); took >= 0.1 && now() - begin < 600; first = false) {
		struct rusage usage;
		int fds[2];
		pid_t pid;
		char c;

		if (pipe(fds))
			return 1;
		pid = fork();
		if (!pid) {
			dup2(fds[1], STDOUT_FILENO);
			execl("/proc/self/exe", argv[0], "run", NULL);
			_exit(1);
		}
		if (read(fds[0], &c, 1) != 1)
			return 1;
		if (first)
			printf("%s\n", in_kernel(pid) ? "in the kernel" : "native");
		took = time_of(pid);
		kill(pid, SIGKILL);
		wait4(pid, &status, 0, &usage);
		took = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
		       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6 - took;
		close(fds[0]);
		close(fds[1]);
	}
	printf("%s %s 100 ms\n", WIFSIGNALED(status) ? "killed" : "ended",
	       took < 0.1 ? "within" : "not within");
	return 0;
}
