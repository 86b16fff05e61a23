/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ring-submit.h - which calls the ring takes, and submitting them to it.
 */
#ifndef COSY_LOOP_RING_SUBMIT_H
#define COSY_LOOP_RING_SUBMIT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cosy/async.h>
#include <linux/cosy_ring.h>

#include "loop.h"
#include "submit.h"

/* Return true if a read() or write() does what recvfrom() or sendto() without flags does. */
static inline bool cosy_ring_transfers(const struct cosy_loop *loop, const struct cosy_async *op,
				       const uint64_t args[6])
{
	const struct cosy_descriptor *d;

	/* What comes back from the ring has to be the original call again: see COSY_RING_AS_FILE. */
	if (!op || (uint32_t)args[0] >= COSY_SUBMIT_MAX_FD)
		return false;
	/* With other lengths, these calls fail or end at once, and recvfrom() waits. */
	if (!args[2] || args[2] > INT_MAX)
		return false;
	d = cosy_descriptor_find(&loop->fds, (int)args[0]);
	return d && d->kind == COSY_KIND_SOCKET && d->type == SOCK_STREAM;
}

/* Return true if a descriptor is probably a file on a disk. The module looks whether it is one. */
static inline bool cosy_ring_reads(const struct cosy_loop *loop, uint64_t fd)
{
	const struct cosy_descriptor *d = cosy_descriptor_find(&loop->fds, (int)fd);

	return d && (d->kind == COSY_KIND_DISK || d->opened);
}

/*
 * Return true if the ring may close a descriptor: the ring has opened it, and only the ring has used it
 * since. The module looks whether it is a file.
 */
static inline bool cosy_ring_closes(const struct cosy_loop *loop, uint64_t fd)
{
	const struct cosy_descriptor *d = cosy_descriptor_find(&loop->fds, (int)fd);

	return d && d->opened && d->kind == COSY_KIND_UNKNOWN && !d->added && !loop->cpus &&
	       !loop->cpu && !cosy_group_is_known(&loop->fds, (uint32_t)fd, (uint32_t)fd);
}

/**
 * cosy_ring_submits() - test whether the ring takes a call, without a check of its order
 * @op: the operation, or NULL
 *
 * The loop is locked, or the calling thread has the ring.
 */
static COSY_ALWAYS_INLINE bool cosy_ring_submits(const struct cosy_loop *loop,
						 const struct cosy_async *op, enum cosy_how how,
						 long nr, const uint64_t args[6])
{
	switch (how) {
	case COSY_HOW_DIRECT:
	case COSY_HOW_NOWAIT:
		return !COSY_UNLIKELY(cosy_is_of_share((int)args[0])) || !cosy_names_share(nr, args);
	case COSY_HOW_RECEIVE:
		if ((uint32_t)args[0] >= COSY_SUBMIT_MAX_FD)
			return false;
		return nr == SYS_recvfrom ? args[2] && !(args[3] & COSY_RING_RECEIVE_UNUSUAL) :
					    !(args[2] & COSY_RING_RECEIVE_UNUSUAL);
	case COSY_HOW_ACCEPT:
		/* Accepts that wait in the loop's page do not keep a thread from having the ring. */
		return (uint32_t)args[0] < COSY_SUBMIT_MAX_FD &&
		       !cosy_page_precedes(loop, how, nr, args[0]);
	case COSY_HOW_SEND:
		if ((uint32_t)args[0] >= COSY_SUBMIT_MAX_FD)
			return false;
		return !((nr == SYS_sendto ? args[3] : args[2]) & COSY_RING_SEND_UNUSUAL);
	case COSY_HOW_READ:
		if ((uint32_t)args[0] >= COSY_SUBMIT_MAX_FD)
			return false;
		if (nr == SYS_pread64 || (nr == SYS_read && cosy_ring_reads(loop, args[0])))
			return true;
		return nr == SYS_read && cosy_ring_transfers(loop, op, args);
	case COSY_HOW_WRITE:
		return nr == SYS_write && cosy_ring_transfers(loop, op, args);
	case COSY_HOW_CLOSE:
		return nr == SYS_close && cosy_ring_closes(loop, args[0]);
	default:
		return false;
	}
}

/* Add a receive that has other arguments than a recvfrom() without an address. */
static inline void cosy_ring_add_receive(struct cosy_loop *loop, struct cosy_async *op, uint32_t nr,
					 const uint64_t args[6])
{
	struct cosy_submit *s = loop->ring.submit;

	cosy_submit_write(s, &s->receives[s->receives_tail++ & s->mask], op,
			  COSY_SUBMIT_RING | COSY_SUBMIT_RECEIVE | (uint32_t)args[0], nr, 6, args[0],
			  args[1], args[2], args[3], args[4], args[5]);
}

/**
 * cosy_ring_submit() - submit a call to the ring, which takes it; needs the lock
 * @op: an operation that is not pending, or NULL
 */
static COSY_ALWAYS_INLINE void cosy_ring_submit(struct cosy_loop *loop, struct cosy_async *op,
						long nr, const uint64_t args[6])
{
	struct cosy_submit *s = loop->ring.submit;

	cosy_descriptor_submits(&loop->fds, nr, args);
	loop->ring.up_to_date = false;
	switch (nr) {
	case SYS_recvfrom:
		if (COSY_UNLIKELY(args[4])) {
			cosy_ring_add_receive(loop, op, SYS_recvfrom, args);
			break;
		}
		cosy_submit_add_receive(s, op, (uint32_t)args[0], args[1], args[2],
					args[3]);
		break;
	case SYS_recvmsg:
	case SYS_accept:
	case SYS_accept4:
		cosy_ring_add_receive(loop, op, (uint32_t)nr, args);
		break;
	case SYS_read:
		if (cosy_ring_reads(loop, args[0])) {
			cosy_submit_add_call(s, op, SYS_read, 3, args[0], args[1],
					     args[2], 0, 0, 0);
			break;
		}
		cosy_submit_add_receive(s, op, (uint32_t)args[0], args[1], args[2], 0);
		op->slot |= COSY_RING_AS_FILE;
		break;
	case SYS_open:
	case SYS_openat:
		cosy_submit_add_call(s, op, (uint32_t)nr, 4, args[0], args[1], args[2],
				     args[3], 0, 0);
		if (op)
			op->slot |= COSY_RING_OPENS;
		break;
	case SYS_close:
		/* The next file with this number is another one. */
		cosy_descriptor_find(&loop->fds, (int)args[0])->opened = false;
		if (loop->fds.group)
			cosy_group_closes(&loop->fds, (uint32_t)args[0], (uint32_t)args[0], NULL);
		cosy_submit_add_call(s, op, SYS_close, 1, args[0], 0, 0, 0, 0, 0);
		break;
	case SYS_write:
		cosy_submit_add_call(s, op, SYS_sendto, 6, args[0], args[1], args[2], 0,
				     0, 0);
		op->slot |= COSY_RING_AS_FILE;
		break;
	default:
		cosy_submit_add_call(s, op, (uint32_t)nr, 6, args[0], args[1], args[2],
				     args[3], args[4], args[5]);
	}
}

/** cosy_ring_submit_reserved() - the same for a call of a function, which has a slot */
static COSY_ALWAYS_INLINE void cosy_ring_submit_reserved(struct cosy_loop *loop,
							 struct cosy_async *op, long nr,
							 const uint64_t args[6])
{
	/* The slot is its place: there is room for as many as there are slots. */
	loop->ring.submit->room++;
	loop->ring.of_tasks++;
	cosy_ring_submit(loop, op, nr, args);
	op->slot |= COSY_RING_OF_TASK;
}

/**
 * cosy_ring_submit_reserved_usual() - the same for a recvfrom() or sendto() without an address
 *
 * The descriptor is one for which cosy_submit_is_known().
 */
static COSY_ALWAYS_INLINE void
cosy_ring_submit_reserved_usual(struct cosy_loop *loop, struct cosy_submit *s, struct cosy_async *op,
				bool receives, uint64_t fd, uint64_t buffer, uint64_t size,
				uint64_t flags)
{
	loop->ring.of_tasks++;
	if (receives)
		cosy_submit_fill(&s->receives[s->receives_tail++ & s->mask], op,
				 COSY_SUBMIT_RING | COSY_SUBMIT_RECEIVE | COSY_RING_OF_TASK |
					 (uint32_t)fd, SYS_recvfrom, 5, fd, buffer, size, flags, 0, 0);
	else
		cosy_submit_fill(&s->calls[s->calls_tail++ & s->mask], op,
				 COSY_SUBMIT_RING | COSY_RING_OF_TASK, SYS_sendto, 5, fd, buffer, size,
				 flags, 0, 0);
}

/**
 * cosy_ring_makes_at_once() - return true if the module probably makes a call at once
 * @op:	 its operation, which is in the ring
 * @how: how the call waits
 *
 * COSY_NOWAIT or COSY_RING_CALL(..., NOWAIT) of syscalls.def. The ring takes no other calls that wait like
 * READ or CLOSE, but for receives.
 */
static inline bool cosy_ring_makes_at_once(const struct cosy_async *op, enum cosy_how how)
{
	return (how == COSY_HOW_NOWAIT || how == COSY_HOW_READ || how == COSY_HOW_CLOSE) &&
	       !(op->slot & COSY_SUBMIT_RECEIVE);
}

/** cosy_ring_submit_receive() - submit a receive from @fd that takes a buffer */
static inline void cosy_ring_submit_receive(struct cosy_loop *loop, struct cosy_async *op,
					    uint32_t fd)
{
	struct cosy_submit *s = loop->ring.submit;

	cosy_descriptor_learned(&loop->fds, (int)fd);
	loop->ring.up_to_date = false;
	cosy_submit_write(s, &s->receives[s->receives_tail++ & s->mask], op,
			  COSY_SUBMIT_RING | COSY_SUBMIT_RECEIVE | COSY_RING_INTO_BUFFER | fd,
			  COSY_RING_RECEIVE, 4, fd, 0, 0, 0, 0, 0);
}

/** cosy_ring_submit_reply() - submit a reply; it has the arguments of a send and of a receive */
static inline void cosy_ring_submit_reply(struct cosy_loop *loop, struct cosy_async *op,
					  const uint64_t send[6], const uint64_t receive[6])
{
	struct cosy_submit *s = loop->ring.submit;
	struct cosy_submit_entry *entry = &s->receives[s->receives_tail & s->mask];
	const uint32_t place = s->calls_tail;

	cosy_descriptor_learned(&loop->fds, (int)send[0]);
	cosy_descriptor_learned(&loop->fds, (int)receive[0]);
	loop->ring.up_to_date = false;
	cosy_submit_add_receive(s, op, (uint32_t)receive[0], receive[1], receive[2], receive[3]);
	entry->flags = place << 1 | COSY_RING_LINKED;
	cosy_submit_add_call(s, NULL, SYS_sendto, 5, send[0], send[1], send[2], send[3], 0, 0);
	entry = &s->calls[place & s->mask];
	entry->flags = COSY_RING_LINKED;
	entry->op = (uintptr_t)op;
	op->slot |= COSY_RING_REPLY;
}

/** cosy_ring_submit_reserved_reply() - the same for a function, which has a slot; there is one more place */
static inline void cosy_ring_submit_reserved_reply(struct cosy_loop *loop, struct cosy_async *op,
						   const uint64_t send[6],
						   const uint64_t receive[6])
{
	loop->ring.submit->room++;
	loop->ring.of_tasks++;
	cosy_ring_submit_reply(loop, op, send, receive);
	op->slot |= COSY_RING_OF_TASK;
}

#endif /* COSY_LOOP_RING_SUBMIT_H */
