/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * single.c - make a call of the user executor by an entry of its own.
 *
 * A run that loses by its up-calls goes on in user mode. Its calls that take names
 * still gain there: an entry for one call takes fewer instructions than the plain call.
 */
#define _GNU_SOURCE
#include <linux/cosy.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cosy/exec.h>

#include "device/call.h"
#include "device/device.h"
#include "device/single.h"
#include "device/sys.h"

/* The numbers of calls. */
#define NR_CALLS	512

/*
 * A bit for each number: the module has refused to make this call, and always will. The variables of a
 * program's libcosy.a fit into one page; another one costs 8,000 instructions at its start.
 */
static uint64_t refused[NR_CALLS / 64];

static bool is_refused(unsigned int nr)
{
	return __atomic_load_n(&refused[nr % NR_CALLS / 64], __ATOMIC_RELAXED) >> nr % 64 & 1;
}

/* Return true if it pays to make this call by an entry of its own. */
static bool pays_alone(unsigned int nr)
{
#define COSY_PRELOAD_IF(function, name, ...) \
	if (nr == SYS_##name)                \
		return true;
#include <preload.def>
	return false;
}

long cosy_single_call(const struct cosy_env *env, unsigned int nr)
{
	int fd = __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED);
	struct cosy_call call;
	long ret;

	/* Filters may forbid the entry, even if it would fail. */
	if (fd < 0 || !pays_alone(nr) || is_refused(nr))
		return cosy_env_plain_call(env, nr);
	call.nr = nr;
	call.status = 0;
	for (unsigned int i = 0; i < COSY_MAX_ARGS; i++)
		call.args[i] = (uint64_t)env->args[i];
	ret = cosy_sys(SYS_lseek, fd, (long)(COSY_RUN_TAG | (uintptr_t)&call),
		       COSY_CALL_WHENCE);
	if (cosy_call_is_made(ret))
		return (int32_t)ret;
	switch (cosy_call_answer(&call, ret)) {
	case COSY_ANSWER_RESULT:
		return ret;
	case COSY_ANSWER_TRACED:
		cosy_device_pause();
		break;
	case COSY_ANSWER_NEVER:
		__atomic_fetch_or(&refused[nr % NR_CALLS / 64], (uint64_t)1 << nr % 64,
				  __ATOMIC_RELAXED);
		break;
	case COSY_ANSWER_LOST:
		/* The run's next entry opens the device again. */
		break;
	}
	return cosy_env_plain_call(env, nr);
}
