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

/**
 * struct cosy_coroutine - a compound that an entry runs
 * @parked:	what waits; of its call only the descriptor counts
 * @compound:	the compound
 * @frame:	where the process has its registers
 * @errno_addr:	where LIBC operations store errno
 * @owner:	who is charged for this
 * @charged:	bytes
 * @sent:	bytes of its call that went out before it had to wait
 * @pc:		where it goes on
 * @left:	it is not being run: the process does something for it
 * @waits:	its call has begun: it would block, or was interrupted
 * @counts:	it is a read() or write() that was allowed: it counts as such when it ends
 * @user:	its call is to be made from user mode
 * @cancelled:	calls that it would wait for fail
 * @interrupted: so does the one that it waits for
 * @regs:	its registers, and one that is always 0
 */
struct cosy_coroutine {
	struct cosy_parked parked;
	struct cosy_compound *compound;
	u64 frame;
	u64 errno_addr;
	u64 owner;
	u64 charged;
	u64 sent;
	u32 pc;
	bool left;
	bool waits;
	bool counts;
	bool user;
	bool cancelled;
	bool interrupted;
	u64 regs[];
};

static inline struct cosy_coroutine *
cosy_coroutine_of(struct cosy_parked *parked)
{
	return container_of(parked, struct cosy_coroutine, parked);
}

#endif /* COSY_ASYNC_COROUTINE_H */
