/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * polling.c - the thread of a processor polls for work before it sleeps.
 *
 * While it polls, an operation is sent to it without a system call. It polls in slices. After a
 * slice without work it checks what its entries wait for, if there are any, and begins with the
 * next slice. After poll_us without work it sleeps.
 *
 * The kernel cores of Boyd-Wickizer et al., "Corey: An Operating System for Many Cores", OSDI 2008.
 */
#define _GNU_SOURCE
#include <sched.h>

#include "cpu.h"
#include "dispatch.h"
#include "loop.h"
#include "polling.h"

/*
 * In nanoseconds. If the program closes all descriptors, nothing wakes a thread that waits for
 * them. When it waits again, it notices that.
 */
#define CHECKS_AFTER	1000000000u

/*
 * In nanoseconds. Another thread may submit the entries that were sent, which this one then finds
 * after a slice. If entries wait, a check takes about as long as the short slice.
 */
#define SLICE		10000u
#define SHORT_SLICE	1000u

/* Count the time until @now as polled without finding work. */
static void count(struct cosy_cpu *cpu, uint64_t now)
{
	struct cosy_loop *loop = cpu->loop;

	loop->info.polled_ns += now - cpu->counted;
	cpu->counted = now;
	if (loop->module.page.shared)
		__atomic_store_n(&loop->module.page.shared->polled_us, loop->info.polled_ns / 1000,
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

uint64_t cosy_cpu_until(uint64_t until)
{
	uint64_t check = cosy_clock() + CHECKS_AFTER;

	return until < check ? until : check;
}
