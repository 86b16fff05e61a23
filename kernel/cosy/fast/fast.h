/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fast.h - fast paths: calls made with less work than a system call takes, and
 * with the same effect in every respect.
 *
 * A fast path is a function that is given the slot of a call. It reads the
 * arguments from the registers, and makes the call by what the kernel offers
 * below the system call. Whenever something is unusual it makes the plain
 * call, which is the reference: cosy_fast_plain().
 *
 * Which calls have one is decided when a compound is loaded, so that the others
 * pay nothing.
 */
#ifndef COSY_FAST_H
#define COSY_FAST_H

#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/types.h>

#include <cosy/exec.h>

#include "compat/compat.h"

/*
 * Longer names take the plain call: this is on the stack, and nearly all are
 * shorter.
 */
#define COSY_NAME_SIZE	256

/**
 * struct cosy_name - a struct filename of our own, without allocation
 * @filename: what the kernel's functions are given
 * @text:     the name
 */
struct cosy_name {
	struct filename filename;
	char text[COSY_NAME_SIZE];
};

/**
 * cosy_fast_arg() - an argument of a call
 * @st: the run
 * @ip: the call's slot
 * @i:  which, less than the call has by syscalls.def
 */
static __always_inline u64 cosy_fast_arg(const struct cosy_state *st,
					 const struct cosy_insn *ip,
					 unsigned int i)
{
	return st->regs[ip[1 + i].a] + (u64)ip[1 + i].imm;
}

/**
 * cosy_made() - what a fast path returns
 * @ip:     the call's slot
 * @result: as the system call returns it
 */
static __always_inline struct cosy_made cosy_made(const struct cosy_insn *ip,
						  long result)
{
	return (struct cosy_made){ .result = result, .ip = ip };
}

/* fast.c */
void cosy_fast_init(void);
cosy_fast_find_fn cosy_fast_find;
cosy_fast_call_fn cosy_fast_plain;

/* name.c */
extern bool cosy_has_lookup;
void cosy_name_init(void);
bool cosy_name_get(struct cosy_name *name, const char __user *from, long *err);
int cosy_name_lookup(int dfd, struct cosy_name *name, unsigned int flags,
		     struct path *path);

/* stat.c */
cosy_fast_call_fn cosy_fast_stat;
cosy_fast_call_fn cosy_fast_lstat;
cosy_fast_call_fn cosy_fast_newfstatat;

#endif /* COSY_FAST_H */
