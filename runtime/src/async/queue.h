/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * queue.h - lists of entries that wait for something other than a descriptor.
 */
#ifndef COSY_LOOP_QUEUE_H
#define COSY_LOOP_QUEUE_H

#include <stdint.h>

struct cosy_slot;

/**
 * struct cosy_queue - a list of entries: of a pool, or those that read files in the module
 * @head:  the first one
 * @tail:  the last one
 * @count: how many there are
 */
struct cosy_queue {
	uint32_t head;
	uint32_t tail;
	uint32_t count;
};

/** cosy_queue_init() - initialise an empty queue */
void cosy_queue_init(struct cosy_queue *queue);

/** cosy_queue_add() - add an entry, which is in no queue, to the end */
void cosy_queue_add(struct cosy_slot *slots, struct cosy_queue *queue, uint32_t slot);

/** cosy_queue_remove() - remove an entry from any place */
void cosy_queue_remove(struct cosy_slot *slots, struct cosy_queue *queue, uint32_t slot);

#endif /* COSY_LOOP_QUEUE_H */
