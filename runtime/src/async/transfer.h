/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * transfer.h - recvfrom() and sendto() of sockets, made immediately.
 *
 * Servers mostly make these calls. start.c handles all calls with its lists and batches, which
 * takes three times as many instructions. The functions here handle only simple cases, and leave
 * all others to start.c.
 */
#ifndef COSY_TRANSFER_H
#define COSY_TRANSFER_H

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "device/sys.h"
#include "complete.h"
#include "loop.h"
#include "start.h"

/*
 * Flags with which a call does not wait, or waits for something else; with MSG_PEEK perhaps. The
 * comment at COSY_RING_RECEIVE_UNUSUAL says why the module's lists differ.
 */
#define COSY_UNUSUAL	(MSG_DONTWAIT | MSG_OOB | MSG_ERRQUEUE | MSG_PEEK)

/*
 * Return true if epoll reports when the call @nr can end. Other calls may fail at once because of
 * their arguments: a buffer that is too small for an eventfd, a vector or message that cannot be
 * read, an offset in a pipe, a datagram that is too long.
 */
static COSY_ALWAYS_INLINE bool cosy_is_reported(long nr, const struct cosy_descriptor *d)
{
	if (!d->receives || !(d->armed & EPOLLIN))
		return false;
	return (nr == SYS_recvfrom && d->kind == COSY_KIND_SOCKET) ||
	       (nr == SYS_read &&
		(d->kind == COSY_KIND_SOCKET || d->kind == COSY_KIND_PIPE));
}

/* Return true if a call with @flags can be made now. It cannot before attempts of the batch. */
static inline bool cosy_can_transfer(const struct cosy_loop *loop, uint64_t flags,
				     const struct cosy_descriptor *d)
{
	return !(flags & COSY_UNUSUAL) && d->kind == COSY_KIND_SOCKET &&
	       !loop->attempts.count;
}

/*
 * Return true if the result of a recvfrom() or sendto() completes it. Otherwise cosy_attempted() has
 * to decide.
 */
static inline bool cosy_transfer_is_complete(const struct cosy_async_entry *entry, long nr,
					     int64_t result)
{
	return result >= 0 &&
	       ((uint64_t)result == entry->args[2] ||
		(nr == SYS_recvfrom && !(entry->args[3] & MSG_WAITALL)));
}

/* cosy_descriptor_append() for a call that transfers data, and an empty list of @d. */
static inline void cosy_descriptor_append_only(struct cosy_loop *loop,
					       struct cosy_descriptor *d,
					       uint32_t slot, enum cosy_list list)
{
	struct cosy_slot *s = &loop->slots.all[slot];

	s->next = s->prev = COSY_NO_SLOT;
	s->list = (uint8_t)list;
	d->head[list] = d->tail[list] = slot;
	loop->fds.waiting++;
}

/* cosy_descriptor_remove() for the only entry of a list. */
static inline void cosy_descriptor_remove_only(struct cosy_loop *loop,
					       struct cosy_descriptor *d,
					       uint32_t slot, enum cosy_list list)
{
	struct cosy_slot *s = &loop->slots.all[slot];

	d->head[list] = d->tail[list] = COSY_NO_SLOT;
	s->list = COSY_LIST_NONE;
	loop->fds.waiting--;
}

/* Make the call @nr without blocking. */
static COSY_ALWAYS_INLINE int64_t
cosy_transfer(struct cosy_loop *loop, const struct cosy_async_entry *entry,
	      long nr)
{
	loop->info.attempts++;
	loop->info.entries++;
	return cosy_fd_call(nr, (int)entry->args[0], (long)entry->args[1],
			    (long)entry->args[2], (long)(entry->args[3] | MSG_DONTWAIT),
			    (long)entry->args[4], (long)entry->args[5]);
}

/* Continue an entry, which is in its list, after a partial transfer or a failure. */
static inline void cosy_transfer_attempted(struct cosy_loop *loop,
					   uint32_t slot, int64_t result)
{
	const struct cosy_attempt attempt = {
		.nr = loop->page.entries[slot].nr,
		.result = result,
		.slot = slot,
	};

	cosy_attempted(loop, &attempt);
}

/* cosy_transfer_start() for the call @nr, which waits in @list. */
static COSY_ALWAYS_INLINE bool
cosy_transfer_call(struct cosy_loop *loop, uint32_t slot, long nr,
		   enum cosy_list list, struct cosy_delivery *delivery)
{
	struct cosy_slot *s = &loop->slots.all[slot];
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	int fd = (int)entry->args[0];
	struct cosy_descriptor *d = cosy_descriptor_find(&loop->fds, fd);
	int64_t result = -EAGAIN;
	bool reported;

	if (!d || s->cancelled || d->head[list] != COSY_NO_SLOT ||
	    !cosy_can_transfer(loop, entry->args[3], d))
		return false;
	cosy_page_taken(&loop->page);
	reported = cosy_is_reported(nr, d);
	if (!reported) {
		result = cosy_transfer(loop, entry, nr);
		if (cosy_transfer_is_complete(entry, nr, result)) {
			cosy_complete_now(loop, slot, result, delivery);
			return true;
		}
	}
	s->fd = fd;
	s->done = 0;
	s->state = COSY_SLOT_WAITING;
	cosy_descriptor_append_only(loop, d, slot, list);
	if (!reported)
		cosy_transfer_attempted(loop, slot, result);
	return true;
}

/**
 * cosy_transfer_start() - begin with the first entry in the ring
 *
 * Return: false if cosy_start() has to begin with it; it is still in the ring.
 */
static COSY_ALWAYS_INLINE bool cosy_transfer_start(struct cosy_loop *loop, uint32_t slot,
						   struct cosy_delivery *delivery)
{
	switch (loop->page.entries[slot].nr) {
	case SYS_recvfrom:
		return cosy_transfer_call(loop, slot, SYS_recvfrom,
					  COSY_LIST_IN, delivery);
	case SYS_sendto:
		return cosy_transfer_call(loop, slot, SYS_sendto,
					  COSY_LIST_OUT, delivery);
	default:
		return false;
	}
}

/* Begin with submitted entries up to the first one for cosy_start(). */
static COSY_ALWAYS_INLINE void cosy_transfer_submitted(struct cosy_loop *loop,
						       struct cosy_delivery *delivery)
{
	uint32_t slot;

	while ((slot = cosy_page_first(&loop->page)) != COSY_NO_SLOT &&
	       cosy_transfer_start(loop, slot, delivery))
		;
}

/*
 * Return true if an entry receives into a buffer of the loop, and one is free. Then it need
 * not peek before: it receives when its call has "ended", and waits again if there is nothing after all.
 */
static inline bool cosy_transfer_is_into_buffer(const struct cosy_loop *loop,
						const struct cosy_slot *s)
{
	return s->receive == COSY_INTO_BUFFER && *loop->ring.buffers.free;
}

/**
 * cosy_transfer_ready() - continue the entry of a descriptor for which epoll has reported events
 *
 * Return: false if cosy_descriptor_event() has to handle the events.
 */
static COSY_ALWAYS_INLINE bool cosy_transfer_ready(struct cosy_loop *loop, int fd,
						   uint32_t events,
						   struct cosy_delivery *delivery)
{
	struct cosy_descriptor *d = cosy_descriptor_find(&loop->fds, fd);
	const struct cosy_async_entry *entry;
	struct cosy_slot *s;
	bool into_buffer;
	int64_t result;
	uint32_t slot;

	if (!d || events != EPOLLIN ||
	    d->head[COSY_LIST_POLL] != COSY_NO_SLOT)
		return false;
	slot = d->head[COSY_LIST_IN];
	if (slot == COSY_NO_SLOT)
		return false;
	s = &loop->slots.all[slot];
	entry = &loop->page.entries[slot];
	into_buffer = cosy_transfer_is_into_buffer(loop, s);
	if (s->state != COSY_SLOT_WAITING || s->next != COSY_NO_SLOT ||
	    s->done || entry->nr != SYS_recvfrom ||
	    !cosy_can_transfer(loop, into_buffer ? 0 : entry->args[3], d))
		return false;
	/* As if there were nothing to peek at: perhaps there is nothing, because the connection is over. */
	result = into_buffer ? 0 : cosy_transfer(loop, entry, SYS_recvfrom);
	if (!cosy_transfer_is_complete(entry, SYS_recvfrom, result)) {
		s->reported = true;
		cosy_transfer_attempted(loop, slot, result);
		return true;
	}
	cosy_descriptor_remove_only(loop, d, slot, COSY_LIST_IN);
	cosy_complete_now(loop, slot, result, delivery);
	return true;
}

#endif /* COSY_TRANSFER_H */
