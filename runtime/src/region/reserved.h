/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reserved.h - memory that is reserved for each region when it is registered.
 *
 * When the region first runs, its decoded code, its handle in the module and its counts are stored
 * there.
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
	COSY_MODE_NATIVE,	/* runs natively */
	COSY_MODE_LOADED,	/* the fast path: it is loaded, and its runs are not counted */
	COSY_MODE_MEASURED = COSY_REGION_MEASURED, /* like DECIDE; a native run is measured */
	COSY_MODE_DECIDE = COSY_REGION_DECIDE,	/* cosy_region_run() chooses the executor */
	COSY_MODE_BACK_OFF,	/* this and greater values: runs natively for mode - DECIDE entries */
};

/**
 * struct cosy_reserved - data of libcosy about a region
 * @next:     next in the list of retired regions
 * @executor: its executor: KERNEL, USER or NATIVE; accessed relaxed
 * @handle:   the module's handle + 1, and 0 if it is not loaded; for a retired region
 * @counts:   NULL unless COSY_STATS is set
 * @verdict:  whether it gains in the kernel
 * @code:     its decoded code
 * @moves:    enum cosy_moves, for compounds of loops; accessed relaxed
 * @lost:     the last runs of a compound of a loop that were slower than native code, or calls of a user
 *	      function that the module could not make; accessed relaxed
 * @skipped:  runs since then that native code has made; accessed relaxed
 * @waits:    native code of a COSY_ASYNC function waits for a pipe or the like; accessed relaxed
 * @at_once:  functions of a loop that are continued at once; 0: not known. Accessed relaxed
 */
struct cosy_reserved {
	struct cosy_reserved *next;
	uint32_t executor;
	uint64_t handle;
	struct cosy_counts *counts;
	struct cosy_verdict verdict;
	struct cosy_code *code;
	uint8_t moves;
	uint8_t lost;
	uint16_t skipped;
	bool waits;
	uint32_t at_once;
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
 * The other bits are the address of its struct cosy_reserved; 0 if it has none. The structure may be
 * used if none of these bits is set.
 */
enum cosy_reserved_tag {
	COSY_RESERVED_EMPTY = 1,	/* the memory contains nothing yet */
	COSY_RESERVED_CLAIMED = 2,	/* a thread is decoding the region */
	COSY_RESERVED_TAGS = 3
};

/**
 * cosy_reserved_of() - return the data of a region that is decoded
 * @region: the region
 *
 * Return: the data, or NULL. Thread-safe, async-signal-safe.
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
 * Sets their state. Only here libcosy maps memory for regions: before main(), or while a library is
 * loaded. The memory is not accessed. Without memory a region runs natively, if it can.
 * Thread-safe.
 */
void cosy_reserved_add(struct cosy_region *regions, size_t count);

/**
 * cosy_reserved_get() - verify and decode a region's image, the first time
 * @region:   the region
 * @executor: its executor
 * @diag:     set on failure; its reason is NULL if memory is missing, or if another thread is
 *	      decoding the region now
 *
 * Never waits: if it is called by a signal handler, the interrupted thread may be the one that is
 * decoding.
 *
 * Return: the data of the region, or NULL. Thread-safe, async-signal-safe.
 */
struct cosy_reserved *cosy_reserved_get(struct cosy_region *region,
					uint32_t executor,
					struct cosy_diag *diag);

/**
 * cosy_reserved_size() - return the number of bytes that a region needs
 * @region: the region; its image need not be verified
 */
size_t cosy_reserved_size(const struct cosy_region *region);

/**
 * cosy_reserved_use() - use memory of the caller for a region
 * @region: the region, which no other thread knows
 * @memory: cosy_reserved_size() bytes, 8-byte aligned, all 0; the caller frees it after
 *	    cosy_reserved_unload()
 */
void cosy_reserved_use(struct cosy_region *region, void *memory);

/**
 * cosy_reserved_load() - load a region into the module
 * @region: the region
 * @stale:  handle + 1 that did not work; 0 for the first time
 *
 * If several threads do this concurrently, the handle of the first one is used.
 *
 * Return: 0, and region->handle is set; or -errno. Thread-safe, async-signal-safe.
 */
int cosy_reserved_load(struct cosy_region *region, uint64_t stale);

/**
 * cosy_reserved_limit() - return the limit of the module that made loading fail, as text
 * @error: the result of cosy_reserved_load()
 *
 * Return: a text; NULL for errors of another kind.
 */
const char *cosy_reserved_limit(int error);

/**
 * cosy_reserved_unload() - unload a region from the module
 * @region: the region, which is decoded, and which no thread runs
 */
void cosy_reserved_unload(struct cosy_region *region);

/**
 * cosy_reserved_retire() - put regions that are no longer needed on a list, to be freed later
 * @regions: array of @count, as for cosy_reserved_add(); it may be unmapped afterwards
 *
 * When a process ends, other threads may still run regions while the destructors run. So the
 * memory is freed by the next cosy_reserved_free_retired(), which is not called in that case.
 * Thread-safe.
 */
void cosy_reserved_retire(struct cosy_region *regions, size_t count);

/** cosy_reserved_free_retired() - unload and free the retired regions; thread-safe */
void cosy_reserved_free_retired(void);

/** cosy_reserved_any_mapped() - return true if memory was mapped for regions */
bool cosy_reserved_any_mapped(void);

/**
 * cosy_reserved_unmap() - unmap the memory of all regions
 *
 * Called when the library that contains this copy of libcosy is unloaded. No thread runs a region
 * any more.
 */
void cosy_reserved_unmap(void);

#endif /* COSY_RESERVED_H */
