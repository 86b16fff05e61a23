/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stats.c - COSY_STATS: one line per region that ran.
 */
#include <stddef.h>

#include "held.h"
#include "message.h"
#include "stats.h"

static uint64_t get(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

void cosy_stats_print(const struct cosy_region *region)
{
	const struct cosy_held *held = region->state;
	const struct cosy_counts *counts = held ? held->counts : NULL;
	struct cosy_number line, runs, syscalls, entries, upcalls, steps;
	const char *executor = "native";
	uint64_t ups, stepped;

	if (!counts || !get(&counts->runs))
		return;
	ups = get(&counts->upcalls);
	stepped = get(&counts->steps);
	if (get(&counts->entries))
		executor = "kernel";
	else if (get(&counts->user))
		executor = "user";
	/* A compound of cosy_init() has a name, but no line. */
	cosy_message(region->file, region->line ? ":" : "",
		     region->line ? cosy_number(&line, region->line) : "",
		     ": executor=", executor,
		     " runs=", cosy_number(&runs, get(&counts->runs)),
		     " syscalls=", cosy_number(&syscalls, get(&counts->syscalls)),
		     " entries=", cosy_number(&entries, get(&counts->entries)),
		     ups ? " upcalls=" : "",
		     ups ? cosy_number(&upcalls, ups) : "",
		     stepped ? " steps=" : "",
		     stepped ? cosy_number(&steps, stepped) : "", NULL);
}
