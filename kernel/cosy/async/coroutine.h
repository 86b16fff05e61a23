/* SPDX-License-Identifier: GPL-2.0 */
/*
 * coroutine.h - a compound that an entry runs.
 */
#ifndef COSY_ASYNC_COROUTINE_H
#define COSY_ASYNC_COROUTINE_H

#include <linux/container_of.h>
#include <linux/types.h>

#include "async/loop.h"

struct cosy_compound;
struct cosy_suspended_function;

/**
 * struct cosy_coroutine - a compound that an entry runs
 * @parked:	its wait; only the descriptor of the call is used
 * @compound:	the compound; holds a reference
 * @frame:	address of the registers in the process
 * @errno_addr:	where LIBC operations store errno
 * @suspended:	the user function that it calls was suspended, or memory for that; or NULL
 * @owner:	the user who is charged
 * @charged:	bytes charged
 * @sent:	bytes that the present call has sent before it had to wait
 * @pc:		where it continues
 * @waited:	how often it has waited since its entry was submitted
 * @left:	the process has it, to make an up-call or a call
 * @waits:	its call has begun, and either would block or was interrupted
 * @counts:	its call is a read() or write() that passed its checks; accounted when it ends
 * @receives:	valid with @counts: the call is read()
 * @user:	its call has to be made from user mode
 * @raised:	valid with @user: instead, the call has failed with EPIPE
 * @cancelled:	all its calls that would wait fail
 * @interrupted: its present call fails if it would wait
 * @moves:	it is freed when it is left
 * @regs:	its registers, and one that is always 0
 */
struct cosy_coroutine {
	struct cosy_parked parked;
	struct cosy_compound *compound;
	u64 frame;
	u64 errno_addr;
	struct cosy_suspended_function *suspended;
	u64 owner;
	u64 charged;
	u64 sent;
	u32 pc;
	u32 waited;
	bool left;
	bool waits;
	bool counts;
	bool receives;
	bool user;
	bool raised;
	bool cancelled;
	bool interrupted;
	bool moves;
	u64 regs[];
};

static inline struct cosy_coroutine *
cosy_coroutine_of(struct cosy_parked *parked)
{
	return container_of(parked, struct cosy_coroutine, parked);
}

/* calls.c */
void cosy_call_ended(struct cosy_coroutine *co, long result);

#endif /* COSY_ASYNC_COROUTINE_H */
