/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * queue.c - lists of entries that wait for something other than a descriptor.
 */
#include "queue.h"
#include "slot.h"

void cosy_queue_init(struct cosy_queue *queue)
{
	queue->head = queue->tail = COSY_NO_SLOT;
	queue->count = 0;
}

void cosy_queue_add(struct cosy_slot *slots, struct cosy_queue *queue, uint32_t slot)
{
	slots[slot].queue_next = COSY_NO_SLOT;
	slots[slot].queue_prev = queue->tail;
	if (queue->tail == COSY_NO_SLOT)
		queue->head = slot;
	else
		slots[queue->tail].queue_next = slot;
	queue->tail = slot;
	queue->count++;
}

void cosy_queue_remove(struct cosy_slot *slots, struct cosy_queue *queue, uint32_t slot)
{
	uint32_t next = slots[slot].queue_next, prev = slots[slot].queue_prev;

	if (prev == COSY_NO_SLOT)
		queue->head = next;
	else
		slots[prev].queue_next = next;
	if (next == COSY_NO_SLOT)
		queue->tail = prev;
	else
		slots[next].queue_prev = prev;
	queue->count--;
}
