// SPDX-License-Identifier: GPL-2.0
/*
 * single.c - makes one system call by its fast path, without a compound.
 *
 * This is the entry for programs that were not compiled for Cosy. The number and the
 * arguments of one call are in the process's memory. Nothing is loaded before, and
 * nothing is kept afterwards. Only the calls of preload.def can be made.
 */
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/unistd.h>

#include <cosy/exec.h>

#include "call/call.h"
#include "call/request.h"
#include "fast/fast.h"
#include "run/run.h"

/* The slots of a call: the call itself, then its arguments. */
#define CALL_SLOTS	(1 + COSY_MAX_ARGS)

/* The calls, by numbers of their own. A system call may be listed several times. */
enum {
#define COSY_PRELOAD_IF(function, ...) SINGLE_##function,
#include <preload.def>
	NR_SINGLE
};

static const u16 cosy_single_calls[NR_SINGLE] = {
#define COSY_PRELOAD_IF(function, name, ...)	\
	[SINGLE_##function] = __NR_##name,
#include <preload.def>
};

/* The index of a system call's slots by its number, 0 if it has none. */
static u16 cosy_single_slots[__NR_faccessat2 + 1] __ro_after_init;
/* The slots of COSY_CALL_REALPATH, a readlink() to filters; zeros if it cannot be made. */
static struct cosy_insn cosy_single_realpath[CALL_SLOTS] __ro_after_init;
/* The first is unused. */
static struct cosy_insn cosy_single_code[1 + NR_SINGLE * CALL_SLOTS]
	__ro_after_init;

/* Fill the slots of a call. Its arguments are the first registers. */
static void cosy_single_set(struct cosy_insn *ip, unsigned int nr, s32 path,
				   unsigned int nargs)
{
	unsigned int arg;

	*ip = (struct cosy_insn){
		.nargs = nargs,
		.fast = path,
		.callee = cosy_env_callee(nr),
		.imm = nr,
	};
	for (arg = 0; arg < nargs; arg++)
		ip[1 + arg].a = arg;
}

/**
 * cosy_single_init() - prepare the calls that have a fast path in this kernel
 */
void cosy_single_init(void)
{
	unsigned int i, nargs, nr, slot = 1;
	s32 path;

	for (i = 0; i < NR_SINGLE; i++) {
		nr = cosy_single_calls[i];
		if (WARN_ON_ONCE(nr >= ARRAY_SIZE(cosy_single_slots)))
			continue;
		path = cosy_fast_path(nr, &nargs);
		if (path < 0 || cosy_single_slots[nr])
			continue;
		cosy_single_set(&cosy_single_code[slot], nr, path, nargs);
		cosy_single_slots[nr] = slot;
		slot += CALL_SLOTS;
	}
	path = cosy_fast_path_of_realpath();
	if (path >= 0) {
		cosy_fast_path(__NR_readlink, &nargs);
		cosy_single_set(cosy_single_realpath, __NR_readlink, path, nargs);
	}
}

/**
 * cosy_single_insn() - return the slot of a single call
 * @nr: its number, which may be any
 *
 * Its arguments are the first registers.
 *
 * Return: the slot, which has a fast path; NULL if the call has none.
 */
const struct cosy_insn *cosy_single_insn(unsigned int nr)
{
	unsigned int slot;

	if (nr >= ARRAY_SIZE(cosy_single_slots))
		return nr == COSY_CALL_REALPATH && cosy_single_realpath->imm ?
			       cosy_single_realpath :
			       NULL;
	slot = cosy_single_slots[array_index_nospec(nr,
						    ARRAY_SIZE(cosy_single_slots))];
	return slot ? &cosy_single_code[slot] : NULL;
}

/**
 * cosy_single_llseek() - make one system call, by lseek(2)
 * @file:   an open file of the device; unused, so that no argument has to be moved
 * @offset: COSY_RUN_TAG and the address of a struct cosy_call
 * @whence: COSY_CALL_WHENCE
 *
 * Return: the value that the interface documents; -ESPIPE for any other lseek.
 */
loff_t cosy_single_llseek(struct file *file, loff_t offset, int whence)
{
	/* Without the tag this is no user address, and the access faults. */
	u64 addr = (u64)offset - COSY_RUN_TAG;
	struct cosy_call __user *ucall = u64_to_user_ptr(addr);
	struct cosy_state st __uninitialized;
	u64 args[COSY_MAX_ARGS] __uninitialized;
	const struct cosy_insn *ip;
	long result;
	u64 nr;

	if (whence != COSY_CALL_WHENCE)
		return -ESPIPE;
	/* The calls are 64-bit calls. They would detect a 32-bit or x32 entry. */
	if (unlikely(current_pt_regs()->orig_ax != __NR_lseek))
		return -EOPNOTSUPP;
	if (!cosy_request_read(&nr, args, ucall))
		return addr < COSY_RUN_TAG ? -EFAULT : -ESPIPE;
	if (!cosy_stack_suffices())
		return -ELOOP;
	/* A tracer sees the native call. */
	if (unlikely(cosy_ptraced()))
		return COSY_CALL_LEFT | COSY_CALL_TRACED;

	ip = cosy_single_insn(nr);
	if (unlikely(!ip))
		return COSY_CALL_LEFT | COSY_CALL_UNKNOWN;

	st.regs = args;
	/* Filters read all six arguments, a plain call only its own. */
	cosy_env_clear_args(&st.env);
	cosy_env_init(&st.env);
	st.env.borrowed = NULL;
	st.env.suspended = NULL;
	if (unlikely(!cosy_env_may_fast(cosy_env_self(&st), &st, ip)))
		return COSY_CALL_LEFT | (st.env.step == COSY_STEP_TRACED ?
						 COSY_CALL_TRACED :
						 COSY_CALL_FILTERED);
	result = cosy_env_fast(&st, ip).result;
	if (unlikely(cosy_call_restarts(result)))
		return cosy_request_interrupted(ucall, result);
	return COSY_CALL_DONE | (u32)result;
}
