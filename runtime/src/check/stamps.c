/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stamps.c - a hash table with open addressing, by address of the line.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "check/stamps.h"
#include "device/sys.h"

#define CHUNK_SIZE	((size_t)64 << 10)
#define CHUNK_LINES	((CHUNK_SIZE - sizeof(struct cosy_stamp_chunk)) / sizeof(struct cosy_stamp_line))
/* Fills a page. */
#define FIRST_SLOTS	512

/* Return memory that is 0, or NULL. */
static void *map(size_t size)
{
	const long made = cosy_sys6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return made < 0 && made > -4096 ? NULL : (void *)made;
}

static void unmap(void *memory, size_t size)
{
	if (memory)
		cosy_sys(SYS_munmap, (long)memory, (long)size, 0);
}

static size_t slots_size(const struct cosy_stamps *table)
{
	return table->size * sizeof(struct cosy_stamp_line *);
}

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
	size_t size = table->size ? 2 * table->size : FIRST_SLOTS;
	struct cosy_stamp_line **slots = map(size * sizeof(struct cosy_stamp_line *));

	if (!slots)
		return false;
	for (size_t i = 0; i < table->size; i++) {
		struct cosy_stamp_line *line = table->slots[i];

		if (line)
			*find_slot(slots, size, line->address) = line;
	}
	unmap(table->slots, slots_size(table));
	table->slots = slots;
	table->size = size;
	return true;
}

/* Take a line that is 0. Return NULL without memory. */
static struct cosy_stamp_line *take_line(struct cosy_stamps *table)
{
	struct cosy_stamp_chunk *chunk = table->current;
	struct cosy_stamp_line *line;

	if (chunk && chunk->used == CHUNK_LINES)
		chunk = chunk->next;
	if (!chunk) {
		chunk = map(CHUNK_SIZE);
		if (!chunk)
			return NULL;
		if (table->current)
			table->current->next = chunk;
		else
			table->chunks = chunk;
	}
	table->current = chunk;
	line = &chunk->lines[chunk->used++];
	return memset(line, 0, sizeof(*line));
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
		*slot = take_line(table);
		if (!*slot)
			return NULL;
		(*slot)->address = address;
		table->used++;
	}
	return *slot;
}

void cosy_stamps_clear(struct cosy_stamps *table)
{
	if (table->used)
		memset(table->slots, 0, slots_size(table));
	table->used = 0;
	for (struct cosy_stamp_chunk *chunk = table->chunks; chunk; chunk = chunk->next)
		chunk->used = 0;
	table->current = table->chunks;
}

void cosy_stamps_free(struct cosy_stamps *table)
{
	while (table->chunks) {
		struct cosy_stamp_chunk *next = table->chunks->next;

		unmap(table->chunks, CHUNK_SIZE);
		table->chunks = next;
	}
	unmap(table->slots, slots_size(table));
	*table = (struct cosy_stamps){ 0 };
}
