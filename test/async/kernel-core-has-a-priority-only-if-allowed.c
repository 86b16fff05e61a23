/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The thread of a kernel core has a priority only if the process may have it, and may use the
 * processor for long enough.
 */
// RUN: %compile
// RUN: %everywhere
#include <dirent.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "kernel-core.h"

/* Return how many threads but this one have a policy. */
static unsigned int count_threads(int policy)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned int count = 0;
	struct dirent *entry;

	CHECK(dir);
	while ((entry = readdir(dir))) {
		pid_t thread = atoi(entry->d_name);

		count += thread && thread != gettid() &&
			 (sched_getscheduler(thread) & ~SCHED_RESET_ON_FORK) == policy;
	}
	closedir(dir);
	return count;
}

static bool may_have_priority(void)
{
	const struct sched_param high = { .sched_priority = 1 }, low = { 0 };

	if (sched_setscheduler(0, SCHED_FIFO, &high))
		return false;
	EQUAL(sched_setscheduler(0, SCHED_OTHER, &low), 0);
	return true;
}

/* Its thread has the priority. The threads that make its calls that block do not have it. */
static void has_priority(void)
{
	struct cosy_async sync = { 0 };
	int fd = open("/tmp", O_RDONLY);
	struct cosy_loop *loop;

	if (!may_have_priority())
		return;
	loop = new_loop(1000, 1);
	for (int i = 0; i < 20; i++)
		use_core(loop);
	EQUAL(count_threads(SCHED_FIFO), 1);
	EQUAL(cosy_async_fsync(loop, &sync, fd), 0);
	EQUAL(result_of(loop, &sync), 0);
	EQUAL(count_threads(SCHED_FIFO), 1);
	CHECK(count_threads(SCHED_OTHER) >= 1);
	EQUAL(cosy_loop_destroy(loop), 0);
	close(fd);
}

/* In a child without privileges. After the error, the loop can poll without a priority. */
static void refused(void)
{
	const struct rlimit none = { 0 };
	struct cosy_cpu_options options = { .size = sizeof(options), .poll_us = 1000,
					    .priority = 1 };
	struct cosy_loop *loop;

	EQUAL(setrlimit(RLIMIT_RTPRIO, &none), 0);
	if (!getuid())
		EQUAL(setresuid(65534, 65534, 65534), 0);
	loop = make_loop();
	EQUAL(cosy_loop_cpus_with(loop, &core, 1, &options), -EACCES);
	use_core(loop);
	/* A thread that was joined is listed a little longer. */
	while (count_threads(SCHED_OTHER))
		sched_yield();
	options.priority = 0;
	EQUAL(cosy_loop_cpus_with(loop, &core, 1, &options), 0);
	use_core(loop);
	EQUAL(cosy_loop_cpus_with(loop, &core, 1, &options), -EBUSY);
	EQUAL(cosy_loop_destroy(loop), 0);
}

/* In a child. The kernel would end a thread that polls for longer. */
static void limited_time(void)
{
	const struct rlimit limit = { .rlim_cur = 1000, .rlim_max = 1000 };
	const struct cosy_cpu_options options = { .size = sizeof(options), .poll_us = 1000,
						  .priority = 1 };
	struct cosy_loop *loop = make_loop();

	EQUAL(setrlimit(RLIMIT_RTTIME, &limit), 0);
	EQUAL(cosy_loop_cpus_with(loop, &core, 1, &options), -EACCES);
	EQUAL(cosy_loop_destroy(loop), 0);
}

static void in_child(void (*test)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		alarm(600);
		test();
		_exit(0);
	}
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
}

int main(void)
{
	alarm(600);
	find_cpus();
	core = cpus[ncpus - 1];
	has_priority();
	in_child(refused);
	in_child(limited_time);
	return 0;
}
