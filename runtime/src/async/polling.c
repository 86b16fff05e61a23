/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * polling.c - the thread of a processor polls for work before it sleeps; options of processors.
 *
 * While it polls, an operation is sent to it without a system call. It polls in slices. After a
 * slice without work it checks what its entries wait for, if there are any, and begins with the
 * next slice. After poll_us without work it sleeps.
 *
 * The kernel cores of Boyd-Wickizer et al., "Corey: An Operating System for Many Cores", OSDI 2008.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "device/extensible.h"
#include "device/sys.h"
#include "cpu.h"
#include "lock.h"
#include "loop.h"
#include "polling.h"
#include "wait.h"

#define MAX_POLL_US	1000000u
#define MAX_PRIORITY	99u
/* In microseconds. Sleeping, and being woken on another CPU, takes longer. */
#define DEFAULT_POLL_US	10u
/*
 * In nanoseconds. Another thread may submit the entries that were sent, which this one then finds
 * after a slice. If entries wait, a check takes about as long as the short slice.
 */
#define SLICE		10000u
#define SHORT_SLICE	1000u

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

int cosy_cpu_read_options(struct cosy_cpu_options *known, const struct cosy_cpu_options *options)
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

int cosy_cpu_set_options(struct cosy_cpu *cpu, const struct cosy_cpu_options *options)
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

uint64_t cosy_cpu_poll_ns(const struct cosy_cpu_options *options)
{
	return (options->poll_us ? options->poll_us : DEFAULT_POLL_US) * UINT64_C(1000);
}

void cosy_cpu_works(struct cosy_cpu *cpu)
{
	atomic_store_explicit(&cpu->idle_since, 0, memory_order_relaxed);
}

/* Count the time until @now as polled in vain. */
static void count(struct cosy_cpu *cpu, uint64_t now)
{
	struct cosy_loop *loop = cpu->loop;

	loop->info.polled_ns += now - cpu->counted;
	cpu->counted = now;
	if (loop->module.page)
		__atomic_store_n(&loop->module.page->polled_us, loop->info.polled_ns / 1000,
				 __ATOMIC_RELAXED);
}

/* Poll until @until, without the lock of the processor's loop. */
static void poll_slice(struct cosy_cpu *cpu, uint64_t until)
{
	struct cosy_loop *loop = cpu->loop;

	cosy_loop_leave(loop);
	while (!atomic_load_explicit(&cpu->told, memory_order_relaxed) &&
	       !cosy_loop_is_stopping(loop) && cosy_clock() < until)
		__builtin_ia32_pause();
	cosy_lock(&loop->lock);
}

/*
 * Let threads send entries without waking the processor's thread. Return false if it must not poll:
 * a thread on the same CPU cannot send entries meanwhile. The CPU is another one than the
 * processor's while that is offline.
 */
static bool begin_slice(struct cosy_cpu *cpu)
{
	const uint32_t here = (uint32_t)sched_getcpu();
	bool polls;

	cosy_lock(&cpu->put_lock);
	polls = cpu->from != here;
	cpu->looking = polls;
	cosy_unlock(&cpu->put_lock);
	return polls;
}

static void end_slice(struct cosy_cpu *cpu)
{
	cosy_lock(&cpu->put_lock);
	cpu->looking = false;
	cosy_unlock(&cpu->put_lock);
	cosy_cpu_take(cpu);
}

/* Note that there is no work @now. Return the time at which the thread has to sleep. */
static uint64_t note_idle(struct cosy_cpu *cpu, uint64_t now)
{
	uint64_t since = atomic_load_explicit(&cpu->idle_since, memory_order_relaxed);

	if (!since) {
		since = cpu->counted = now;
		atomic_store_explicit(&cpu->idle_since, since, memory_order_relaxed);
	} else if (cpu->polls) {
		/* The check after the last slice has found nothing. */
		count(cpu, now);
	}
	return since + cpu->poll_ns;
}

bool cosy_cpu_polls(struct cosy_cpu *cpu, bool waits)
{
	struct cosy_loop *loop = cpu->loop;
	uint64_t now = cosy_clock(), sleeps_at = note_idle(cpu, now);
	/* Checks take longer than a short time of polling saves. */
	uint64_t slice = waits && cpu->poll_ns > SLICE ? SHORT_SLICE : SLICE;

	cpu->polls = now < sleeps_at && begin_slice(cpu);
	if (!cpu->polls)
		return false;
	cpu->counted = now;
	poll_slice(cpu, now + slice < sleeps_at ? now + slice : sleeps_at);
	end_slice(cpu);
	/* A thread that cancels may have taken the entries, and does not wake this one. */
	if (cosy_loop_has_work(loop)) {
		cosy_cpu_works(cpu);
		return true;
	}
	now = cosy_clock();
	count(cpu, now);
	cpu->polls = now < sleeps_at;
	return cpu->polls;
}
