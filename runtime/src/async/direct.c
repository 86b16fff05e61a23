/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * direct.c - calls that never wait, submitted directly to the module.
 *
 * An operation whose call never waits needs no list, no attempt, and no second entry. When it is
 * submitted, it is written to the module's page, if the module makes calls and has all earlier
 * entries. It becomes visible to the module when a waiting thread executes the submitted
 * operations. Before that it can be taken back: to cancel it, or to make one or two calls without
 * the module, which is cheaper.
 *
 * NOWAIT calls are submitted in the same way. If the module cannot make one without waiting, a
 * thread makes it.
 */
#include "../sys.h"
#include "loop.h"

/* Copy the call of an entry from the module's page to the loop's page. */
static void fetch_call(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *from = &loop->module.entries[slot];
	struct cosy_async_entry *to = &loop->entries[slot];

	to->nr = from->nr;
	for (int i = 0; i < 6; i++)
		to->args[i] = from->args[i];
}

void cosy_direct_make_in_user_mode(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->module.entries[slot];

	if (loop->slots[slot].how == COSY_HOW_NOWAIT) {
		fetch_call(loop, slot);
		cosy_page_withdraw(loop, slot);
		cosy_thread_call(loop, slot, true);
		return;
	}
	loop->info.entries++;
	cosy_complete(loop, slot, cosy_sys_args(entry->nr, entry->args));
}

void cosy_direct_made(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->module.entries[slot];

	if (entry->status == COSY_ENTRY_USER) {
		cosy_direct_make_in_user_mode(loop, slot);
		return;
	}
	cosy_complete(loop, slot, (int64_t)entry->args[0]);
}

void cosy_direct_make(struct cosy_loop *loop)
{
	struct cosy_module *m = &loop->module;
	uint32_t n = m->direct;

	/* Enter if the module may not have taken earlier entries, or for NOWAIT calls. */
	if (n >= COSY_MIN_BATCH || m->tail - n != m->page->submit_head ||
	    m->direct_nowait) {
		cosy_attempts_make(loop);
		return;
	}
	loop->info.attempts += n;
	for (uint32_t i = m->tail - n; i != m->tail; i++)
		cosy_direct_make_in_user_mode(loop, m->submitted[i & loop->mask]);
	m->tail -= n;
	m->direct = 0;
}

void cosy_direct_retract(struct cosy_loop *loop)
{
	struct cosy_module *m = &loop->module;

	for (; m->direct; m->direct--) {
		uint32_t slot = m->submitted[--m->tail & loop->mask];

		fetch_call(loop, slot);
		cosy_page_unsubmit(loop, slot);
	}
	m->direct_nowait = false;
}
