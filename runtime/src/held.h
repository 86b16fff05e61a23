/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * held.h - what libcosy holds for a region that has run: its decoded code, its
 * place in the module, its counts.
 */
#ifndef COSY_HELD_H
#define COSY_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cosy/decode.h>
#include <cosy/region.h>
#include <cosy/verify.h>

/** enum cosy_mode - values of struct cosy_region's mode */
enum cosy_mode {
	COSY_MODE_NATIVE,	/* the native code */
	COSY_MODE_LOADED,	/* straight into the kernel: loaded, not counted */
	COSY_MODE_DECIDE = COSY_REGION_DECIDE,	/* cosy_region_run() has to think first */
};

/**
 * struct cosy_counts - COSY_STATS; changed with relaxed atomic additions
 * @runs:     runs begun
 * @syscalls: system calls made by the compound
 * @entries:  entries into the kernel
 * @upcalls:  up-calls
 * @steps:    operations the kernel could not do, done in user mode
 * @user:     runs in user mode, from the beginning or to the end
 */
struct cosy_counts {
	uint64_t runs;
	uint64_t syscalls;
	uint64_t entries;
	uint64_t upcalls;
	uint64_t steps;
	uint64_t user;
};

/**
 * struct cosy_held - what libcosy holds for a region
 * @next:     in the list of those waiting to be freed
 * @size:     bytes of this structure with the code behind it
 * @executor: who runs the region: KERNEL, USER or NATIVE; relaxed
 * @pid:      the process that loaded it into the module
 * @handle:   the module's handle + 1, 0 if not loaded: where the region has
 *	      been when it was given back
 * @counts:   NULL unless COSY_STATS is on; a child process starts from 0
 * @code:     decoded code
 */
struct cosy_held {
	struct cosy_held *next;
	size_t size;
	uint32_t executor;
	int pid;
	uint64_t handle;
	struct cosy_counts *counts;
	struct cosy_code *code;
};

/**
 * cosy_held_get() - verify and decode a region's image, the first time
 * @region:   the region
 * @executor: who is to run it
 * @diag:     set on failure; reason is NULL if memory is what is missing
 *
 * Return: what is held for it, or NULL. Thread-safe, async-signal-safe.
 */
struct cosy_held *cosy_held_get(struct cosy_region *region, uint32_t executor,
				struct cosy_diag *diag);

/**
 * cosy_held_load() - load a region into the module
 * @region: the region
 * @held:   what is held for it
 * @stale:  handle + 1 that did not work, 0 for the first time
 *
 * Another thread may be doing the same: the handle of the first one counts.
 *
 * Return: 0, region->handle is set; or -errno. Thread-safe, async-signal-safe.
 */
int cosy_held_load(struct cosy_region *region, struct cosy_held *held,
		   uint64_t stale);

/**
 * cosy_held_free() - free what is held for a region
 * @region: the region, which has something and which nobody runs
 */
void cosy_held_free(struct cosy_region *region);

/**
 * cosy_held_retire() - no longer needed: free it, but not yet
 * @region: the region, whose memory may vanish afterwards
 *
 * When a process ends, other threads may still be inside regions while the
 * destructors run, as they may be inside native code. So it is freed only by
 * the next cosy_held_free_retired(), which does not come in that case.
 */
void cosy_held_retire(struct cosy_region *region);

/** cosy_held_any_retired() - is there something to free? */
bool cosy_held_any_retired(void);

/** cosy_held_free_retired() - free what was retired before */
void cosy_held_free_retired(void);

/**
 * cosy_count() - add to a counter
 * @counter: address of a member of struct cosy_counts
 */
static inline void cosy_count(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

#endif /* COSY_HELD_H */
