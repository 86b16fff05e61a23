// SPDX-License-Identifier: GPL-2.0
/*
 * work.c - threads of the process that make blocking calls.
 *
 * These threads wait in the module for entries with COSY_ENTRY_THREAD. After its call an entry is
 * added to the loop's ready list, like an entry whose socket has had an event. A thread that
 * enters, or sleeps in the loop, publishes the result. So completions have one writer.
 *
 * A thread makes one call after the other. When it goes to sleep in a call, a preempt notifier
 * wakes another thread, which makes the queued calls. So only as many threads are woken as are
 * needed, and at most one thread runs per CPU.
 *
 * A struct cosy_lent is freed by a thread that has entered. The thread that makes the call does
 * not touch it after it has set the state to MADE or TAKEN, under the ready_lock.
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
#include <linux/task_work.h>
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
 * enum cosy_lent_state - state of an entry that is lent to a thread
 * @COSY_LENT_QUEUED:  in the queue
 * @COSY_LENT_RUNNING: a thread makes the call
 * @COSY_LENT_MADE:	 the call was made; in the loop's ready list, to be published
 * @COSY_LENT_TAKEN:	 the thread has returned to user mode with it; the process owns the entry
 */
enum cosy_lent_state {
	COSY_LENT_QUEUED,
	COSY_LENT_RUNNING,
	COSY_LENT_MADE,
	COSY_LENT_TAKEN,
};

/**
 * struct cosy_lent - an entry that is lent to a thread
 * @parked:    its call; linked in the queue or in the loop's ready list
 * @work:      the queue
 * @next:      in place of @work: the next spare one
 * @thread:    the thread that makes the call; valid while @state is RUNNING
 * @result:    result of the call
 * @state:     enum cosy_lent_state
 * @takes:     the thread has to make the call in user mode
 * @cancelled: the thread was interrupted by cosy_lent_cancel()
 */
struct cosy_lent {
	struct cosy_parked parked;
	union {
		struct cosy_work *work;
		struct cosy_lent *next;
	};
	struct task_struct *thread;
	s64 result;
	u8 state;
	bool takes;
	bool cancelled;
};

/**
 * struct cosy_worker - a thread in cosy_loop_work()
 * @idle:     link in the list of idle threads, while it waits and was not woken
 * @wait:     wakes the thread; in no queue
 * @work:     the queue from which it takes entries
 * @runs:     it is counted in @work->running and takes entries. Set by its waker; changed under
 *	      the ready_lock
 * @notifier: registered during a call
 * @index:    index of the entry of that call
 * @sleeps:   it sleeps in the call, and is not counted meanwhile. Used only by this thread
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

static struct cosy_lent *cosy_lent_of(struct cosy_parked *parked)
{
	return container_of(parked, struct cosy_lent, parked);
}

/* The caller holds the ready_lock. */
static void cosy_worker_wake(struct cosy_worker *worker)
{
	list_del_init(&worker->idle);
	default_wake_function(&worker->wait, TASK_NORMAL, 0, NULL);
}

/* Return true if fewer threads run than there are CPUs that @worker may use. */
static bool cosy_worker_may_run(const struct cosy_worker *worker)
{
	const struct task_struct *thread = worker->wait.private;
	unsigned int cores = min_t(unsigned int, num_online_cpus(),
				   READ_ONCE(thread->nr_cpus_allowed));

	return !COSY_TELLS_OF_SLEEP ||
	       atomic_read(&worker->work->running) < cores;
}

/*
 * Wake the thread that has waited for the shortest time, unless enough threads run. Return true
 * if one was woken. The caller holds the ready_lock.
 */
static bool cosy_work_wake(struct cosy_work *work)
{
	struct cosy_worker *worker;

	if (list_empty(&work->queued))
		return false;
	/* Pairs with cosy_worker_out(): this sees the lower count, or that sees the entry. */
	smp_mb();
	worker = list_first_entry_or_null(&work->idle, struct cosy_worker,
					  idle);
	if (!worker || !cosy_worker_may_run(worker))
		return false;
	/* Count it now: until it runs, others would be woken for the same entry. */
	worker->runs = true;
	atomic_inc(&work->running);
	cosy_worker_wake(worker);
	return true;
}

/* Stop counting a thread that waits or leaves. The caller holds the ready_lock. */
static void cosy_worker_rests(struct cosy_worker *worker)
{
	if (worker->runs)
		atomic_dec(&worker->work->running);
	worker->runs = false;
}

/* Called with the run queue's lock, inside which the ready_lock must not be taken. */
static void cosy_worker_out(struct preempt_notifier *notifier,
			    struct task_struct *next)
{
	struct cosy_worker *worker = container_of(notifier, struct cosy_worker,
						  notifier);
	struct cosy_work *work = worker->work;

	/* Preempted threads do not sleep. */
	if (!cosy_goes_to_sleep())
		return;
	worker->sleeps = true;
	atomic_dec(&work->running);
	/* Pairs with cosy_work_wake(). */
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

	/* Its successor may still run. Then both run until one finds no entry. */
	if (worker->sleeps)
		atomic_inc(&worker->work->running);
	worker->sleeps = false;
}

static struct preempt_ops cosy_worker_ops = {
	.sched_out = cosy_worker_out,
	.sched_in = cosy_worker_in,
};

/* Called with interrupts off, except on PREEMPT_RT. */
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

/** cosy_works_start() - enable preempt notifiers; call it before loops can be created */
void __init cosy_works_start(void)
{
	preempt_notifier_inc();
}

/** cosy_works_stop() - disable preempt notifiers; no loop exists any more */
void cosy_works_stop(void)
{
	preempt_notifier_dec();
}

/**
 * cosy_works_init() - initialise the queues of a new loop
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
 * cosy_works_exit() - wait for the irq_works of a loop's queues, and free what is spare
 * @loop: the loop; no thread is in cosy_loop_work(), and no entry is parked
 */
void cosy_works_exit(struct cosy_loop *loop)
{
	struct cosy_lent *lent;
	struct cosy_work *work;

	while ((lent = loop->spares)) {
		loop->spares = lent->next;
		kfree(lent);
	}
	for (work = loop->works; work < loop->works + COSY_WORKS; work++)
		irq_work_sync(&work->handing);
}

/*
 * Number of freed struct cosy_lent that a loop keeps. Allocating one, charged to a cgroup, and
 * freeing it takes 300 instructions. With KASAN it keeps none: then KASAN finds a use after free.
 */
#define COSY_LENT_SPARES	(IS_ENABLED(CONFIG_KASAN) ? 0u : 64u)

/* Return a struct cosy_lent, cleared from @work on, or NULL. */
static struct cosy_lent *cosy_lent_alloc(struct cosy_loop *loop)
{
	struct cosy_lent *lent = loop->spares;

	if (!lent)
		return kzalloc(sizeof(*lent), COSY_GFP);
	loop->spares = lent->next;
	loop->nspares--;
	memset_after(lent, 0, parked);
	return lent;
}

/**
 * cosy_work_queue() - queue an entry for a thread
 * @loop:  the loop, entered
 * @index: index of the entry, which does not wait
 * @flags: flags of the entry
 * @call:  its call
 *
 * Call cosy_works_wake() afterwards.
 *
 * Return: false if threads must not wait any more, or there is no memory.
 */
bool cosy_work_queue(struct cosy_loop *loop, u32 index, u8 flags,
		     const struct cosy_async_call *call)
{
	struct cosy_lent *lent = cosy_lent_alloc(loop);
	bool queues;

	/* Charged by cosy_loop_pays(): see cosy_park_cost(). */
	BUILD_BUG_ON(sizeof(struct cosy_lent) >
		     sizeof(struct cosy_parked) + sizeof(struct socket_alloc));
	if (!lent)
		return false;
	cosy_parked_init(&lent->parked, COSY_PARKED_LENT, loop, index);
	lent->parked.silent = flags & COSY_ENTRY_SILENT;
	lent->parked.call = *call;
	lent->takes = flags & COSY_ENTRY_TAKE;
	lent->work = &loop->works[!!(flags & COSY_ENTRY_LONG)];
	spin_lock_irq(&loop->ready_lock);
	queues = !loop->unreachable;
	if (queues) {
		WRITE_ONCE(loop->parked[index], &lent->parked);
		list_add_tail(&lent->parked.ready, &lent->work->queued);
		lent->work->added++;
	}
	spin_unlock_irq(&loop->ready_lock);
	if (!queues)
		cosy_lent_free(&lent->parked);
	return queues;
}

/**
 * cosy_works_wake() - wake threads for the queued entries
 * @loop: the loop, entered
 *
 * Call it once after queueing several entries. Otherwise the first thread could run before the
 * others are queued.
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
 * cosy_lent_is_taken() - test whether a thread has returned to user mode with an entry
 * @parked: its struct cosy_lent
 *
 * Return: true if it has. Then the process may use the entry again.
 */
bool cosy_lent_is_taken(struct cosy_parked *parked)
{
	struct cosy_loop *loop = parked->loop;
	bool taken;

	spin_lock_irq(&loop->ready_lock);
	taken = cosy_lent_of(parked)->state == COSY_LENT_TAKEN;
	spin_unlock_irq(&loop->ready_lock);
	return taken;
}

/* Publish an entry that is in no list. Return the number of completed entries. */
static unsigned int cosy_lent_complete(struct cosy_loop *loop,
				       struct cosy_lent *lent)
{
	bool made = lent->state == COSY_LENT_MADE;
	bool silent = made && lent->parked.silent;
	u32 index = lent->parked.index;
	s64 result = lent->result;

	cosy_unpark(&lent->parked);
	return cosy_loop_complete(loop, index,
				  made ? COSY_ENTRY_DONE : COSY_ENTRY_USER,
				  silent, result);
}

/**
 * cosy_lent_ready() - publish the result of a call that a thread made
 * @loop:   the loop, entered
 * @parked: the struct cosy_lent, taken from the ready list
 *
 * Return: the number of completed entries.
 */
unsigned int cosy_lent_ready(struct cosy_loop *loop,
			     struct cosy_parked *parked)
{
	return cosy_lent_complete(loop, cosy_lent_of(parked));
}

/**
 * cosy_lent_give_back() - publish an entry unless a thread makes its call
 * @loop:   the loop, entered; cosy_works_end() was called
 * @parked: a struct cosy_lent of the loop
 */
void cosy_lent_give_back(struct cosy_loop *loop, struct cosy_parked *parked)
{
	struct cosy_lent *lent = cosy_lent_of(parked);
	bool completes;

	spin_lock_irq(&loop->ready_lock);
	completes = lent->state == COSY_LENT_QUEUED ||
		    lent->state == COSY_LENT_MADE;
	/* Remove it from its list, so that no thread takes it any more. */
	if (completes)
		list_del_init(&parked->ready);
	spin_unlock_irq(&loop->ready_lock);
	if (completes)
		cosy_lent_complete(loop, lent);
}

/* Interrupt a thread that makes a call inside the module. The caller holds the ready_lock. */
static void cosy_lent_interrupt(struct task_struct *thread)
{
	struct wait_queue_entry wait = { .private = thread };

	/* As in task_work_add(). The flag is cleared on the way to user mode. */
	if (!test_and_set_tsk_thread_flag(thread, TIF_NOTIFY_SIGNAL))
		default_wake_function(&wait, TASK_INTERRUPTIBLE, 0, NULL);
}

/**
 * cosy_lent_cancel() - cancel an entry, or interrupt its call
 * @loop:   the loop, entered
 * @parked: its struct cosy_lent
 *
 * Return: 0 if the call was not begun: then @parked is in no list, and the caller has to free it.
 * -EALREADY if a thread makes the call. -ENOENT if the call was made.
 */
loff_t cosy_lent_cancel(struct cosy_loop *loop, struct cosy_parked *parked)
{
	struct cosy_lent *lent = cosy_lent_of(parked);
	loff_t ret;

	spin_lock_irq(&loop->ready_lock);
	switch (lent->state) {
	case COSY_LENT_QUEUED:
		list_del_init(&parked->ready);
		ret = 0;
		break;
	case COSY_LENT_RUNNING:
		lent->cancelled = true;
		cosy_lent_interrupt(lent->thread);
		fallthrough;
	case COSY_LENT_TAKEN:
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
 * cosy_lent_free() - free a struct cosy_lent
 * @parked: in no list; no thread makes its call
 *
 * The loop is entered, or has no user any more.
 */
void cosy_lent_free(struct cosy_parked *parked)
{
	struct cosy_lent *lent = cosy_lent_of(parked);
	struct cosy_loop *loop = parked->loop;

	if (loop->nspares >= COSY_LENT_SPARES) {
		kfree(lent);
		return;
	}
	lent->next = loop->spares;
	loop->spares = lent;
	loop->nspares++;
}

static void cosy_works_set(struct cosy_loop *loop, bool unreachable)
{
	spin_lock_irq(&loop->ready_lock);
	/* cosy_loop_work() reads it without the lock. */
	WRITE_ONCE(loop->unreachable, unreachable);
	spin_unlock_irq(&loop->ready_lock);
}

/**
 * cosy_works_begin() - allow threads to wait in a loop
 * @loop: the loop, whose page is being mapped
 */
void cosy_works_begin(struct cosy_loop *loop)
{
	cosy_works_set(loop, false);
}

/**
 * cosy_works_end() - forbid threads to wait in a loop
 * @loop: the loop, of which a descriptor has been closed
 *
 * That descriptor may have been the only one by which results could be published.
 */
void cosy_works_end(struct cosy_loop *loop)
{
	cosy_works_set(loop, true);
}

/**
 * cosy_works_recall() - wake all idle threads, so that they check whether they have to leave
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

/* Return true if a thread has to leave instead of waiting. The caller holds the ready_lock. */
static bool cosy_worker_leaves(const struct cosy_loop *loop,
			       const struct cosy_work *work)
{
	u32 recall = work == loop->works ? COSY_RECALL : COSY_RECALL_LONG;

	return loop->unreachable || READ_ONCE(loop->page->recall) & recall ||
	       signal_pending(current);
}

/* Wait until woken. The caller holds the ready_lock, which is released while the thread waits. */
static void cosy_worker_wait(struct cosy_loop *loop, struct cosy_worker *worker)
{
	struct cosy_work *work = worker->work;

	cosy_worker_rests(worker);
	list_add(&worker->idle, &work->idle);
	set_current_state(TASK_INTERRUPTIBLE);
	/* This thread is first in the list: it wakes itself if it may make a queued call. */
	if (!cosy_work_wake(work)) {
		spin_unlock_irq(&loop->ready_lock);
		schedule();
		spin_lock_irq(&loop->ready_lock);
	}
	__set_current_state(TASK_RUNNING);
	list_del_init(&worker->idle);
}

/* Take the next entry; wait if there is none. Return NULL if the thread has to leave. */
static struct cosy_lent *cosy_lent_next(struct cosy_loop *loop,
					struct cosy_worker *worker)
{
	struct cosy_work *work = worker->work;
	struct cosy_lent *lent = NULL;

	spin_lock_irq(&loop->ready_lock);
	while (!cosy_worker_leaves(loop, work)) {
		if (worker->runs)
			lent = list_first_entry_or_null(&work->queued,
							struct cosy_lent,
							parked.ready);
		if (lent)
			break;
		cosy_worker_wait(loop, worker);
	}
	if (lent) {
		list_del_init(&lent->parked.ready);
		lent->state = COSY_LENT_RUNNING;
		lent->thread = current;
		/* Under the lock, so that the status is current after cosy_works_recall(). */
		WRITE_ONCE(loop->entries[lent->parked.index].status,
			   COSY_ENTRY_RUNNING);
	}
	spin_unlock_irq(&loop->ready_lock);
	return lent;
}

/* Make the call of an entry, and hand over when it sleeps. Returns as cosy_loop_call(). */
static enum cosy_call_end cosy_worker_call(struct cosy_worker *worker,
					   struct cosy_state *st,
					   struct cosy_lent *lent,
					   s64 *result)
{
	enum cosy_call_end end;

	worker->index = lent->parked.index;
	preempt_disable();
	preempt_notifier_register(&worker->notifier);
	preempt_enable();
	end = cosy_loop_call(st, &lent->parked.call, result);
	preempt_disable();
	preempt_notifier_unregister(&worker->notifier);
	preempt_enable();
	return end;
}

/* The thread leaves: wake another one for the queued entries. */
static void cosy_worker_ends(struct cosy_loop *loop, struct cosy_worker *worker)
{
	spin_lock_irq(&loop->ready_lock);
	cosy_worker_rests(worker);
	cosy_work_wake(worker->work);
	spin_unlock_irq(&loop->ready_lock);
}

/* Queue an interrupted call again, at the front. The caller holds the ready_lock. */
static void cosy_lent_again(struct cosy_loop *loop,
			    struct cosy_lent *lent)
{
	lent->state = COSY_LENT_QUEUED;
	WRITE_ONCE(loop->entries[lent->parked.index].status,
		   COSY_ENTRY_SUBMITTED);
	list_add(&lent->parked.ready, &lent->work->queued);
	cosy_work_wake(lent->work);
}

/*
 * Store the result of a call, or that it has to be made in user mode. Return true if the thread
 * has to return to user mode with the entry.
 */
static bool cosy_lent_made(struct cosy_loop *loop, struct cosy_lent *lent,
			   enum cosy_call_end end, s64 result)
{
	struct cosy_async_entry *entry = &loop->entries[lent->parked.index];
	u32 index = lent->parked.index;
	bool takes = end == COSY_CALL_USER, tells = false;
	u8 status = COSY_ENTRY_USER;

	/*
	 * The signal of a call is for this thread, so it has to return to user mode. A call that
	 * has transferred a part returns its size, and raises SIGPIPE, too.
	 */
	if (result == -EPIPE || result == -EFBIG ||
	    (end == COSY_CALL_MADE && sigismember(&current->pending.signal, SIGPIPE)))
		takes = true;
	/*
	 * The return to user mode is a part of such a call: it releases the closed files, and
	 * waits while a socket lingers. Since Linux 6.6 close() itself does so.
	 */
	if (cosy_call_closes(lent->parked.call.nr) && task_work_pending(current))
		takes = true;
	spin_lock_irq(&loop->ready_lock);
	if (end == COSY_CALL_MADE) {
		u64 *made = &loop->cpus[raw_smp_processor_id()].made;

		WRITE_ONCE(*made, *made + 1);
	}
	if (lent->cancelled &&
	    (end == COSY_CALL_RESTARTED || result == -EINTR)) {
		end = COSY_CALL_MADE;
		result = -ECANCELED;
	}
	if (end == COSY_CALL_RESTARTED && !loop->unreachable) {
		cosy_lent_again(loop, lent);
		goto unlock;
	}
	if (end == COSY_CALL_RESTARTED)
		end = COSY_CALL_USER;
	takes |= loop->unreachable;
	if (!takes) {
		lent->result = result;
		lent->state = COSY_LENT_MADE;
		tells = cosy_parked_add(&lent->parked, TASK_NORMAL, 0);
		goto unlock;
	}
	if (end == COSY_CALL_MADE) {
		WRITE_ONCE(entry->args[0], result);
		status = COSY_ENTRY_DONE;
	}
	WRITE_ONCE(entry->status, status);
	trace_complete(loop->id, index, status, result);
	lent->state = COSY_LENT_TAKEN;
unlock:
	spin_unlock_irq(&loop->ready_lock);
	if (tells)
		cosy_loop_wake_pollers(loop);
	return takes;
}

/**
 * cosy_loop_work() - make blocking calls of a loop
 * @loop: the loop; the caller holds a reference
 * @what: the loop's number, and COSY_WORK_LONG
 *
 * Return: the value that the interface documents for COSY_ASYNC_WORK.
 */
loff_t cosy_loop_work(struct cosy_loop *loop, u64 what)
{
	struct cosy_worker worker = {
		.wait.private = current,
		.work = &loop->works[!!(what & COSY_WORK_LONG)],
	};
	struct cosy_state st __uninitialized;
	struct cosy_lent *lent;
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
		lent = cosy_lent_next(loop, &worker);
		if (!lent)
			break;
		index = lent->parked.index;
		result = 0;
		end = COSY_CALL_USER;
		trace_start(loop->id, index);
		if (!lent->takes)
			end = cosy_worker_call(&worker, &st, lent, &result);
		if (cosy_lent_made(loop, lent, end, result)) {
			taken = COSY_WORK_TAKEN | index;
			break;
		}
		cosy_env_called(cosy_env_self(&st));
		/* A seccomp filter that another thread has added has to see the next call. */
	} while (++calls < COSY_LOOP_CALLS &&
		 !cosy_env_leave(cosy_env_self(&st)) &&
		 cosy_seccomp_state() == st.env.seccomp);
	cosy_worker_ends(loop, &worker);
	atomic_dec(&loop->threads);
	cosy_history_clear();
	return cosy_loop_left(&st, taken);
}
