/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stamps.h - a table of who has accessed each byte last.
 *
 * Sparse: only lines of which a byte was accessed take memory, 24 bytes for each
 * of theirs. Nothing here locks.
 */
#ifndef COSY_STAMPS_H
#define COSY_STAMPS_H

#include <stddef.h>
#include <stdint.h>

#define COSY_STAMP_LINE 64

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
 * @stamps:  who has accessed each byte, by kind; 0: nobody
 */
struct cosy_stamp_line {
	uint64_t address;
	uint64_t stamps[COSY_STAMP_KINDS][COSY_STAMP_LINE];
};

/** struct cosy_stamps - a table; all zero is an empty one */
struct cosy_stamps {
	struct cosy_stamp_line **slots;
	size_t size;		/* of slots: 0 or a power of two */
	size_t used;		/* slots with a line */
};

/** cosy_stamps_find() - return the line at @address, or NULL if there is none */
struct cosy_stamp_line *cosy_stamps_find(const struct cosy_stamps *table,
					 uint64_t address);

/** cosy_stamps_make() - the same, but add it; NULL if there is no memory */
struct cosy_stamp_line *cosy_stamps_make(struct cosy_stamps *table,
					 uint64_t address);

/** cosy_stamps_clear() - make the table empty, and free its memory */
void cosy_stamps_clear(struct cosy_stamps *table);

#endif /* COSY_STAMPS_H */
