/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * buffer.h - the buffers of a loop, which receives take when there is something to receive.
 *
 * One thread uses them: that which has given them to the loop, and the module while that thread is
 * inside. So they need no lock.
 */
#ifndef COSY_LOOP_BUFFER_H
#define COSY_LOOP_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cosy_ring_page;

/**
 * struct cosy_buffers - buffers of a loop
 * @thread:  the thread that uses them, see cosy_submit_self(); NULL: there are none
 * @memory:  the program's memory: buffer 0, and after it the others
 * @size:    bytes of a buffer
 * @count:   number of buffers
 * @numbers: the numbers of the free buffers, as a stack; in the ring once that is open
 * @free:    number of free buffers
 * @lent:    for each number: the program has the buffer
 * @own:     memory for @lent, and before the ring is open also for @free and @numbers
 */
struct cosy_buffers {
	const void *thread;
	char *memory;
	uint64_t size;
	uint32_t count;
	uint32_t *numbers;
	uint32_t *free;
	bool *lent;
	uint32_t *own;
};

/** cosy_buffers_create() - let the calling thread have buffers. Return: 0 or -ENOMEM */
int cosy_buffers_create(struct cosy_buffers *b, void *memory, size_t size, uint32_t count);

/** cosy_buffers_share() - let the ring have the buffers, if there are any, and let it take them */
void cosy_buffers_share(struct cosy_buffers *b, struct cosy_ring_page *page);

/** cosy_buffers_destroy() - free what the loop keeps */
void cosy_buffers_destroy(const struct cosy_buffers *b);

/** cosy_buffers_are_mine() - return false if only another thread may wait for the loop */
bool cosy_buffers_are_mine(const struct cosy_buffers *b);

/** cosy_buffer_take() - take the buffer that was returned last. Return: false if none is free */
bool cosy_buffer_take(struct cosy_buffers *b, uint32_t *number);

/** cosy_buffer_untake() - give a buffer back that was taken and not used */
void cosy_buffer_untake(struct cosy_buffers *b, uint32_t number);

/** cosy_buffer_address() - return where a buffer begins */
void *cosy_buffer_address(const struct cosy_buffers *b, uint32_t number);

/** cosy_buffer_lend() - note that the program has a buffer that was taken. Return: its address */
void *cosy_buffer_lend(struct cosy_buffers *b, uint32_t number);

/** cosy_buffer_give_back() - free a buffer that the program has. Return: 0, -EINVAL or -EPERM */
int cosy_buffer_give_back(struct cosy_buffers *b, const void *buffer);

#endif /* COSY_LOOP_BUFFER_H */
