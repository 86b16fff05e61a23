// SPDX-License-Identifier: GPL-2.0
/*
 * enter.c - a thread enters a loop and executes the entries of its page.
 *
 * The process can write to the page at any time. Each word of an entry is read once,
 * indices are checked, and what the executor has to know later it keeps itself.
 */
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/unistd.h>
#include <linux/wait_bit.h>

#include <cosy/calls.h>
#include <cosy/exec.h>

#include "async/async.h"
#include "async/loop.h"
#include "call/call.h"
#include "call/history.h"
#include "fast/calls.h"
#include "fast/fast.h"
#include "fast/nowait.h"
#include "run/run.h"
#include "trace/cosy_trace.h"

/**
 * cosy_loop_state() - set what is not set by each call
 * @st: for calls
 */
void cosy_loop_state(struct cosy_state *st)
{
	st->env.nprivate = 0;
	st->env.borrowed = NULL;
	st->env.suspended = NULL;
	st->env.functions = 0;
	st->calls = 0;
	cosy_env_clear_args(&st->env);
	st->env.seccomp = cosy_seccomp_state();
}

/* What stands for a call without a fast path that may be made from inside another one. */
static const struct cosy_insn cosy_entry_plain;

/* By number: the slot of its fast path, or cosy_entry_plain, or NULL: it may not be made here. */
static const struct cosy_insn *cosy_entry_insns[NR_syscalls] __ro_after_init;

/** cosy_entries_init() - decide how entries make their calls; after cosy_single_init() */
void __init cosy_entries_init(void)
{
	unsigned int nr;

	for (nr = 0; nr < NR_syscalls; nr++) {
		if (cosy_call_nests(nr))
			cosy_entry_insns[nr] = cosy_single_insn(nr) ?:
							&cosy_entry_plain;
	}
}

/* The arguments of the call that is to be made. */
static __always_inline void cosy_entry_args(const struct cosy_env *env, u64 *args)
{
	args[0] = env->regs.di;
	args[1] = env->regs.si;
	args[2] = env->regs.dx;
	args[3] = env->regs.r10;
	args[4] = env->regs.r8;
	args[5] = env->regs.r9;
}

/* As cosy_loop_call(). The arguments are in st->env, and in @args unless that is NULL. */
static __always_inline enum cosy_call_end
cosy_entry_call(struct cosy_state *st, unsigned int nr, u64 *args, s64 *result)
{
	u64 copy[6] __uninitialized;
	const struct cosy_insn *ip;

	/* A tracer sees the native call. */
	if (unlikely(cosy_ptraced()) || unlikely(nr >= NR_syscalls))
		return COSY_CALL_USER;
	nr = array_index_nospec(nr, NR_syscalls);
	ip = cosy_entry_insns[nr];
	if (unlikely(!ip))
		return COSY_CALL_USER;
	if (ip == &cosy_entry_plain) {
		if (unlikely(!cosy_may_make(cosy_env_self(st), st, nr)))
			return COSY_CALL_USER;
		*result = cosy_env_call(&st->env, nr, nr);
	} else {
		if (!args)
			cosy_entry_args(&st->env, copy);
		st->regs = args ?: copy;
		if (unlikely(!cosy_env_may_fast(cosy_env_self(st), st, ip)))
			return COSY_CALL_USER;
		*result = cosy_env_fast(st, ip).result;
	}
	return unlikely(cosy_env_restart(&st->env, *result)) ?
		       COSY_CALL_RESTARTED : COSY_CALL_MADE;
}

/**
 * cosy_loop_call() - make a call, as one of a compound is made
 * @st:     cosy_loop_state() has set it
 * @call:   the call
 * @result: set to what it returns, if it is made
 *
 * Return: what became of it.
 */
enum cosy_call_end cosy_loop_call(struct cosy_state *st,
				  struct cosy_async_call *call, s64 *result)
{
	unsigned int i;

	/* Filters are shown all six, and a plain call takes what it has. */
	for (i = 0; i < ARRAY_SIZE(call->args); i++)
		cosy_env_arg(&st->env, i, call->args[i]);
	return cosy_entry_call(st, call->nr, call->args, result);
}

/* As cosy_loop_complete(). */
static __always_inline unsigned int
cosy_entry_complete(struct cosy_loop *loop, u32 index, u8 status, bool silent,
		    s64 result)
{
	struct cosy_async_entry *entry = &loop->entries[index];
	u32 tail = loop->done_tail;

	trace_complete(loop->id, index, status, result);
	if (status != COSY_ENTRY_USER)
		WRITE_ONCE(entry->args[0], result);
	if (silent) {
		/* Whoever sees that it is free sees the result, too. */
		smp_store_release(&entry->status, COSY_ENTRY_FREE);
		return 1;
	}
	WRITE_ONCE(entry->status, status);
	WRITE_ONCE(loop->done[tail & (loop->nentries - 1)], index);
	WRITE_ONCE(loop->done_tail, tail + 1);
	/* Whoever sees the index sees the entry and the ring, too. */
	smp_store_release(&loop->page->done_tail, tail + 1);
	return 1;
}

/**
 * cosy_loop_complete() - give an entry back to the submitter
 * @loop:   the loop, entered
 * @index:  the entry
 * @status: enum cosy_entry_status
 * @silent: its index does not appear in the ring
 * @result: unless @status is COSY_ENTRY_USER
 *
 * Return: 1, the number of entries that have completed.
 */
unsigned int cosy_loop_complete(struct cosy_loop *loop, u32 index, u8 status,
				bool silent, s64 result)
{
	return cosy_entry_complete(loop, index, status, silent, result);
}

/* What the first word of an entry has, but its status. */
#define COSY_ENTRY_FLAGS_OF(word)	((u8)((word) >> 8))
#define COSY_ENTRY_COLOUR_OF(word)	((u16)((word) >> 16))
#define COSY_ENTRY_NR_OF(word)		((u32)((word) >> 32))

/* Read an entry, each word once; its arguments come to @env. Return: its first word. */
static __always_inline u64 cosy_entry_read(const struct cosy_async_entry *entry,
					   struct cosy_env *env)
{
	u64 word = READ_ONCE(*(const u64 *)entry);

	BUILD_BUG_ON(offsetof(struct cosy_async_entry, flags) != 1 ||
		     offsetof(struct cosy_async_entry, colour) != 2 ||
		     offsetof(struct cosy_async_entry, nr) != 4 ||
		     ARRAY_SIZE(entry->args) != 6);
	cosy_env_arg(env, 0, READ_ONCE(entry->args[0]));
	cosy_env_arg(env, 1, READ_ONCE(entry->args[1]));
	cosy_env_arg(env, 2, READ_ONCE(entry->args[2]));
	cosy_env_arg(env, 3, READ_ONCE(entry->args[3]));
	cosy_env_arg(env, 4, READ_ONCE(entry->args[4]));
	cosy_env_arg(env, 5, READ_ONCE(entry->args[5]));
	return word;
}

/* Is it a call that the thread that enters makes, and nothing unknown? */
static __always_inline bool cosy_entry_is_call(u64 word)
{
	const u32 flags = COSY_ENTRY_SILENT | COSY_ENTRY_WAIT_IN |
			  COSY_ENTRY_WAIT_OUT;

	return COSY_ENTRY_NR_OF(word) < COSY_ENTRY_SPECIAL &&
	       !((u32)word >> 8 & ~flags);
}

/* Has it what nobody knows? */
static bool cosy_entry_is_valid(u64 word)
{
	u32 nr = COSY_ENTRY_NR_OF(word);
	u8 flags = COSY_ENTRY_FLAGS_OF(word);

	if (COSY_ENTRY_COLOUR_OF(word) || flags & ~COSY_ENTRY_FLAGS)
		return false;
	if (flags & COSY_ENTRY_NOWAIT &&
	    flags & ~(COSY_ENTRY_NOWAIT | COSY_ENTRY_SILENT))
		return false;
	if (flags & COSY_ENTRY_BUFFERED &&
	    flags & ~(COSY_ENTRY_BUFFERED | COSY_ENTRY_SILENT))
		return false;
	if (flags & COSY_ENTRY_THREAD ?
		    flags & (COSY_ENTRY_WAIT_IN | COSY_ENTRY_WAIT_OUT) :
		    flags & (COSY_ENTRY_LONG | COSY_ENTRY_TAKE))
		return false;
	return nr < COSY_ENTRY_SPECIAL || (nr == COSY_ENTRY_COMPOUND && !flags);
}

/* Has the entry been given to the process, although the executor knows it still? */
static bool cosy_parked_is_left(struct cosy_parked *parked)
{
	if (parked->is_handed)
		return cosy_handed_is_taken(parked);
	return parked->is_coroutine && cosy_coroutine_is_left(parked);
}

/* Execute an entry whose call is made if it need not wait. Return: 1, it has completed. */
static int cosy_entry_nowait(struct cosy_loop *loop, struct cosy_state *st, u32 index,
			     u8 flags, const struct cosy_async_call *call)
{
	s64 result = -EAGAIN;

	trace_start(loop->id, index);
	if (likely(!cosy_ptraced()) &&
	    cosy_may_make(cosy_env_self(st), st, call->nr))
		result = cosy_nowait_call(call->nr, call->args);
	if (result == -EAGAIN)
		return cosy_loop_complete(loop, index, COSY_ENTRY_USER, false, 0);
	return cosy_loop_complete(loop, index, COSY_ENTRY_DONE,
				  flags & COSY_ENTRY_SILENT, result);
}

/*
 * Return true if the entry after the one that is executed is for a thread, too. The process may
 * change it: cosy_loop_execute() wakes threads in any case.
 */
static bool cosy_loop_lends_next(const struct cosy_loop *loop)
{
	u32 next = loop->submit_head + 1, index;

	/* The entry and the ring are as they were before the index was. */
	if (next == smp_load_acquire(&loop->page->submit_tail))
		return false;
	index = READ_ONCE(loop->submitted[next & (loop->nentries - 1)]);
	if (index >= loop->nentries)
		return false;
	index = array_index_nospec(index, loop->nentries);
	return READ_ONCE(loop->entries[index].flags) & COSY_ENTRY_THREAD;
}

/*
 * Execute an entry that is not just a call, or was something else before. Return: false if it
 * is just a call now; else @ret is set as cosy_loop_submitted() returns it.
 */
static bool cosy_entry_special(struct cosy_loop *loop, struct cosy_state *st,
			       u32 index, u64 word, int *ret)
{
	struct cosy_async_call call = { .nr = COSY_ENTRY_NR_OF(word) };
	struct cosy_parked *parked = loop->parked[index];
	u8 flags = COSY_ENTRY_FLAGS_OF(word);
	bool valid = cosy_entry_is_valid(word);

	cosy_entry_args(&st->env, call.args);
	/* What a thread has taken is over. */
	if (parked && parked->is_handed) {
		cosy_unpark(parked);
		parked = NULL;
	}
	if (valid && call.nr == COSY_ENTRY_COMPOUND) {
		*ret = cosy_coroutine_submitted(loop, st, index, &call);
		return true;
	}
	/* The process does not go on with the compound. */
	if (parked)
		cosy_unpark(parked);
	if (!valid) {
		*ret = cosy_loop_complete(loop, index, COSY_ENTRY_DONE,
					  flags & COSY_ENTRY_SILENT, -EINVAL);
		return true;
	}
	if (flags & COSY_ENTRY_NOWAIT) {
		*ret = cosy_entry_nowait(loop, st, index, flags, &call);
		return true;
	}
	if (flags & COSY_ENTRY_BUFFERED) {
		*ret = cosy_reading_submitted(loop, st, index, flags, &call);
		return true;
	}
	if (!(flags & COSY_ENTRY_THREAD))
		return false;
	*ret = 0;
	if (!cosy_work_queue(loop, index, flags, &call))
		*ret = cosy_loop_complete(loop, index, COSY_ENTRY_USER, false, 0);
	/* What is executed next may take a while. */
	if (!cosy_loop_lends_next(loop))
		cosy_works_wake(loop);
	return true;
}

/* Let an entry wait whose call has failed with -EAGAIN. Return: as cosy_park() says. */
static noinline bool cosy_entry_park(struct cosy_loop *loop,
				     const struct cosy_state *st, u32 index, u64 word)
{
	struct cosy_async_call call = { .nr = COSY_ENTRY_NR_OF(word) };

	cosy_entry_args(&st->env, call.args);
	return cosy_park(loop, index, COSY_ENTRY_FLAGS_OF(word), &call);
}

/*
 * Execute a submitted entry. Return the number of entries that have completed, or
 * -EINTR: it stays submitted.
 */
static __always_inline int cosy_loop_submitted(struct cosy_loop *loop,
					       struct cosy_state *st, u32 index)
{
	struct cosy_parked *parked;
	s64 result __uninitialized;
	u8 flags;
	u64 word;
	int ret;

	if (unlikely(index >= loop->nentries))
		return 0;
	index = array_index_nospec(index, loop->nentries);
	parked = loop->parked[index];
	if (unlikely(parked) && !cosy_parked_is_left(parked))
		return 0;
	word = cosy_entry_read(&loop->entries[index], &st->env);
	flags = COSY_ENTRY_FLAGS_OF(word);
	trace_submit(loop->id, index, COSY_ENTRY_NR_OF(word));
	if (unlikely(parked || !cosy_entry_is_call(word)) &&
	    cosy_entry_special(loop, st, index, word, &ret))
		return ret;
	trace_start(loop->id, index);
	switch (cosy_entry_call(st, COSY_ENTRY_NR_OF(word), NULL, &result)) {
	case COSY_CALL_MADE:
		break;
	case COSY_CALL_USER:
		return cosy_loop_complete(loop, index, COSY_ENTRY_USER, false, 0);
	case COSY_CALL_RESTARTED:
		return -EINTR;
	}
	if (unlikely(result == -EAGAIN) &&
	    flags & (COSY_ENTRY_WAIT_IN | COSY_ENTRY_WAIT_OUT) &&
	    cosy_entry_park(loop, st, index, word))
		return 0;
	return cosy_entry_complete(loop, index, COSY_ENTRY_DONE,
				   flags & COSY_ENTRY_SILENT, result);
}

/* The same for one that has waited. */
static int cosy_loop_ready(struct cosy_loop *loop, struct cosy_state *st,
			   struct cosy_parked *parked)
{
	bool silent = parked->silent;
	u8 status = COSY_ENTRY_DONE;
	u32 index = parked->index;
	s64 result = -ECANCELED;
	struct cosy_fd fd;
	bool is_current;

	if (parked->is_coroutine)
		return cosy_coroutine_ready(loop, st, parked);
	if (parked->is_handed)
		return cosy_handed_ready(loop, parked);
	if (parked->is_reading)
		return cosy_reading_ready(loop, st, parked);
	fd = cosy_fd_get(parked->call.args[0]);
	is_current = cosy_parked_is_current(parked, fd.file);
	cosy_fd_put(fd);
	if (is_current) {
		trace_start(loop->id, index);
		switch (cosy_loop_call(st, &parked->call, &result)) {
		case COSY_CALL_MADE:
			break;
		case COSY_CALL_USER:
			status = COSY_ENTRY_USER;
			silent = false;
			break;
		case COSY_CALL_RESTARTED:
			cosy_parked_again(parked);
			return -EINTR;
		}
		/* Another reader was faster. */
		if (result == -EAGAIN && status == COSY_ENTRY_DONE)
			return 0;
	}
	cosy_unpark(parked);
	return cosy_loop_complete(loop, index, status, silent, result);
}

/* Is there something to execute? */
static bool cosy_loop_has_more(struct cosy_loop *loop)
{
	return !list_empty(&loop->ready) ||
	       loop->submit_head != READ_ONCE(loop->page->submit_tail);
}

/**
 * cosy_loop_execute() - execute what was submitted, and what waits no longer
 * @loop: the loop, entered
 * @st:	  for calls
 * @max:  completions after which it ends
 *
 * Return: the number of entries that have completed.
 */
unsigned int cosy_loop_execute(struct cosy_loop *loop, struct cosy_state *st,
			       unsigned int max)
{
	unsigned int done = 0, calls = 0;
	struct cosy_parked *parked;
	u64 *executed;
	u32 index;
	int ret;

	while (done < max && calls < COSY_LOOP_CALLS) {
		u32 head = loop->submit_head;

		/* The entry and the ring are as they were before the index was. */
		if (head != smp_load_acquire(&loop->page->submit_tail)) {
			index = READ_ONCE(loop->submitted[head &
							  (loop->nentries - 1)]);
			ret = cosy_loop_submitted(loop, st, index);
			if (ret < 0)
				break;
			WRITE_ONCE(loop->submit_head, head + 1);
			/* From then on the place in the ring may be used again. */
			smp_store_release(&loop->page->submit_head, head + 1);
		} else {
			parked = cosy_parked_next(loop);
			if (!parked)
				break;
			ret = cosy_loop_ready(loop, st, parked);
			if (ret < 0)
				break;
		}
		calls++;
		done += ret;
		if (cosy_env_leave(cosy_env_self(st)))
			break;
	}
	if (unlikely(cosy_works_added(loop)))
		cosy_works_wake(loop);
	/* If the thread has moved meanwhile, all count for the CPU that it has come to. */
	executed = &loop->cpus[raw_smp_processor_id()].executed;
	WRITE_ONCE(*executed, *executed + calls);
	WRITE_ONCE(loop->page->more, done < max && cosy_loop_has_more(loop));
	return done;
}

/* Return: as the interface says. */
static loff_t cosy_loop_cancel(struct cosy_loop *loop, u64 index)
{
	struct cosy_parked *parked;

	if (index >= loop->nentries)
		return -ENOENT;
	index = array_index_nospec(index, loop->nentries);
	parked = loop->parked[index];
	if (!parked)
		return -ENOENT;
	if (parked->is_coroutine) {
		cosy_coroutine_cancel(parked);
		return COSY_ASYNC_ENTERED;
	}
	if (parked->is_handed) {
		loff_t ret = cosy_handed_cancel(loop, parked);

		if (ret < 0)
			return ret;
	}
	cosy_unpark(parked);
	WRITE_ONCE(loop->entries[index].status, COSY_ENTRY_FREE);
	return COSY_ASYNC_ENTERED;
}

/**
 * cosy_loop_left() - what a thread that leaves a loop returns
 * @st:   for calls
 * @what: the low bits
 *
 * Return: COSY_ASYNC_ENTERED or COSY_ASYNC_BARRED, and @what.
 */
loff_t cosy_loop_left(const struct cosy_state *st, u32 what)
{
	/* What let this entry in lets the next one in. */
	if (unlikely(cosy_seccomp_state() != st->env.seccomp) &&
	    cosy_seccomp_blocks_entry())
		return COSY_ASYNC_BARRED | what;
	return COSY_ASYNC_ENTERED | what;
}

/**
 * cosy_loop_is_lost() - test whether the descriptor by which the thread has entered is closed
 * @loop: the loop, entered
 *
 * The thread may have found the file before another one closed the descriptor, and enter after
 * that: what waits when it leaves would wait for ever.
 *
 * Return: true if it is closed, or if this is a nested call and any descriptor of the loop has
 * been closed.
 */
bool cosy_loop_is_lost(const struct cosy_loop *loop)
{
	struct cosy_fd fd;
	bool lost;

	/* Whoever closes it later finds what waits, or that the thread has entered. */
	if (likely(!READ_ONCE(loop->unreachable)))
		return false;
	fd = cosy_fd_get_raw(current_pt_regs()->di);
	/* No other file has the loop. */
	lost = !fd.file || fd.file->private_data != loop;
	cosy_fd_put(fd);
	return lost;
}

/* Sets @entered to whether it is still entered. */
static loff_t cosy_loop_enter(struct cosy_loop *loop, u64 max, bool sleeps,
			      bool *entered)
{
	struct cosy_state st __uninitialized;
	int done;

	if (!max || max > COSY_ASYNC_MAX_DONE)
		return -EINVAL;
	cosy_loop_state(&st);
	done = cosy_loop_execute(loop, &st, max);
	if (sleeps && !done)
		done = cosy_loop_sleep(loop, &st, max, entered);
	cosy_history_clear();
	return done < 0 ? done : cosy_loop_left(&st, done);
}

/* Leave all compounds that are parked, and give back what no thread has made yet. */
static void cosy_loop_give_back(struct cosy_loop *loop)
{
	struct cosy_state st __uninitialized;
	u32 i;

	WRITE_ONCE(loop->closed, false);
	cosy_loop_state(&st);
	for (i = 0; i < loop->nentries; i++) {
		if (loop->parked[i] && loop->parked[i]->is_coroutine)
			cosy_coroutine_give_back(loop, &st, loop->parked[i]);
		else if (loop->parked[i] && loop->parked[i]->is_handed)
			cosy_handed_give_back(loop, loop->parked[i]);
		if (!(i & 0xff))
			cond_resched();
	}
	/* Whoever waits for the loop cannot enter it to find out. */
	cosy_loop_tell(loop);
	cosy_works_recall(loop);
}

/**
 * cosy_loop_lock() - let the thread enter
 * @loop: the loop
 *
 * Return: false if another one has entered.
 */
bool cosy_loop_lock(struct cosy_loop *loop)
{
	if (test_and_set_bit_lock(0, &loop->entered))
		return false;
	WRITE_ONCE(loop->entrant, current);
	return true;
}

/* The same, but wait. Return: 0, or an error: by a call of its own, or a signal. */
static int cosy_loop_await(struct cosy_loop *loop)
{
	int err;

	if (READ_ONCE(loop->entrant) == current)
		return -EBUSY;
	/* It makes a thread that has slept leave. */
	atomic_inc(&loop->waiters);
	err = wait_on_bit_lock(&loop->entered, 0, TASK_INTERRUPTIBLE);
	atomic_dec(&loop->waiters);
	if (err)
		return -ERESTARTNOINTR;
	WRITE_ONCE(loop->entrant, current);
	return 0;
}

/**
 * cosy_loop_unlock() - the thread that has entered leaves
 * @loop: the loop, which somebody else holds
 */
void cosy_loop_unlock(struct cosy_loop *loop)
{
	do {
		/* The thread that has closed it could not enter. */
		if (unlikely(READ_ONCE(loop->closed)))
			cosy_loop_give_back(loop);
		WRITE_ONCE(loop->entrant, NULL);
		clear_bit_unlock(0, &loop->entered);
		/* Either this thread sees that it is closed, or that one enters. */
		smp_mb__after_atomic();
		if (unlikely(atomic_read(&loop->waiters)))
			wake_up_bit(&loop->entered, 0);
		/* Another process with the same memory may close it again and again. */
	} while (unlikely(READ_ONCE(loop->closed)) &&
		 !fatal_signal_pending(current) && cosy_loop_lock(loop));
	/* Events have told nobody while a thread had entered. */
	if (!list_empty(&loop->ready))
		cosy_loop_tell(loop);
}

/**
 * cosy_loop_flush() - the process closes a descriptor of a loop
 * @file: the loop's file
 * @id:	  its table of descriptors
 *
 * It may be the only one by which the loop could be entered. What compounds have executed
 * must not be lost with it: they are given back, and may be submitted again.
 *
 * Return: 0.
 */
int cosy_loop_flush(struct file *file, fl_owner_t id)
{
	struct cosy_loop *loop = file->private_data;

	if (current->mm != loop->mm)
		return 0;
	/* A child of vfork() closes its copy before it has memory of its own. */
	if (id != loop->files && task_tgid(current) != loop->pid)
		return 0;
	cosy_works_end(loop);
	/* A thread that has entered may not leave soon, and they hold the file. */
	cosy_works_recall(loop);
	WRITE_ONCE(loop->kicked, true);
	WRITE_ONCE(loop->closed, true);
	/* As in cosy_loop_unlock(). */
	smp_mb();
	if (cosy_loop_lock(loop))
		cosy_loop_unlock(loop);
	cosy_loop_tell(loop);
	return 0;
}

/**
 * cosy_loop_llseek() - enter a loop, or cancel an entry, by lseek(2)
 * @file:   the loop's file
 * @offset: COSY_RUN_TAG, and what the interface says
 * @whence: COSY_RUN_WHENCE
 *
 * A call in the loop may close the loop's last descriptor: @file is not to be touched
 * after that.
 *
 * Return: as the interface says; -ESPIPE for any other lseek.
 */
loff_t cosy_loop_llseek(struct file *file, loff_t offset, int whence)
{
	struct cosy_loop *loop = file->private_data;
	u64 what = (u64)offset - COSY_RUN_TAG;
	bool entered = true;
	loff_t ret;

	if (whence != COSY_RUN_WHENCE || what >> 37)
		return -ESPIPE;
	/* Nested calls are 64-bit calls, but would find a 32-bit or x32 one. */
	if (unlikely(current_pt_regs()->orig_ax != __NR_lseek))
		return -EOPNOTSUPP;
	if (current->mm != loop->mm)
		return -EPERM;
	if (!cosy_stack_suffices())
		return -ELOOP;
	if (what & COSY_ASYNC_WORK) {
		refcount_inc(&loop->users);
		what &= ~COSY_ASYNC_WORK;
		if (what == COSY_ASYNC_CANCEL) {
			cosy_works_recall(loop);
			ret = COSY_ASYNC_ENTERED;
		} else {
			ret = cosy_loop_work(loop, what);
		}
		cosy_loop_put(loop);
		return ret;
	}
	/* By another thread, or by one of the calls. */
	if (unlikely(!cosy_loop_lock(loop))) {
		ret = what & COSY_ASYNC_AWAIT ? cosy_loop_await(loop) : -EBUSY;
		if (ret)
			return ret;
	}
	what &= ~COSY_ASYNC_AWAIT;
	refcount_inc(&loop->users);
	WRITE_ONCE(loop->enters, loop->enters + 1);
	if (what & COSY_ASYNC_CANCEL_FD)
		ret = COSY_ASYNC_ENTERED | cosy_park_interrupt(loop, what);
	else if (what & COSY_ASYNC_CANCEL)
		ret = cosy_loop_cancel(loop, what & ~COSY_ASYNC_CANCEL);
	else
		ret = cosy_loop_enter(loop, what & ~COSY_ASYNC_SLEEP,
				      what & COSY_ASYNC_SLEEP, &entered);
	if (entered) {
		if (unlikely(cosy_loop_is_lost(loop)))
			WRITE_ONCE(loop->closed, true);
		cosy_loop_unlock(loop);
	}
	cosy_loop_put(loop);
	return ret;
}
