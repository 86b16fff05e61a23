/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * lock.c - the slow paths of locks, and events, by futexes; the clock.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "device/sys.h"
#include "lock.h"
#include "tsan.h"

/*
 * How often a thread looks whether a lock is free before it sleeps: for about 1 us. Most threads hold
 * one for less. Sleeping takes 20 times as long, and the other thread has to wake it.
 */
#define SPINS	32u

uint64_t cosy_clock(void)
{
	struct timespec now;

	/*
	 * For ThreadSanitizer, colours are fibers on the stack of their worker. It would see that libc's
	 * function writes there, and report a race with an earlier colour. It does not see the kernel write.
	 */
	if (tsan_is_used())
		cosy_sys(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
	else
		clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t cosy_deadline(const struct timespec *timeout)
{
	if (!timeout)
		return COSY_NEVER;
	if (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= 1000000000)
		return 0;
	if (timeout->tv_sec >= INT64_MAX / 1000000000 / 2)
		return COSY_NEVER;
	return cosy_clock() + (uint64_t)timeout->tv_sec * 1000000000u + (uint64_t)timeout->tv_nsec;
}

static long futex_wait(uint32_t *word, uint32_t value,
		       const struct timespec *until)
{
	/* A time of CLOCK_MONOTONIC, not a timeout. */
	return cosy_sys6(SYS_futex, (long)word,
			 FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value, (long)until,
			 0, (long)FUTEX_BITSET_MATCH_ANY);
}

void cosy_futex_wake(uint32_t *word, int threads)
{
	cosy_sys(SYS_futex, (long)word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG,
		 threads);
}

void cosy_lock_wait(struct cosy_lock *lock)
{
	for (unsigned int i = 0; i < SPINS; i++) {
		__builtin_ia32_pause();
		if (!__atomic_load_n(&lock->state, __ATOMIC_RELAXED) && cosy_try_lock(lock))
			return;
	}
	while (__atomic_exchange_n(&lock->state, 2, __ATOMIC_ACQUIRE))
		futex_wait(&lock->state, 2, NULL);
}

void cosy_lock_wake(struct cosy_lock *lock)
{
	cosy_futex_wake(&lock->state, 1);
}

bool cosy_event_wait(struct cosy_event *event, struct cosy_lock *lock,
		     uint64_t until)
{
	long ret;
	uint32_t before = __atomic_load_n(&event->happened, __ATOMIC_RELAXED);
	const struct timespec time = cosy_timespec(until);

	cosy_unlock(lock);
	/* With a time, even one that never comes, a handler with SA_RESTART ends the call, too. */
	ret = futex_wait(&event->happened, before, &time);
	cosy_lock(lock);
	return ret != -EINTR;
}

void cosy_event_happened(struct cosy_event *event, int threads)
{
	__atomic_add_fetch(&event->happened, 1, __ATOMIC_RELAXED);
	cosy_futex_wake(&event->happened, threads);
}
