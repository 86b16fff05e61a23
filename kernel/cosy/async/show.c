// SPDX-License-Identifier: GPL-2.0
/*
 * show.c - what /proc/PID/fdinfo shows of a loop.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/pid.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>

#include "async/loop.h"
#include "async/ring.h"

/* Count the entries that read or are lent to a thread, or whose compound has not ended. */
static u32 cosy_loop_pending(const struct cosy_loop *loop)
{
	u32 i, pending = 0;

	for (i = 0; i < loop->nentries; i++) {
		pending += READ_ONCE(loop->parked[i]) != NULL;
		if (!(i & 0xfff))
			cond_resched();
	}
	return pending;
}

static u64 cosy_loop_executed(const struct cosy_loop_cpu *cpu)
{
	return READ_ONCE(cpu->executed);
}

static u64 cosy_loop_made(const struct cosy_loop_cpu *cpu)
{
	return READ_ONCE(cpu->made);
}

/* Print a count for each CPU where it is not 0, and the sum. */
static void cosy_loop_show_cpus(struct seq_file *to, const struct cosy_loop *loop,
				const char *name,
				u64 (*count)(const struct cosy_loop_cpu *cpu))
{
	unsigned int cpu;
	u64 here, all = 0;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		here = count(&loop->cpus[cpu]);
		all += here;
		if (here)
			seq_printf(to, "%s-cpu%u:\t%llu\n", name, cpu, here);
	}
	seq_printf(to, "%s:\t%llu\n", name, all);
}

/**
 * cosy_loop_show() - print the lines of a loop in /proc/PID/fdinfo/FD, see cosy(4)
 * @to:	  where to print
 * @file: the loop's file
 *
 * A thread may have entered, so the numbers are not from the same moment.
 */
void cosy_loop_show(struct seq_file *to, struct file *file)
{
	struct pid_namespace *ns = proc_pid_ns(file_inode(to->file)->i_sb);
	struct cosy_loop *loop = file->private_data;
	u32 submitted = READ_ONCE(loop->submit_head), completed = READ_ONCE(loop->done_tail);
	/* Acquire: the ring was initialised before. */
	const struct cosy_ring *ring = smp_load_acquire(&loop->ring);
	u32 pending = cosy_loop_pending(loop);

	if (ring) {
		submitted += READ_ONCE(ring->calls_head) + READ_ONCE(ring->receives_head);
		completed += READ_ONCE(ring->done_tail);
		/* A thread that has entered changes it without a lock. It need not be exact. */
		pending += data_race(ring->waiting);
	}

	seq_printf(to, "cosy-loop:\t%llu\n", loop->id);
	seq_printf(to, "process:\t%d\n", pid_nr_ns(loop->pid, ns));
	seq_printf(to, "size:\t%u\n", loop->nentries);
	seq_printf(to, "submitted:\t%u\n", submitted);
	seq_printf(to, "completed:\t%u\n", completed);
	seq_printf(to, "pending:\t%u\n", pending);
	cosy_loop_show_cpus(to, loop, "executed", cosy_loop_executed);
	seq_printf(to, "enters:\t%llu\n", READ_ONCE(loop->enters));
	seq_printf(to, "sleeps:\t%llu\n", READ_ONCE(loop->sleeps));
	seq_printf(to, "threads:\t%d\n", atomic_read(&loop->threads));
	seq_printf(to, "handovers:\t%llu\n", READ_ONCE(loop->handovers));
	cosy_loop_show_cpus(to, loop, "calls", cosy_loop_made);
	seq_printf(to, "polled-us:\t%llu\n", READ_ONCE(loop->page->polled_us));
}
