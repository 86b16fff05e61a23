// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * buffer.c - the buffers of a loop, as a stack of numbers.
 *
 * The buffer that was returned last is taken next, because it is in the caches.
 */
#include <errno.h>
#include <stdlib.h>

#include <cosy/async.h>
#include <linux/cosy_ring.h>

#include "buffer.h"

int cosy_buffers_create(struct cosy_buffers *b, void *memory, size_t size, uint32_t count)
{
	/* The number of free buffers, their numbers, and @lent. */
	uint32_t *own = calloc((size_t)count + 1, sizeof(*own) + sizeof(bool));

	if (!own)
		return -ENOMEM;
	own[0] = count;
	/* The first ones are taken first. */
	for (uint32_t i = 0; i < count; i++)
		own[1 + i] = count - 1 - i;
	*b = (struct cosy_buffers){
		.thread = cosy_submit_self(),
		.memory = memory,
		.size = size,
		.count = count,
		.numbers = own + 1,
		.free = own,
		.lent = (bool *)(own + 1 + count),
		.own = own,
	};
	return 0;
}

void cosy_buffers_share(struct cosy_buffers *b, struct cosy_ring_page *page)
{
	uint32_t *numbers = (void *)((char *)page + page->buffers);

	if (!b->thread)
		return;
	for (uint32_t i = 0; i < *b->free; i++)
		numbers[i] = b->numbers[i];
	page->nbuffers = *b->free;
	page->buffer_start = (uintptr_t)b->memory;
	page->buffer_size = b->size;
	b->numbers = numbers;
	b->free = &page->nbuffers;
}

void cosy_buffers_destroy(const struct cosy_buffers *b)
{
	free(b->own);
}

bool cosy_buffers_are_mine(const struct cosy_buffers *b)
{
	return !b->thread || b->thread == cosy_submit_self();
}

bool cosy_buffer_take(struct cosy_buffers *b, uint32_t *number)
{
	if (!*b->free)
		return false;
	*number = b->numbers[--*b->free];
	return true;
}

void cosy_buffer_untake(struct cosy_buffers *b, uint32_t number)
{
	b->numbers[(*b->free)++] = number;
}

void *cosy_buffer_address(const struct cosy_buffers *b, uint32_t number)
{
	return b->memory + number * b->size;
}

void *cosy_buffer_lend(struct cosy_buffers *b, uint32_t number)
{
	b->lent[number] = true;
	return cosy_buffer_address(b, number);
}

int cosy_buffer_give_back(struct cosy_buffers *b, const void *buffer)
{
	size_t offset = (uintptr_t)buffer - (uintptr_t)b->memory;
	uint32_t number;

	if (b->thread != cosy_submit_self())
		return -EPERM;
	number = (uint32_t)(offset / b->size);
	/* If it was returned twice, two receives would use one buffer. */
	if (offset % b->size || offset / b->size >= b->count || !b->lent[number])
		return -EINVAL;
	b->lent[number] = false;
	cosy_buffer_untake(b, number);
	return 0;
}
