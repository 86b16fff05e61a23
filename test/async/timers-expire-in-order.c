/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Timers expire at their time, in the order of their times. Wrong times are refused.
 */
// RUN: %compile
// RUN: %everywhere
#include <sys/mman.h>
#include <sys/syscall.h>

#include "loop.h"

#define TIMERS 5000
#define PAGE 4096

static struct cosy_loop *loop;
static uint64_t last;
static unsigned int expired, equal;

struct timer {
	struct cosy_async op;
	struct timespec time;
};

/* Timers of one deadline expire in the order of submission, which is that of their array. */
static void in_order(struct cosy_async *op)
{
	static const struct timer *last_timer;
	struct timer *timer = op->data;
	uint64_t time = (uint64_t)timer->time.tv_sec * 1000000000u +
			(uint64_t)timer->time.tv_nsec;

	EQUAL(op->result, 0);
	CHECK(time >= last);
	CHECK(now() >= time);
	if (last_timer && time == last) {
		CHECK(timer > last_timer);
		equal++;
	}
	last = time;
	last_timer = timer;
	expired++;
}

/*
 * Many timers in a random order, of which many have equal deadlines. Those that are not cancelled
 * expire in the order of their times.
 */
static void many(void)
{
	struct timer *timers = calloc(TIMERS, sizeof(*timers));
	uint64_t begin = now();
	unsigned int cancelled = 0;
	uint32_t random = 1;

	for (int i = 0; i < TIMERS; i++) {
		uint64_t time;

		random = random * 1664525 + 1013904223;
		time = begin + (random >> 8) % 300 * 1000000;
		timers[i].time.tv_sec = (time_t)(time / 1000000000u);
		timers[i].time.tv_nsec = (long)(time % 1000000000u);
		timers[i].op.data = &timers[i];
		EQUAL(cosy_async_timer(loop, &timers[i].op, &timers[i].time,
				       TIMER_ABSTIME), 0);
	}
	for (int i = 0; i < TIMERS; i++)
		timers[i].op.done = in_order;
	/* All timers are started before the first one can expire. */
	for (int i = 0; i < TIMERS; i += 3) {
		timers[i].op.done = NULL;
		cancelled += cosy_cancel(loop, &timers[i].op) == 0;
	}
	EQUAL(cosy_loop_run(loop), 0);
	for (int i = 0; i < TIMERS; i += 3)
		cancelled -= timers[i].op.result == -ECANCELED;
	EQUAL(cancelled, 0);
	EQUAL(expired, TIMERS - (TIMERS + 2) / 3);
	CHECK(equal > TIMERS / 2);
	free(timers);
}

static void times(void)
{
	const struct timespec bad = { .tv_nsec = 1000000000 };
	const struct timespec never = { .tv_sec = INT64_MAX };
	const struct timespec soon = { .tv_nsec = 20000000 }, past = { 0 };
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct timespec *bad_times[] = {
		NULL,
		(void *)(pages + PAGE),
		(void *)(pages + PAGE - sizeof(time_t)),
	};
	struct cosy_async op = { 0 };
	uint64_t begin = now();

	EQUAL(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
	EQUAL(cosy_async_timer(loop, &op, &soon, 0), 0);
	EQUAL(result_of(loop, &op), 0);
	CHECK(now() - begin >= 20000000);
	EQUAL(cosy_async_nanosleep(loop, &op, &soon, NULL), 0);
	EQUAL(result_of(loop, &op), 0);
	EQUAL(cosy_async_timer(loop, &op, &past, TIMER_ABSTIME), 0);
	EQUAL(result_of(loop, &op), 0);
	EQUAL(cosy_async_timer(loop, &op, &bad, 0), 0);
	EQUAL(result_of(loop, &op), -EINVAL);
	EQUAL(cosy_async_timer(loop, &op, &never, 0), 0);
	EQUAL(cosy_wait(loop, 1, &soon), 0);
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(result_of(loop, &op), -ECANCELED);
	/* Addresses at which there is no time, or only a part of it. */
	for (int i = 0; i < 3; i++) {
		EQUAL(cosy_async_timer(loop, &op, bad_times[i], 0), 0);
		EQUAL(result_of(loop, &op), -EFAULT);
		EQUAL(cosy_async_nanosleep(loop, &op, bad_times[i], NULL), 0);
		EQUAL(result_of(loop, &op), -EFAULT);
		EQUAL(cosy_async_call(loop, &op, SYS_nanosleep, (uintptr_t)bad_times[i], 0, 0, 0,
				      0, 0), 0);
		EQUAL(result_of(loop, &op), -EFAULT);
	}
	EQUAL(munmap(pages, 2 * PAGE), 0);
	/* Another clock, for which a thread sleeps. */
	EQUAL(cosy_async_call(loop, &op, SYS_clock_nanosleep, CLOCK_BOOTTIME, 0,
			      (uintptr_t)&soon, 0, 0, 0), 0);
	EQUAL(result_of(loop, &op), 0);
}

int main(void)
{
	struct cosy_loop_options options = { .size = sizeof(options),
					     .entries = 2 * TIMERS };

	EQUAL(cosy_loop_create(&loop, &options), 0);
	times();
	many();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
