// SPDX-License-Identifier: GPL-2.0
/*
 * work.c - threads of the process that make calls that block.
 *
 * They wait in the module, and take what was submitted with COSY_ENTRY_THREAD. What they have
 * made is put into the loop's list, as an entry whose socket had an event is: whoever enters,
 * or sleeps in the loop, publishes it. So completions have one writer.
 *
 * A thread makes one call after the other. When it goes to sleep in a call, a preempt notifier
 * hands over to another thread, which makes those that are queued. So as many threads are woken
 * as are needed, and at most one for each core runs.
 *
 * An entry is freed by threads that have entered. The thread that makes its call does not touch
 * it once it is made or taken: those look at the state, under the ready_lock.
 */
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/net.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/wait.h>

#include <net/sock.h>

#include <cosy/exec.h>

#include "async/async.h"
#include "async/loop.h"
#include "call/call.h"
#include "call/history.h"
#include "compat/compat.h"
#include "limit/limit.h"
#include "trace/cosy_trace.h"

/**
 * enum cosy_handed_state - where an entry is
 * @COSY_HANDED_QUEUED:  in the queue
 * @COSY_HANDED_RUNNING: a thread makes its call
 * @COSY_HANDED_MADE:	 its result is to be published; in the loop's list
 * @COSY_HANDED_TAKEN:	 its thread has left with it: it is the submitter's
 */
enum cosy_handed_state {
	COSY_HANDED_QUEUED,
	COSY_HANDED_RUNNING,
	COSY_HANDED_MADE,
	COSY_HANDED_TAKEN,
};

/**
 * struct cosy_handed - an entry whose call a thread makes
 * @parked:    its call; in the queue, or in the loop's list
 * @work:      whose queue it is
 * @thread:    makes its call; alive while @state is RUNNING
 * @result:    of the call
 * @state:     enum cosy_handed_state
 * @takes:     the thread is to make the call in user mode
 * @cancelled: the thread was interrupted
 */
struct cosy_handed {
	struct cosy_parked parked;
	struct cosy_work *work;
	struct task_struct *thread;
	s64 result;
	u8 state;
	bool takes;
	bool cancelled;
};

/**
 * struct cosy_worker - a thread that waits for entries, and makes their calls
 * @idle:     in the list, if it waits and nobody has woken it
 * @wait:     by which it is woken; in no queue
 * @work:     whose entries it takes
 * @runs:     it is counted in @work->running, and takes entries. Changed under the ready_lock,
 *	      by the thread that wakes this one
 * @notifier: registered while it makes a call
 * @index:    the entry of that call
 * @sleeps:   it sleeps in the call, and is not counted meanwhile; only its own
 */
struct cosy_worker {
	struct list_head idle;
	struct wait_queue_entry wait;
	struct cosy_work *work;
	bool runs;
	struct preempt_notifier notifier;
	u32 index;
	bool sleeps;
};

static struct cosy_handed *cosy_handed_of(struct cosy_parked *parked)
{
	return container_of(parked, struct cosy_handed, parked);
}

/* The ready_lock is taken. */
static void cosy_worker_wake(struct cosy_worker *worker)
{
	list_del_init(&worker->idle);
	default_wake_function(&worker->wait, TASK_NORMAL, 0, NULL);
}

/* Return true if fewer threads run than there are CPUs that this one may use. */
static bool cosy_worker_may_run(const struct cosy_worker *worker)
{
	const struct task_struct *thread = worker->wait.private;
	unsigned int cores = min_t(unsigned int, num_online_cpus(),
				   READ_ONCE(thread->nr_cpus_allowed));

	return !COSY_TELLS_OF_SLEEP ||
	       atomic_read(&worker->work->running) < cores;
}

/*
 * Wake the thread that has waited for the shortest time, unless there are enough. Return: true
 * if it was woken. The ready_lock is taken.
 */
static bool cosy_work_wake(struct cosy_work *work)
{
	struct cosy_worker *worker;

	if (list_empty(&work->queued))
		return false;
	/* Either this sees that a thread has gone to sleep, or that one sees what is queued. */
	smp_mb();
	worker = list_first_entry_or_null(&work->idle, struct cosy_worker,
					  idle);
	if (!worker || !cosy_worker_may_run(worker))
		return false;
	/* It may take a while until it does, and others would be woken meanwhile. */
	worker->runs = true;
	atomic_inc(&work->running);
	cosy_worker_wake(worker);
	return true;
}

/* The thread does not run any more: it waits, or leaves. The ready_lock is taken. */
static void cosy_worker_rests(struct cosy_worker *worker)
{
	if (worker->runs)
		atomic_dec(&worker->work->running);
	worker->runs = false;
}

/* The lock of the run queue is taken, inside which the ready_lock cannot be. */
static void cosy_worker_out(struct preempt_notifier *notifier,
			    struct task_struct *next)
{
	struct cosy_worker *worker = container_of(notifier, struct cosy_worker,
						  notifier);
	struct cosy_work *work = worker->work;

	/* It may just have to wait for a CPU. */
	if (!cosy_goes_to_sleep())
		return;
	worker->sleeps = true;
	atomic_dec(&work->running);
	/* See cosy_work_wake(). */
	smp_mb__after_atomic();
	if (list_empty(&work->queued) || list_empty(&work->idle))
		return;
	trace_handover(work->loop->id, worker->index);
	irq_work_queue(&work->handing);
}

static void cosy_worker_in(struct preempt_notifier *notifier, int cpu)
{
	struct cosy_worker *worker = container_of(notifier, struct cosy_worker,
						  notifier);

	/* Another one may run by now: then both do until there is nothing left for one of them. */
	if (worker->sleeps)
		atomic_inc(&worker->work->running);
	worker->sleeps = false;
}

static struct preempt_ops cosy_worker_ops = {
	.sched_out = cosy_worker_out,
	.sched_in = cosy_worker_in,
};

/* Interrupts are off, unless the kernel is preemptible everywhere. */
static void cosy_work_hand_over(struct irq_work *handing)
{
	struct cosy_work *work = container_of(handing, struct cosy_work,
					      handing);
	struct cosy_loop *loop = work->loop;
	unsigned long flags;

	spin_lock_irqsave(&loop->ready_lock, flags);
	if (cosy_work_wake(work))
		WRITE_ONCE(loop->handovers, loop->handovers + 1);
	spin_unlock_irqrestore(&loop->ready_lock, flags);
}

/** cosy_works_start() - let threads be told when they go to sleep; before there are loops */
void __init cosy_works_start(void)
{
	preempt_notifier_inc();
}

/** cosy_works_stop() - end that; there are no loops any more */
void cosy_works_stop(void)
{
	preempt_notifier_dec();
}

/**
 * cosy_works_init() - a new loop has neither entries nor threads
 * @loop: the loop
 */
void cosy_works_init(struct cosy_loop *loop)
{
	struct cosy_work *work;

	for (work = loop->works; work < loop->works + COSY_WORKS; work++) {
		INIT_LIST_HEAD(&work->queued);
		INIT_LIST_HEAD(&work->idle);
		init_irq_work(&work->handing, cosy_work_hand_over);
		work->loop = loop;
	}
}

/**
 * cosy_works_exit() - wait until nobody touches a loop because of its threads
 * @loop: the loop, in which there are none any more
 */
void cosy_works_exit(struct cosy_loop *loop)
{
	struct cosy_work *work;

	for (work = loop->works; work < loop->works + COSY_WORKS; work++)
		irq_work_sync(&work->handing);
}

/**
 * cosy_work_queue() - let a thread make the call of an entry
 * @loop:  the loop, entered
 * @index: the entry, which does not wait
 * @flags: its flags
 * @call:  its call
 *
 * Call cosy_works_wake() afterwards.
 *
 * Return: false if there are no threads any more, or there is no memory.
 */
bool cosy_work_queue(struct cosy_loop *loop, u32 index, u8 flags,
		     const struct cosy_async_call *call)
{
	struct cosy_handed *handed = kzalloc(sizeof(*handed), COSY_GFP);
	bool queues;

	/* The loop's user pays for it: see cosy_park_cost(). */
	BUILD_BUG_ON(sizeof(struct cosy_handed) >
		     sizeof(struct cosy_parked) + sizeof(struct socket_alloc));
	if (!handed)
		return false;
	cosy_parked_init(&handed->parked, loop, index);
	handed->parked.is_handed = true;
	handed->parked.silent = flags & COSY_ENTRY_SILENT;
	handed->parked.call = *call;
	handed->takes = flags & COSY_ENTRY_TAKE;
	handed->work = &loop->works[!!(flags & COSY_ENTRY_LONG)];
	spin_lock_irq(&loop->ready_lock);
	queues = !loop->unreachable;
	if (queues) {
		WRITE_ONCE(loop->parked[index], &handed->parked);
		list_add_tail(&handed->parked.ready, &handed->work->queued);
		handed->work->added++;
	}
	spin_unlock_irq(&loop->ready_lock);
	if (!queues)
		kfree(handed);
	return queues;
}

/**
 * cosy_works_wake() - wake threads for the entries that were queued
 * @loop: the loop, entered
 *
 * Once for many: the first thread could run before the others are queued.
 */
void cosy_works_wake(struct cosy_loop *loop)
{
	struct cosy_work *work;

	spin_lock_irq(&loop->ready_lock);
	for (work = loop->works; work < loop->works + COSY_WORKS; work++) {
		while (work->added && cosy_work_wake(work))
			work->added--;
		work->added = 0;
	}
	spin_unlock_irq(&loop->ready_lock);
}

/**
 * cosy_handed_is_taken() - test whether its thread has left with an entry
 * @parked: its struct cosy_handed
 *
 * Return: true if it has: the submitter may use the entry again.
 */
bool cosy_handed_is_taken(struct cosy_parked *parked)
{
	struct cosy_loop *loop = parked->loop;
	bool taken;

	spin_lock_irq(&loop->ready_lock);
	taken = cosy_handed_of(parked)->state == COSY_HANDED_TAKEN;
	spin_unlock_irq(&loop->ready_lock);
	return taken;
}

/* It is in no list any more. */
static unsigned int cosy_handed_complete(struct cosy_loop *loop,
					 struct cosy_handed *handed)
{
	bool made = handed->state == COSY_HANDED_MADE;
	bool silent = made && handed->parked.silent;
	u32 index = handed->parked.index;
	s64 result = handed->result;

	cosy_unpark(&handed->parked);
	return cosy_loop_complete(loop, index,
				  made ? COSY_ENTRY_DONE : COSY_ENTRY_USER,
				  silent, result);
}

/**
 * cosy_handed_ready() - publish a result
 * @loop:   the loop, entered
 * @parked: the struct cosy_handed, taken from the loop's list
 *
 * Return: the number of entries that have completed.
 */
unsigned int cosy_handed_ready(struct cosy_loop *loop,
			       struct cosy_parked *parked)
{
	return cosy_handed_complete(loop, cosy_handed_of(parked));
}

/**
 * cosy_handed_give_back() - the loop may not be entered any more: publish what can be
 * @loop:   the loop, entered; cosy_works_end() was called
 * @parked: a struct cosy_handed of it
 */
void cosy_handed_give_back(struct cosy_loop *loop, struct cosy_parked *parked)
{
	struct cosy_handed *handed = cosy_handed_of(parked);
	bool completes;

	spin_lock_irq(&loop->ready_lock);
	completes = handed->state == COSY_HANDED_QUEUED ||
		    handed->state == COSY_HANDED_MADE;
	/* So no thread takes it. */
	if (completes)
		list_del_init(&parked->ready);
	spin_unlock_irq(&loop->ready_lock);
	if (completes)
		cosy_handed_complete(loop, handed);
}

/* Interrupt a thread that makes a call: it is in the module. The ready_lock is taken. */
static void cosy_handed_interrupt(struct task_struct *thread)
{
	struct wait_queue_entry wait = { .private = thread };

	/* As task_work_add() does. It is cleared on the way to user mode. */
	if (!test_and_set_tsk_thread_flag(thread, TIF_NOTIFY_SIGNAL))
		default_wake_function(&wait, TASK_INTERRUPTIBLE, 0, NULL);
}

/**
 * cosy_handed_cancel() - cancel an entry, or interrupt its call
 * @loop:   the loop, entered
 * @parked: its struct cosy_handed
 *
 * Return: 0 if its call was not begun: it is in no list, and to be freed; -EALREADY if a thread
 * makes it; -ENOENT if it is made.
 */
loff_t cosy_handed_cancel(struct cosy_loop *loop, struct cosy_parked *parked)
{
	struct cosy_handed *handed = cosy_handed_of(parked);
	loff_t ret;

	spin_lock_irq(&loop->ready_lock);
	switch (handed->state) {
	case COSY_HANDED_QUEUED:
		list_del_init(&parked->ready);
		ret = 0;
		break;
	case COSY_HANDED_RUNNING:
		handed->cancelled = true;
		cosy_handed_interrupt(handed->thread);
		fallthrough;
	case COSY_HANDED_TAKEN:
		ret = -EALREADY;
		break;
	default:
		ret = -ENOENT;
		break;
	}
	spin_unlock_irq(&loop->ready_lock);
	return ret;
}

/**
 * cosy_handed_free() - nobody needs it any more
 * @parked: a struct cosy_handed that is in no list, and that no thread makes
 */
void cosy_handed_free(struct cosy_parked *parked)
{
	kfree(cosy_handed_of(parked));
}

static void cosy_works_set(struct cosy_loop *loop, bool unreachable)
{
	spin_lock_irq(&loop->ready_lock);
	/* cosy_loop_work() looks without the lock. */
	WRITE_ONCE(loop->unreachable, unreachable);
	spin_unlock_irq(&loop->ready_lock);
}

/**
 * cosy_works_begin() - the process maps the page: threads may wait
 * @loop: the loop
 */
void cosy_works_begin(struct cosy_loop *loop)
{
	cosy_works_set(loop, false);
}

/**
 * cosy_works_end() - a descriptor has been closed: threads wait no longer
 * @loop: the loop
 *
 * It may have been the only one by which results could be published.
 */
void cosy_works_end(struct cosy_loop *loop)
{
	cosy_works_set(loop, true);
}

/**
 * cosy_works_recall() - let threads that wait look whether they are to leave
 * @loop: the loop
 */
void cosy_works_recall(struct cosy_loop *loop)
{
	struct cosy_worker *worker;
	LIST_HEAD(recalled);
	unsigned int i;

	spin_lock_irq(&loop->ready_lock);
	for (i = 0; i < COSY_WORKS; i++)
		list_splice_init(&loop->works[i].idle, &recalled);
	while (!list_empty(&recalled)) {
		worker = list_first_entry(&recalled, struct cosy_worker, idle);
		cosy_worker_wake(worker);
		spin_unlock_irq(&loop->ready_lock);
		cond_resched();
		spin_lock_irq(&loop->ready_lock);
	}
	spin_unlock_irq(&loop->ready_lock);
}

/* Is the thread to leave, rather than to wait? The ready_lock is taken. */
static bool cosy_worker_leaves(const struct cosy_loop *loop,
			       const struct cosy_work *work)
{
	u32 recall = work == loop->works ? COSY_RECALL : COSY_RECALL_LONG;

	return loop->unreachable || READ_ONCE(loop->page->recall) & recall ||
	       signal_pending(current);
}

/* The ready_lock is given back meanwhile. */
static void cosy_worker_wait(struct cosy_loop *loop, struct cosy_worker *worker)
{
	struct cosy_work *work = worker->work;

	cosy_worker_rests(worker);
	list_add(&worker->idle, &work->idle);
	set_current_state(TASK_INTERRUPTIBLE);
	/* This thread, if something is queued and it may run. */
	if (!cosy_work_wake(work)) {
		spin_unlock_irq(&loop->ready_lock);
		schedule();
		spin_lock_irq(&loop->ready_lock);
	}
	__set_current_state(TASK_RUNNING);
	list_del_init(&worker->idle);
}

/* Take the next entry; wait for one. Return: NULL if the thread is to leave. */
static struct cosy_handed *cosy_handed_next(struct cosy_loop *loop,
					    struct cosy_worker *worker)
{
	struct cosy_work *work = worker->work;
	struct cosy_handed *handed = NULL;

	spin_lock_irq(&loop->ready_lock);
	while (!cosy_worker_leaves(loop, work)) {
		if (worker->runs)
			handed = list_first_entry_or_null(&work->queued,
							  struct cosy_handed,
							  parked.ready);
		if (handed)
			break;
		cosy_worker_wait(loop, worker);
	}
	if (handed) {
		list_del_init(&handed->parked.ready);
		handed->state = COSY_HANDED_RUNNING;
		handed->thread = current;
		/* Under the lock: who recalls threads sees it afterwards. */
		WRITE_ONCE(loop->entries[handed->parked.index].status,
			   COSY_ENTRY_RUNNING);
	}
	spin_unlock_irq(&loop->ready_lock);
	return handed;
}

/* Make the call of an entry, and hand over when it sleeps. Return as cosy_loop_call() does. */
static enum cosy_call_end cosy_worker_call(struct cosy_worker *worker,
					   struct cosy_state *st,
					   struct cosy_handed *handed,
					   s64 *result)
{
	enum cosy_call_end end;

	worker->index = handed->parked.index;
	preempt_disable();
	preempt_notifier_register(&worker->notifier);
	preempt_enable();
	end = cosy_loop_call(st, &handed->parked.call, result);
	preempt_disable();
	preempt_notifier_unregister(&worker->notifier);
	preempt_enable();
	return end;
}

/* The thread leaves: what it would have made is another one's. */
static void cosy_worker_ends(struct cosy_loop *loop, struct cosy_worker *worker)
{
	spin_lock_irq(&loop->ready_lock);
	cosy_worker_rests(worker);
	cosy_work_wake(worker->work);
	spin_unlock_irq(&loop->ready_lock);
}

/* Give a call that was interrupted to whoever takes it next. The ready_lock is taken. */
static void cosy_handed_again(struct cosy_loop *loop,
			      struct cosy_handed *handed)
{
	handed->state = COSY_HANDED_QUEUED;
	WRITE_ONCE(loop->entries[handed->parked.index].status,
		   COSY_ENTRY_SUBMITTED);
	list_add(&handed->parked.ready, &handed->work->queued);
	cosy_work_wake(handed->work);
}

/*
 * The call of an entry is made, or is to be made in user mode. Return: true if the thread leaves
 * with it.
 */
static bool cosy_handed_made(struct cosy_loop *loop, struct cosy_handed *handed,
			     enum cosy_call_end end, s64 result)
{
	struct cosy_async_entry *entry = &loop->entries[handed->parked.index];
	u32 index = handed->parked.index;
	bool takes = end == COSY_CALL_USER, tells = false;
	u8 status = COSY_ENTRY_USER;

	/* The signal is this thread's, and the process is to get it. */
	if (result == -EPIPE || result == -EFBIG)
		takes = true;
	spin_lock_irq(&loop->ready_lock);
	if (end == COSY_CALL_MADE) {
		u64 *made = &loop->cpus[raw_smp_processor_id()].made;

		WRITE_ONCE(*made, *made + 1);
	}
	if (handed->cancelled &&
	    (end == COSY_CALL_RESTARTED || result == -EINTR)) {
		end = COSY_CALL_MADE;
		result = -ECANCELED;
	}
	if (end == COSY_CALL_RESTARTED && !loop->unreachable) {
		cosy_handed_again(loop, handed);
		goto unlock;
	}
	if (end == COSY_CALL_RESTARTED)
		end = COSY_CALL_USER;
	takes |= loop->unreachable;
	if (!takes) {
		handed->result = result;
		handed->state = COSY_HANDED_MADE;
		tells = cosy_parked_add(&handed->parked, TASK_NORMAL, 0);
		goto unlock;
	}
	if (end == COSY_CALL_MADE) {
		WRITE_ONCE(entry->args[0], result);
		status = COSY_ENTRY_DONE;
	}
	WRITE_ONCE(entry->status, status);
	trace_complete(loop->id, index, status, result);
	handed->state = COSY_HANDED_TAKEN;
unlock:
	spin_unlock_irq(&loop->ready_lock);
	if (tells)
		cosy_loop_wake_pollers(loop);
	return takes;
}

/**
 * cosy_loop_work() - make calls that block
 * @loop: the loop, which the caller holds
 * @what: the loop's number, and COSY_WORK_LONG
 *
 * Return: as the interface says.
 */
loff_t cosy_loop_work(struct cosy_loop *loop, u64 what)
{
	struct cosy_worker worker = {
		.wait.private = current,
		.work = &loop->works[!!(what & COSY_WORK_LONG)],
	};
	struct cosy_state st __uninitialized;
	struct cosy_handed *handed;
	enum cosy_call_end end;
	u32 index, calls = 0, taken = 0;
	s64 result;

	if (what >> 32)
		return -EINVAL;
	if ((what & COSY_WORK_ID) != (loop->id & COSY_WORK_ID))
		return -ESTALE;
	if (READ_ONCE(loop->unreachable))
		return -ESHUTDOWN;
	preempt_notifier_init(&worker.notifier, &cosy_worker_ops);
	cosy_loop_state(&st);
	atomic_inc(&loop->threads);
	do {
		handed = cosy_handed_next(loop, &worker);
		if (!handed)
			break;
		index = handed->parked.index;
		result = 0;
		end = COSY_CALL_USER;
		trace_start(loop->id, index);
		if (!handed->takes)
			end = cosy_worker_call(&worker, &st, handed, &result);
		if (cosy_handed_made(loop, handed, end, result)) {
			taken = COSY_WORK_TAKEN | index;
			break;
		}
		/* A filter of another thread: it has to see the next call. */
	} while (++calls < COSY_LOOP_CALLS &&
		 !cosy_env_leave(cosy_env_self(&st)) &&
		 cosy_seccomp_state() == st.env.seccomp);
	cosy_worker_ends(loop, &worker);
	atomic_dec(&loop->threads);
	cosy_history_clear();
	return cosy_loop_left(&st, taken);
}
