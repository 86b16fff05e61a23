/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ring.c - the ring of a loop in the module: operations that are submitted, waited for, delivered and
 * cancelled without another page.
 *
 * The ring takes calls that never wait, calls that get the status of a file, and recvfrom() and
 * sendto() without an address and with usual flags. What the module cannot make it gives back; then
 * it is submitted to the loop's page like any other call.
 *
 * Order: while an operation on a descriptor is in the loop's page, later ones for the same direction
 * are submitted there, too. Before one is submitted there, those in the ring are moved to the page.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <linux/cosy.h>

#include "device/sys.h"
#include "loop.h"
#include "ring.h"

_Static_assert(sizeof(struct cosy_submit_entry) == sizeof(struct cosy_ring_entry),
	       "cosy/submit.h declares the same structure");
_Static_assert(COSY_SUBMIT_RECEIVE_UNUSUAL == COSY_RING_RECEIVE_UNUSUAL &&
	       COSY_SUBMIT_SEND_UNUSUAL == COSY_RING_SEND_UNUSUAL, "the same flags");
_Static_assert(COSY_RING_RECEIVE_UNUSUAL ==
	       (MSG_OOB | MSG_PEEK | MSG_DONTWAIT | MSG_WAITALL | MSG_ERRQUEUE), "the flags' values");
_Static_assert(COSY_RING_SEND_UNUSUAL == (MSG_OOB | MSG_DONTWAIT | MSG_FASTOPEN), "and these");

/* After this number of times that other threads took the ring, it stays with the lock. */
#define MAX_TAKEN	16
/* After this number of calls made here, the module is entered, so that others get their turn. */
#define MAX_STREAK	8
/* In nanoseconds: how often a thread looks that has to wait for another one. */
#define LITTLE		50000

static uint64_t enter_ring(const struct cosy_loop *loop, uint64_t what)
{
	return (uint64_t)cosy_sys(SYS_lseek, loop->module.fd,
				  (long)(COSY_RUN_TAG | COSY_ASYNC_RING_ENTER | what),
				  COSY_RUN_WHENCE);
}

static bool was_entered(uint64_t ret)
{
	return ret >> 32 == COSY_ASYNC_ENTERED >> 32;
}

void cosy_ring_open(struct cosy_loop *loop)
{
	struct cosy_ring *ring = &loop->ring;
	struct cosy_submit *submit = loop->submit;
	uint32_t n = loop->mask + 1;
	struct cosy_ring_page *page;

	if (ring->tried)
		return;
	ring->tried = true;
	if (loop->cpu || !cosy_module_makes_calls(loop) || !(loop->module.page->features & COSY_ASYNC_RING))
		return;
	page = mmap(NULL, COSY_RING_SIZE(n), PROT_READ | PROT_WRITE, MAP_SHARED, loop->module.fd,
		    COSY_RING_OFFSET);
	if (page == MAP_FAILED)
		return;
	if (page->version != COSY_RING_VERSION || page->nentries != n) {
		munmap(page, COSY_RING_SIZE(n));
		return;
	}
	/* Without it, other threads cannot take the ring from one that uses it without the lock. */
	ring->shared = cosy_sys(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) < 0;
	ring->page = page;
	ring->done = (void *)((char *)page + page->done);
	submit->calls = (void *)((char *)page + page->calls);
	submit->receives = (void *)((char *)page + page->receives);
	submit->mask = loop->mask;
	submit->room = n;
	page->sleep_fd = -1;
	page->sleep_ns = COSY_ASYNC_FOR_EVER;
	loop->has_ring = true;
}

void cosy_ring_close(struct cosy_loop *loop, bool mapped)
{
	if (loop->ring.page && mapped)
		munmap(loop->ring.page, COSY_RING_SIZE(loop->mask + 1));
	loop->ring.page = NULL;
}

bool cosy_ring_submits(enum cosy_how how, long nr, const uint64_t args[6])
{
	switch (how) {
	case COSY_HOW_DIRECT:
	case COSY_HOW_NOWAIT:
		return true;
	case COSY_HOW_RECEIVE:
		return nr == SYS_recvfrom && args[2] && !args[4] &&
		       (uint32_t)args[0] < COSY_SUBMIT_MAX_FD &&
		       !(args[3] & COSY_RING_RECEIVE_UNUSUAL);
	case COSY_HOW_SEND:
		return nr == SYS_sendto && !args[4] && !(args[3] & COSY_RING_SEND_UNUSUAL);
	default:
		return false;
	}
}

void cosy_ring_submit(struct cosy_loop *loop, struct cosy_async *op, long nr,
		      const uint64_t args[6])
{
	loop->ring.looked = false;
	if (nr == SYS_recvfrom)
		cosy_submit_add_receive(loop->submit, op, (uint32_t)args[0], args[1], args[2],
					args[3]);
	else
		cosy_submit_add_call(loop->submit, op, (uint32_t)nr, 6, args[0], args[1], args[2],
				     args[3], args[4], args[5]);
}

static struct cosy_async *op_of(uint64_t op)
{
	return (struct cosy_async *)(uintptr_t)op;
}

/*
 * Moving entries to the loop's page
 */

/* Submit a call, of which @sent bytes were sent, to the loop's page. It is in the ring no longer. */
static void move_entry(struct cosy_loop *loop, const struct cosy_submit_entry *entry, uint32_t sent)
{
	enum cosy_how how = cosy_how(entry->nr);
	uint64_t args[6];

	for (int i = 0; i < 6; i++)
		args[i] = entry->args[i];
	loop->ring.moved++;
	/* Otherwise the module would try once more whether it has to wait. */
	if (how == COSY_HOW_NOWAIT)
		how = COSY_HOW_DISK;
	cosy_page_submit_again(loop, op_of(entry->op), how, entry->nr, args, sent);
}

static uint32_t list_of(enum cosy_how how)
{
	switch (how) {
	case COSY_HOW_READ:
	case COSY_HOW_RECEIVE:
	case COSY_HOW_ACCEPT:
		return COSY_LIST_IN;
	case COSY_HOW_WRITE:
	case COSY_HOW_SEND:
	case COSY_HOW_CONNECT:
		return COSY_LIST_OUT;
	default:
		return COSY_LIST_NONE;
	}
}

/* The module does nothing for this entry. Its place stays in use until it has taken it. */
static void empty_place(struct cosy_loop *loop, struct cosy_submit_entry *entry)
{
	entry->nr = COSY_RING_NOP;
	entry->op = 0;
	loop->ring.held++;
}

/* Move the receives from a descriptor that the module has not taken. */
static void move_receives(struct cosy_loop *loop, uint32_t fd)
{
	struct cosy_submit *s = loop->submit;

	for (uint32_t i = loop->ring.page->receives_head; i != s->receives_tail; i++) {
		struct cosy_submit_entry *entry = &s->receives[i & s->mask];
		const struct cosy_submit_entry copy = *entry;

		if (copy.nr != SYS_recvfrom || (uint32_t)copy.args[0] != fd)
			continue;
		empty_place(loop, entry);
		move_entry(loop, &copy, 0);
	}
}

/* Move the sends to a descriptor that the module has not taken. */
static void move_sends(struct cosy_loop *loop, uint32_t fd)
{
	struct cosy_submit *s = loop->submit;

	for (uint32_t i = loop->ring.page->calls_head; i != s->calls_tail; i++) {
		struct cosy_submit_entry *entry = &s->calls[i & s->mask];
		const struct cosy_submit_entry copy = *entry;

		if (copy.nr != SYS_sendto || (uint32_t)copy.args[0] != fd)
			continue;
		empty_place(loop, entry);
		move_entry(loop, &copy, 0);
	}
}

/* Move what the module has given back, and what is behind it. */
static COSY_NOINLINE void take_given(struct cosy_loop *loop)
{
	struct cosy_ring_page *page = loop->ring.page;
	const struct cosy_submit_entry *given = (const void *)page->given;
	uint32_t n = page->ngiven;

	for (uint32_t i = 0; i < n; i++) {
		loop->submit->room++;
		move_entry(loop, &given[i], given[i].flags);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (given[i].nr == SYS_recvfrom)
			move_receives(loop, (uint32_t)given[i].args[0]);
		else if (given[i].nr == SYS_sendto)
			move_sends(loop, (uint32_t)given[i].args[0]);
	}
	page->ngiven = 0;
}

/* Let the module forget a descriptor. Return true if it has given back a receive. */
static bool forget_fd(struct cosy_loop *loop, uint32_t fd)
{
	const struct cosy_ring_page *page = loop->ring.page;

	if (!page->waiting || loop->module.fd < 0)
		return false;
	return was_entered(enter_ring(loop, COSY_ASYNC_CANCEL_FD | COSY_ASYNC_AWAIT | fd)) &&
	       page->ngiven;
}

void cosy_ring_yield(struct cosy_loop *loop, enum cosy_how how, long nr, uint64_t fd)
{
	const struct cosy_descriptor *d;

	if (!cosy_ring_outstanding(loop) || !cosy_takes_fd(nr) || (uint32_t)fd >= COSY_SUBMIT_MAX_FD)
		return;
	switch (list_of(how)) {
	case COSY_LIST_IN:
		d = cosy_descriptor_find(loop, (int)fd);
		/* The ring receives from sockets only. */
		if (d && d->kind != COSY_KIND_UNKNOWN && d->kind != COSY_KIND_SOCKET)
			return;
		/* The one that waits came first. */
		if (forget_fd(loop, (uint32_t)fd))
			take_given(loop);
		else
			move_receives(loop, (uint32_t)fd);
		break;
	case COSY_LIST_OUT:
		move_sends(loop, (uint32_t)fd);
		break;
	default:
		break;
	}
}

/*
 * Executing and collecting
 */

/* Make the entries visible to the module. */
static COSY_ALWAYS_INLINE void publish_ring(struct cosy_loop *loop)
{
	struct cosy_ring_page *page = loop->ring.page;
	const struct cosy_submit *s = loop->submit;

	__atomic_store_n(&page->calls_tail, s->calls_tail, __ATOMIC_RELEASE);
	__atomic_store_n(&page->receives_tail, s->receives_tail, __ATOMIC_RELEASE);
}

static COSY_ALWAYS_INLINE void count_entries(struct cosy_loop *loop)
{
	struct cosy_ring *ring = &loop->ring;
	const struct cosy_submit *s = loop->submit;

	ring->submitted += (uint32_t)(s->calls_tail - ring->counted_calls) +
			   (uint32_t)(s->receives_tail - ring->counted_receives);
	ring->counted_calls = s->calls_tail;
	ring->counted_receives = s->receives_tail;
}

/* Count an entry into the module, and free the places that have no operation. */
static COSY_ALWAYS_INLINE void note_entered(struct cosy_loop *loop)
{
	struct cosy_ring *ring = &loop->ring;
	struct cosy_submit *s = loop->submit;

	ring->entered++;
	count_entries(loop);
	if (COSY_UNLIKELY(ring->held) && ring->page->calls_head == s->calls_tail &&
	    ring->page->receives_head == s->receives_tail) {
		s->room += ring->held;
		ring->held = 0;
	}
}

void cosy_ring_make(struct cosy_loop *loop)
{
	struct cosy_ring *ring = &loop->ring;
	uint64_t ret;

	do {
		publish_ring(loop);
		ret = enter_ring(loop, COSY_RING_MAX | COSY_ASYNC_AWAIT);
		if (!was_entered(ret)) {
			cosy_module_lose(loop, ret);
			return;
		}
		note_entered(loop);
		if (ring->page->ngiven)
			take_given(loop);
		/* It leaves early for the kernel's own work, and after it has given back a send. */
	} while (loop->submit->calls_tail != ring->page->calls_head &&
		 ring->done_head == cosy_index_load(&ring->page->done_tail));
	ring->looked = true;
}

/* Take the next completion of a cancelled receive. */
static COSY_NOINLINE struct cosy_async *collect_cancelled(struct cosy_loop *loop)
{
	struct cosy_async *op = loop->ring.cancelled;

	loop->ring.cancelled = op_of((uint64_t)op->result);
	op->result = -ECANCELED;
	loop->submit->room++;
	return op;
}

static COSY_ALWAYS_INLINE struct cosy_async *collect_one(struct cosy_loop *loop)
{
	struct cosy_ring *ring = &loop->ring;
	const struct cosy_ring_done *done;
	struct cosy_async *op;

	if (COSY_UNLIKELY(ring->cancelled != NULL))
		return collect_cancelled(loop);
	while (ring->done_head != cosy_index_load(&ring->page->done_tail)) {
		done = &ring->done[ring->done_head++ & loop->mask];
		op = op_of(done->op);
		loop->submit->room++;
		if (COSY_UNLIKELY(!op))
			continue;
		op->result = done->result;
		return op;
	}
	return NULL;
}

struct cosy_async *cosy_ring_collect(struct cosy_loop *loop)
{
	return collect_one(loop);
}

/*
 * Cancelling
 */

/* Complete an entry that the module has not taken with -ECANCELED. */
static void cancel_in_ring(struct cosy_loop *loop, struct cosy_submit_entry *entry)
{
	if (!entry->op) {
		empty_place(loop, entry);
		return;
	}
	entry->nr = COSY_RING_NOP;
	entry->args[0] = (uint64_t)-ECANCELED;
}

/* Complete a receive that waits no longer. */
static void complete_cancelled(struct cosy_loop *loop, struct cosy_async *op)
{
	if (!op) {
		loop->submit->room++;
		return;
	}
	op->slot = COSY_SUBMIT_RING;
	/* Only its own result is needed until it is delivered. */
	op->result = (int64_t)(uintptr_t)loop->ring.cancelled;
	loop->ring.cancelled = op;
}

static struct cosy_submit_entry *find_entry(struct cosy_submit_entry *entries, uint32_t mask,
					    uint32_t head, uint32_t tail,
					    const struct cosy_async *op)
{
	for (; head != tail; head++) {
		struct cosy_submit_entry *entry = &entries[head & mask];

		if (entry->op == (uintptr_t)op)
			return entry;
	}
	return NULL;
}

/* Return true if a completion of an operation was not collected. */
static bool is_uncollected(const struct cosy_loop *loop, const struct cosy_async *op)
{
	const struct cosy_ring *ring = &loop->ring;
	uint32_t tail = cosy_index_load(&ring->page->done_tail);

	for (uint32_t i = ring->done_head; i != tail; i++) {
		if (ring->done[i & loop->mask].op == (uintptr_t)op)
			return true;
	}
	return false;
}

/*
 * Cancel a receive that waits in the module. It is executed only by a thread that enters, and takes
 * the entry that cancels it before any receive is made. So it is complete here, without entering.
 */
static int cancel_receive(struct cosy_loop *loop, struct cosy_async *op)
{
	struct cosy_submit *s = loop->submit;
	uint32_t fd = op->slot & (COSY_SUBMIT_MAX_FD - 1);

	if (!s->room) {
		if (!forget_fd(loop, fd))
			return -ENOENT;
		loop->ring.page->ngiven = 0;
	} else {
		cosy_submit_write(s, &s->calls[s->calls_tail++ & s->mask], NULL, 0,
				  COSY_RING_CANCEL, 2, fd, (uintptr_t)op, 0, 0, 0, 0);
		loop->ring.held++;
		loop->ring.moved++;
	}
	complete_cancelled(loop, op);
	return 0;
}

int cosy_ring_cancel(struct cosy_loop *loop, struct cosy_async *op)
{
	const struct cosy_ring_page *page = loop->ring.page;
	const bool receives = op->slot & COSY_SUBMIT_RECEIVE;
	struct cosy_submit *s = loop->submit;
	struct cosy_submit_entry *entry;

	if (is_uncollected(loop, op))
		return -ENOENT;
	entry = receives ? find_entry(s->receives, s->mask, page->receives_head, s->receives_tail,
				      op) :
			   find_entry(s->calls, s->mask, page->calls_head, s->calls_tail, op);
	if (entry) {
		cancel_in_ring(loop, entry);
		return 0;
	}
	/* Otherwise it was cancelled before. */
	return receives ? cancel_receive(loop, op) : -ENOENT;
}

/* Return true if an entry uses a descriptor of a range. */
static bool uses_fd(const struct cosy_submit_entry *entry, uint32_t first, uint32_t last)
{
	const uint32_t fd = (uint32_t)entry->args[0];

	if (entry->nr >= COSY_RING_NOP || cosy_how(entry->nr) == COSY_HOW_DIRECT ||
	    !cosy_takes_fd(entry->nr))
		return false;
	return (int)fd >= 0 && fd >= first && fd <= last;
}

/* Cancel the entries of a ring that the module has not taken. Return their number. */
static int cancel_entries(struct cosy_loop *loop, struct cosy_submit_entry *entries, uint32_t head,
			  uint32_t tail, uint32_t first, uint32_t last)
{
	int cancelled = 0;

	for (; head != tail; head++) {
		struct cosy_submit_entry *entry = &entries[head & loop->mask];

		if (!uses_fd(entry, first, last))
			continue;
		cancel_in_ring(loop, entry);
		cancelled++;
	}
	return cancelled;
}

/* Put all receives that wait back to their ring. */
static void put_back(struct cosy_loop *loop)
{
	if (loop->ring.page->waiting && loop->module.fd >= 0)
		enter_ring(loop, COSY_ASYNC_CANCEL | COSY_ASYNC_AWAIT);
	loop->ring.looked = false;
}

int cosy_ring_cancel_fds(struct cosy_loop *loop, uint32_t first, uint32_t last)
{
	const struct cosy_ring_page *page = loop->ring.page;
	struct cosy_submit *s = loop->submit;
	int cancelled = 0;

	if (!cosy_ring_outstanding(loop) || first > last)
		return 0;
	if (first == last) {
		if (forget_fd(loop, first)) {
			complete_cancelled(loop, op_of(page->given->op));
			loop->ring.page->ngiven = 0;
			cancelled = 1;
		}
	} else {
		put_back(loop);
	}
	cancelled += cancel_entries(loop, s->receives, page->receives_head, s->receives_tail, first,
				    last);
	cancelled += cancel_entries(loop, s->calls, page->calls_head, s->calls_tail, first, last);
	loop->ring.looked = false;
	return cancelled;
}

void cosy_ring_cancel_all(struct cosy_loop *loop)
{
	struct cosy_submit *s = loop->submit;

	if (!cosy_ring_outstanding(loop))
		return;
	put_back(loop);
	for (uint32_t i = loop->ring.page->receives_head; i != s->receives_tail; i++)
		cancel_in_ring(loop, &s->receives[i & s->mask]);
	for (uint32_t i = loop->ring.page->calls_head; i != s->calls_tail; i++) {
		if (s->calls[i & s->mask].nr < COSY_RING_NOP)
			cancel_in_ring(loop, &s->calls[i & s->mask]);
	}
}

/* Submit an entry that the module has not taken, and will not, to the loop's page. */
static void rescue(struct cosy_loop *loop, const struct cosy_submit_entry *entry)
{
	if (entry->nr < COSY_RING_NOP) {
		loop->submit->room++;
		move_entry(loop, entry, 0);
	} else if (entry->nr == COSY_RING_NOP && entry->op) {
		complete_cancelled(loop, op_of(entry->op));
	}
}

void cosy_ring_lost(struct cosy_loop *loop)
{
	const struct timespec little = { .tv_nsec = LITTLE };
	struct cosy_ring *ring = &loop->ring;
	struct cosy_submit *s = loop->submit;

	if (!ring->page || ring->lost)
		return;
	ring->lost = true;
	/* If another thread has closed the descriptor, the module puts the receives back soon. */
	while (__atomic_load_n(&ring->page->waiting, __ATOMIC_ACQUIRE))
		cosy_sys(SYS_nanosleep, (long)&little, 0, 0);
	count_entries(loop);
	for (uint32_t i = ring->page->calls_head; i != s->calls_tail; i++)
		rescue(loop, &s->calls[i & s->mask]);
	for (uint32_t i = ring->page->receives_head; i != s->receives_tail; i++)
		rescue(loop, &s->receives[i & s->mask]);
	s->room += ring->held;
	ring->held = 0;
	s->calls_tail = ring->counted_calls = ring->page->calls_head;
	s->receives_tail = ring->counted_receives = ring->page->receives_head;
}

/*
 * The thread that has the ring
 */

void cosy_ring_wake(const struct cosy_loop *loop)
{
	if (loop->ring.page && loop->module.fd >= 0)
		enter_ring(loop, COSY_ASYNC_WORK);
}

void cosy_ring_take(struct cosy_loop *loop)
{
	const struct timespec little = { .tv_nsec = LITTLE };
	struct cosy_submit *s = loop->submit;
	const void *thread = __atomic_load_n(&s->thread, __ATOMIC_RELAXED);

	loop->biased = false;
	__atomic_store_n(&s->thread, NULL, __ATOMIC_RELAXED);
	if (thread == cosy_submit_self())
		return;
	loop->ring.taken++;
	/* From here on that thread sees that it has lost the ring, or this one sees that it is busy. */
	cosy_sys(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	while (__atomic_load_n(&s->busy, __ATOMIC_ACQUIRE)) {
		cosy_ring_wake(loop);
		cosy_sys(SYS_nanosleep, (long)&little, 0, 0);
	}
}

bool cosy_ring_give(struct cosy_loop *loop)
{
	struct cosy_ring *ring = &loop->ring;

	if (!cosy_ring_is_open(loop) || ring->shared || ring->taken >= MAX_TAKEN ||
	    loop->outstanding || loop->external || loop->blocked || loop->closing ||
	    loop->spreads || loop->inside || loop->waiters || loop->team.members ||
	    loop->nbatch || loop->module.direct || cosy_page_done(loop) != cosy_ring_has_done(loop))
		return false;
	loop->biased = true;
	__atomic_store_n(&loop->submit->thread, cosy_submit_self(), __ATOMIC_RELEASE);
	return true;
}

/*
 * Take the lock, because the thread needs it, or has lost the ring. Return what cosy_ring_wait()
 * returns with it.
 */
static COSY_NOINLINE int go_on_with_lock(struct cosy_loop *loop)
{
	cosy_submit_end(loop->submit);
	cosy_lock(&loop->lock);
	if (loop->biased)
		cosy_ring_take(loop);
	return -EAGAIN;
}

/* The same after an operation with a colour is complete. Deliver it. */
static COSY_NOINLINE int deliver_coloured(struct cosy_loop *loop, struct cosy_async *op)
{
	int err = go_on_with_lock(loop);

	cosy_colour_deliver(loop, op);
	return err;
}

/* The same after the module has given back entries, or could not be entered. @ret: its result. */
static COSY_NOINLINE int go_on_after(struct cosy_loop *loop, uint64_t ret)
{
	int err = go_on_with_lock(loop);

	if (!was_entered(ret))
		cosy_module_lose(loop, ret);
	else if (loop->ring.page->ngiven)
		take_given(loop);
	return err;
}

/* The only call that the module has not taken, if it is made here with fewer instructions. */
static COSY_ALWAYS_INLINE struct cosy_submit_entry *entry_for_here(struct cosy_loop *loop)
{
	const struct cosy_ring_page *page = loop->ring.page;
	const struct cosy_submit *s = loop->submit;
	struct cosy_submit_entry *entry;

	if (s->calls_tail - page->calls_head != 1 || s->receives_tail != page->receives_head)
		return NULL;
	/* What others wait for has to be looked at from time to time. */
	if (s->room != s->mask && loop->ring.streak++ >= MAX_STREAK)
		return NULL;
	entry = &s->calls[page->calls_head & s->mask];
	if (entry->nr != SYS_sendto && cosy_how(entry->nr) != COSY_HOW_DIRECT)
		return NULL;
	return entry;
}

/*
 * Make the call of an entry in this thread. Return false if it has to wait, and stays in the ring.
 */
static COSY_ALWAYS_INLINE bool make_here(struct cosy_loop *loop,
					 const struct cosy_submit_entry *entry, int64_t *result)
{
	uint64_t flags = entry->args[3];

	if (entry->nr == SYS_sendto)
		flags |= MSG_DONTWAIT;
	*result = cosy_sys6(entry->nr, (long)entry->args[0], (long)entry->args[1],
			    (long)entry->args[2], (long)flags, (long)entry->args[4],
			    (long)entry->args[5]);
	if (COSY_UNLIKELY(*result == -EAGAIN) && entry->nr == SYS_sendto)
		return false;
	loop->submit->calls_tail--;
	loop->ring.here++;
	return true;
}

/* A send that was made here has sent a part of its data: the rest waits. */
static COSY_NOINLINE int go_on_with_rest(struct cosy_loop *loop,
					 const struct cosy_submit_entry *entry, int64_t sent)
{
	const struct cosy_submit_entry copy = *entry;
	int err = go_on_with_lock(loop);

	loop->ring.here--;
	loop->ring.submitted++;
	loop->submit->room++;
	move_entry(loop, &copy, (uint32_t)sent);
	return err;
}

static COSY_ALWAYS_INLINE uint64_t enter_to_wait(struct cosy_loop *loop, unsigned int max,
						 bool sleeps, uint64_t until)
{
	struct cosy_ring_page *page = loop->ring.page;
	uint64_t ret, now;

	publish_ring(loop);
	if (!sleeps)
		return enter_ring(loop, max | COSY_ASYNC_AWAIT);
	if (COSY_UNLIKELY(until != UINT64_MAX)) {
		now = cosy_clock();
		page->sleep_ns = until > now ? until - now : 0;
	}
	ret = enter_ring(loop, max | COSY_ASYNC_SLEEP | COSY_ASYNC_AWAIT);
	if (COSY_UNLIKELY(until != UINT64_MAX))
		page->sleep_ns = COSY_ASYNC_FOR_EVER;
	return ret;
}

int cosy_ring_wait(struct cosy_loop *loop, unsigned int min, uint64_t until,
		   unsigned int *delivered)
{
	const void *self = cosy_submit_self();
	struct cosy_submit *s = loop->submit;
	const struct cosy_submit_entry *entry;
	void (*done)(struct cosy_async *op);
	struct cosy_async *op;
	bool entered = false;
	uint64_t ret = 0;
	int64_t result;
	int err = 0;

	loop->inside++;
	while (!COSY_UNLIKELY(atomic_load_explicit(&loop->stop, memory_order_relaxed)) &&
	       *delivered < COSY_WAIT_MAX) {
		op = collect_one(loop);
		if (!op && (entry = entry_for_here(loop)) && make_here(loop, entry, &result)) {
			if (COSY_UNLIKELY(result >= 0 && entry->nr == SYS_sendto &&
					  (uint64_t)result != entry->args[2]))
				return go_on_with_rest(loop, entry, result);
			op = op_of(entry->op);
			s->room++;
			if (!op)
				continue;
			op->result = result;
		}
		if (op) {
			++*delivered;
			done = op->done;
			cosy_op_complete(op);
			if (!done)
				continue;
			if (COSY_UNLIKELY(cosy_is_coloured(op)))
				return deliver_coloured(loop, op);
			cosy_submit_end(s);
			done(op);
			if (COSY_UNLIKELY(!cosy_submit_begin(s)))
				return go_on_with_lock(loop);
			continue;
		}
		if (min ? *delivered >= min : entered)
			break;
		if (!cosy_ring_outstanding(loop) ||
		    (entered && COSY_UNLIKELY((uint32_t)ret & COSY_ASYNC_TIMEOUT)))
			break;
		if (entered && COSY_UNLIKELY((uint32_t)ret & COSY_ASYNC_SIGNAL)) {
			err = *delivered ? 0 : -EINTR;
			break;
		}
		loop->ring.streak = 0;
		ret = enter_to_wait(loop, COSY_WAIT_MAX - *delivered, min, until);
		if (COSY_UNLIKELY(!was_entered(ret)))
			return go_on_after(loop, ret);
		note_entered(loop);
		/* Another thread that takes the ring wakes this one. */
		if (COSY_UNLIKELY(loop->ring.page->ngiven) ||
		    COSY_UNLIKELY(__atomic_load_n(&s->thread, __ATOMIC_RELAXED) != self))
			return go_on_after(loop, ret);
		/* The module leaves early for the kernel's own work. */
		entered = min || loop->ring.page->calls_head == s->calls_tail;
	}
	if (COSY_UNLIKELY(atomic_load_explicit(&loop->stop, memory_order_relaxed))) {
		err = 1;
		if (loop->inside == 1)
			atomic_store(&loop->stop, false);
	}
	loop->inside--;
	cosy_submit_end(s);
	return err;
}

void cosy_ring_add_info(const struct cosy_loop *loop, struct cosy_loop_info *info)
{
	const struct cosy_ring *ring = &loop->ring;
	const struct cosy_submit *s = loop->submit;
	uint64_t submitted;

	if (!ring->page)
		return;
	submitted = ring->submitted - ring->moved + ring->here +
		    (uint32_t)(s->calls_tail - ring->counted_calls) +
		    (uint32_t)(s->receives_tail - ring->counted_receives);
	info->submitted += submitted;
	info->completed += submitted - cosy_ring_outstanding(loop);
	info->outstanding += cosy_ring_outstanding(loop);
	info->waiting += ring->page->waiting;
	info->attempts += ring->page->executed + ring->here;
	info->entries += ring->entered + ring->here;
}
