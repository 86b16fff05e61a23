/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stamps.h - a table of the last accesses of each byte.
 *
 * The table is sparse: a line takes memory, 24 bytes for each of its bytes, once one of them was
 * accessed. Callers lock if threads share a table. A handler may interrupt the program's own malloc(),
 * so the memory is not from there, and all functions are async-signal-safe.
 */
#ifndef COSY_STAMPS_H
#define COSY_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cosy/batch-check.h>

#define COSY_STAMP_LINE 64

/* Parts of a stamp: the iteration's index plus 1, its phase, and the site. */
#define COSY_STAMP_INDEX_SHIFT	51
#define COSY_STAMP_PHASE_SHIFT	49
#define COSY_STAMP_SITE_MASK	((1ULL << COSY_STAMP_PHASE_SHIFT) - 1)

/**
 * cosy_stamp_of() - return the stamp of an access
 * @index: its iteration
 * @phase: the phase of the iteration
 * @site:  its place in the source
 */
static inline uint64_t cosy_stamp_of(uint64_t index, enum cosy_batch_phase phase,
				     const char *site)
{
	return (index + 1) << COSY_STAMP_INDEX_SHIFT |
	       (uint64_t)phase << COSY_STAMP_PHASE_SHIFT |
	       ((uintptr_t)site & COSY_STAMP_SITE_MASK);
}

/** cosy_stamp_index() - return the iteration of an access */
static inline uint64_t cosy_stamp_index(uint64_t stamp)
{
	return (stamp >> COSY_STAMP_INDEX_SHIFT) - 1;
}

/** cosy_stamp_phase() - return the phase of that iteration */
static inline enum cosy_batch_phase cosy_stamp_phase(uint64_t stamp)
{
	return stamp >> COSY_STAMP_PHASE_SHIFT & 3;
}

/** cosy_stamp_site() - return the place of the access in the source */
static inline const char *cosy_stamp_site(uint64_t stamp)
{
	return (const char *)(uintptr_t)(stamp & COSY_STAMP_SITE_MASK);
}

/** cosy_stamp_is_later() - test whether @stamp is of a later iteration than @now */
static inline bool cosy_stamp_is_later(uint64_t stamp, uint64_t now)
{
	return stamp >> COSY_STAMP_INDEX_SHIFT > now >> COSY_STAMP_INDEX_SHIFT;
}

/** enum cosy_stamp_kind - what was done to a byte */
enum cosy_stamp_kind {
	COSY_STAMP_READ,
	COSY_STAMP_WRITE,
	COSY_STAMP_UPDATE,	/* read and written by an addition: the order does not matter */
	COSY_STAMP_KINDS
};

/**
 * struct cosy_stamp_line - the stamps of the bytes of a line
 * @address: of the line, a multiple of COSY_STAMP_LINE
 * @stamps:  the last access of each byte, by kind; 0: none
 */
struct cosy_stamp_line {
	uint64_t address;
	uint64_t stamps[COSY_STAMP_KINDS][COSY_STAMP_LINE];
};

/** struct cosy_stamp_chunk - memory for lines: a mapping */
struct cosy_stamp_chunk {
	struct cosy_stamp_chunk *next;
	size_t used;		/* lines that are taken; all of them before those that are not */
	struct cosy_stamp_line lines[];
};

/** struct cosy_stamps - a table; all zero is an empty one */
struct cosy_stamps {
	struct cosy_stamp_line **slots;
	size_t size;		/* of slots: 0 or a power of two */
	size_t used;		/* slots with a line */
	struct cosy_stamp_chunk *chunks;
	struct cosy_stamp_chunk *current;	/* lines are taken from it; those after it are unused */
};

/** cosy_stamps_find() - return the line at @address, or NULL if there is none */
struct cosy_stamp_line *cosy_stamps_find(const struct cosy_stamps *table,
					 uint64_t address);

/** cosy_stamps_make() - return the line at @address, added if needed; NULL without memory */
struct cosy_stamp_line *cosy_stamps_make(struct cosy_stamps *table,
					 uint64_t address);

/** cosy_stamps_clear() - make the table empty; its memory stays, to be used again */
void cosy_stamps_clear(struct cosy_stamps *table);

/** cosy_stamps_free() - make the table empty, and free its memory */
void cosy_stamps_free(struct cosy_stamps *table);

#endif /* COSY_STAMPS_H */
