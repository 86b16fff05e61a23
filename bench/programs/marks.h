/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * marks.h - marks for a VM that counts what CPUs share (scripts/vm/lines.c).
 */
#ifndef MARKS_H
#define MARKS_H

#include <stdbool.h>
#include <stdlib.h>

/* marks_begin(), marks_end() - count between them; elsewhere they do nothing */
static inline void marks_begin(void)
{
	__asm__ volatile("nopl 0xc05b0(%%rax)" ::: "memory");
}

static inline void marks_end(void)
{
	__asm__ volatile("nopl 0xc05b1(%%rax)" ::: "memory");
}

/* marks_pin() - true if each worker has to stay on a CPU: if one moves, all its memory is shared */
static inline bool marks_pin(void)
{
	return getenv("COSY_BENCH_PIN") != NULL;
}

#endif /* MARKS_H */
