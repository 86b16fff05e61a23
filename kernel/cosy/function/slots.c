// SPDX-License-Identifier: GPL-2.0
/*
 * slots.c - finds the invocation of a thread.
 *
 * Only its own thread changes a slot and reads an invocation, possibly in the handler
 * of a fault. So neither needs a lock or a reference.
 */
#include <linux/hash.h>
#include <linux/sched.h>

#include "function/invocation.h"

#define SLOTS_BITS	10
#define SLOTS_TRIED	8

struct cosy_slot {
	struct task_struct *task;
	struct cosy_invocation *invocation;
};

static struct cosy_slot cosy_slots[(1 << SLOTS_BITS) + SLOTS_TRIED];

static struct cosy_slot *cosy_slots_of(const struct task_struct *task)
{
	return &cosy_slots[hash_ptr(task, SLOTS_BITS)];
}

/* Return the slot of the current thread, NULL if it is in no function. */
static struct cosy_slot *cosy_slot_find(void)
{
	struct cosy_slot *slot = cosy_slots_of(current);
	int i;

	for (i = 0; i < SLOTS_TRIED; i++)
		if (READ_ONCE(slot[i].task) == current)
			return &slot[i];
	return NULL;
}

/**
 * cosy_slot_claim() - enter an invocation
 * @invocation: the invocation, on the stack of the current thread
 *
 * Return: the slot to release; NULL if the thread is in a function already, or if too
 * many others are.
 */
struct cosy_slot *cosy_slot_claim(struct cosy_invocation *invocation)
{
	struct cosy_slot *slot = cosy_slots_of(current);
	int i;

	if (cosy_slot_find())
		return NULL;
	for (i = 0; i < SLOTS_TRIED; i++) {
		if (READ_ONCE(slot[i].task) ||
		    cmpxchg(&slot[i].task, NULL, current))
			continue;
		WRITE_ONCE(slot[i].invocation, invocation);
		return &slot[i];
	}
	return NULL;
}

/**
 * cosy_slot_release() - leave an invocation
 * @slot: the slot from cosy_slot_claim()
 */
void cosy_slot_release(struct cosy_slot *slot)
{
	WRITE_ONCE(slot->invocation, NULL);
	/* Pairs with cmpxchg() in cosy_slot_claim(): the next owner finds it empty. */
	smp_store_release(&slot->task, NULL);
}

/**
 * cosy_invocation_current() - return the invocation of the current thread
 *
 * Return: the invocation, or NULL. Any context.
 */
struct cosy_invocation *cosy_invocation_current(void)
{
	struct cosy_slot *slot = cosy_slot_find();

	return slot ? READ_ONCE(slot->invocation) : NULL;
}
