/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * compiler.h - definitions of the kernel's headers that the core needs, in user space. The
 * core includes this, and no C library header.
 */
#ifndef COSY_COMPILER_H
#define COSY_COMPILER_H

/* The number of slots of a long compound that verifier and decoder process at once. */
#define SLOTS_IN_A_GO	4096

#ifdef __KERNEL__
#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/stddef.h>
#include <linux/types.h>
/* Called in loops as long as a compound, so that other tasks can run. */
#define relax()		cond_resched()
#else
#include <stdbool.h>
#include <stddef.h>
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define relax()		((void)0)
#define noinline	__attribute__((__noinline__))
#define OPTIMIZER_HIDE_VAR(var)	__asm__("" : "+r"(var))
#define __annotate_jump_table
#endif

#endif /* COSY_COMPILER_H */
