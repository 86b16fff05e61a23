/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kernel-core.h - common code of the tests of loops with a kernel core.
 */
#ifndef KERNEL_CORE_H
#define KERNEL_CORE_H

#include <sys/syscall.h>

#include "cpus.h"

#define SECOND	1000000u

/* The processor of the loops. This thread runs on another CPU, if there are two. */
static unsigned int core;

static inline struct cosy_loop *new_loop(uint32_t poll_us, uint32_t priority)
{
	const struct cosy_cpu_options options = { .size = sizeof(options), .poll_us = poll_us,
						  .priority = priority };
	struct cosy_loop *loop = make_loop();

	EQUAL(cosy_loop_cpus_with(loop, &core, 1, &options), 0);
	return loop;
}

static inline void use_core(struct cosy_loop *loop)
{
	struct cosy_async op = { 0 };

	EQUAL(cosy_async_call(loop, &op, SYS_getppid, 0, 0, 0, 0, 0, 0), 0);
	EQUAL(result_of(loop, &op), getppid());
}

#endif /* KERNEL_CORE_H */
