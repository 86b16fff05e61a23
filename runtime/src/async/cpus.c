/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cpus.c - creates the processors of a loop, with their loops and threads; lets them rest and ends them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "device/export.h"
#include "device/extensible.h"
#include "device/sys.h"
#include "cpu.h"
#include "cpus.h"
#include "create.h"
#include "loop.h"

/* struct cosy_used_fd has one bit for each processor. */
#define MAX_CPUS	64u
#define MAX_POLL_US	1000000u
#define MAX_PRIORITY	99u
/* In microseconds. Sleeping, and being woken on another CPU, takes longer. */
#define DEFAULT_POLL_US	10u

/* Since Linux 6.9. The headers of Debian 12 do not have it. */
struct epoll_busy_poll {
	uint32_t usecs;
	uint16_t budget;
	uint8_t prefers;
	uint8_t reserved;
};

#define SET_EPOLL_BUSY_POLL	_IOW(0x8A, 0x01, struct epoll_busy_poll)

/* Return true if the process may run a thread with a priority for so long without sleeping. */
static bool may_run_for(uint64_t us)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_RTTIME, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	       us < limit.rlim_cur;
}

/* Read the program's options, or NULL. Return 0, -EINVAL or -EACCES. */
static int read_options(struct cosy_cpu_options *known, const struct cosy_cpu_options *options)
{
	int err = cosy_extensible_copy(known, sizeof(*known), options);

	if (err)
		return err;
	if (known->poll_us > MAX_POLL_US || known->napi_us > MAX_POLL_US ||
	    known->priority > MAX_PRIORITY)
		return -EINVAL;
	if (known->priority && !may_run_for(known->poll_us + known->napi_us))
		return -EACCES;
	return 0;
}

/*
 * Let a processor, whose thread has started, have options.
 *
 * Return: 0; -EACCES: it may not have its priority; another error of pthread_setschedparam().
 */
static int set_options(struct cosy_cpu *cpu, const struct cosy_cpu_options *options)
{
	const struct epoll_busy_poll busy_poll = { .usecs = options->napi_us };
	const struct sched_param param = { .sched_priority = (int)options->priority };
	int err;

	/* A kernel that does not have it sleeps at once. */
	if (options->napi_us)
		cosy_sys(SYS_ioctl, cpu->loop->fds.epoll, SET_EPOLL_BUSY_POLL, (long)&busy_poll);
	if (!options->priority)
		return 0;
	/* Its own threads, which make calls that block, do not inherit the priority. */
	err = pthread_setschedparam(cpu->thread, SCHED_FIFO | SCHED_RESET_ON_FORK, &param);
	return err == EPERM ? -EACCES : -err;
}

/* Return how long the thread of a processor polls. */
static uint64_t poll_ns(const struct cosy_cpu_options *options)
{
	return (options->poll_us ? options->poll_us : DEFAULT_POLL_US) * UINT64_C(1000);
}

/* Return the number of processors of a loop. */
static uint32_t count_of(const struct cosy_loop *loop)
{
	return loop->cpus ? loop->cpus->count : 0;
}

/* Run the loop of a processor, except while the processor has to rest. */
static void *execute(void *arg)
{
	struct cosy_cpu *cpu = arg;
	bool ends, failed;

	do {
		/* Returns when it is stopped; fails if the program has closed its descriptors. */
		failed = cosy_loop_run(cpu->loop) < 0;
		cosy_lock(&cpu->loop->lock);
		while (cpu->wanted == COSY_CPU_RESTS ||
		       (failed && cpu->wanted != COSY_CPU_ENDS)) {
			cpu->rests = true;
			cosy_event_happened(&cpu->changed, INT_MAX);
			cosy_event_wait(&cpu->changed, &cpu->loop->lock, UINT64_MAX);
		}
		cpu->rests = false;
		ends = cpu->wanted == COSY_CPU_ENDS;
		cosy_loop_leave(cpu->loop);
	} while (!ends);
	return NULL;
}

/* Start the thread of a processor. Return 0 or -errno. */
static int start(struct cosy_cpu *cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu->number, &set);
	return -cosy_thread_start(&cpu->thread, execute, cpu, &set);
}

/* Tell the thread what to do. The caller holds the lock of its loop. */
static void want(struct cosy_cpu *cpu, enum cosy_cpu_state wanted)
{
	cpu->wanted = wanted;
	if (wanted == COSY_CPU_RESTS)
		cosy_loop_stop(cpu->loop);
	cosy_event_happened(&cpu->changed, INT_MAX);
}

static void rest(struct cosy_cpu *cpu)
{
	cosy_lock(&cpu->loop->lock);
	want(cpu, COSY_CPU_RESTS);
	while (!cpu->rests)
		cosy_event_wait(&cpu->changed, &cpu->loop->lock, UINT64_MAX);
	cosy_loop_leave(cpu->loop);
}

/* End the thread, which rests, and free the loop. */
static void end(struct cosy_cpu *cpu)
{
	cosy_lock(&cpu->loop->lock);
	want(cpu, COSY_CPU_ENDS);
	cosy_loop_leave(cpu->loop);
	cosy_thread_join(cpu->thread);
	cosy_loop_free(cpu->loop);
}

/*
 * Read the set of processors on which the calling thread may run, at most 1024.
 *
 * Return: 0 or -errno.
 */
static int read_allowed(cpu_set_t *allowed)
{
	return sched_getaffinity(0, sizeof(*allowed), allowed) ? -errno : 0;
}

/* Create the loop of a processor, and its thread. Return 0 or -errno. */
static int make_cpu(struct cosy_loop *loop, struct cosy_cpu *cpu, uint32_t number,
		    const struct cosy_cpu_options *options)
{
	const struct cosy_loop_options of_loop = {
		.size = sizeof(of_loop),
		.entries = loop->page.mask + 1,
		.threads = loop->threads.disk.max,
		.waiters = loop->threads.waits.max,
	};
	int err = read_allowed(&cpu->allowed);

	if (!err)
		err = cosy_loop_create(&cpu->loop, &of_loop);

	if (err)
		return err;
	cpu->owner = loop;
	/* It does not poll before an entry has come from another CPU. */
	cpu->number = cpu->from = number;
	/* A thread that may use all of its CPU leaves no time to others there. */
	if (options->poll_us || options->priority)
		cpu->loop->threads.allowed = &cpu->allowed;
	cpu->poll_ns = poll_ns(options);
	cosy_queue_init(&cpu->put);
	cpu->loop->cpu = cpu;
	/* Operations of other loops use descriptors, too, which this loop does not see. */
	cosy_module_use_all(cpu->loop);
	/* Count one operation for the thread itself, so that it waits although nothing was sent. */
	cpu->loop->slots.outstanding = 1;
	cpu->loop->ring.submit->room--;
	err = start(cpu);
	if (err)
		cosy_loop_destroy(cpu->loop);
	return err;
}

static void free_cpus(struct cosy_loop *loop)
{
	if (!loop->cpus)
		return;
	free(loop->cpus->fds);
	free(loop->cpus->all);
	free(loop->cpus->sent);
	free(loop->cpus);
	loop->cpus = NULL;
	loop->spreads = false;
}

/* Create the processors. Return 0, or -errno with cpus->count of them created. */
static int make_cpus(struct cosy_loop *loop, const unsigned int *numbers, uint32_t count,
		     const struct cosy_cpu_options *options)
{
	struct cosy_cpus *cpus = calloc(1, sizeof(*cpus));
	int err;

	loop->cpus = cpus;
	if (!cpus)
		return -ENOMEM;
	cpus->sent = calloc((size_t)loop->page.mask + 1, sizeof(*cpus->sent));
	cpus->all = calloc(count, sizeof(*cpus->all));
	if (!cpus->sent || !cpus->all)
		return -ENOMEM;
	while (cpus->count < count) {
		struct cosy_cpu *cpu = &cpus->all[cpus->count];

		err = make_cpu(loop, cpu, numbers[cpus->count], options);
		if (err)
			return err;
		cpus->count++;
		err = set_options(cpu, options);
		if (err)
			return err;
	}
	return 0;
}

/* Create all processors or none. The caller holds the lock. Return 0 or -errno. */
static int have_cpus(struct cosy_loop *loop, const unsigned int *numbers, uint32_t count,
		     const struct cosy_cpu_options *options)
{
	int err = make_cpus(loop, numbers, count, options);

	if (!err) {
		loop->spreads = true;
		cosy_module_use_all(loop);
		return 0;
	}
	/* Nothing was sent to them yet, so this does not fail. */
	cosy_cpus_quiesce(loop);
	cosy_cpus_destroy(loop);
	return err;
}

/* Return true if each processor is allowed, and is named once. */
static bool are_valid(const unsigned int *cpus, unsigned int count)
{
	cpu_set_t left;

	if (count > MAX_CPUS || read_allowed(&left))
		return false;
	for (unsigned int i = 0; i < count; i++) {
		if (cpus[i] >= CPU_SETSIZE || !CPU_ISSET(cpus[i], &left))
			return false;
		CPU_CLR(cpus[i], &left);
	}
	return true;
}

/* Choose all allowed processors but that of the calling thread, if there are others. */
static int choose_cpus(unsigned int cpus[MAX_CPUS], unsigned int *count)
{
	unsigned int here = 0;
	cpu_set_t allowed;
	int err = read_allowed(&allowed);

	if (err)
		return err;
	cosy_sys(SYS_getcpu, (long)&here, 0, 0);
	*count = 0;
	for (unsigned int i = 0; i < CPU_SETSIZE && *count < MAX_CPUS; i++) {
		if (CPU_ISSET(i, &allowed) && i != here)
			cpus[(*count)++] = i;
	}
	if (!*count)
		cpus[(*count)++] = here;
	return 0;
}

COSY_EXPORT int cosy_loop_cpus_with(struct cosy_loop *loop, const unsigned int *cpus,
				    unsigned int count, const struct cosy_cpu_options *options)
{
	struct cosy_cpu_options known;
	unsigned int chosen[MAX_CPUS];
	int err = read_options(&known, options);

	if (err)
		return err;
	if (count) {
		if (!are_valid(cpus, count))
			return -EINVAL;
	} else {
		err = choose_cpus(chosen, &count);
		if (err)
			return err;
		cpus = chosen;
	}
	err = cosy_loop_enter(loop);
	if (err)
		return err;
	if (loop->closing)
		err = -ESHUTDOWN;
	else if (loop->spreads)
		err = -EBUSY;
	else
		err = have_cpus(loop, cpus, count, &known);
	cosy_loop_leave(loop);
	return err;
}

COSY_EXPORT int cosy_loop_cpus(struct cosy_loop *loop, const unsigned int *cpus,
			       unsigned int count)
{
	return cosy_loop_cpus_with(loop, cpus, count, NULL);
}

void cosy_cpus_add_info(const struct cosy_loop *loop, struct cosy_loop_info *info)
{
	for (uint32_t i = 0; i < count_of(loop); i++) {
		struct cosy_loop_info there;

		cosy_loop_info(loop->cpus->all[i].loop, &there, sizeof(there));
		info->waiting += there.waiting;
		info->attempts += there.attempts;
		info->entries += there.entries;
		info->handed_over += there.handed_over;
		info->threads += there.threads + 1;
		info->polled_ns += there.polled_ns;
	}
}

bool cosy_cpus_quiesce(struct cosy_loop *loop)
{
	uint32_t quiet = 0;

	for (uint32_t i = 0; i < count_of(loop); i++)
		rest(&loop->cpus->all[i]);
	while (quiet < count_of(loop) && cosy_loop_quiesce(loop->cpus->all[quiet].loop))
		quiet++;
	if (quiet == count_of(loop))
		return true;
	for (; quiet < count_of(loop); quiet++)
		cosy_lock(&loop->cpus->all[quiet].loop->lock);
	cosy_cpus_go_on(loop);
	return false;
}

void cosy_cpus_go_on(struct cosy_loop *loop)
{
	for (uint32_t i = 0; i < count_of(loop); i++) {
		want(&loop->cpus->all[i], COSY_CPU_RUNS);
		cosy_loop_leave(loop->cpus->all[i].loop);
	}
}

void cosy_cpus_destroy(struct cosy_loop *loop)
{
	/* The loop completes operations that processors have not executed. */
	for (uint32_t i = 0; i < count_of(loop); i++) {
		cosy_cpu_take(&loop->cpus->all[i]);
		cosy_loop_close(loop->cpus->all[i].loop);
	}
	for (uint32_t i = 0; i < count_of(loop); i++)
		end(&loop->cpus->all[i]);
	free_cpus(loop);
}

void cosy_cpus_destroy_in_child(struct cosy_loop *loop)
{
	for (uint32_t i = 0; i < count_of(loop); i++)
		cosy_loop_destroy(loop->cpus->all[i].loop);
	free_cpus(loop);
}
