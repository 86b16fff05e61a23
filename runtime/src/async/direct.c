/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * direct.c - calls that are submitted directly to the module.
 *
 * An operation whose call never waits needs no list, no attempt, and no second entry. When it is
 * submitted, it is written to the module's page, if the module makes calls and has all earlier
 * entries. It becomes visible to the module when a waiting thread executes the submitted
 * operations. Before that it can be taken back: to cancel it, or to make one or two calls without
 * the module, which is cheaper.
 *
 * NOWAIT calls are submitted in the same way. If the module cannot make one without waiting, a
 * thread makes it.
 *
 * So are recvfrom() and sendto() of a socket for which nothing else waits, in state TRANSFER. The
 * module makes them, or waits. They are in the list of their descriptor from the beginning, so that
 * later entries wait behind them. One that is taken back stays there.
 */
#include <sys/socket.h>

#include "device/sys.h"
#include "loop.h"
#include "transfer.h"

/* Copy the call of an entry from the module's page to the loop's page. */
static void fetch_call(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *from = &loop->module.entries[slot];
	struct cosy_async_entry *to = &loop->entries[slot];

	to->nr = from->nr;
	for (int i = 0; i < 6; i++)
		to->args[i] = from->args[i];
}

void cosy_direct_fetch(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_async_entry *entry = &loop->entries[slot];
	struct cosy_slot *s = &loop->slots[slot];

	fetch_call(loop, slot);
	/* The module may have written the result in place of the descriptor. */
	entry->args[0] = (uint64_t)s->fd;
	entry->args[3] &= ~(uint64_t)MSG_DONTWAIT;
	s->state = COSY_SLOT_PARKED;
}

/* Make a sendto() here. If it would block, it waits for epoll. */
static void send_in_user_mode(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->entries[slot];
	int64_t result;

	cosy_direct_fetch(loop, slot);
	loop->slots[slot].state = COSY_SLOT_WAITING;
	loop->module.inside--;
	result = cosy_transfer(loop, entry, SYS_sendto);
	if (cosy_transfer_is_complete(entry, SYS_sendto, result))
		cosy_finish(loop, slot, result);
	else
		cosy_transfer_attempted(loop, slot, result);
}

void cosy_direct_make_in_user_mode(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->module.entries[slot];

	if (loop->slots[slot].state == COSY_SLOT_TRANSFER) {
		send_in_user_mode(loop, slot);
		return;
	}
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

void cosy_direct_collect(struct cosy_loop *loop)
{
	while (cosy_direct_done(loop))
		cosy_direct_made(loop, cosy_direct_take(loop));
}

void cosy_direct_make(struct cosy_loop *loop)
{
	struct cosy_module *m = &loop->module;
	uint32_t n = m->direct, slots[COSY_MIN_BATCH];

	/*
	 * Enter if the module may not have taken earlier entries, or for NOWAIT calls. Entries that
	 * receive may have to wait, and then the thread enters in any case.
	 */
	if (n >= COSY_MIN_BATCH || m->tail - n != m->page->submit_head ||
	    m->receives || m->direct_nowait) {
		cosy_attempts_make(loop);
		return;
	}
	/* Their places in the ring can be used again from here on. */
	m->tail -= n;
	m->direct = 0;
	for (uint32_t i = 0; i < n; i++)
		slots[i] = m->submitted[(m->tail + i) & loop->mask];
	for (uint32_t i = 0; i < n; i++) {
		loop->info.attempts += loop->slots[slots[i]].state == COSY_SLOT_DIRECT;
		cosy_direct_make_in_user_mode(loop, slots[i]);
	}
}

void cosy_direct_retract(struct cosy_loop *loop)
{
	struct cosy_module *m = &loop->module;

	for (; m->direct; m->direct--) {
		uint32_t slot = m->submitted[--m->tail & loop->mask];

		if (loop->slots[slot].state == COSY_SLOT_TRANSFER) {
			cosy_direct_fetch(loop, slot);
			m->inside--;
		} else {
			fetch_call(loop, slot);
		}
		cosy_page_unsubmit(loop, slot);
	}
	m->receives = 0;
	m->direct_nowait = false;
}
