/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * futex.c - lets threads of a team sleep.
 */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "async/lock.h"
#include "device/sys.h"
#include "team/team.h"

void team_sleep(uint32_t *word, uint32_t value, uint64_t ns)
{
	const struct timespec timeout = cosy_timespec(ns);

	cosy_sys6(SYS_futex, (long)word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value,
		  ns == UINT64_MAX ? 0 : (long)&timeout, 0, 0);
}

void team_wake(uint32_t *word)
{
	cosy_futex_wake(word, INT32_MAX);
}
