/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * direct.c - calls that do not wait, submitted to the module at once.
 *
 * An operation whose call never waits needs no list, no attempt, and no second entry: it is
 * written into the module's page when it is submitted, if the module makes calls and nothing
 * comes before it that the module does not have. The module sees it when a thread that waits
 * for the loop executes what was submitted. Until then it can be taken back: to make a call or
 * two without the module, which is cheaper, and to cancel it.
 *
 * So is a NOWAIT call, which a thread makes if the module cannot do so without waiting.
 */
#include "../sys.h"
#include "loop.h"

/* Put the call of an entry where it is without the module. */
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

bool cosy_direct_start(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->entries[slot];
	const struct cosy_slot *s = &loop->slots[slot];

	/* Attempts in the batch come first. */
	if (s->how != COSY_HOW_DIRECT || s->cancelled || loop->nbatch ||
	    cosy_module_submitted(loop))
		return false;
	loop->info.attempts++;
	loop->info.entries++;
	cosy_complete(loop, slot, cosy_sys_args(entry->nr, entry->args));
	return true;
}

void cosy_direct_make(struct cosy_loop *loop)
{
	struct cosy_module *m = &loop->module;
	uint32_t n = m->direct;

	/* What comes before them it may not have taken; and NOWAIT calls only it makes. */
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
