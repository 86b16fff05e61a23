// SPDX-License-Identifier: GPL-2.0
/*
 * leave.c - decides if a run leaves because of work that is pending for the return to user mode.
 */
#include <linux/sched.h>
#include <linux/thread_info.h>

#include <cosy/exec.h>

#include "compat/compat.h"

/**
 * cosy_env_work() - the slow path of cosy_env_leave()
 *
 * Reschedules if needed. Does not leave for TIF_RSEQ, or for TIF_NOTIFY_RESUME
 * that only rseq has set: it sets one of them at every context switch, and can
 * wait for the end of the time slice. Task work cannot wait: it drops the last
 * reference to a file that the compound closed, and the next operation may
 * depend on that. Neither can the delay by which a cgroup enforces its limits.
 *
 * Return: true if the compound has to leave.
 */
bool cosy_env_work(void)
{
	unsigned long flags;

	cosy_resched();
	flags = read_thread_flags();
	if (flags & (_TIF_SIGPENDING | _TIF_NOTIFY_SIGNAL | _TIF_UPROBE |
		     _TIF_PATCH_PENDING))
		return true;
	return (flags & _TIF_NOTIFY_RESUME) && cosy_has_resume_work();
}
