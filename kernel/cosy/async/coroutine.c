// SPDX-License-Identifier: GPL-2.0
/*
 * coroutine.c - entries that run compounds, which are parked where they would block.
 *
 * A compound that waits is its pc and its registers, which stay here; its frame in the
 * process is read when it begins and written when it is left. So what a connection
 * costs is one wake-up: its registration with the socket is kept, too.
 */
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/net.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/uaccess.h>
#include <linux/unistd.h>

#include <cosy/exec.h>

#include "async/async.h"
#include "async/coroutine.h"
#include "call/call.h"
#include "call/history.h"
#include "fast/calls.h"
#include "fast/fast.h"
#include "limit/limit.h"
#include "load/compound.h"
#include "run/run.h"
#include "trace/cosy_trace.h"

/* The compound, with a reference, if @fd is a file of the device that has it. */
static struct cosy_compound *cosy_coroutine_compound(const struct cosy_loop *loop,
						     u64 fd, u64 handle)
{
	struct cosy_compound *compound = ERR_PTR(-EBADF);
	struct file *file = fd > INT_MAX ? NULL : fget(fd);

	if (!file)
		return compound;
	if (file->f_op == loop->device) {
		compound = cosy_compound_get_parks(file->private_data, handle);
		if (!compound)
			compound = ERR_PTR(-ENOENT);
	}
	fput(file);
	return compound;
}

/* Read the registers that matter at @pc; the others are 0. */
static bool cosy_coroutine_read(struct cosy_coroutine *co, bool resumed)
{
	const struct cosy_code *code = co->compound->code;
	struct cosy_range live = { 0, code->ninputs };

	if (resumed)
		live = cosy_live_range(code, co->pc);
	memset(co->regs, 0, live.first * sizeof(*co->regs));
	memset(co->regs + live.first + live.count, 0,
	       (code->nregs + 1 - live.first - live.count) * sizeof(*co->regs));
	return !copy_from_user(co->regs + live.first,
			       u64_to_user_ptr(co->frame) +
				       live.first * sizeof(*co->regs),
			       live.count * sizeof(*co->regs));
}

/* Write what the process is to find: of the compound's end, or where it was left. */
static bool cosy_coroutine_write(const struct cosy_coroutine *co,
				 const struct cosy_state *st,
				 enum cosy_status status)
{
	const struct cosy_code *code = co->compound->code;
	struct cosy_range live = { 0, code->nregs };

	if (status == COSY_DONE)
		live = (struct cosy_range){ code->out_first, code->nout };
	else if (status == COSY_UPCALL)
		live = cosy_live_range(code, st->pc);
	return !copy_to_user(u64_to_user_ptr(co->frame) +
				     live.first * sizeof(*co->regs),
			     co->regs + live.first,
			     live.count * sizeof(*co->regs));
}

/**
 * cosy_coroutine_free() - an entry runs its compound no longer
 * @parked: its coroutine, which is in no wait queue and in no list
 *
 * May sleep. If the compound holds the module, it may be put: the loop has to hold it.
 */
void cosy_coroutine_free(struct cosy_parked *parked)
{
	struct cosy_coroutine *co = cosy_coroutine_of(parked);

	cosy_compound_put(co->compound);
	cosy_quota_uncharge(co->owner, co->charged);
	kvfree(co);
}

static struct cosy_coroutine *
cosy_coroutine_alloc(struct cosy_loop *loop, u32 index,
		     struct cosy_compound *compound)
{
	u64 owner = cosy_quota_owner();
	struct cosy_coroutine *co;
	u64 size = struct_size(co, regs, compound->code->nregs + 1);
	int err = cosy_quota_charge(owner, size);

	/* So compounds cannot be referred to too often: see struct cosy_compound. */
	BUILD_BUG_ON(sizeof(*co) < 128);
	if (err)
		return ERR_PTR(err);
	co = kvmalloc(size, COSY_GFP);
	if (!co) {
		cosy_quota_uncharge(owner, size);
		return ERR_PTR(-ENOMEM);
	}
	memset(co, 0, sizeof(*co));
	cosy_parked_init(&co->parked, loop, index);
	co->parked.is_coroutine = true;
	co->compound = compound;
	co->owner = owner;
	co->charged = size;
	return co;
}

/* A coroutine for the compound of an entry. */
static struct cosy_coroutine *cosy_coroutine_begin(struct cosy_loop *loop,
						   u32 index,
						   const struct cosy_async_call *call)
{
	struct cosy_compound *compound;
	struct cosy_coroutine *co;

	compound = cosy_coroutine_compound(loop, call->args[0], call->args[1]);
	if (IS_ERR(compound))
		return ERR_CAST(compound);
	if (unlikely(cosy_ptraced()))
		/* A debugger's breakpoints are in the native code. */
		co = ERR_PTR(-EBUSY);
	else if (compound->functions.count || cosy_runs_counted())
		co = ERR_PTR(-EOPNOTSUPP);
	else
		co = cosy_coroutine_alloc(loop, index, compound);
	if (IS_ERR(co)) {
		cosy_compound_put(compound);
		return co;
	}
	WRITE_ONCE(loop->parked[index], &co->parked);
	return co;
}

/* Take from an entry where its compound begins, or goes on. */
static int cosy_coroutine_enter(struct cosy_coroutine *co,
				const struct cosy_async_call *call)
{
	const struct cosy_code *code = co->compound->code;
	u64 pc = call->args[4], flags = call->args[5];
	bool resumed = flags & COSY_COMPOUND_RESUMED;

	if (flags & ~(u64)COSY_COMPOUND_FLAGS || (!resumed && pc) ||
	    pc >= code->ninsns)
		return -EINVAL;
	/* Not by speculation either is anything after the last slot executed. */
	co->pc = array_index_nospec(pc, code->ninsns);
	if (!cosy_pc_valid(code, co->pc))
		return -EINVAL;
	co->frame = call->args[2];
	co->errno_addr = call->args[3];
	co->left = false;
	co->waits = false;
	co->interrupted = false;
	co->cancelled |= !!(flags & COSY_COMPOUND_CANCELLED);
	return cosy_coroutine_read(co, resumed) ? 0 : -EFAULT;
}

/* Give the entry back to the process, which does something for the compound. */
static int cosy_coroutine_leave(struct cosy_loop *loop,
				struct cosy_coroutine *co,
				struct cosy_state *st, enum cosy_status status)
{
	cosy_fast_leave(&st->env, false);
	co->left = true;
	cosy_park_pass(&co->parked, false);
	if (!cosy_coroutine_write(co, st, status)) {
		cosy_state_lost();
		return 0;
	}
	WRITE_ONCE(loop->entries[co->parked.index].args[1],
		   st->pc | (u64)status << 32);
	return cosy_loop_complete(loop, co->parked.index, COSY_ENTRY_LEFT,
				  false, st->value);
}

static int cosy_coroutine_end(struct cosy_loop *loop, struct cosy_coroutine *co,
			      struct cosy_state *st)
{
	u32 index = co->parked.index;
	s64 exit = st->value;

	cosy_fast_leave(&st->env, true);
	if (!cosy_coroutine_write(co, st, COSY_DONE))
		cosy_state_lost();
	cosy_unpark(&co->parked);
	return cosy_loop_complete(loop, index, COSY_ENTRY_DONE, false, exit);
}

/* Execute until it waits, or is left, or has ended, or others have to have their turn. */
static int cosy_coroutine_run(struct cosy_loop *loop, struct cosy_coroutine *co,
			      struct cosy_state *st)
{
	enum cosy_status status;

	st->regs = co->regs;
	st->pc = co->pc;
	st->errno_addr = co->errno_addr;
	st->budget = COSY_FIRST_CHUNK;
	st->env.bound = &co->compound->functions;
	st->env.coroutine = co;
	trace_start(loop->id, co->parked.index);
	status = cosy_exec(co->compound->code, st);
	cosy_history_clear();
	co->pc = st->pc;
	if (likely(status == COSY_RESULT && st->value == (u64)COSY_PARKED)) {
		if (unlikely(co->user)) {
			co->waits = false;
			st->value = COSY_STEP_CALL;
			return cosy_coroutine_leave(loop, co, st, COSY_STEP);
		}
		trace_park(loop->id, co->parked.index, co->parked.call.args[0]);
		WRITE_ONCE(loop->entries[co->parked.index].args[2],
			   (u32)co->parked.call.args[0]);
		return 0;
	}
	switch (status) {
	case COSY_DONE:
		return cosy_coroutine_end(loop, co, st);
	case COSY_RESULT:
		/* Interrupted: made again from its beginning. */
		if (!cosy_env_restart(&st->env, st->value))
			return cosy_coroutine_leave(loop, co, st, status);
		fallthrough;
	case COSY_AGAIN:
	case COSY_LIMIT:
		cosy_fast_leave(&st->env, false);
		cosy_parked_again(&co->parked);
		return 0;
	default:
		return cosy_coroutine_leave(loop, co, st, status);
	}
}

/**
 * cosy_coroutine_submitted() - run the compound of an entry
 * @loop:  the loop, entered
 * @st:	   for calls
 * @index: the entry; its compound is not running, but may have been left
 * @call:  its number and arguments
 *
 * Return: the number of entries that have completed.
 */
int cosy_coroutine_submitted(struct cosy_loop *loop, struct cosy_state *st,
			     u32 index, const struct cosy_async_call *call)
{
	struct cosy_parked *parked = loop->parked[index];
	struct cosy_coroutine *co;
	int err;

	if (parked && !(call->args[5] & COSY_COMPOUND_RESUMED)) {
		cosy_unpark(parked);
		parked = NULL;
	}
	if (parked)
		co = cosy_coroutine_of(parked);
	else
		co = cosy_coroutine_begin(loop, index, call);
	if (IS_ERR(co))
		return cosy_loop_complete(loop, index, COSY_ENTRY_DONE, false,
					  PTR_ERR(co));
	err = cosy_coroutine_enter(co, call);
	if (err) {
		cosy_unpark(&co->parked);
		return cosy_loop_complete(loop, index, COSY_ENTRY_DONE, false,
					  err);
	}
	return cosy_coroutine_run(loop, co, st);
}

/**
 * cosy_coroutine_ready() - go on with a compound that was parked
 * @loop:   the loop, entered
 * @st:	    for calls
 * @parked: what waited
 *
 * Return: as cosy_coroutine_submitted().
 */
int cosy_coroutine_ready(struct cosy_loop *loop, struct cosy_state *st,
			 struct cosy_parked *parked)
{
	struct cosy_coroutine *co = cosy_coroutine_of(parked);

	/* An event that came while the compound ran, or was left. */
	return co->left ? 0 : cosy_coroutine_run(loop, co, st);
}

/**
 * cosy_coroutine_give_back() - leave a compound that is parked: the loop can be entered no more
 * @loop:   the loop, entered, by a thread of its process
 * @st:	    as for calls
 * @parked: its coroutine
 */
void cosy_coroutine_give_back(struct cosy_loop *loop, struct cosy_state *st,
			      struct cosy_parked *parked)
{
	struct cosy_coroutine *co = cosy_coroutine_of(parked);
	const struct cosy_code *code = co->compound->code;
	enum cosy_status status = COSY_AGAIN;

	if (co->left)
		return;
	st->regs = co->regs;
	st->pc = co->pc;
	st->value = 0;
	st->errno_addr = co->errno_addr;
	/* Nobody is to be told of events any more. */
	cosy_parked_unqueue(parked);
	/* What was sent is not sent again, nor made again what was cancelled. */
	if (co->waits && (co->sent || co->interrupted)) {
		st->value = co->sent ?: -ECANCELED;
		if (!cosy_exec_result(code, st, st->value))
			status = COSY_RESULT;
	}
	co->waits = false;
	cosy_coroutine_leave(loop, co, st, status);
}

/**
 * cosy_coroutine_is_left() - test whether the compound was left to the process
 * @parked: its coroutine
 *
 * Return: true if it is. Then its entry may be used for anything else.
 */
bool cosy_coroutine_is_left(struct cosy_parked *parked)
{
	return cosy_coroutine_of(parked)->left;
}

/**
 * cosy_coroutine_cancel() - let the calls that a compound would wait for fail
 * @parked: its coroutine
 */
void cosy_coroutine_cancel(struct cosy_parked *parked)
{
	struct cosy_coroutine *co = cosy_coroutine_of(parked);

	co->cancelled = true;
	if (!co->left)
		cosy_parked_again(parked);
}

/**
 * cosy_coroutine_interrupt() - let the call that a compound waits for fail
 * @parked: its coroutine, which waits
 */
void cosy_coroutine_interrupt(struct cosy_parked *parked)
{
	cosy_coroutine_of(parked)->interrupted = true;
	cosy_parked_again(parked);
}

/**
 * cosy_coroutine_waits() - test whether a compound waits for a descriptor
 * @parked: its coroutine
 * @fd:	    the descriptor
 *
 * Return: true if it does.
 */
bool cosy_coroutine_waits(struct cosy_parked *parked, int fd)
{
	return cosy_coroutine_of(parked)->waits &&
	       (int)parked->call.args[0] == fd;
}
