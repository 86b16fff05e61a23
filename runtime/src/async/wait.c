/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * wait.c - lets threads wait: they execute submitted entries and deliver completions.
 *
 * One thread at a time waits for epoll. The others wait until it has events.
 */
#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "device/export.h"
#include "device/sys.h"
#include "cancel.h"
#include "complete.h"
#include "cpu.h"
#include "dispatch.h"
#include "loop.h"
#include "polling.h"
#include "start.h"
#include "transfer.h"
#include "wait.h"

/* A request and its answer are two deliveries, so these make up to COSY_WAIT_MAX. */
#define EVENTS		(COSY_WAIT_MAX / 2)
/* After this number of deliveries without a check of epoll, epoll is checked. */
#define MAX_EPOLL_SKIPS	8

/**
 * struct goal - what a call waits for
 * @min:   number of completions to deliver; with @ops, number of these to be complete
 * @ops:   operations, or NULL
 * @count: their number
 * @until: CLOCK_MONOTONIC in nanoseconds; 0: do not wait
 */
struct goal {
	unsigned int min;
	struct cosy_async *const *ops;
	unsigned int count;
	uint64_t until;
};

/*
 * Begin with one of a few entries that were taken from the ring, if its call never waits. Return
 * false if cosy_start() has to begin with it.
 */
static COSY_ALWAYS_INLINE bool start_direct(struct cosy_loop *loop, uint32_t slot,
					    struct cosy_delivery *delivery)
{
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	const struct cosy_slot *s = &loop->slots.all[slot];

	/* Attempts in the batch come first. */
	if (s->how != COSY_HOW_DIRECT || s->cancelled || loop->attempts.count ||
	    cosy_module_submitted(&loop->module))
		return false;
	loop->info.attempts++;
	loop->info.entries++;
	cosy_complete_now(loop, slot, cosy_call_anywhere(entry->nr, (const uint64_t *)entry->args),
			  delivery);
	return true;
}

/* Begin with the entries in the ring. */
static void execute_ring(struct cosy_loop *loop, struct cosy_delivery *delivery)
{
	bool few = cosy_page_submitted(&loop->page) < COSY_MIN_BATCH;
	uint32_t slot;

	while (cosy_page_submitted(&loop->page)) {
		slot = cosy_page_first(&loop->page);
		if (cosy_transfer_start(loop, slot, delivery))
			continue;
		cosy_page_taken(&loop->page);
		if (few && start_direct(loop, slot, delivery))
			continue;
		cosy_attempts_flush(loop);
		cosy_start(loop, slot);
	}
}

/* Return true if the ring has to be entered for calls that wait there. */
static COSY_ALWAYS_INLINE bool ring_waits(const struct cosy_loop *loop)
{
	return !loop->ring.up_to_date && cosy_ring_outstanding(loop) && !cosy_ring_has_done(&loop->ring);
}

void cosy_execute(struct cosy_loop *loop, struct cosy_delivery *delivery)
{
	const struct cosy_module *m = &loop->module;

	/* If the module's page has to be entered, too, that tells whether the ring has anything. */
	if (loop->has_ring && (cosy_ring_is_due(&loop->ring) ||
			       ((m->up_to_date || !m->inside || !(m->features & COSY_ASYNC_TELLS)) &&
				ring_waits(loop))))
		cosy_ring_make(loop);
	if (cosy_page_submitted(&loop->page))
		execute_ring(loop, delivery);
	if (cosy_attempts_pending(loop))
		cosy_attempts_make(loop);
	if (m->fd >= 0 && m->inside && !m->up_to_date && !cosy_page_done(loop)) {
		cosy_dispatch_module(loop);
		if (m->page.shared->fired && loop->has_ring && ring_waits(loop))
			cosy_ring_make(loop);
	}
	if (loop->timers.count)
		cosy_timers_expire(loop);
}

void cosy_fd_closes(struct cosy_loop *loop, int fd)
{
	struct cosy_delivery none = { 0 };

	cosy_execute(loop, &none);
	cosy_fds_cancel_all(loop, (uint32_t)fd, (uint32_t)fd);
	cosy_cpus_cancel_fds(loop, (uint32_t)fd, (uint32_t)fd);
}

/* Wait for epoll, at most until @until; 0: do not wait. Return the number of events or -errno. */
static long wait_for_events(struct cosy_loop *loop, struct epoll_event *events,
			    uint64_t until)
{
	uint64_t now = until && until != COSY_NEVER ? cosy_clock() : 0;
	struct timespec timeout = cosy_timespec(until > now ? until - now : 0);
	long n;

	loop->epoll_skips = 0;
	n = cosy_sys6(SYS_epoll_pwait2, loop->fds.epoll, (long)events, EVENTS,
		      until == COSY_NEVER ? 0 : (long)&timeout, 0, 0);
	if (n >= 0 || n == -EINTR)
		return n;
	/* Before Linux 5.11, or with a filter that refuses it: with a timeout in milliseconds. */
	if (until == COSY_NEVER)
		return cosy_sys6(SYS_epoll_wait, loop->fds.epoll, (long)events,
				 EVENTS, -1, 0, 0);
	if (timeout.tv_sec > 1000000)
		timeout.tv_sec = 1000000;
	return cosy_sys6(SYS_epoll_wait, loop->fds.epoll, (long)events, EVENTS,
			 timeout.tv_sec * 1000 +
				 (timeout.tv_nsec + 999999) / 1000000,
			 0, 0);
}

/*
 * The same also for entries in the module. Releases the lock meanwhile. While sockets in the ring are always
 * ready, the module does not check epoll.
 */
static long wait_for_others(struct cosy_loop *loop, struct epoll_event *events,
			    uint64_t until)
{
	uint32_t why;
	long n = 0;

	if (loop->cpu)
		until = cosy_cpu_until(until);
	loop->blocked = true;
	if (cosy_module_sleeps(loop)) {
		why = cosy_module_sleep(loop, until);
		if (why & COSY_ASYNC_READABLE || cosy_ring_hides_events(&loop->ring))
			n = wait_for_events(loop, events, 0);
		if (!n && why & COSY_ASYNC_SIGNAL)
			n = -EINTR;
	} else {
		cosy_loop_leave(loop);
		n = wait_for_events(loop, events, until);
		cosy_lock(&loop->lock);
	}
	loop->blocked = false;
	cosy_loop_changed(loop);
	return n;
}

static void drain(int fd)
{
	uint64_t count;

	cosy_sys(SYS_read, fd, (long)&count, sizeof(count));
}

/*
 * Return true if epoll may have events without which entries would wait for ever. A processor's
 * thread takes new entries also when it has nothing else to do.
 */
static bool epoll_matters(const struct cosy_loop *loop)
{
	return loop->fds.nadded || loop->external ||
	       (loop->cpu && (loop->fds.waiting || loop->timers.count));
}

/*
 * Check the descriptors, and wait for them until @until. Releases the lock while it waits, and
 * during callbacks.
 *
 * Return: 0; -EINTR; another error: epoll cannot be used any more.
 */
static int look_at_descriptors(struct cosy_loop *loop, uint64_t until,
			       struct cosy_delivery *delivery)
{
	struct epoll_event events[EVENTS];
	uint64_t timer = cosy_timers_next(&loop->timers);
	bool up_to_date = loop->module.up_to_date;
	long n = 0;

	/* The module was just entered, and has all entries. */
	if (!until && !epoll_matters(loop) && up_to_date) {
		loop->ring.unseen = 0;
		return 0;
	}
	loop->module.up_to_date = false;
	if (!until && cosy_ring_outstanding(loop) && !loop->ring.up_to_date)
		cosy_ring_make(loop);
	loop->ring.up_to_date = false;
	if (until)
		n = wait_for_others(loop, events, until < timer ? until : timer);
	else if (epoll_matters(loop))
		n = wait_for_events(loop, events, 0);
	loop->ring.unseen = n == EVENTS ? COSY_RING_MAX_UNSEEN + 1 : 0;
	/* The data that epoll has seen was received in the ring. */
	if (!n && loop->ring.readable)
		cosy_descriptors_disarm(&loop->fds);
	loop->ring.readable = false;
	for (long i = 0; i < n; i++) {
		int fd = events[i].data.fd;

		if (cosy_transfer_ready(loop, fd, events[i].events, delivery)) {
			cosy_transfer_submitted(loop, delivery);
			continue;
		}
		if (fd == loop->wake_fd) {
			loop->woken = false;
			drain(fd);
			if (loop->cpu)
				cosy_cpu_take(loop->cpu);
		} else if (fd == loop->timer_fd) {
			loop->alarm = 0;
			drain(fd);
		} else if (fd == loop->module.fd) {
			cosy_dispatch_module(loop);
		} else {
			cosy_attempts_flush(loop);
			cosy_descriptor_event(loop, fd, events[i].events);
		}
	}
	/* epoll does not report events for which a thread could sleep in the module. */
	if (!until && !up_to_date && !loop->module.up_to_date && cosy_module_sleeps(loop))
		cosy_dispatch_module(loop);
	if (cosy_attempts_pending(loop))
		cosy_attempts_make(loop);
	if (loop->timers.count)
		cosy_timers_expire(loop);
	return n < 0 ? (int)n : 0;
}

/* Return how many operations were submitted and not delivered. */
static uint32_t outstanding(const struct cosy_loop *loop)
{
	return loop->slots.outstanding + cosy_ring_outstanding(loop);
}

struct cosy_async *cosy_page_collect(struct cosy_loop *loop)
{
	struct cosy_async_page *page = loop->page.shared;
	uint32_t head = page->done_head, slot;
	struct cosy_async *op;

	if (loop->has_ring) {
		op = cosy_ring_collect(loop);
		if (op)
			return op;
	}
	if (head == cosy_index_load(&page->done_tail))
		return NULL;
	slot = loop->page.done[head & loop->page.mask];
	cosy_index_store(&page->done_head, head + 1);
	return cosy_page_take_result(loop, slot, (int64_t)loop->page.entries[slot].args[0]);
}

/*
 * Let the module send what callbacks have submitted, if that is little. Return true if it was
 * entered.
 */
static inline bool answer(struct cosy_loop *loop)
{
	const struct cosy_ring_page *page = loop->ring.page;
	const struct cosy_submit *s = loop->ring.submit;
	uint32_t n;

	if (!page)
		return false;
	n = s->calls_tail - page->calls_head;
	if (!n || n >= COSY_MIN_BATCH || s->receives_tail != page->receives_head)
		return false;
	cosy_ring_make(loop);
	return true;
}

/* Deliver completions. Wake other threads if there are more deliveries than @delivered. */
static void deliver(struct cosy_loop *loop, struct cosy_delivery *delivery,
		    unsigned int delivered)
{
	struct cosy_async *op;

	do {
		while (delivery->room && (op = cosy_page_collect(loop)))
			cosy_deliver(loop, op, delivery);
	} while (delivery->room && answer(loop));
	if (delivery->count == delivered)
		return;
	cosy_loop_changed(loop);
	/* The thread in epoll may wait for one of these operations, or for the last one. */
	if (loop->blocked && !loop->woken && (loop->awaits_ops || !outstanding(loop)))
		cosy_loop_write_wake_fd(loop);
}

static unsigned int complete(const struct goal *goal)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < goal->count; i++)
		n += !cosy_async_pending(goal->ops[i]);
	return n;
}

static bool reached(const struct goal *goal, unsigned int delivered)
{
	if (goal->ops)
		return complete(goal) >= goal->min;
	return delivered >= goal->min || delivered == COSY_WAIT_MAX;
}

/* Wait for the thread that waits for the descriptors. Return 0 or -EINTR. */
static int wait_for_other(struct cosy_loop *loop, uint64_t until)
{
	bool undisturbed;

	loop->waiters++;
	undisturbed = cosy_event_wait(&loop->changed, &loop->lock, until);
	loop->waiters--;
	return undisturbed ? 0 : -EINTR;
}

/* Return true if entries, or another event loop, wait for what epoll or the module reports. */
static bool others_wait(const struct cosy_loop *loop)
{
	return epoll_matters(loop) || cosy_module_sleeps(loop);
}

/* After deliveries, or with some to make, return true if epoll and the module have to be checked. */
static bool too_long_ago(struct cosy_loop *loop)
{
	bool up_to_date = loop->module.up_to_date;

	if (!others_wait(loop) || loop->epoll_skips++ < MAX_EPOLL_SKIPS)
		return false;
	loop->epoll_skips = 0;
	loop->module.up_to_date = loop->ring.up_to_date = false;
	/* Entering the module is enough, and it may have been entered for what is delivered. */
	return epoll_matters(loop) || !up_to_date;
}

/* Return how many operations a thread may deliver before it checks its goal again. */
static unsigned int room(const struct cosy_loop *loop, const struct goal *goal,
			 unsigned int delivered)
{
	if (cosy_loop_is_stopping(loop))
		return 0;
	return goal->ops ? COSY_WAIT_MAX : COSY_WAIT_MAX - delivered;
}

/* Check the descriptors, unless polling has found work already. Return as look_at_descriptors(). */
static int look_while_polling(struct cosy_loop *loop, struct cosy_delivery *delivery)
{
	if (cosy_loop_has_work(loop))
		return 0;
	loop->module.up_to_date = loop->ring.up_to_date = false;
	return look_at_descriptors(loop, 0, delivery);
}

/*
 * Wait, as there is nothing to execute or to deliver. @checked: the call has waited before.
 *
 * Return: 0; -EINTR; -ETIME: the time is over; an error of epoll.
 */
static int wait_once(struct cosy_loop *loop, const struct goal *goal,
		     struct cosy_delivery *delivery, bool checked)
{
	if (goal->until != COSY_NEVER && goal->until <= cosy_clock()) {
		if (checked || loop->blocked)
			return -ETIME;
		/* A call without any time to wait delivers what is ready. */
		return look_at_descriptors(loop, 0, delivery);
	}
	if (loop->blocked)
		return wait_for_other(loop, goal->until);
	loop->awaits_ops = goal->ops;
	if (loop->cpu && cosy_cpu_polls(loop->cpu, others_wait(loop)))
		return look_while_polling(loop, delivery);
	return look_at_descriptors(loop, goal->until, delivery);
}

/*
 * Deliver, and wait, until a goal is reached. @before: number of deliveries before. The submitted
 * entries have just been executed. Return what wait_locked() returns.
 */
static COSY_NOINLINE int wait_for_goal(struct cosy_loop *loop, const struct goal *goal,
				       struct cosy_delivery *delivery, unsigned int before)
{
	unsigned int delivered = before;
	bool checked = false;
	int err = 0;

	for (;;) {
		bool done = delivery->count != delivered || cosy_page_done(loop);

		if (!loop->blocked && (done ? too_long_ago(loop) : !goal->min))
			look_at_descriptors(loop, 0, delivery);
		deliver(loop, delivery, delivered);
		delivered = delivery->count;
		if (reached(goal, delivered) || cosy_loop_is_stopping(loop) ||
		    !outstanding(loop))
			return 0;
		if (err)
			return err;
		if (!cosy_loop_has_work(loop)) {
			err = wait_once(loop, goal, delivery, checked);
			if (err == -ETIME)
				return 0;
			checked = true;
		}
		delivery->room = room(loop, goal, delivery->count);
		cosy_execute(loop, delivery);
	}
}

/*
 * Return true if a call that does not wait has nothing to deliver, and the module was just entered, which
 * has all entries: then look_at_descriptors() would do nothing.
 */
static COSY_ALWAYS_INLINE bool has_nothing(const struct cosy_loop *loop, const struct goal *goal,
					   const struct cosy_delivery *delivery, unsigned int before)
{
	return !goal->min && delivery->count == before && loop->module.up_to_date && !cosy_page_done(loop) &&
	       !epoll_matters(loop);
}

/*
 * Execute and deliver until a goal is reached. @delivered is the number of deliveries, before and
 * after.
 *
 * Return: 0; -EINTR: a signal handler ran before the goal was reached; an error of epoll.
 */
static COSY_ALWAYS_INLINE int wait_locked(struct cosy_loop *loop, const struct goal *goal,
					  unsigned int *delivered)
{
	struct cosy_delivery delivery = {
		.room = room(loop, goal, *delivered),
		.count = *delivered,
	};
	int err = 0;

	cosy_execute(loop, &delivery);
	if (has_nothing(loop, goal, &delivery, *delivered))
		return 0;
	/* Often the goal is reached, nothing else waits, and no thread has to be notified. */
	if (goal->ops || !goal->min || delivery.count < goal->min || loop->waiters ||
	    loop->needs_check || cosy_page_done(loop) || others_wait(loop))
		err = wait_for_goal(loop, goal, &delivery, *delivered);
	*delivered = delivery.count;
	return err;
}

/* Make the descriptor readable at the time of the first timer, and now if there is work. */
static void prepare_external(struct cosy_loop *loop)
{
	uint64_t next = cosy_timers_next(&loop->timers);
	struct itimerspec time = { 0 };

	if (cosy_page_done(loop) || cosy_ring_is_due(&loop->ring) ||
	    cosy_page_submitted(&loop->page))
		cosy_loop_wake(loop);
	if (next == UINT64_MAX)
		next = 0;
	if (next == loop->alarm)
		return;
	loop->alarm = next;
	time.it_value = cosy_timespec(next);
	cosy_sys6(SYS_timerfd_settime, loop->timer_fd, TFD_TIMER_ABSTIME,
		  (long)&time, 0, 0, 0);
}

/* Take the lock. Return 0, or -EPERM if the thread must not wait for the loop. */
static int lock_to_wait(struct cosy_loop *loop)
{
	int err = cosy_loop_enter(loop);

	if (!err && !cosy_buffers_are_mine(&loop->ring.buffers)) {
		cosy_loop_leave(loop);
		err = -EPERM;
	}
	return err;
}

/* Count the calling thread as one that executes and delivers. */
static void go_inside(struct cosy_loop *loop)
{
	loop->inside++;
	loop->module.up_to_date = loop->ring.up_to_date = false;
}

/*
 * Wait in the ring without the lock, if that is possible. @stops: cosy_loop_stops() when the call of the
 * program began.
 *
 * Return: 0; 1: cosy_loop_stop() was called; -EINTR; -EPERM; -EAGAIN: the caller, which has the lock
 * and is inside, has to wait.
 */
static COSY_ALWAYS_INLINE int wait_or_enter(struct cosy_loop *loop, unsigned int min,
					    uint64_t until, unsigned int stops,
					    unsigned int *delivered)
{
	for (;;) {
		int err;

		if (loop->has_ring && cosy_submit_begin(loop->ring.submit)) {
			if (min || !loop->ring.others)
				return cosy_ring_wait(loop, min, until, stops, delivered);
			/* A call that does not wait also delivers events for entries outside the ring. */
			cosy_submit_end(loop->ring.submit);
		}
		err = lock_to_wait(loop);
		if (err)
			return err;
		if (!loop->has_ring || !cosy_ring_give(loop, min)) {
			go_inside(loop);
			return -EAGAIN;
		}
		cosy_loop_leave(loop);
	}
}

static void leave(struct cosy_loop *loop)
{
	if (COSY_UNLIKELY(loop->external))
		prepare_external(loop);
	if (COSY_UNLIKELY(loop->sanitized))
		tsan_acquire(loop);
	/* The last call that was running when the loop was stopped returns. */
	if (--loop->inside == 0 && cosy_loop_is_stopping(loop))
		cosy_loop_has_stopped(loop);
	cosy_loop_leave(loop);
}

/* Return what cosy_wait() returns. @err: a negative error number, or 0 */
static int wait_result(int err, unsigned int delivered)
{
	return delivered ? (int)delivered : err < 0 ? err : 0;
}

/* Check the descriptors after all that the ring has delivered: the goal is reached. */
static COSY_NOINLINE int look_after_ring(struct cosy_loop *loop, const struct goal *goal,
					 unsigned int *delivered)
{
	struct cosy_delivery delivery = {
		.room = room(loop, goal, *delivered),
		.count = *delivered,
	};
	int err = look_at_descriptors(loop, 0, &delivery);

	*delivered = delivery.count;
	return err;
}

/* The rest of cosy_wait() with the lock. Releases it. */
static COSY_ALWAYS_INLINE int wait_entered(struct cosy_loop *loop, unsigned int min, uint64_t until,
					   unsigned int *delivered)
{
	struct goal goal = { .min = min, .until = until };
	int err = 0;

	if (!min || !reached(&goal, *delivered))
		err = wait_locked(loop, &goal, delivered);
	else if (COSY_UNLIKELY(cosy_ring_hides_events(&loop->ring)) && !loop->blocked)
		err = look_after_ring(loop, &goal, delivered);
	leave(loop);
	return err;
}

/* cosy_wait() in a thread that does not have the ring without the lock. */
static COSY_NOINLINE int wait_in_turn(struct cosy_loop *loop, unsigned int min, uint64_t until,
				      unsigned int stops)
{
	unsigned int delivered = 0;
	int err = wait_or_enter(loop, min, until, stops, &delivered);

	if (err == -EAGAIN)
		err = wait_entered(loop, min, until, &delivered);
	return wait_result(err, delivered);
}

/* cosy_wait() for @min operations, at least one, in a thread that has begun to use the ring. */
static COSY_NOINLINE int wait_in_ring(struct cosy_loop *loop, unsigned int min, uint64_t until,
				      unsigned int stops)
{
	unsigned int delivered = 0;
	int err = cosy_ring_wait(loop, min, until, stops, &delivered);

	if (COSY_UNLIKELY(err == -EAGAIN))
		err = wait_entered(loop, min, until, &delivered);
	return wait_result(err, delivered);
}

/* cosy_wait() for @min operations, at least one. */
static COSY_NOINLINE int wait_for_some(struct cosy_loop *loop, unsigned int min,
				       const struct timespec *timeout)
{
	const uint64_t until = cosy_deadline(timeout);
	const unsigned int stops = cosy_loop_stops(loop);

	if (min > COSY_WAIT_MAX || !until)
		return -EINVAL;
	if (!loop->has_ring || COSY_UNLIKELY(!cosy_submit_begin(loop->ring.submit)))
		return wait_in_turn(loop, min, until, stops);
	return wait_in_ring(loop, min, until, stops);
}

/* cosy_wait() for what has happened. */
static COSY_NOINLINE int wait_for_none(struct cosy_loop *loop)
{
	const unsigned int stops = cosy_loop_stops(loop);

	if (!cosy_submit_begin(loop->ring.submit))
		return wait_in_turn(loop, 0, 0, stops);
	if (COSY_LIKELY(!loop->ring.others))
		return wait_in_ring(loop, 0, 0, stops);
	/* What has happened to others is not seen in the ring. */
	cosy_submit_end(loop->ring.submit);
	return wait_in_turn(loop, 0, 0, stops);
}

COSY_EXPORT int cosy_wait(struct cosy_loop *loop, unsigned int min,
			  const struct timespec *timeout)
{
	/* In a child no thread has the ring, which is not mapped there; nor without a ring. */
	if (COSY_UNLIKELY(min != 1) || COSY_UNLIKELY(timeout != NULL) ||
	    COSY_UNLIKELY(!cosy_submit_begin(loop->ring.submit)))
		return min ? wait_for_some(loop, min, timeout) : wait_for_none(loop);
	switch (cosy_ring_make_only(loop)) {
	case COSY_RING_COMPLETE:
		return 1;
	case COSY_RING_IN_USE:
		return wait_in_ring(loop, 1, COSY_NEVER, cosy_loop_stops(loop));
	default:
		return wait_in_turn(loop, 1, COSY_NEVER, cosy_loop_stops(loop));
	}
}

COSY_EXPORT int cosy_wait_some(struct cosy_loop *loop,
			       struct cosy_async *const *ops,
			       unsigned int count, unsigned int min,
			       const struct timespec *timeout)
{
	struct goal goal = {
		.min = min,
		.ops = ops,
		.count = count,
		.until = cosy_deadline(timeout),
	};
	unsigned int delivered = 0;
	int err;

	if (min > count || count > INT_MAX || !goal.until)
		return -EINVAL;
	err = lock_to_wait(loop);
	if (err)
		return err;
	go_inside(loop);
	if (!reached(&goal, 0))
		err = wait_locked(loop, &goal, &delivered);
	leave(loop);
	return err ? err : (int)complete(&goal);
}

COSY_EXPORT int cosy_wait_for(struct cosy_loop *loop,
			      const struct cosy_async *op,
			      const struct timespec *timeout)
{
	struct cosy_async *ops[] = { (struct cosy_async *)op };
	uint64_t until = cosy_deadline(timeout);
	int ret = cosy_wait_some(loop, ops, 1, 1, timeout);

	if (ret < 0)
		return ret;
	if (ret)
		return 0;
	return until != COSY_NEVER && until <= cosy_clock() ? -ETIME : -ECANCELED;
}

/* Wait for completions, and deliver them. Return 0, also after a signal; or an error of epoll. */
static int run_locked(struct cosy_loop *loop)
{
	const struct goal goal = { .min = 1, .until = COSY_NEVER };
	unsigned int delivered = 0;
	int err = wait_locked(loop, &goal, &delivered);

	return err == -EINTR ? 0 : err;
}

COSY_EXPORT int cosy_loop_run(struct cosy_loop *loop)
{
	/*
	 * Between its deliveries, this thread is not inside, and another one may be the last that
	 * returns for a cosy_loop_stop().
	 */
	const unsigned int stops = cosy_loop_stops(loop);

	for (;;) {
		unsigned int delivered = 0;
		bool stopped, over;
		int err = wait_or_enter(loop, 1, COSY_NEVER, stops, &delivered);

		if (err == -EINTR || (!err && delivered))
			continue;
		if (err != -EAGAIN)
			return err;
		err = 0;
		if (outstanding(loop) && atomic_load(&loop->stops) == stops)
			err = run_locked(loop);
		stopped = atomic_load(&loop->stops) != stops;
		over = err || stopped || !outstanding(loop);
		leave(loop);
		if (over)
			return err ? err : stopped;
	}
}

COSY_EXPORT int cosy_loop_run_once(struct cosy_loop *loop)
{
	return cosy_wait(loop, 1, NULL);
}

COSY_EXPORT int cosy_async_timer(struct cosy_loop *loop, struct cosy_async *op,
				 const struct timespec *time, int flags)
{
	return cosy_async_call(loop, op, SYS_clock_nanosleep, CLOCK_MONOTONIC,
			       (uint64_t)flags, (uintptr_t)time, 0, 0, 0);
}

COSY_EXPORT int cosy_async_signal(struct cosy_loop *loop, struct cosy_async *op,
				  const sigset_t *set, siginfo_t *info)
{
	/* The kernel's set has 64 signals. */
	return cosy_async_call(loop, op, SYS_rt_sigtimedwait, (uintptr_t)set,
			       (uintptr_t)info, 0, sizeof(uint64_t), 0, 0);
}
