// SPDX-License-Identifier: GPL-2.0
/*
 * coroutine.c - entries that run compounds, which are parked where they would block.
 *
 * The pc and the registers of a parked compound stay in the kernel. Its frame in the process is
 * read when it begins, and written when it is left. Its registration with the socket's wait queue
 * is also kept, so a wait costs little more than a wake-up.
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

#include <asm/barrier.h>

#include <cosy/exec.h>

#include "async/async.h"
#include "async/coroutine.h"
#include "call/call.h"
#include "call/history.h"
#include "fast/calls.h"
#include "fast/fast.h"
#include "function/function.h"
#include "limit/limit.h"
#include "load/compound.h"
#include "run/run.h"
#include "trace/cosy_trace.h"

/* Look up a compound by a descriptor of the device and a handle; takes a reference. */
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

/*
 * Read the registers that are live at the pc from the frame. The others are 0, or what the compound
 * has left there.
 */
static bool cosy_coroutine_read(struct cosy_coroutine *co, bool resumed)
{
	const struct cosy_code *code = co->compound->code;
	struct cosy_range live = { 0, code->ninputs };

	if (resumed)
		live = cosy_live_range(code, co->pc);
	return cosy_regs_read_all(co->regs + live.first,
				  (u64 __user *)u64_to_user_ptr(co->frame) + live.first,
				  live.count);
}

/* Write the registers that are live at the compound's end, or where it is left, to the frame. */
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
	return cosy_regs_write_all((u64 __user *)u64_to_user_ptr(co->frame) + live.first,
				   co->regs + live.first, live.count);
}

/**
 * cosy_coroutine_free() - free a coroutine
 * @parked: the coroutine, in no wait queue and in no list
 *
 * May sleep. May drop the compound's reference to the module, so the caller needs another one:
 * that of the loop.
 */
void cosy_coroutine_free(struct cosy_parked *parked)
{
	struct cosy_coroutine *co = cosy_coroutine_of(parked);

	cosy_suspended_abandon(co->suspended);
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
	u64 charge = size;
	int err;

	/* The charge bounds the references to a compound: see struct cosy_compound. */
	BUILD_BUG_ON(sizeof(*co) < 128);
	if (compound->functions.count)
		charge += sizeof(*co->suspended);
	err = cosy_quota_charge(owner, charge);
	if (err)
		return ERR_PTR(err);
	co = kvzalloc(size, COSY_GFP);
	if (!co) {
		cosy_quota_uncharge(owner, charge);
		return ERR_PTR(-ENOMEM);
	}
	cosy_parked_init(&co->parked, COSY_PARKED_COMPOUND, loop, index);
	co->compound = compound;
	co->owner = owner;
	co->charged = charge;
	return co;
}

/* Create a coroutine for the compound of an entry. */
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
	else if (cosy_runs_limited())
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

/* Set where a compound begins or continues, from its entry. */
static int cosy_coroutine_enter(struct cosy_coroutine *co,
				const struct cosy_async_call *call)
{
	const struct cosy_code *code = co->compound->code;
	u64 pc = call->args[4], flags = call->args[5];
	bool resumed = flags & COSY_COMPOUND_RESUMED;

	if (flags & ~(u64)COSY_COMPOUND_FLAGS || (!resumed && pc) ||
	    pc >= code->ninsns)
		return -EINVAL;
	/* Speculation must not execute slots after the last one. */
	co->pc = array_index_nospec(pc, code->ninsns);
	if (!cosy_pc_valid(code, co->pc))
		return -EINVAL;
	co->frame = call->args[2];
	co->errno_addr = call->args[3];
	co->left = false;
	co->waits = false;
	co->waited = 0;
	co->interrupted = false;
	co->cancelled |= !!(flags & COSY_COMPOUND_CANCELLED);
	co->moves = flags & COSY_COMPOUND_MOVES;
	return cosy_coroutine_read(co, resumed) ? 0 : -EFAULT;
}

/*
 * End the call that the compound waits to make, if bytes were sent or it was cancelled: these bytes
 * must not be sent again, and a cancelled call must not be made. Return the status with which the
 * process gets the compound.
 */
static enum cosy_status cosy_coroutine_end_call(struct cosy_coroutine *co,
						struct cosy_state *st,
						enum cosy_status status)
{
	bool ends = co->waits && (co->sent || co->interrupted || co->cancelled);

	co->waits = false;
	if (!ends)
		return status;
	st->value = co->sent ?: -ECANCELED;
	cosy_call_ended(co, st->value);
	if (!cosy_exec_result(co->compound->code, st, st->value))
		return COSY_RESULT;
	st->value = 0;
	return COSY_AGAIN;
}

/* Write how a user function has failed. */
static void cosy_coroutine_tell_failure(struct cosy_async_entry *entry,
					const struct cosy_function_failure *failure)
{
	WRITE_ONCE(entry->args[2], failure->address);
	WRITE_ONCE(entry->args[3], failure->line | (u64)failure->function << 32);
	WRITE_ONCE(entry->args[4], failure->wrote);
}

/*
 * Give the entry back to the process, which has to make an up-call or a call of the compound. Frees
 * a compound that moves.
 */
static int cosy_coroutine_leave(struct cosy_loop *loop,
				struct cosy_coroutine *co,
				struct cosy_state *st, enum cosy_status status)
{
	u32 index = co->parked.index;
	bool written;

	/* If the call has begun before the thread was watched, @waits is still set. */
	status = cosy_coroutine_end_call(co, st, status);
	cosy_fast_leave(&st->env, false);
	co->left = true;
	cosy_park_pass(&co->parked, false);
	written = cosy_coroutine_write(co, st, status);
	if (co->moves)
		cosy_unpark(&co->parked);
	if (!written) {
		cosy_state_lost();
		return 0;
	}
	WRITE_ONCE(loop->entries[index].args[1], st->pc | (u64)status << 32);
	if (status == COSY_FAILED)
		cosy_coroutine_tell_failure(&loop->entries[index], &st->env.failure);
	return cosy_loop_complete(loop, index, COSY_ENTRY_LEFT, false, st->value);
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

/* Execute until the compound waits, is left, has ended, or has used up its budget. */
static int cosy_coroutine_run(struct cosy_loop *loop, struct cosy_coroutine *co,
			      struct cosy_state *st)
{
	struct cosy_async_entry *entry;
	enum cosy_status status;

	st->regs = co->regs;
	st->pc = co->pc;
	st->errno_addr = co->errno_addr;
	st->budget = COSY_FIRST_CHUNK;
	st->env.bound = &co->compound->functions;
	st->env.coroutine = co;
	st->env.suspended = co->suspended;
	cosy_env_init(&st->env);
	trace_start(loop->id, co->parked.index);
	/* No load of the compound may pass the stores that have cleared the registers. */
	barrier_nospec();
	status = cosy_exec(co->compound->code, st);
	cosy_history_clear();
	co->suspended = st->env.suspended;
	co->pc = st->pc;
	if (likely(status == COSY_RESULT && st->env.parked)) {
		if (unlikely(co->user)) {
			co->waits = false;
			st->value = co->raised ? -EPIPE : COSY_STEP_CALL;
			return cosy_coroutine_leave(loop, co, st,
						    co->raised ? COSY_RESULT : COSY_STEP);
		}
		trace_park(loop->id, co->parked.index, co->parked.call.args[0]);
		entry = &loop->entries[co->parked.index];
		WRITE_ONCE(entry->args[2], (u32)co->parked.call.args[0]);
		WRITE_ONCE(entry->args[3], ++co->waited);
		return 0;
	}
	switch (status) {
	case COSY_DONE:
		return cosy_coroutine_end(loop, co, st);
	case COSY_RESULT:
		/* If it was interrupted, the call is made again after the signal. */
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
 * @st:	   initialised by cosy_loop_state()
 * @index: index of the entry; its compound does not run, but may have been left
 * @call:  number and arguments of the entry
 *
 * Return: the number of completed entries.
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
 * cosy_coroutine_ready() - continue a compound that was parked
 * @loop:   the loop, entered
 * @st:	    initialised by cosy_loop_state()
 * @parked: its coroutine
 *
 * Return: as cosy_coroutine_submitted().
 */
int cosy_coroutine_ready(struct cosy_loop *loop, struct cosy_state *st,
			 struct cosy_parked *parked)
{
	struct cosy_coroutine *co = cosy_coroutine_of(parked);

	/* The event may have come while the compound was left. */
	return co->left ? 0 : cosy_coroutine_run(loop, co, st);
}

/*
 * End a suspended function: the process cannot enter again to resume it. It runs natively if
 * it has changed nothing. Return the status with which the process gets the compound.
 */
static enum cosy_status cosy_coroutine_end_function(struct cosy_coroutine *co,
						    struct cosy_state *st)
{
	struct cosy_suspended_function *suspended = co->suspended;
	enum cosy_status status = COSY_AGAIN;

	co->suspended = NULL;
	if (!suspended)
		return status;
	if (suspended->valid && suspended->state.wrote) {
		st->env.failure = (struct cosy_function_failure){
			.function = COSY_INSN_FUNCTION(&co->compound->code->insns[co->pc]),
			.wrote = true,
		};
		st->value = COSY_FUNCTION_LOST;
		status = COSY_FAILED;
	}
	cosy_suspended_abandon(suspended);
	return status;
}

/**
 * cosy_coroutine_give_back() - give a parked compound back to the process
 * @loop:   the loop, entered by a thread of its process
 * @st:	    initialised by cosy_loop_state()
 * @parked: its coroutine
 */
void cosy_coroutine_give_back(struct cosy_loop *loop, struct cosy_state *st,
			      struct cosy_parked *parked)
{
	struct cosy_coroutine *co = cosy_coroutine_of(parked);
	bool moves = co->moves;

	if (co->left)
		return;
	st->regs = co->regs;
	st->pc = co->pc;
	/* The process has to continue a call that waits, and not to make a new one. */
	st->value = co->waits;
	st->errno_addr = co->errno_addr;
	cosy_coroutine_leave(loop, co, st, cosy_coroutine_end_function(co, st));
	/* Ignore further events. */
	if (!moves)
		cosy_parked_unqueue(parked);
}

/**
 * cosy_coroutine_is_left() - test whether the process has the entry of a compound
 * @parked: its coroutine
 *
 * Return: true if it has. Then it may submit anything with the entry.
 */
bool cosy_coroutine_is_left(struct cosy_parked *parked)
{
	return cosy_coroutine_of(parked)->left;
}

/**
 * cosy_coroutine_cancel() - make the present and all later waits of a compound fail
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
 * cosy_coroutine_interrupt() - make the present wait of a compound fail
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
