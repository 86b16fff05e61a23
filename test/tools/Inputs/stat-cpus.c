/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Has a loop with one processor, which makes some calls, and polls before it sleeps; calls
 * `COSY stat -c`.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cosy/async.h>

enum { N = 20 };

/* The last processor that may be used. */
static unsigned int find_cpu(void)
{
	unsigned int cpu = CPU_SETSIZE - 1;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		exit(1);
	while (!CPU_ISSET(cpu, &set))
		cpu--;
	return cpu;
}

/* Run on the other processors: otherwise this one does not poll. */
static void leave_cpu(unsigned int cpu)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		exit(1);
	CPU_CLR(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
}

/* Wait until the processor has polled for its 10 us. */
static void wait_for_polls(struct cosy_loop *loop)
{
	struct cosy_loop_info info;

	do {
		if (cosy_loop_info(loop, &info, sizeof(info)))
			exit(1);
	} while (info.polled_ns < 10000);
}

int main(int argc, char **argv)
{
	struct cosy_async ops[N + 1] = { 0 };
	struct cosy_loop *loop;
	unsigned int cpu;
	char command[4200];
	int fd;

	cpu = find_cpu();
	fd = open("/tmp", O_RDONLY);
	if (argc != 2 || fd < 0 || cosy_loop_create(&loop, NULL) || cosy_loop_cpus(loop, &cpu, 1))
		return 1;
	leave_cpu(cpu);
	printf("the CPU is %u\n", cpu);
	fflush(stdout);
	for (int i = 0; i < N; i++)
		if (cosy_async_call(loop, &ops[i], SYS_getppid, 0, 0, 0, 0, 0, 0))
			return 1;
	if (cosy_async_fsync(loop, &ops[N], fd) || cosy_loop_run(loop))
		return 1;
	wait_for_polls(loop);
	snprintf(command, sizeof(command), "%s stat -c -t -d 0.01 -n 1 -p %d", argv[1], getpid());
	if (system(command))
		return 1;
	return cosy_loop_destroy(loop) != 0;
}
