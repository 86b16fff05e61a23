/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * timer.h - entries that wait for a time.
 */
#ifndef COSY_LOOP_TIMER_H
#define COSY_LOOP_TIMER_H

#include <stdint.h>

struct cosy_slot;

/**
 * struct cosy_timer - an entry that waits for a time
 * @time:  CLOCK_MONOTONIC in nanoseconds
 * @order: smaller than that of each timer which was added later
 * @slot:  the entry
 */
struct cosy_timer {
	uint64_t time;
	uint64_t order;
	uint32_t slot;
};

/**
 * struct cosy_timers - the timers of a loop
 * @slots: the slots of the loop
 * @heap:  a heap of @count timers, with room for @max
 * @count: number of timers
 * @max:   length of @heap
 * @added: number of timers that were ever added
 */
struct cosy_timers {
	struct cosy_slot *slots;
	struct cosy_timer *heap;
	uint32_t count;
	uint32_t max;
	uint64_t added;
};

/** cosy_timer_add() - let an entry wait until a time. Return: 0 or -ENOMEM */
int cosy_timer_add(struct cosy_timers *timers, uint32_t slot, uint64_t time);

/** cosy_timer_remove() - end that wait */
void cosy_timer_remove(struct cosy_timers *timers, uint32_t slot);

/** cosy_timers_take() - remove an entry whose time has come @now, and return it, or COSY_NO_SLOT */
uint32_t cosy_timers_take(struct cosy_timers *timers, uint64_t now);

/** cosy_timers_next() - return the earliest time, or UINT64_MAX */
uint64_t cosy_timers_next(const struct cosy_timers *timers);

#endif /* COSY_LOOP_TIMER_H */
