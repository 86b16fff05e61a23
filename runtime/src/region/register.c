/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * register.c - regions come and go: with the program, and with libraries that are loaded and
 * unloaded.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/stat.h>

#include "device/device.h"
#include "device/export.h"
#include "device/library.h"
#include "device/message.h"
#include "device/options.h"
#include "device/own.h"
#include "function/hooks.h"
#include "region/region.h"
#include "region/reserved.h"

static void explain_foreign(const struct cosy_region *region,
			    const struct cosy_library_function *function)
{
	struct cosy_options options = cosy_options();
	struct cosy_number line;

	if (options.stats || options.debug)
		cosy_message(region->file, region->line ? ":" : "",
			     region->line ? cosy_number(&line, region->line) : "",
			     ": runs natively: ", function->name,
			     function->own ?
			     "() of its file is replaced by that of the program or of"
			     " another library (a static function is not)" :
			     "() is not the C library's function, but that of the"
			     " program or of a library loaded before (COSY_OWN at"
			     " its declaration makes it an up-call), or code compiled"
			     " with -fno-pie takes its address (use -fPIE)", NULL);
}

COSY_EXPORT void cosy_regions_add(struct cosy_region *regions, size_t count)
{
	struct cosy_options options = cosy_options();
	struct cosy_number has, needs;
	const struct cosy_library_function *foreign;
	struct cosy_diag diag;
	uint32_t mode;

	cosy_reserved_free_retired();
	cosy_stats_init();
	if (!count)
		return;
	/* All of them come from one compilation, hence have one layout. */
	if (regions->abi != COSY_REGION_ABI) {
		if (options.debug)
			cosy_message("regions have ABI ",
				     cosy_number(&has, regions->abi),
				     ", this libcosy needs ",
				     cosy_number(&needs, COSY_REGION_ABI),
				     "; they run natively (compile the program"
				     " with the plugin of this libcosy)", NULL);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		/* Ask in any case, because the device may not be accessible later. */
		mode = cosy_region_is_used(&regions[i]) ? COSY_MODE_DECIDE :
							  COSY_MODE_NATIVE;
		foreign = mode == COSY_MODE_NATIVE ?
				  NULL : cosy_library_foreign(regions[i].state);
		if (foreign) {
			mode = COSY_MODE_NATIVE;
			explain_foreign(&regions[i], foreign);
		}
		__atomic_store_n(&regions[i].mode, mode, __ATOMIC_RELEASE);
	}
	cosy_reserved_add(regions, count);
	for (size_t i = 0; i < count; i++) {
		/* Decode it now: while it is decoded it would have to run natively. */
		if (regions[i].mode != COSY_MODE_NATIVE &&
		    !cosy_region_has_native(&regions[i]))
			cosy_reserved_get(&regions[i],
					  cosy_region_executor(&regions[i]),
					  &diag);
	}
}

COSY_EXPORT void cosy_is_not_linked__use_cosy_cc_or_lcosy(struct cosy_region *regions,
							   size_t count)
	__attribute__((alias("cosy_regions_add")));

COSY_EXPORT void cosy_regions_remove(struct cosy_region *regions, size_t count)
{
	struct cosy_reserved *reserved;

	if (!count || regions->abi != COSY_REGION_ABI)
		return;
	/* Counts may still be printed. */
	if (cosy_in_program() && !cosy_options().stats)
		return;
	for (size_t i = 0; i < count; i++) {
		__atomic_store_n(&regions[i].mode, COSY_MODE_NATIVE,
				 __ATOMIC_RELAXED);
		reserved = cosy_reserved_of(&regions[i]);
		if (reserved && reserved->counts)
			cosy_stats_print_last(&reserved->counts->counted);
	}
	cosy_reserved_retire(regions, count);
}

/* Return true if there is certainly no other thread. */
static bool is_single_threaded(void)
{
	struct stat st;

	/* One link for each thread, and the two of every directory. */
	return !stat("/proc/self/task", &st) && st.st_nlink == 3;
}

/*
 * The last destructor: the library that contains this copy of libcosy is unloaded, or the
 * process ends. Other threads may still run regions. They can open the device again, but
 * their decoded code must stay.
 */
__attribute__((destructor(101))) static void unload(void)
{
	bool alone;

	if (cosy_in_program())
		return;
	/* A strict seccomp filter may kill for a system call, so make none. */
	if (cosy_device_is_blocked())
		return;
	alone = (cosy_reserved_any_mapped() || cosy_function_hooks) && is_single_threaded();
	if (alone)
		cosy_reserved_unmap();
	if (cosy_function_hooks)
		cosy_function_hooks->unload(alone);
	cosy_stats_exit();
	cosy_device_close();
}
