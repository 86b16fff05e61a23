/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cosy/submit.h - submits the most usual operations without a call of libcosy.
 *
 * Part of <cosy/async.h>; do not include it alone, and do not use its names. A loop often belongs to
 * one thread: it submits, waits, and runs the callbacks. This thread writes entries to the loop's
 * ring (linux/cosy_ring.h) without a lock. In all other cases cosy_async_call() submits the
 * operation. The layout of the structures belongs to the binary interface of libcosy.
 */
#ifndef COSY_SUBMIT_H
#define COSY_SUBMIT_H

/* A program in C++ may ask for warnings about what C needs, such as its casts. */
#ifdef __cplusplus
#pragma GCC system_header
#endif

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct cosy_submit_entry - an entry, as in linux/cosy_ring.h */
struct cosy_submit_entry {
	uint32_t nr;
	uint32_t flags;
	uint64_t op;
	uint64_t args[6];
};

/* After this number of changes by force, no thread has the ring without the lock. */
#define COSY_SUBMIT_OWNERS	16

/**
 * struct cosy_submit - where a thread writes entries
 * @thread:	   the thread that may write without the lock of the loop, or NULL
 * @calls:	   the ring of calls
 * @receives:	   the ring of receives
 * @mask:	   number of places in each - 1
 * @room:	   number of operations that can still be submitted; negative if places that no
 *		   operation uses are not free yet
 * @calls_tail:	   number of calls written
 * @receives_tail: number of receives written
 * @quiet:	   number of calls written that do not complete, and whose places are not free yet
 * @owner:	   number of times that the loop was taken from a thread and another one got it, when
 *		   @thread was set
 * @busy:	   by @owner: @thread uses this structure now. Another thread that takes the loop from
 *		   it sets @thread to NULL, lets all threads see that (membarrier), and waits for
 *		   @busy. A thread that has lost the loop, and does not know it, writes only its own one
 * @known:	   the loop is one of several that use the same descriptors: for each of these, the
 *		   number of the loop that has used it, or COSY_SUBMIT_SEVERAL; otherwise NULL
 * @member:	   this loop's number
 *
 * A child finds it cleared.
 */
struct cosy_submit {
	const void *thread;
	struct cosy_submit_entry *calls;
	struct cosy_submit_entry *receives;
	uint32_t mask;
	int32_t room;
	uint32_t calls_tail;
	uint32_t receives_tail;
	uint32_t quiet;
	uint32_t owner;
	uint32_t busy[COSY_SUBMIT_OWNERS];
	const uint16_t *known;
	uint16_t member;
};

/* In @known: more than one loop. */
#define COSY_SUBMIT_SEVERAL	UINT16_MAX

/* In the slot of an operation: it is in the ring; it is a receive from the descriptor in the rest. */
#define COSY_SUBMIT_RING	(1u << 31)
#define COSY_SUBMIT_RECEIVE	(1u << 30)
#define COSY_SUBMIT_MAX_FD	(1u << 24)

/* In the flags of an entry, see linux/cosy_ring.h. */
#define COSY_SUBMIT_LINKED	1u

/* Flags with which calls do not wait, or wait for something else, see linux/cosy_ring.h. */
#define COSY_SUBMIT_RECEIVE_UNUSUAL	(0x01u | 0x02u | 0x40u | 0x100u | 0x2000u)
#define COSY_SUBMIT_SEND_UNUSUAL	(0x01u | 0x40u | 0x20000000u)

/** cosy_submit_self() - an address that identifies the calling thread */
static inline const void *cosy_submit_self(void)
{
	const void *self;

	/*
	 * The first word of a thread's structure is its address. volatile: a fibre may go on in another thread
	 * after any call.
	 */
	__asm__ volatile("movq %%fs:0, %0" : "=r"(self));
	return self;
}

/** cosy_submit_is_of() - return true if a thread may use a ring without the lock. @self: cosy_submit_self() */
static inline bool cosy_submit_is_of(const struct cosy_submit *s, const void *self)
{
	bool its;

	/* Read and compared by one instruction, which compilers do not make of an atomic load. */
	__asm__ volatile("cmpq %2, %1" : "=@cce"(its) : "r"(self), "m"(s->thread));
	return its;
}

/** cosy_submit_has_noted() - return true if it was noted that a loop uses a descriptor */
static inline bool cosy_submit_has_noted(const uint16_t *known, uint32_t fd, uint16_t member)
{
	const uint16_t by = __atomic_load_n(&known[fd], __ATOMIC_RELAXED);

	return by == member || by == COSY_SUBMIT_SEVERAL;
}

/** cosy_submit_is_known() - false if it has to be noted for other loops that this one uses a descriptor */
static inline bool cosy_submit_is_known(const struct cosy_submit *s, uint32_t fd)
{
	return __builtin_expect(!s->known, 1) || cosy_submit_has_noted(s->known, fd, s->member);
}

/** cosy_submit_owner() - get the index in @busy of the thread that may use a ring */
static inline uint32_t cosy_submit_owner(const struct cosy_submit *s)
{
	return __atomic_load_n(&s->owner, __ATOMIC_RELAXED);
}

/** cosy_submit_end_as() - end what cosy_submit_begin_as() has begun */
static inline void cosy_submit_end_as(struct cosy_submit *s, uint32_t owner)
{
	__atomic_store_n(&s->busy[owner], 0, __ATOMIC_RELEASE);
}

/** cosy_submit_end() - end what cosy_submit_begin() has begun */
static inline void cosy_submit_end(struct cosy_submit *s)
{
	cosy_submit_end_as(s, s->owner);
}

/**
 * cosy_submit_begin_as() - begin to use a ring; false if the calling thread must not
 * @owner: cosy_submit_owner(), which does not change until the use ends
 */
static inline bool cosy_submit_begin_as(struct cosy_submit *s, uint32_t owner)
{
	const void *self = cosy_submit_self();

	if (__builtin_expect(!cosy_submit_is_of(s, self), 0))
		return false;
	__atomic_store_n(&s->busy[owner], 1, __ATOMIC_RELAXED);
	/* The processor need not keep this order: see @busy. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* Only this thread gives the ring to itself, so @owner has not changed if it still has it. */
	if (__builtin_expect(cosy_submit_is_of(s, self), 1))
		return true;
	cosy_submit_end_as(s, owner);
	return false;
}

/** cosy_submit_begin() - the same without @owner */
static inline bool cosy_submit_begin(struct cosy_submit *s)
{
	return cosy_submit_begin_as(s, cosy_submit_owner(s));
}

/** cosy_submit_begin_op() - the same to submit an operation; also false if it cannot be */
static inline bool cosy_submit_begin_op(struct cosy_submit *s, const struct cosy_async *op)
{
	if (!cosy_submit_begin(s))
		return false;
	if (__builtin_expect(s->room > 0, 1) && __builtin_expect(op != NULL, 1) &&
	    __builtin_expect(op->state != 1, 1))
		return true;
	cosy_submit_end(s);
	return false;
}

/** cosy_submit_take() - cosy_submit_begin_as() and take a place for an operation; also false if it cannot be */
static inline bool cosy_submit_take(struct cosy_submit *s, const struct cosy_async *op,
				    uint32_t owner)
{
	bool taken;

	if (!cosy_submit_begin_as(s, owner))
		return false;
	/* Compilers do not make one instruction of taking the place and testing whether there was one. */
	__asm__ volatile("decl %1" : "=@ccns"(taken), "+m"(s->room));
	if (__builtin_expect(taken, 1) && __builtin_expect(op != NULL, 1) &&
	    __builtin_expect(op->state != 1, 1))
		return true;
	s->room++;
	cosy_submit_end_as(s, owner);
	return false;
}

/**
 * cosy_submit_fill() - write an entry with @n arguments, whose place is taken already
 *
 * A call does not read the others.
 */
__attribute__((always_inline)) static inline void
cosy_submit_fill(struct cosy_submit_entry *entry, struct cosy_async *op, uint32_t slot, uint32_t nr,
		 unsigned int n, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
		 uint64_t a5)
{
	entry->nr = nr;
	entry->flags = 0;
	entry->op = (uint64_t)(uintptr_t)op;
	if (n > 0)
		entry->args[0] = a0;
	if (n > 1)
		entry->args[1] = a1;
	if (n > 2)
		entry->args[2] = a2;
	if (n > 3)
		entry->args[3] = a3;
	if (n > 4)
		entry->args[4] = a4;
	if (n > 5)
		entry->args[5] = a5;
	if (op) {
		op->slot = slot;
		__atomic_store_n(&op->state, 1, __ATOMIC_RELAXED);
	}
}

/** cosy_submit_write() - the same, and take its place */
__attribute__((always_inline)) static inline void
cosy_submit_write(struct cosy_submit *s, struct cosy_submit_entry *entry, struct cosy_async *op,
		  uint32_t slot, uint32_t nr, unsigned int n, uint64_t a0, uint64_t a1, uint64_t a2,
		  uint64_t a3, uint64_t a4, uint64_t a5)
{
	cosy_submit_fill(entry, op, slot, nr, n, a0, a1, a2, a3, a4, a5);
	s->room--;
}

/** cosy_submit_fill_call() - add a call with @n arguments, whose place is taken, to the ring */
__attribute__((always_inline)) static inline void
cosy_submit_fill_call(struct cosy_submit *s, struct cosy_async *op, uint32_t nr, unsigned int n,
		      uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5)
{
	cosy_submit_fill(&s->calls[s->calls_tail++ & s->mask], op, COSY_SUBMIT_RING, nr, n, a0, a1,
			 a2, a3, a4, a5);
}

/** cosy_submit_add_call() - add a call with @n arguments to the ring, whose use has begun */
__attribute__((always_inline)) static inline void
cosy_submit_add_call(struct cosy_submit *s, struct cosy_async *op, uint32_t nr, unsigned int n,
		     uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5)
{
	if (!op)
		s->quiet++;
	cosy_submit_fill_call(s, op, nr, n, a0, a1, a2, a3, a4, a5);
	s->room--;
}

/** cosy_submit_fill_receive() - add a recvfrom() without an address, whose place is taken, to the ring */
__attribute__((always_inline)) static inline void
cosy_submit_fill_receive(struct cosy_submit *s, struct cosy_async *op, uint32_t fd, uint64_t buffer,
			 uint64_t size, uint64_t flags)
{
	cosy_submit_fill(&s->receives[s->receives_tail++ & s->mask], op,
			 COSY_SUBMIT_RING | COSY_SUBMIT_RECEIVE | fd, 45 /* recvfrom */, 5, fd,
			 buffer, size, flags, 0, 0);
}

/** cosy_submit_add_receive() - add a recvfrom() without an address to the ring */
__attribute__((always_inline)) static inline void
cosy_submit_add_receive(struct cosy_submit *s, struct cosy_async *op, uint32_t fd, uint64_t buffer,
			uint64_t size, uint64_t flags)
{
	cosy_submit_fill_receive(s, op, fd, buffer, size, flags);
	s->room--;
}

/** cosy_submit_call() - cosy_async_call() for a call with @n arguments that does not wait */
static inline int cosy_submit_call(struct cosy_loop *loop, struct cosy_async *op, uint32_t nr,
				   unsigned int n, uint64_t a0, uint64_t a1, uint64_t a2,
				   uint64_t a3, uint64_t a4, uint64_t a5)
{
	/* The first member of every loop. */
	struct cosy_submit *s = *(struct cosy_submit **)(void *)loop;
	const uint32_t owner = cosy_submit_owner(s);

	if (__builtin_expect(!cosy_submit_take(s, op, owner), 0))
		return cosy_async_call(loop, op, nr, a0, a1, a2, a3, a4, a5);
	cosy_submit_fill_call(s, op, nr, n, a0, a1, a2, a3, a4, a5);
	cosy_submit_end_as(s, owner);
	return 0;
}

/** cosy_submit_descriptor_call() - the same for a call whose first argument is a descriptor */
static inline int cosy_submit_descriptor_call(struct cosy_loop *loop, struct cosy_async *op,
					      uint32_t nr, unsigned int n, uint64_t a0, uint64_t a1,
					      uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5)
{
	struct cosy_submit *s = *(struct cosy_submit **)(void *)loop;

	/* The ring has no descriptors of shares. For other loops, epoll_ctl() has two descriptors to note. */
	if (__builtin_expect((int32_t)a0 >= 1 << 30 ||
			     ((uint32_t)a0 < COSY_SUBMIT_MAX_FD &&
			      !cosy_submit_is_known(s, (uint32_t)a0)) ||
			     (nr == 233 /* epoll_ctl */ && s->known), 0))
		return cosy_async_call(loop, op, nr, a0, a1, a2, a3, a4, a5);
	return cosy_submit_call(loop, op, nr, n, a0, a1, a2, a3, a4, a5);
}

/** cosy_submit_send() - cosy_async_call() for sendto() */
static inline int cosy_submit_send(struct cosy_loop *loop, struct cosy_async *op, uint64_t fd,
				   uint64_t buffer, uint64_t size, uint64_t flags, uint64_t address,
				   uint64_t length)
{
	struct cosy_submit *s = *(struct cosy_submit **)(void *)loop;
	const uint32_t owner = cosy_submit_owner(s);

	if (__builtin_expect((uint32_t)fd >= COSY_SUBMIT_MAX_FD || address ||
			     (flags & COSY_SUBMIT_SEND_UNUSUAL) ||
			     !cosy_submit_is_known(s, (uint32_t)fd) ||
			     !cosy_submit_take(s, op, owner), 0))
		return cosy_async_call(loop, op, 44 /* sendto */, fd, buffer, size, flags, address,
				       length);
	cosy_submit_fill_call(s, op, 44, 5, fd, buffer, size, flags, 0, 0);
	cosy_submit_end_as(s, owner);
	return 0;
}

/** cosy_submit_receive() - cosy_async_call() for recvfrom() */
static inline int cosy_submit_receive(struct cosy_loop *loop, struct cosy_async *op, uint64_t fd,
				      uint64_t buffer, uint64_t size, uint64_t flags,
				      uint64_t address, uint64_t length)
{
	struct cosy_submit *s = *(struct cosy_submit **)(void *)loop;
	const uint32_t owner = cosy_submit_owner(s);

	if (__builtin_expect((uint32_t)fd >= COSY_SUBMIT_MAX_FD || !size || address ||
			     (flags & COSY_SUBMIT_RECEIVE_UNUSUAL) ||
			     !cosy_submit_is_known(s, (uint32_t)fd) ||
			     !cosy_submit_take(s, op, owner), 0))
		return cosy_async_call(loop, op, 45 /* recvfrom */, fd, buffer, size, flags, address,
				       length);
	cosy_submit_fill_receive(s, op, (uint32_t)fd, buffer, size, flags);
	cosy_submit_end_as(s, owner);
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* COSY_SUBMIT_H */
