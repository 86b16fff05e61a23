/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stats.c - COSY_STATS: the line of a region.
 */
#include <stddef.h>

#include "device/message.h"
#include "region/reserved.h"
#include "region/region.h"
#include "region/stats.h"

static uint64_t get(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

void cosy_stats_print(const void *data)
{
	const struct cosy_region *region = data;
	const struct cosy_reserved *reserved = cosy_reserved_of(region);
	const struct cosy_counts *counts = reserved ? reserved->counts : NULL;
	uint32_t number = region->flags >> COSY_REGION_NUMBER_SHIFT;
	struct cosy_number line, place, runs, syscalls, entries, upcalls, steps, rests,
		apart, gained, together;
	uint64_t ups, stepped, user, entered, native, measured;
	const char *executor = "native";
	uint32_t opinion, at_once;
	bool is_known;
	int64_t gain;

	if (!counts || !cosy_counts_are_current(counts) ||
	    !get(&counts->runs))
		return;
	ups = get(&counts->upcalls);
	stepped = get(&counts->steps);
	user = get(&counts->user);
	entered = get(&counts->entries);
	native = get(&counts->native);
	measured = get(&counts->measured);
	opinion = __atomic_load_n(&reserved->verdict.opinion, __ATOMIC_RELAXED);
	at_once = __atomic_load_n(&reserved->at_once, __ATOMIC_RELAXED);
	gain = __atomic_load_n(&reserved->verdict.gain, __ATOMIC_RELAXED);
	is_known = opinion && __atomic_load_n(&reserved->verdict.is_known,
					      __ATOMIC_RELAXED);
	if (opinion == COSY_OPINION_LOSES)
		executor = "native";
	else if (entered)
		executor = "kernel";
	else if (user)
		executor = "user";
	/* A compound of cosy_init() has a name, but no line. */
	cosy_stats_line(region->file, region->line ? ":" : "",
		region->line ? cosy_number(&line, region->line) : "",
		number ? "#" : "", number ? cosy_number(&place, number + 1) : "",
		": executor=", executor,
		" runs=", cosy_number(&runs, get(&counts->runs)),
		/* The native code counts nothing: 0 would say it did nothing. */
		entered || user ? " syscalls=" : "",
		entered || user ?
			cosy_number(&syscalls, get(&counts->syscalls)) : "",
		entered || user ? " entries=" : "",
		entered || user ? cosy_number(&entries, entered) : "",
		ups ? " upcalls=" : "", ups ? cosy_number(&upcalls, ups) : "",
		stepped ? " steps=" : "",
		stepped ? cosy_number(&steps, stepped) : "",
		measured ? " measured=" : "",
		measured ? cosy_number(&apart, measured) : "",
		native ? " native=" : "",
		native ? cosy_number(&rests, native) : "",
		cosy_region_loses(region) ||
		opinion == COSY_OPINION_LOSES ? " verdict=loses" :
		opinion == COSY_OPINION_GAINS ? " verdict=gains" :
		cosy_verdict_is_open(&reserved->verdict) ? " verdict=none" : "",
		is_known ? " gain=" : "", is_known && gain < 0 ? "-" : "",
		is_known ? cosy_number(&gained, magnitude(gain)) : "",
		at_once ? " at-once=" : "", at_once ? cosy_number(&together, at_once) : "", NULL);
}
