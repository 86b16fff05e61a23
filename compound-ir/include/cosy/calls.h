/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * calls.h - properties of a system call by its number.
 */
#ifndef COSY_CALLS_H
#define COSY_CALLS_H

#include "format.h"

#ifndef __KERNEL__
#include <stdbool.h>
#endif

#define COSY_DESCRIPTOR_BIT(args, i) ((args "\0\0\0\0\0\0")[i] == 'd' ? 1u << (i) : 0u)

/* A bit for each argument that is a descriptor. @args: the letters of syscalls.def, a literal. */
#define COSY_DESCRIPTOR_MASK(args)                                                                 \
	(COSY_DESCRIPTOR_BIT(args, 0) | COSY_DESCRIPTOR_BIT(args, 1) |                             \
	 COSY_DESCRIPTOR_BIT(args, 2) | COSY_DESCRIPTOR_BIT(args, 3) |                             \
	 COSY_DESCRIPTOR_BIT(args, 4) | COSY_DESCRIPTOR_BIT(args, 5))

#ifdef __cplusplus
extern "C" {
#endif

/**
 * cosy_call_nests() - test whether a system call may be nested
 * @nr: its number
 *
 * Return: true if syscalls.def marks it NESTED.
 */
bool cosy_call_nests(cosy_u32 nr);

/**
 * cosy_call_parks() - test whether a loop makes this call itself for compounds that it parks
 * @nr: its number
 *
 * Return: true if syscalls.def has it as COSY_PARKS().
 */
bool cosy_call_parks(cosy_u32 nr);

#ifdef __cplusplus
}
#endif

#endif /* COSY_CALLS_H */
