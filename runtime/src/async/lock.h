/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * lock.h - a lock and an event that cost little when no thread waits for them.
 *
 * A loop takes its lock two or three times for an operation, nearly always in one
 * thread. pthread_mutex_lock() and _unlock() take 110 instructions, these take 20.
 */
#ifndef COSY_LOCK_H
#define COSY_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "device/sys.h"

/** cosy_clock() - return CLOCK_MONOTONIC in nanoseconds */
uint64_t cosy_clock(void);

/** COSY_NEVER - a time that does not come */
#define COSY_NEVER	UINT64_MAX

/** cosy_deadline() - return the time of cosy_clock() at which @timeout ends; NULL: never; 0: it is invalid */
uint64_t cosy_deadline(const struct timespec *timeout);

static inline struct timespec cosy_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / 1000000000u),
		.tv_nsec = (long)(ns % 1000000000u),
	};
}

/** cosy_futex_wake() - wake at most @threads threads of this process that sleep for @word */
void cosy_futex_wake(uint32_t *word, int threads);

/** cosy_pause() - sleep for a moment, where another thread does soon what this one waits for */
static inline void cosy_pause(void)
{
	const struct timespec moment = { .tv_nsec = 50000 };

	cosy_sys(SYS_nanosleep, (long)&moment, 0, 0);
}

/** struct cosy_lock - 0: free; 1: taken; 2: taken, and threads may wait for it */
struct cosy_lock {
	uint32_t state;
};

/** cosy_lock_wait() - the slow path of cosy_lock() */
void cosy_lock_wait(struct cosy_lock *lock);

/** cosy_lock_wake() - the slow path of cosy_unlock() */
void cosy_lock_wake(struct cosy_lock *lock);

/** cosy_try_lock() - take the lock if it is free; false if it is not */
static inline bool cosy_try_lock(struct cosy_lock *lock)
{
	uint32_t free = 0;

	return __atomic_compare_exchange_n(&lock->state, &free, 1, 0,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline void cosy_lock(struct cosy_lock *lock)
{
	if (!cosy_try_lock(lock))
		cosy_lock_wait(lock);
}

/** cosy_unlock_needs_wake() - release the lock; return true if cosy_lock_wake() must be called */
static inline bool cosy_unlock_needs_wake(struct cosy_lock *lock)
{
	return __atomic_exchange_n(&lock->state, 0, __ATOMIC_RELEASE) == 2;
}

static inline void cosy_unlock(struct cosy_lock *lock)
{
	if (cosy_unlock_needs_wake(lock))
		cosy_lock_wake(lock);
}

/** struct cosy_event - something that threads wait for */
struct cosy_event {
	uint32_t happened;
};

/**
 * cosy_event_wait() - wait for an event
 * @event: the event
 * @lock:  taken by the caller; released while it waits
 * @until: CLOCK_MONOTONIC in nanoseconds; UINT64_MAX: for ever
 *
 * May return when nothing has happened. Not a cancellation point.
 *
 * Return: false if a signal handler has run.
 */
bool cosy_event_wait(struct cosy_event *event, struct cosy_lock *lock,
		     uint64_t until);

/**
 * cosy_event_happened() - let threads continue that wait for an event
 * @event:   the event; the lock that they wait with is taken
 * @threads: how many of them, at most
 */
void cosy_event_happened(struct cosy_event *event, int threads);

#endif /* COSY_LOCK_H */
