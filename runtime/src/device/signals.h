/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * signals.h - blocks signals on the run path.
 */
#ifndef COSY_SIGNALS_H
#define COSY_SIGNALS_H

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "device/sys.h"

/** cosy_signals_block() - block a set of signals, with bit n - 1 for signal n; returns the mask before */
static inline uint64_t cosy_signals_block(uint64_t set)
{
	uint64_t mask = 0;

	cosy_sys6(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, (long)&mask,
		  sizeof(mask), 0, 0);
	return mask;
}

/** cosy_signals_restore() - set the mask that cosy_signals_block() has returned */
static inline void cosy_signals_restore(uint64_t mask)
{
	cosy_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0,
		  sizeof(mask), 0, 0);
}

#endif /* COSY_SIGNALS_H */
