// SPDX-License-Identifier: GPL-2.0
/*
 * enter.c - a thread enters a loop and executes the entries of its page.
 *
 * The process can write to the page at any time. So each word of an entry is read once,
 * indices are checked, and the executor keeps its own copy of what it needs later.
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
#include "async/ring.h"
#include "call/call.h"
#include "call/history.h"
#include "call/request.h"
#include "fast/calls.h"
#include "run/run.h"
#include "trace/cosy_trace.h"

/**
 * cosy_loop_state() - initialise what the single calls of a loop do not set
 * @st: state for cosy_loop_call()
 */
void cosy_loop_state(struct cosy_state *st)
{
	cosy_env_init(&st->env);
	st->env.borrowed = NULL;
	st->env.suspended = NULL;
	st->env.functions = 0;
	st->calls = 0;
	cosy_env_clear_args(&st->env);
	st->env.seccomp = cosy_seccomp_state();
}

/* Copy the arguments of the next call from @env. */
static __always_inline void cosy_entry_args(const struct cosy_env *env, u64 *args)
{
	args[0] = env->regs.di;
	args[1] = env->regs.si;
	args[2] = env->regs.dx;
	args[3] = env->regs.r10;
	args[4] = env->regs.r8;
	args[5] = env->regs.r9;
}

/* The same as cosy_loop_call(). The arguments are in st->env. */
static enum cosy_call_end cosy_entry_call(struct cosy_state *st, unsigned int nr, s64 *result)
{
	/* A tracer sees the native call. */
	if (unlikely(cosy_ptraced()) || unlikely(nr >= NR_syscalls))
		return COSY_CALL_USER;
	nr = array_index_nospec(nr, NR_syscalls);
	if (unlikely(!cosy_call_nests(nr)) ||
	    unlikely(!cosy_may_make(cosy_env_self(st), st, nr)))
		return COSY_CALL_USER;
	*result = cosy_env_call(&st->env, nr, nr);
	return unlikely(cosy_call_restarts(*result)) ? COSY_CALL_RESTARTED :
						      COSY_CALL_MADE;
}

/**
 * cosy_loop_args() - set the arguments of a call for cosy_may_make()
 * @st:   initialised by cosy_loop_state()
 * @call: the call
 *
 * Seccomp filters read all six arguments, a plain call only its own.
 */
void cosy_loop_args(struct cosy_state *st, const struct cosy_async_call *call)
{
	cosy_env_arg(&st->env, 0, call->args[0]);
	cosy_env_arg(&st->env, 1, call->args[1]);
	cosy_env_arg(&st->env, 2, call->args[2]);
	cosy_env_arg(&st->env, 3, call->args[3]);
	cosy_env_arg(&st->env, 4, call->args[4]);
	cosy_env_arg(&st->env, 5, call->args[5]);
}

/**
 * cosy_loop_call() - make a call with the same checks as a call of a compound
 * @st:     initialised by cosy_loop_state()
 * @call:   the call
 * @result: set to the result with COSY_CALL_MADE
 *
 * Return: how it has ended.
 */
enum cosy_call_end cosy_loop_call(struct cosy_state *st,
				  struct cosy_async_call *call, s64 *result)
{
	cosy_loop_args(st, call);
	return cosy_entry_call(st, call->nr, result);
}

/**
 * cosy_loop_complete() - give an entry back to the submitter
 * @loop:   the loop, entered
 * @index:  index of the entry
 * @status: enum cosy_entry_status
 * @silent: do not put the index into the ring of completions
 * @result: result of the call; ignored with COSY_ENTRY_USER
 *
 * Return: 1, the number of entries that have completed.
 */
unsigned int cosy_loop_complete(struct cosy_loop *loop, u32 index, u8 status,
				bool silent, s64 result)
{
	struct cosy_async_entry *entry = &loop->entries[index];
	u32 tail = loop->done_tail;

	trace_complete(loop->id, index, status, result);
	if (status != COSY_ENTRY_USER)
		WRITE_ONCE(entry->args[0], result);
	if (silent) {
		/* Release: a thread that reads COSY_ENTRY_FREE also reads the result. */
		smp_store_release(&entry->status, COSY_ENTRY_FREE);
		return 1;
	}
	WRITE_ONCE(entry->status, status);
	WRITE_ONCE(loop->done[tail & (loop->nentries - 1)], index);
	WRITE_ONCE(loop->done_tail, tail + 1);
	/* Release: a thread that reads the new tail also reads the entry and the ring. */
	smp_store_release(&loop->page->done_tail, tail + 1);
	return 1;
}

/* The fields of the first word of an entry, without its status. */
#define COSY_ENTRY_FLAGS_OF(word)	((u8)((word) >> 8))
#define COSY_ENTRY_COLOUR_OF(word)	((u16)((word) >> 16))
#define COSY_ENTRY_NR_OF(word)		((u32)((word) >> 32))

/* Read each word of an entry once, its arguments into @env. Return its first word. */
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

/* Return true for a call that the entering thread makes itself. */
static __always_inline bool cosy_entry_is_call(u64 word)
{
	return COSY_ENTRY_NR_OF(word) < COSY_ENTRY_SPECIAL &&
	       !((u32)word >> 8 & ~(u32)COSY_ENTRY_SILENT);
}

/* Return false if an entry has unknown flags or a combination that has no meaning. */
static bool cosy_entry_is_valid(u64 word)
{
	u32 nr = COSY_ENTRY_NR_OF(word);
	u8 flags = COSY_ENTRY_FLAGS_OF(word);

	if (COSY_ENTRY_COLOUR_OF(word) || flags & ~COSY_ENTRY_FLAGS)
		return false;
	if (flags & COSY_ENTRY_BUFFERED &&
	    flags & ~(COSY_ENTRY_BUFFERED | COSY_ENTRY_SILENT))
		return false;
	if (!(flags & COSY_ENTRY_THREAD) && flags & (COSY_ENTRY_LONG | COSY_ENTRY_TAKE))
		return false;
	return nr < COSY_ENTRY_SPECIAL || (nr == COSY_ENTRY_COMPOUND && !flags);
}

/* Return true if the process has the entry, although the loop still keeps something for it. */
static bool cosy_parked_is_left(struct cosy_parked *parked)
{
	switch (parked->kind) {
	case COSY_PARKED_COMPOUND:
		return cosy_coroutine_is_left(parked);
	case COSY_PARKED_LENT:
		return cosy_lent_is_taken(parked);
	default:
		return false;
	}
}

/*
 * Return true if the next entry is also for a thread. This only saves wake-ups: the process may
 * change the entry, but cosy_loop_execute() wakes threads in any case.
 */
static bool cosy_loop_lends_next(const struct cosy_loop *loop)
{
	u32 next = loop->submit_head + 1, index;

	/* Acquire: the entry and the ring were written before the tail. */
	if (next == smp_load_acquire(&loop->page->submit_tail))
		return false;
	index = READ_ONCE(loop->submitted[next & (loop->nentries - 1)]);
	if (index >= loop->nentries)
		return false;
	index = array_index_nospec(index, loop->nentries);
	return READ_ONCE(loop->entries[index].flags) & COSY_ENTRY_THREAD;
}

/*
 * Execute an entry that is not a plain call, or for which the loop still keeps something. Return
 * true with @ret set to what cosy_loop_submitted() has to return; false if it is a plain call.
 */
static bool cosy_entry_special(struct cosy_loop *loop, struct cosy_state *st,
			       u32 index, u64 word, int *ret)
{
	struct cosy_async_call call = { .nr = COSY_ENTRY_NR_OF(word) };
	struct cosy_parked *parked = loop->parked[index];
	u8 flags = COSY_ENTRY_FLAGS_OF(word);
	bool valid = cosy_entry_is_valid(word);
	bool is_compound = valid && call.nr == COSY_ENTRY_COMPOUND;

	/* Only a compound that was left can be continued. */
	if (parked && !(is_compound && parked->kind == COSY_PARKED_COMPOUND))
		cosy_unpark(parked);
	if (!valid) {
		*ret = cosy_loop_complete(loop, index, COSY_ENTRY_DONE,
					  flags & COSY_ENTRY_SILENT, -EINVAL);
		return true;
	}
	cosy_entry_args(&st->env, call.args);
	if (!is_compound && !(flags & (COSY_ENTRY_BUFFERED | COSY_ENTRY_THREAD)))
		return false;
	if (unlikely(!cosy_loop_pays(loop, index))) {
		*ret = cosy_loop_complete(loop, index,
					  is_compound ? COSY_ENTRY_DONE : COSY_ENTRY_USER,
					  is_compound && flags & COSY_ENTRY_SILENT, -EDQUOT);
		return true;
	}
	if (is_compound) {
		*ret = cosy_coroutine_submitted(loop, st, index, &call);
		return true;
	}
	if (flags & COSY_ENTRY_BUFFERED) {
		*ret = cosy_reading_submitted(loop, st, index, flags, &call);
		return true;
	}
	*ret = 0;
	if (!cosy_work_queue(loop, index, flags, &call))
		*ret = cosy_loop_complete(loop, index, COSY_ENTRY_USER, false, 0);
	/* Wake threads before the next entry, which may take long. */
	if (!cosy_loop_lends_next(loop))
		cosy_works_wake(loop);
	return true;
}

/*
 * Execute a submitted entry. Return the number of completed entries, or -EINTR: the entry
 * stays submitted.
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
	if ((parked || !cosy_entry_is_call(word)) &&
	    cosy_entry_special(loop, st, index, word, &ret))
		return ret;
	trace_start(loop->id, index);
	switch (cosy_entry_call(st, COSY_ENTRY_NR_OF(word), &result)) {
	case COSY_CALL_USER:
		return cosy_loop_complete(loop, index, COSY_ENTRY_USER, false, 0);
	case COSY_CALL_RESTARTED:
		return -EINTR;
	default:
		break;
	}
	return cosy_loop_complete(loop, index, COSY_ENTRY_DONE,
				   flags & COSY_ENTRY_SILENT, result);
}

/* The same for an entry whose wait has ended. */
static int cosy_loop_ready(struct cosy_loop *loop, struct cosy_state *st,
			   struct cosy_parked *parked)
{
	switch (parked->kind) {
	case COSY_PARKED_LENT:
		return cosy_lent_ready(loop, parked);
	case COSY_PARKED_READING:
		return cosy_reading_ready(loop, st, parked);
	default:
		return cosy_coroutine_ready(loop, st, parked);
	}
}

/* Return true if an entry can be executed. */
static bool cosy_loop_has_more(struct cosy_loop *loop)
{
	return !list_empty(&loop->ready) ||
	       loop->submit_head != READ_ONCE(loop->page->submit_tail);
}

/**
 * cosy_loop_execute() - execute submitted entries, and entries whose wait has ended
 * @loop: the loop, entered
 * @st:	  initialised by cosy_loop_state()
 * @max:  stop after this number of completions
 *
 * Return: the number of completed entries.
 */
unsigned int cosy_loop_execute(struct cosy_loop *loop, struct cosy_state *st,
			       unsigned int max)
{
	unsigned int done = 0, calls = 0, resumed = 0;
	struct cosy_parked *parked;
	u64 *executed;
	u32 index;
	int ret;

	while (done < max && calls < COSY_LOOP_CALLS) {
		u32 head = loop->submit_head;

		/* Acquire: the entry and the ring were written before the tail. */
		if (head != smp_load_acquire(&loop->page->submit_tail)) {
			index = READ_ONCE(loop->submitted[head &
							  (loop->nentries - 1)]);
			ret = cosy_loop_submitted(loop, st, index);
			if (ret < 0)
				break;
			WRITE_ONCE(loop->submit_head, head + 1);
			/* Release: from here on the process may reuse the place in the ring. */
			smp_store_release(&loop->page->submit_head, head + 1);
		} else {
			parked = cosy_parked_next(loop);
			if (!parked)
				break;
			resumed += parked->kind == COSY_PARKED_COMPOUND;
			ret = cosy_loop_ready(loop, st, parked);
			if (ret < 0)
				break;
		}
		calls++;
		done += ret;
		cosy_env_called(cosy_env_self(st));
		if (cosy_env_leave(cosy_env_self(st)))
			break;
	}
	if (unlikely(cosy_works_added(loop)))
		cosy_works_wake(loop);
	/* If the thread has migrated, all calls count for its present CPU. */
	executed = &loop->cpus[raw_smp_processor_id()].executed;
	WRITE_ONCE(*executed, *executed + calls);
	if (resumed) {
		loop->resumed += resumed;
		WRITE_ONCE(loop->page->resumed, loop->resumed);
		WRITE_ONCE(loop->page->batches, ++loop->batches);
	}
	WRITE_ONCE(loop->page->fired, cosy_ring_has_fired(READ_ONCE(loop->ring)));
	WRITE_ONCE(loop->page->more, done < max && cosy_loop_has_more(loop));
	return done;
}

/* Cancel an entry. Return what the interface documents for COSY_ASYNC_CANCEL. */
static loff_t cosy_loop_cancel(struct cosy_loop *loop, u64 index)
{
	struct cosy_parked *parked;

	if (index >= loop->nentries)
		return -ENOENT;
	index = array_index_nospec(index, loop->nentries);
	parked = loop->parked[index];
	if (!parked)
		return -ENOENT;
	if (parked->kind == COSY_PARKED_COMPOUND) {
		cosy_coroutine_cancel(parked);
		return COSY_ASYNC_ENTERED;
	}
	if (parked->kind == COSY_PARKED_LENT) {
		loff_t ret = cosy_lent_cancel(loop, parked);

		if (ret < 0)
			return ret;
	}
	cosy_unpark(parked);
	WRITE_ONCE(loop->entries[index].status, COSY_ENTRY_FREE);
	return COSY_ASYNC_ENTERED;
}

/**
 * cosy_loop_left() - compute the result of a system call that entered a loop
 * @st:   initialised by cosy_loop_state()
 * @what: the low bits of the result
 *
 * Return: @what with COSY_ASYNC_ENTERED; with COSY_ASYNC_SECCOMP_BLOCKED if a seccomp filter that
 * was added meanwhile does not permit the next entry.
 */
loff_t cosy_loop_left(const struct cosy_state *st, u32 what)
{
	/* Filters that permitted this entry permit the next one: ask only if there are new ones. */
	if (unlikely(cosy_seccomp_state() != st->env.seccomp) &&
	    cosy_seccomp_blocks_entry())
		return COSY_ASYNC_SECCOMP_BLOCKED | what;
	return COSY_ASYNC_ENTERED | what;
}

/**
 * cosy_loop_lacks_fd() - test whether the descriptor by which the thread has entered is closed
 * @loop: the loop, entered
 *
 * Return: as cosy_loop_is_lost().
 */
bool cosy_loop_lacks_fd(const struct cosy_loop *loop)
{
	struct cosy_fd fd = cosy_fd_get_raw(current_pt_regs()->di);
	/* A loop has one file. */
	bool lacks = !fd.file || fd.file->private_data != loop;

	cosy_fd_put(fd);
	return lacks;
}

/* Execute, and sleep if @sleeps. Afterwards the thread may not be inside any more. */
static loff_t cosy_loop_enter(struct cosy_loop *loop, u64 max, bool sleeps)
{
	struct cosy_state st __uninitialized;
	int done;

	if (!max || max > COSY_ASYNC_MAX_DONE)
		return -EINVAL;
	cosy_loop_state(&st);
	done = cosy_loop_execute(loop, &st, max);
	if (sleeps && !done)
		done = cosy_loop_sleep(loop, &st, max);
	cosy_history_clear();
	return done < 0 ? done : cosy_loop_left(&st, done);
}

/* Give all parked compounds back to the process, and all entries that no thread has begun. */
static void cosy_loop_give_back(struct cosy_loop *loop)
{
	/* Acquire: another thread may have just made it. */
	struct cosy_ring *ring = smp_load_acquire(&loop->ring);
	struct cosy_state st __uninitialized;
	struct cosy_parked *parked;
	u32 i;

	WRITE_ONCE(loop->closed, false);
	if (ring)
		cosy_ring_return(ring);
	cosy_loop_state(&st);
	for (i = 0; i < loop->nentries; i++) {
		parked = loop->parked[i];
		if (parked && parked->kind == COSY_PARKED_COMPOUND)
			cosy_coroutine_give_back(loop, &st, parked);
		else if (parked && parked->kind == COSY_PARKED_LENT)
			cosy_lent_give_back(loop, parked);
		if (i & 0xff)
			continue;
		cond_resched();
		/* A killed process needs no entry any more, and may close many copies in turn. */
		if (fatal_signal_pending(current) && task_tgid(current) == loop->pid)
			break;
	}
	/* Wake the sleeper and the pollers: they cannot enter to learn this. */
	cosy_loop_tell(loop, 0);
	cosy_works_recall(loop);
}

/**
 * cosy_loop_lock() - try to enter
 * @loop: the loop
 *
 * Return: false if another thread has entered.
 */
bool cosy_loop_lock(struct cosy_loop *loop)
{
	if (test_and_set_bit_lock(0, &loop->entered))
		return false;
	WRITE_ONCE(loop->entrant, current);
	return true;
}

/**
 * cosy_loop_await() - enter; wait while another thread has entered
 * @loop: the loop
 *
 * Return: 0; -EBUSY if this thread has entered itself and this is a nested call; -ERESTARTNOINTR
 * after a signal.
 */
int cosy_loop_await(struct cosy_loop *loop)
{
	int err;

	if (cosy_loop_is_inside(loop))
		return -EBUSY;
	/* Makes a thread in cosy_loop_sleep() leave: see cosy_sleep_leaves(). */
	atomic_inc(&loop->waiters);
	err = wait_on_bit_lock(&loop->entered, 0, TASK_INTERRUPTIBLE);
	atomic_dec(&loop->waiters);
	if (err)
		return -ERESTARTNOINTR;
	WRITE_ONCE(loop->entrant, current);
	return 0;
}

/**
 * cosy_loop_unlock() - leave
 * @loop: the loop, entered; the caller holds a reference
 */
void cosy_loop_unlock(struct cosy_loop *loop)
{
	do {
		/* cosy_loop_flush() could not enter, so this thread does its work. */
		if (unlikely(READ_ONCE(loop->closed)))
			cosy_loop_give_back(loop);
		WRITE_ONCE(loop->entrant, NULL);
		clear_bit_unlock(0, &loop->entered);
		/* Either this thread sees @closed below, or cosy_loop_flush() can enter. */
		smp_mb__after_atomic();
		if (unlikely(atomic_read(&loop->waiters)))
			wake_up_bit(&loop->entered, 0);
		/* The loop ends: fatal signals stop a process that closes again and again. */
	} while (unlikely(READ_ONCE(loop->closed)) &&
		 !fatal_signal_pending(current) && cosy_loop_lock(loop));
	/* Events wake no thread while one has entered: wake threads now. */
	if (!list_empty(&loop->ready))
		cosy_loop_tell(loop, 0);
}

/**
 * cosy_loop_flush() - called when a descriptor of a loop is closed
 * @file: the loop's file
 * @id:	  the descriptor table
 *
 * The descriptor may have been the only one by which the loop could be entered. The state of
 * compounds must not be lost, so they are given back. The process may submit them again.
 *
 * Return: 0.
 */
int cosy_loop_flush(struct file *file, fl_owner_t id)
{
	struct cosy_loop *loop = file->private_data;

	if (current->mm != loop->mm)
		return 0;
	/* A child of vfork() closes its own copy while it still has the parent's memory. */
	if (id != loop->files && task_tgid(current) != loop->pid)
		return 0;
	cosy_works_end(loop);
	/* Recall them here: the thread that has entered may take long to leave. */
	cosy_works_recall(loop);
	WRITE_ONCE(loop->kicked, true);
	WRITE_ONCE(loop->closed, true);
	/* Pairs with the barrier in cosy_loop_unlock(). */
	smp_mb();
	if (cosy_loop_lock(loop))
		cosy_loop_unlock(loop);
	cosy_loop_tell(loop, 0);
	cosy_ring_kick(loop);
	return 0;
}

/**
 * cosy_loop_llseek() - enter a loop, or cancel an entry, by lseek(2)
 * @file:   the loop's file
 * @offset: COSY_RUN_TAG plus a command of <linux/cosy_async.h>
 * @whence: COSY_RUN_WHENCE
 *
 * A call that the loop makes may close the loop's last descriptor. So @file must not be used
 * after entering.
 *
 * Return: the value that the interface documents; -ESPIPE for any other lseek.
 */
loff_t cosy_loop_llseek(struct file *file, loff_t offset, int whence)
{
	struct cosy_loop *loop = file->private_data;
	u64 what = (u64)offset - COSY_RUN_TAG;
	loff_t ret;

	if (whence != COSY_RUN_WHENCE || what >> 38)
		return -ESPIPE;
	/* Nested calls are 64-bit calls. They would detect a 32-bit or x32 entry. */
	if (unlikely(current_pt_regs()->orig_ax != __NR_lseek))
		return -EOPNOTSUPP;
	if (current->mm != loop->mm)
		return -EPERM;
	if (!cosy_stack_suffices())
		return -ELOOP;
	if (what & COSY_ASYNC_WORK) {
		if (what & COSY_ASYNC_RING_ENTER)
			return cosy_ring_kick(loop);
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
	/* Another thread has entered, or this is a call that the loop makes. */
	if (unlikely(!cosy_loop_lock(loop))) {
		ret = what & COSY_ASYNC_AWAIT ? cosy_loop_await(loop) : -EBUSY;
		if (ret)
			return ret;
	}
	what &= ~COSY_ASYNC_AWAIT;
	refcount_inc(&loop->users);
	WRITE_ONCE(loop->enters, loop->enters + 1);
	if (likely(what & COSY_ASYNC_RING_ENTER))
		ret = cosy_ring_enter(loop, what & ~COSY_ASYNC_RING_ENTER);
	else if (what & COSY_ASYNC_CANCEL_FD && what & COSY_ASYNC_CANCEL)
		ret = COSY_ASYNC_ENTERED | cosy_park_interrupt_stale(loop, what);
	else if (what & COSY_ASYNC_CANCEL_FD)
		ret = COSY_ASYNC_ENTERED | cosy_park_interrupt(loop, what);
	else if (what & COSY_ASYNC_CANCEL)
		ret = cosy_loop_cancel(loop, what & ~COSY_ASYNC_CANCEL);
	else
		ret = cosy_loop_enter(loop, what & ~COSY_ASYNC_SLEEP, what & COSY_ASYNC_SLEEP);
	if (likely(cosy_loop_is_inside(loop))) {
		if (unlikely(cosy_loop_is_lost(loop)))
			WRITE_ONCE(loop->closed, true);
		cosy_loop_unlock(loop);
	}
	cosy_loop_put(loop);
	return ret;
}
