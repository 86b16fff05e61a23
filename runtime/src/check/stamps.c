/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stamps.c - a hash table with open addressing, by address of the line.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "check/stamps.h"

/* The slot with the line @address, or the empty one where it belongs. */
static struct cosy_stamp_line **find_slot(struct cosy_stamp_line **slots,
					  size_t size, uint64_t address)
{
	/* Fibonacci hashing: consecutive lines are spread over the table. */
	size_t i = (address / COSY_STAMP_LINE * 0x9e3779b97f4a7c15ULL) >> 32;

	for (i &= size - 1; slots[i]; i = (i + 1) & (size - 1))
		if (slots[i]->address == address)
			break;
	return &slots[i];
}

struct cosy_stamp_line *cosy_stamps_find(const struct cosy_stamps *table,
					 uint64_t address)
{
	if (!table->used)
		return NULL;
	return *find_slot(table->slots, table->size,
			  address & ~(uint64_t)(COSY_STAMP_LINE - 1));
}

static bool grow(struct cosy_stamps *table)
{
	size_t size = table->size ? 2 * table->size : 64;
	struct cosy_stamp_line **slots = calloc(size, sizeof(struct cosy_stamp_line *));

	if (!slots)
		return false;
	for (size_t i = 0; i < table->size; i++) {
		struct cosy_stamp_line *line = table->slots[i];

		if (line)
			*find_slot(slots, size, line->address) = line;
	}
	free(table->slots);
	table->slots = slots;
	table->size = size;
	return true;
}

struct cosy_stamp_line *cosy_stamps_make(struct cosy_stamps *table,
					 uint64_t address)
{
	struct cosy_stamp_line **slot;

	/* At least a quarter stays empty, so that searches are short and end. */
	if (table->used >= table->size / 4 * 3 && !grow(table))
		return NULL;
	address &= ~(uint64_t)(COSY_STAMP_LINE - 1);
	slot = find_slot(table->slots, table->size, address);
	if (!*slot) {
		*slot = calloc(1, sizeof(**slot));
		if (!*slot)
			return NULL;
		(*slot)->address = address;
		table->used++;
	}
	return *slot;
}

void cosy_stamps_clear(struct cosy_stamps *table)
{
	for (size_t i = 0; i < table->size; i++)
		free(table->slots[i]);
	free(table->slots);
	*table = (struct cosy_stamps){ 0 };
}
