/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reserved.h - memory that is reserved for each region when it is registered,
 * and what is put there when the region first runs: its decoded code, its place
 * in the module, its counts.
 */
#ifndef COSY_RESERVED_H
#define COSY_RESERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cosy/decode.h>
#include <cosy/region.h>
#include <cosy/verify.h>

#include "function/counters.h"
#include "region/verdict.h"

/** enum cosy_mode - values of struct cosy_region's mode */
enum cosy_mode {
	COSY_MODE_NATIVE,	/* the native code */
	COSY_MODE_LOADED,	/* the kernel executor, at once: loaded, not counted */
	COSY_MODE_DECIDE = COSY_REGION_DECIDE,	/* cosy_region_run() chooses the executor */
	COSY_MODE_REST,	/* from here on: native, for mode - DECIDE entries */
};

/**
 * struct cosy_reserved - what libcosy has for a region
 * @next:     next in the list of regions that wait to be unloaded
 * @executor: the executor of the region: KERNEL, USER or NATIVE; relaxed
 * @pid:      the process that loaded it into the module
 * @handle:   the module's handle + 1, 0 if not loaded: where the region has
 *	      been when it was retired
 * @counts:   NULL unless COSY_STATS is on
 * @verdict:  whether it gains in the kernel
 * @code:     decoded code
 * @moves:    enum cosy_moves, for compounds of loops; relaxed
 */
struct cosy_reserved {
	struct cosy_reserved *next;
	uint32_t executor;
	int pid;
	uint64_t handle;
	struct cosy_counts *counts;
	struct cosy_verdict verdict;
	struct cosy_code *code;
	uint8_t moves;
};

/** enum cosy_moves - whether a compound does the same in each thread of the process */
enum cosy_moves {
	COSY_MOVES_UNKNOWN,
	COSY_MOVES_NOT,
	COSY_MOVES_FREELY,
};

/**
 * enum cosy_reserved_tag - low bits of struct cosy_region's state
 *
 * The other bits are the address of its struct cosy_reserved, 0 if it has none.
 * It can be used when none of these bits is set.
 */
enum cosy_reserved_tag {
	COSY_RESERVED_EMPTY = 1,	/* nothing is there yet */
	COSY_RESERVED_CLAIMED = 2,	/* a thread is making it */
	COSY_RESERVED_TAGS = 3
};

/**
 * cosy_reserved_of() - what a region has, if it is made
 * @region: the region
 *
 * Return: it, or NULL. Thread-safe, async-signal-safe.
 */
static inline struct cosy_reserved *
cosy_reserved_of(const struct cosy_region *region)
{
	void *state = __atomic_load_n(&region->state, __ATOMIC_ACQUIRE);

	return (uintptr_t)state & COSY_RESERVED_TAGS ? NULL : state;
}

/**
 * cosy_reserved_add() - reserve memory for regions that may run as compounds
 * @regions: array of @count
 *
 * Sets their state. This is the only place where libcosy maps memory for
 * regions: before main(), or while a library is loaded. Nothing of the memory is
 * touched. Without memory a region runs natively, if it can. Thread-safe.
 */
void cosy_reserved_add(struct cosy_region *regions, size_t count);

/**
 * cosy_reserved_get() - verify and decode a region's image, the first time
 * @region:   the region
 * @executor: who is to run it
 * @diag:     set on failure; reason is NULL if memory is what is missing, or
 *	      another thread is doing the same at this moment
 *
 * Never waits: in a signal handler, the thread that it interrupted may be the
 * one that is doing it.
 *
 * Return: what is reserved for it, or NULL. Thread-safe, async-signal-safe.
 */
struct cosy_reserved *cosy_reserved_get(struct cosy_region *region,
					uint32_t executor,
					struct cosy_diag *diag);

/**
 * cosy_reserved_size() - bytes that a region needs
 * @region: the region; its image need not be verified
 */
size_t cosy_reserved_size(const struct cosy_region *region);

/**
 * cosy_reserved_use() - give a region memory of its caller's
 * @region: the region, not known to any other thread
 * @memory: cosy_reserved_size() bytes, 8-byte aligned, all 0; the caller's
 */
void cosy_reserved_use(struct cosy_region *region, void *memory);

/**
 * cosy_reserved_load() - load a region into the module
 * @region:   the region
 * @reserved: what is reserved for it
 * @stale:    handle + 1 that did not work, 0 for the first time
 *
 * Another thread may be doing the same: the handle of the first one counts.
 *
 * Return: 0, region->handle is set; or -errno. Thread-safe, async-signal-safe.
 */
int cosy_reserved_load(struct cosy_region *region,
		       struct cosy_reserved *reserved, uint64_t stale);

/**
 * cosy_reserved_limit() - which limit of the module a region has met
 * @error: what cosy_reserved_load() returned
 *
 * Return: a text; NULL for errors of another kind.
 */
const char *cosy_reserved_limit(int error);

/**
 * cosy_reserved_unload() - take a region out of the module
 * @region: the region, which is made and which nobody runs
 */
void cosy_reserved_unload(struct cosy_region *region);

/**
 * cosy_reserved_retire() - regions are no longer needed: free their memory, later
 * @regions: array of @count, as it was given to cosy_reserved_add(); its memory
 *	     may vanish afterwards
 *
 * When a process ends, other threads may still be inside regions while the
 * destructors run, as they may be inside native code. So the memory is used
 * again only after the next cosy_reserved_free_retired(), which does not come in
 * that case. Thread-safe.
 */
void cosy_reserved_retire(struct cosy_region *regions, size_t count);

/** cosy_reserved_free_retired() - unload and free what was retired; thread-safe */
void cosy_reserved_free_retired(void);

/** cosy_reserved_any_mapped() - test whether memory was mapped for regions */
bool cosy_reserved_any_mapped(void);

/**
 * cosy_reserved_unmap() - unmap what was mapped for regions
 *
 * The program or library that contains this copy of libcosy is unloaded; nobody
 * is in a region any more.
 */
void cosy_reserved_unmap(void);

#endif /* COSY_RESERVED_H */
