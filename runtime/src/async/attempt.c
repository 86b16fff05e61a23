/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * attempt.c - calls that do not block, made in batches.
 *
 * With the module, a batch is one entry into the kernel (module.c). Each call then undergoes the
 * same checks as a call in a compound, and is left to user mode in the same cases.
 */
#include <string.h>

#include "device/device.h"
#include "device/options.h"
#include "device/sys.h"
#include "loop.h"

struct cosy_attempt *cosy_attempt_add(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->entries[slot];
	struct cosy_attempt *a = &loop->batch[loop->nbatch++];

	loop->slots[slot].state = COSY_SLOT_ATTEMPT;
	a->nr = entry->nr;
	memcpy(a->args, entry->args, sizeof(a->args));
	a->slot = slot;
	return a;
}

void cosy_attempts_in_user_mode(struct cosy_loop *loop, struct cosy_attempt *a,
				uint32_t n)
{
	loop->info.entries += n;
	for (uint32_t i = 0; i < n; i++) {
		if (loop->slots[a[i].slot].buffered) {
			cosy_read_by_thread(loop, a[i].slot);
			continue;
		}
		a[i].result = cosy_sys_args((long)a[i].nr, a[i].args);
		cosy_attempted(loop, &a[i]);
	}
}

/* Return true if the module has to make the attempts, or makes them with less work. */
static bool module_makes(struct cosy_loop *loop, const struct cosy_attempt *a, uint32_t n)
{
	if (n < COSY_MIN_BATCH)
		return cosy_module_is_needed(loop, a, n);
	return cosy_module_makes_calls(loop);
}

static void make(struct cosy_loop *loop, struct cosy_attempt *a, uint32_t n)
{
	loop->info.attempts += n;
	if (module_makes(loop, a, n))
		cosy_module_make(loop, a, n);
	else
		cosy_attempts_in_user_mode(loop, a, n);
}

void cosy_attempts_make(struct cosy_loop *loop)
{
	while (cosy_attempts_pending(loop)) {
		struct cosy_attempt *made = loop->batch;
		uint32_t n = loop->nbatch;

		/* Attempts that result from these go to the other batch. */
		loop->batch = made == loop->batches[0] ? loop->batches[1] :
							 loop->batches[0];
		loop->nbatch = 0;
		if (n)
			make(loop, made, n);
		/*
		 * Earlier entries come first: compounds may close descriptors that the call uses.
		 */
		if (cosy_module_submitted(loop))
			cosy_module_flush(loop);
		if (loop->module.page)
			cosy_module_collect(loop, COSY_ATTEMPTS);
	}
}

void cosy_attempts_init(struct cosy_loop *loop)
{
	enum cosy_executor executor = cosy_options().executor;

	loop->batch = loop->batches[0];
	loop->kernel = (executor == COSY_EXECUTOR_AUTO ||
			executor == COSY_EXECUTOR_KERNEL) &&
		       cosy_device_available(executor == COSY_EXECUTOR_KERNEL);
}
