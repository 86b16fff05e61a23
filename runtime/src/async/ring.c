/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ring.c - the ring of a loop in the module: operations that are submitted, waited for, delivered and
 * cancelled without another page.
 *
 * The ring takes calls that never wait; calls that get the status of a file, open it for reading, read
 * it from the cache and close it; and those that receive, accept and send with usual flags, also for
 * read() and write() of streams. The module gives back a call that it cannot make. That call is then
 * submitted to the loop's page like any other.
 *
 * Order: while an operation on a descriptor is in the loop's page, later ones for the same direction
 * are submitted there, too. Before one is submitted there, those in the ring are moved to the page.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
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

/* See cosy_ring_hides_events(): what an entry into the module counts. */
#define ENTERED		4
/* After this number of entries that have given calls back, all receives are made elsewhere. */
#define MAX_GIVEN	64
/* In place of a descriptor. */
#define ANY_FD		UINT32_MAX
/* With what the module returns: the thread has seen all that has happened. */
#define LOOKED		(1u << 31)

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
	struct cosy_submit *submit = loop->ring.submit;
	uint32_t n = loop->page.mask + 1;
	struct cosy_ring_page *page;

	if (ring->tried)
		return;
	ring->tried = true;
	if (!cosy_module_has(loop, 0))
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
	submit->mask = loop->page.mask;
	page->sleep_fd = -1;
	page->sleep_ns = COSY_ASYNC_FOR_EVER;
	cosy_buffers_share(&ring->buffers, page);
	loop->has_ring = true;
}

bool cosy_ring_is_usable(struct cosy_loop *loop)
{
	if (!loop->module.usable || loop->spreads)
		return false;
	cosy_ring_open(loop);
	return cosy_ring_is_open(&loop->ring);
}

void cosy_ring_close(struct cosy_loop *loop, bool mapped)
{
	if (loop->ring.page && mapped)
		munmap(loop->ring.page, COSY_RING_SIZE(loop->page.mask + 1));
	loop->ring.page = NULL;
}

static struct cosy_async *op_of(uint64_t op)
{
	return (struct cosy_async *)(uintptr_t)op;
}

/* Free the place of an operation that is in the ring no longer; NULL: of a receive without one. */
static COSY_ALWAYS_INLINE void free_place(struct cosy_loop *loop, const struct cosy_async *op)
{
	/* A branch takes fewer instructions than computing which of the two changes. */
	if (COSY_UNLIKELY(op && op->slot & COSY_RING_OF_TASK))
		loop->ring.of_tasks--;
	else
		loop->ring.submit->room++;
}

/*
 * Moving entries to the loop's page
 */

/* Return true if a call belongs to the receives. */
static bool is_receive(uint32_t nr)
{
	return nr == COSY_RING_RECEIVE || cosy_how(nr) == COSY_HOW_RECEIVE ||
	       cosy_how(nr) == COSY_HOW_ACCEPT;
}

/* Return true if a call sends. */
static bool is_send(uint32_t nr)
{
	return nr == SYS_sendto || nr == SYS_sendmsg;
}

/*
 * Submit a call to the loop's page. It is in the ring no longer. @flags: the number of bytes that were
 * sent, or COSY_RING_WAITED.
 */
static void move_entry(struct cosy_loop *loop, const struct cosy_submit_entry *entry, uint32_t flags)
{
	struct cosy_async *op = op_of(entry->op);
	uint32_t nr = entry->nr;
	enum cosy_how how;
	uint64_t args[6];

	for (int i = 0; i < 6; i++)
		args[i] = entry->args[i];
	loop->ring.moved++;
	if (op && op->slot & COSY_RING_AS_FILE)
		nr = nr == SYS_recvfrom ? SYS_read : SYS_write;
	how = cosy_how(nr);
	cosy_above.again(loop, op, how, nr, args, flags);
}

/* Return COSY_RING_WAITED if an entry was put back after it has waited; otherwise 0. */
static uint32_t waited(const struct cosy_submit_entry *entry)
{
	return entry->flags & COSY_RING_LINKED ? 0 : entry->flags & COSY_RING_WAITED;
}

/* Return true if an entry is a call whose place is among the quiet ones. */
static bool is_quiet(const struct cosy_submit_entry *entry)
{
	return !entry->op || entry->flags & COSY_RING_LINKED;
}

/*
 * Empty an entry, whose operation was moved: the module then does nothing for it. Its place stays in use
 * until the module has taken it.
 */
static void empty_entry(struct cosy_loop *loop, struct cosy_submit_entry *entry, bool receives)
{
	struct cosy_ring *ring = &loop->ring;

	if (!receives && is_quiet(entry)) {
		ring->submit->quiet--;
	} else {
		free_place(loop, op_of(entry->op));
		ring->submit->room--;
	}
	++*(receives ? &ring->untracked_receives : &ring->untracked_calls);
	entry->nr = COSY_RING_NOP;
	entry->op = 0;
}

/* Find an operation among the calls, or the receives, that the module has not taken. */
static struct cosy_submit_entry *find_entry(const struct cosy_loop *loop,
					    const struct cosy_async *op, bool receives)
{
	const struct cosy_ring_page *page = loop->ring.page;
	const struct cosy_submit *s = loop->ring.submit;
	struct cosy_submit_entry *entries = receives ? s->receives : s->calls;
	const uint32_t tail = receives ? s->receives_tail : s->calls_tail;

	for (uint32_t i = receives ? page->receives_head : page->calls_head; i != tail; i++) {
		if (entries[i & s->mask].op == (uintptr_t)op)
			return &entries[i & s->mask];
	}
	return NULL;
}

/*
 * Move a reply. @send: its send, which is in the ring no longer, or empty; its receive still is.
 * @sent: number of bytes sent, or the error with which it has failed.
 */
static void move_reply(struct cosy_loop *loop, const struct cosy_submit_entry *send, int32_t sent)
{
	struct cosy_async *op = op_of(send->op);
	struct cosy_submit_entry *receive = find_entry(loop, op, true);
	const struct cosy_submit_entry copy = *receive;

	empty_entry(loop, receive, true);
	loop->ring.moved += 2;
	cosy_above.reply(loop, op, send->args, sent, copy.args);
}

/* Move a call that the module has not taken. */
static void move_call(struct cosy_loop *loop, struct cosy_submit_entry *entry)
{
	const struct cosy_submit_entry copy = *entry;

	empty_entry(loop, entry, false);
	if (copy.flags & COSY_RING_LINKED)
		move_reply(loop, &copy, 0);
	else
		move_entry(loop, &copy, waited(&copy));
}

/* Move the receives from a descriptor, or from ANY_FD, that the module has not taken. */
static void move_receives(struct cosy_loop *loop, uint32_t fd)
{
	struct cosy_submit *s = loop->ring.submit;

	for (uint32_t i = loop->ring.page->receives_head; i != s->receives_tail; i++) {
		struct cosy_submit_entry *entry = &s->receives[i & s->mask];
		const struct cosy_submit_entry copy = *entry;
		struct cosy_submit_entry *send;

		if (!is_receive(copy.nr) || (fd != ANY_FD && (uint32_t)copy.args[0] != fd))
			continue;
		send = copy.flags & COSY_RING_LINKED ? find_entry(loop, op_of(copy.op), false) : NULL;
		if (send) {
			move_call(loop, send);
		} else {
			empty_entry(loop, entry, true);
			move_entry(loop, &copy, waited(&copy));
		}
	}
}

/* Move calls on a descriptor that the module has not taken: sends like @nr, or reads of a file. */
static void move_calls(struct cosy_loop *loop, uint32_t nr, uint32_t fd)
{
	struct cosy_submit *s = loop->ring.submit;

	for (uint32_t i = loop->ring.page->calls_head; i != s->calls_tail; i++) {
		struct cosy_submit_entry *entry = &s->calls[i & s->mask];

		if ((entry->nr == nr || (is_send(nr) && is_send(entry->nr))) &&
		    (uint32_t)entry->args[0] == fd)
			move_call(loop, entry);
	}
}

/* Move the calls on a descriptor up to a close of it, which the module has not taken: their order matters. */
static void move_up_to_close(struct cosy_loop *loop, uint32_t fd)
{
	const struct cosy_submit *s = loop->ring.submit;
	const uint32_t head = loop->ring.page->calls_head;
	uint32_t end = head;

	for (uint32_t i = head; i != s->calls_tail; i++) {
		const struct cosy_submit_entry *entry = &s->calls[i & s->mask];

		if (entry->nr == SYS_close && (uint32_t)entry->args[0] == fd)
			end = i + 1;
	}
	for (uint32_t i = head; i != end; i++) {
		struct cosy_submit_entry *entry = &s->calls[i & s->mask];

		if (entry->nr < COSY_RING_NOP && cosy_takes_fd(entry->nr) && (uint32_t)entry->args[0] == fd)
			move_call(loop, entry);
	}
}

/* Return true if an entry that was given back is the send of a reply. */
static bool is_reply(const struct cosy_submit_entry *given)
{
	return given->nr == SYS_sendto && given->op && op_of(given->op)->slot & COSY_RING_REPLY;
}

/* Move what the module has given back, and the entries after it. */
static COSY_NOINLINE void take_given(struct cosy_loop *loop)
{
	struct cosy_ring_page *page = loop->ring.page;
	struct cosy_submit_entry given[COSY_RING_MAX];
	uint32_t n = page->ngiven;

	/* Copy the entries, because a close may enter the ring again, which overwrites them. */
	memcpy(given, page->given, n * sizeof(*given));
	page->ngiven = 0;
	loop->ring.takes_given = true;
	for (uint32_t i = 0; i < n; i++) {
		/* note_entered() frees the places of the others. */
		if (is_receive(given[i].nr) || (given[i].op && !is_reply(&given[i])))
			free_place(loop, op_of(given[i].op));
		if (is_reply(&given[i]))
			move_reply(loop, &given[i], (int32_t)given[i].flags);
		else
			move_entry(loop, &given[i], given[i].flags);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (is_receive(given[i].nr)) {
			move_receives(loop, (uint32_t)given[i].args[0]);
			continue;
		}
		if (cosy_takes_fd(given[i].nr))
			move_up_to_close(loop, (uint32_t)given[i].args[0]);
		if (is_send(given[i].nr) || given[i].nr == SYS_read)
			move_calls(loop, given[i].nr, (uint32_t)given[i].args[0]);
	}
	loop->ring.takes_given = false;
}

/* Let the module forget a descriptor; @which: a command. Return true if it has given calls back. */
static bool forget_fd(struct cosy_loop *loop, uint64_t which, uint32_t fd)
{
	const struct cosy_ring_page *page = loop->ring.page;

	if (!page->waiting || loop->module.fd < 0)
		return false;
	return was_entered(enter_ring(loop, which | COSY_ASYNC_AWAIT | fd)) &&
	       page->ngiven;
}

void cosy_ring_yield(struct cosy_loop *loop, enum cosy_how how, long nr, uint64_t fd)
{
	const struct cosy_descriptor *d;

	if (!cosy_ring_outstanding(loop) || !cosy_takes_fd(nr) ||
	    (uint32_t)fd >= COSY_SUBMIT_MAX_FD)
		return;
	switch (cosy_list_of(how)) {
	case COSY_LIST_IN:
		d = cosy_descriptor_find(&loop->fds, (int)fd);
		if (d && (d->kind == COSY_KIND_DISK || d->opened))
			move_calls(loop, SYS_read, (uint32_t)fd);
		/* The ring receives from sockets only. */
		if (d && d->kind != COSY_KIND_UNKNOWN && d->kind != COSY_KIND_SOCKET)
			return;
		/* A receive that waits in the module was submitted before those in the ring, so it is moved first. */
		if (forget_fd(loop, COSY_ASYNC_CANCEL_FD, (uint32_t)fd))
			take_given(loop);
		else
			move_receives(loop, (uint32_t)fd);
		break;
	case COSY_LIST_OUT:
		if (loop->ring.page->sending && forget_fd(loop, COSY_ASYNC_CANCEL_FD, (uint32_t)fd))
			take_given(loop);
		move_calls(loop, SYS_sendto, (uint32_t)fd);
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
	const struct cosy_submit *s = loop->ring.submit;

	__atomic_store_n(&page->calls_tail, s->calls_tail, __ATOMIC_RELEASE);
	__atomic_store_n(&page->receives_tail, s->receives_tail, __ATOMIC_RELEASE);
}

static COSY_ALWAYS_INLINE void count_entries(struct cosy_loop *loop)
{
	struct cosy_ring *ring = &loop->ring;
	const struct cosy_submit *s = loop->ring.submit;

	ring->submitted += (uint32_t)(s->calls_tail - ring->counted_calls) +
			   (uint32_t)(s->receives_tail - ring->counted_receives);
	ring->counted_calls = s->calls_tail;
	ring->counted_receives = s->receives_tail;
}

/* Count an entry into the module, and free the places that have no operation. */
static COSY_ALWAYS_INLINE void note_entered(struct cosy_loop *loop)
{
	struct cosy_ring *ring = &loop->ring;
	struct cosy_submit *s = loop->ring.submit;

	ring->entered++;
	count_entries(loop);
	if (ring->page->calls_head == s->calls_tail) {
		s->room += (int32_t)(s->quiet + ring->untracked_calls);
		s->quiet = ring->untracked_calls = 0;
	}
	if (COSY_UNLIKELY(ring->untracked_receives) &&
	    ring->page->receives_head == s->receives_tail) {
		s->room += (int32_t)ring->untracked_receives;
		ring->untracked_receives = 0;
	}
}

/* The same for an entry after which functions are continued. The completed operations are one batch. */
static COSY_ALWAYS_INLINE void note_batch(struct cosy_loop *loop)
{
	uint32_t n;

	note_entered(loop);
	n = loop->ring.page->done_tail - loop->ring.done_head;
	loop->ring.unseen += ENTERED + n;
	if (n && loop->batches.used)
		cosy_loop_resumed(loop, 1, n);
}

static void rescue_all(struct cosy_loop *loop);

void cosy_ring_make(struct cosy_loop *loop)
{
	struct cosy_ring *ring = &loop->ring;
	unsigned int given = 0;
	uint64_t ret;

	do {
		publish_ring(loop);
		ret = ring->lost ? 0 : enter_ring(loop, COSY_RING_MAX | COSY_ASYNC_AWAIT);
		if (COSY_UNLIKELY(!was_entered(ret))) {
			cosy_module_lose(loop, ret);
			rescue_all(loop);
			return;
		}
		note_batch(loop);
		if (ring->page->ngiven) {
			take_given(loop);
			/*
			 * The module probably cannot make the others either, and each entry that gives one back
			 * searches all of them.
			 */
			if (given++ == MAX_GIVEN)
				move_receives(loop, ANY_FD);
		}
		/*
		 * It leaves early for signals and the kernel's own work, after it has given back a send,
		 * and after calls that do not complete: then it has not made all receives.
		 */
	} while ((cosy_ring_is_due(&loop->ring) || (uint32_t)ret & COSY_ASYNC_MORE) &&
		 ring->done_head == cosy_index_load(&ring->page->done_tail));
	ring->up_to_date = true;
}

/* Take the next completion of a call that was cancelled while it waited. */
static COSY_NOINLINE struct cosy_async *collect_cancelled(struct cosy_loop *loop)
{
	struct cosy_async *op = loop->ring.cancelled;

	loop->ring.cancelled = op_of((uint64_t)op->result);
	op->result = -ECANCELED;
	free_place(loop, op);
	return op;
}

/* Note the descriptor that a function has opened: it reads from it next. */
static COSY_NOINLINE void note_opened(struct cosy_loop *loop, int64_t fd)
{
	struct cosy_descriptor *d = fd >= 0 ? cosy_descriptor(&loop->fds, (int)fd) : NULL;

	if (!d)
		return;
	d->opened = true;
	cosy_descriptor_learned(&loop->fds, (int)fd);
}

/* Give the program the buffer into which the module has received. */
static COSY_NOINLINE void note_buffer(struct cosy_loop *loop, struct cosy_async *op, int64_t result)
{
	struct cosy_receive *receive = (struct cosy_receive *)op;

	receive->buffer = cosy_buffer_lend(&loop->ring.buffers,
					   (uint32_t)(result >> COSY_RING_BUFFER_SHIFT));
	op->result = (uint32_t)result;
}

/* Note what an operation has opened, or received into a buffer. */
static void note_effects(struct cosy_loop *loop, struct cosy_async *op, int64_t result)
{
	if (op->slot & COSY_RING_INTO_BUFFER && result > 0)
		note_buffer(loop, op, result);
	if (op->slot & COSY_RING_OPENS)
		note_opened(loop, result);
}

/* Free the place of an operation with a mark of COSY_RING_MARKS, and note its effects. */
static COSY_NOINLINE void note_marked(struct cosy_loop *loop, struct cosy_async *op)
{
	free_place(loop, op);
	note_effects(loop, op, op->result);
}

/* Take the next call that was cancelled while it waited, or NULL. */
static COSY_ALWAYS_INLINE struct cosy_async *next_cancelled(struct cosy_loop *loop)
{
	return COSY_UNLIKELY(loop->ring.cancelled != NULL) ? collect_cancelled(loop) : NULL;
}

static COSY_ALWAYS_INLINE bool has_completion(const struct cosy_ring *ring)
{
	return ring->done_head != cosy_index_load(&ring->page->done_tail);
}

/* Take the next operation that the module has completed, with its result, or NULL. Its place stays used. */
static COSY_ALWAYS_INLINE struct cosy_async *next_done(struct cosy_loop *loop)
{
	struct cosy_ring *ring = &loop->ring;
	const struct cosy_ring_done *done;
	struct cosy_async *op;

	while (has_completion(ring)) {
		done = &ring->done[ring->done_head++ & loop->page.mask];
		op = op_of(done->op);
		if (COSY_LIKELY(op != NULL)) {
			op->result = done->result;
			return op;
		}
		ring->submit->room++;
	}
	return NULL;
}

static COSY_ALWAYS_INLINE struct cosy_async *collect_one(struct cosy_loop *loop)
{
	struct cosy_async *op = next_done(loop);

	if (!op)
		return next_cancelled(loop);
	if (COSY_UNLIKELY(op->slot & COSY_RING_MARKS))
		note_marked(loop, op);
	else
		loop->ring.submit->room++;
	return op;
}

struct cosy_async *cosy_ring_collect(struct cosy_loop *loop)
{
	return collect_one(loop);
}

/*
 * Cancelling
 */

/* Complete a call that the module has not taken with -ECANCELED. A reply completes as a receive. */
static void cancel_untaken_call(struct cosy_loop *loop, struct cosy_submit_entry *entry)
{
	if (is_quiet(entry)) {
		empty_entry(loop, entry, false);
		return;
	}
	entry->nr = COSY_RING_NOP;
	entry->args[0] = (uint64_t)-ECANCELED;
}

/* The same for a receive. If it belongs to a reply, the send of the reply is not made either. */
static void cancel_untaken_receive(struct cosy_loop *loop, struct cosy_submit_entry *entry)
{
	struct cosy_submit_entry *send;

	if (!entry->op) {
		empty_entry(loop, entry, true);
		return;
	}
	send = entry->flags & COSY_RING_LINKED ? find_entry(loop, op_of(entry->op), false) : NULL;
	if (send) {
		if (op_of(entry->op)->slot & COSY_RING_OF_TASK)
			cosy_above.only_sends(op_of(entry->op));
		empty_entry(loop, send, false);
	}
	entry->nr = COSY_RING_NOP;
	entry->args[0] = (uint64_t)-ECANCELED;
}

/* Complete a call that waits no longer. */
static void complete_cancelled(struct cosy_loop *loop, struct cosy_async *op)
{
	if (!op) {
		loop->ring.submit->room++;
		return;
	}
	op->slot = COSY_SUBMIT_RING | COSY_RING_CANCELLED | (op->slot & COSY_RING_OF_TASK);
	/* Until it is delivered, its result is not needed, and links the cancelled operations. */
	op->result = (int64_t)(uintptr_t)loop->ring.cancelled;
	loop->ring.cancelled = op;
}

/* Return true if a completion of an operation was not collected. */
static bool is_uncollected(const struct cosy_loop *loop, const struct cosy_async *op)
{
	const struct cosy_ring *ring = &loop->ring;
	uint32_t tail = cosy_index_load(&ring->page->done_tail);

	for (uint32_t i = ring->done_head; i != tail; i++) {
		if (ring->done[i & loop->page.mask].op == (uintptr_t)op)
			return true;
	}
	return false;
}

/* Return true for a close() of a COSY_ASYNC function. It must be made: the function would not repeat it. */
static bool closes_for_function(const struct cosy_submit_entry *entry)
{
	return entry->nr == SYS_close && entry->op && op_of(entry->op)->slot & COSY_RING_OF_TASK;
}

/* Put all calls that wait back to their rings. */
static void put_back(struct cosy_loop *loop)
{
	if (loop->ring.page->waiting && loop->module.fd >= 0)
		enter_ring(loop, COSY_ASYNC_CANCEL | COSY_ASYNC_AWAIT);
	loop->ring.up_to_date = false;
}

/* Cancel an operation that the module has not taken. Return 0, -EALREADY, or -ENOENT if it has. */
static int cancel_untaken_op(struct cosy_loop *loop, struct cosy_async *op, bool receives)
{
	struct cosy_submit_entry *entry = find_entry(loop, op, receives);

	if (!entry)
		return -ENOENT;
	if (closes_for_function(entry))
		return -EALREADY;
	if (receives)
		cancel_untaken_receive(loop, entry);
	else
		cancel_untaken_call(loop, entry);
	return 0;
}

/*
 * Cancel a call that waits in the module, by an entry in the ring. The module takes that entry before it
 * makes any call that has waited. So the operation is complete here, without entering the module.
 */
static int cancel_in_module(struct cosy_loop *loop, struct cosy_async *op, bool receives)
{
	struct cosy_submit *s = loop->ring.submit;

	if (s->room <= 0) {
		put_back(loop);
		return cancel_untaken_op(loop, op, receives);
	}
	cosy_submit_write(s, &s->calls[s->calls_tail++ & s->mask], NULL, 0,
			  receives ? COSY_RING_CANCEL : COSY_RING_CANCEL_SEND, 2,
			  op->slot & (COSY_SUBMIT_MAX_FD - 1), (uintptr_t)op, 0, 0, 0, 0);
	/* Publish it before the operation can be freed: whatever ends the wait has to read the entry. */
	__atomic_store_n(&loop->ring.page->calls_tail, s->calls_tail, __ATOMIC_RELEASE);
	loop->ring.untracked_calls++;
	loop->ring.moved++;
	complete_cancelled(loop, op);
	return 0;
}

int cosy_ring_cancel(struct cosy_loop *loop, struct cosy_async *op)
{
	const bool receives = op->slot & COSY_SUBMIT_RECEIVE;
	int err;

	if (op->slot & COSY_RING_CANCELLED || is_uncollected(loop, op))
		return -ENOENT;
	err = cancel_untaken_op(loop, op, receives);
	return err == -ENOENT ? cancel_in_module(loop, op, receives) : err;
}

/* Return true if an entry uses a descriptor of a range. */
static bool uses_fd(const struct cosy_submit_entry *entry, uint32_t first, uint32_t last)
{
	if (entry->nr == COSY_RING_RECEIVE)
		return cosy_fd_is_in((int)entry->args[0], first, last);
	return cosy_call_uses(entry->nr, (const uint64_t *)entry->args, first, last);
}

/*
 * Return true if an entry that the module has not taken is to be cancelled: if it uses a descriptor of
 * a range; @all: if it makes a call, unless that has to be made.
 */
static bool is_to_cancel(const struct cosy_submit_entry *entry, uint32_t first, uint32_t last, bool all)
{
	if (all)
		return (entry->nr < COSY_RING_NOP || entry->nr == COSY_RING_RECEIVE) &&
		       !closes_for_function(entry);
	return uses_fd(entry, first, last);
}

/* Cancel such entries. Return their number. */
static int cancel_untaken(struct cosy_loop *loop, uint32_t first, uint32_t last, bool all)
{
	const struct cosy_ring_page *page = loop->ring.page;
	struct cosy_submit *s = loop->ring.submit;
	struct cosy_submit_entry *entry;
	int cancelled = 0;

	/* Receives first: cancelling one also empties the send of its reply. */
	for (uint32_t i = page->receives_head; i != s->receives_tail; i++) {
		entry = &s->receives[i & s->mask];
		if (!is_to_cancel(entry, first, last, all))
			continue;
		cancel_untaken_receive(loop, entry);
		cancelled++;
	}
	for (uint32_t i = page->calls_head; i != s->calls_tail; i++) {
		entry = &s->calls[i & s->mask];
		if (!is_to_cancel(entry, first, last, all))
			continue;
		cancel_untaken_call(loop, entry);
		cancelled++;
	}
	return cancelled;
}

/* Cancel what waits for a descriptor. @which: a command. Return the number of calls. */
static int cancel_fd_in_module(struct cosy_loop *loop, uint64_t which, uint32_t fd)
{
	struct cosy_ring_page *page = loop->ring.page;
	int n;

	if (!forget_fd(loop, which, fd))
		return 0;
	n = (int)page->ngiven;
	for (int i = 0; i < n; i++)
		complete_cancelled(loop, op_of(page->given[i].op));
	page->ngiven = 0;
	return n;
}

void cosy_ring_cancel_stale(struct cosy_loop *loop, uint32_t fd)
{
	if (cosy_ring_outstanding(loop))
		cancel_fd_in_module(loop, COSY_ASYNC_CANCEL_FD | COSY_ASYNC_CANCEL, fd);
}

int cosy_ring_cancel_taken(struct cosy_loop *loop, uint32_t fd)
{
	return cosy_ring_outstanding(loop) ? cancel_fd_in_module(loop, COSY_ASYNC_CANCEL_FD, fd) : 0;
}

int cosy_ring_cancel_fds(struct cosy_loop *loop, uint32_t first, uint32_t last)
{
	int cancelled = 0;

	if (!cosy_ring_outstanding(loop) || first > last || cosy_is_of_share((int)first))
		return 0;
	if (first == last)
		cancelled = cancel_fd_in_module(loop, COSY_ASYNC_CANCEL_FD, first);
	else
		put_back(loop);
	cancelled += cancel_untaken(loop, first, last, false);
	loop->ring.up_to_date = false;
	return cancelled;
}

void cosy_ring_cancel_all(struct cosy_loop *loop)
{
	if (!cosy_ring_outstanding(loop))
		return;
	put_back(loop);
	cancel_untaken(loop, 0, 0, true);
}

/* Submit an entry that the module has not taken, and will not, to the loop's page. */
static void rescue_entry(struct cosy_loop *loop, struct cosy_submit_entry *entry, bool receives)
{
	const struct cosy_submit_entry copy = *entry;

	if (entry->nr == COSY_RING_NOP && entry->op) {
		/* It was cancelled. */
		complete_cancelled(loop, op_of(entry->op));
	} else if (entry->nr < COSY_RING_NOP && !receives) {
		move_call(loop, entry);
	} else if (entry->nr < COSY_RING_NOP || entry->nr == COSY_RING_RECEIVE) {
		empty_entry(loop, entry, true);
		move_entry(loop, &copy, waited(&copy));
	}
}

void cosy_ring_lost(struct cosy_loop *loop)
{
	if (!loop->ring.page || loop->ring.lost)
		return;
	loop->ring.lost = true;
	loop->ring.up_to_date = false;
	/* If another thread has closed the descriptor, the module puts the receives back soon. */
	while (__atomic_load_n(&loop->ring.page->waiting, __ATOMIC_ACQUIRE))
		cosy_pause();
	cosy_loop_wake(loop);
}

/* Submit what is in the ring to the loop's page, because the module cannot be entered any more. */
static COSY_NOINLINE void rescue_all(struct cosy_loop *loop)
{
	struct cosy_ring *ring = &loop->ring;
	struct cosy_submit *s = loop->ring.submit;

	count_entries(loop);
	/* Keep a close from entering the ring for the entries before it. */
	ring->takes_given = true;
	for (uint32_t i = ring->page->calls_head; i != s->calls_tail; i++)
		rescue_entry(loop, &s->calls[i & s->mask], false);
	for (uint32_t i = ring->page->receives_head; i != s->receives_tail; i++)
		rescue_entry(loop, &s->receives[i & s->mask], true);
	ring->takes_given = false;
	s->room += (int32_t)(s->quiet + ring->untracked_calls + ring->untracked_receives);
	s->quiet = ring->untracked_calls = ring->untracked_receives = 0;
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

/* Wait until the thread that had the ring does not use it any more. */
static void wait_for_owner(struct cosy_loop *loop)
{
	const struct cosy_submit *s = loop->ring.submit;

	/* From here on that thread sees that it has lost the ring, or this one sees that it is busy. */
	cosy_sys(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	while (__atomic_load_n(&s->busy[s->owner], __ATOMIC_ACQUIRE)) {
		cosy_ring_wake(loop);
		cosy_pause();
	}
}

void cosy_ring_take(struct cosy_loop *loop)
{
	struct cosy_submit *s = loop->ring.submit;
	const void *thread = __atomic_load_n(&s->thread, __ATOMIC_RELAXED);

	loop->biased = false;
	__atomic_store_n(&s->thread, NULL, __ATOMIC_RELAXED);
	if (thread != cosy_submit_self()) {
		loop->ring.taken_from = thread;
		wait_for_owner(loop);
	}
	/* The next entry into the module would overwrite what the module has given back. */
	if (loop->ring.page->ngiven)
		take_given(loop);
}

/*
 * Return true if the module has only compounds that wait. Their functions run natively from now on. The
 * thread that has the ring watches the loop's descriptor in the module for these compounds.
 */
static bool compounds_rest(const struct cosy_loop *loop)
{
	const struct cosy_module *m = &loop->module;

	if (!m->inside)
		return true;
	return m->inside == m->compounds && !cosy_module_submitted(m) && !cosy_module_done(m) &&
	       loop->batches.changes && !loop->fds.nadded;
}

/*
 * Return true if no operation in the ring has to come after an entry of the loop's page. Then all entries
 * of the page belong to functions that run or are in the ring, or wait for connections, events and times.
 */
static bool page_rests(const struct cosy_loop *loop)
{
	const struct cosy_async_page *page = loop->page.shared;

	return !cosy_page_submitted(&loop->page) && page->done_head == page->done_tail &&
	       loop->fds.waiting == loop->fds.watching && !loop->fds.questions &&
	       !loop->attempts.count && compounds_rest(loop) && !loop->threads.calling &&
	       !loop->threads.disk.queued.count &&
	       !loop->threads.waits.queued.count;
}

bool cosy_ring_give(struct cosy_loop *loop, bool waits)
{
	struct cosy_ring *ring = &loop->ring;
	/* That thread may not know yet that it has lost the ring. */
	const bool changes = ring->taken_from && ring->taken_from != cosy_submit_self();

	/* Where compounds run, they mostly wait in the module. */
	if (loop->module.inside && loop->batches.compounds)
		return false;
	if (!cosy_ring_is_open(ring) || ring->shared || loop->cpu ||
	    ring->taken + changes >= COSY_SUBMIT_OWNERS ||
	    loop->external || loop->blocked || loop->closing || loop->spreads || loop->inside ||
	    loop->waiters || !page_rests(loop))
		return false;
	ring->others = loop->fds.nadded || loop->timers.count || loop->module.inside;
	if (ring->others && (!waits || !cosy_ring_outstanding(loop)))
		return false;
	ring->until = cosy_timers_next(&loop->timers);
	ring->page->sleep_fd = loop->fds.nadded ? loop->fds.epoll :
			       loop->module.inside ? loop->module.fd : -1;
	ring->error = &errno;
	loop->biased = true;
	ring->taken += changes;
	ring->taken_from = NULL;
	loop->ring.submit->owner = ring->taken;
	__atomic_store_n(&loop->ring.submit->thread, cosy_submit_self(), __ATOMIC_RELEASE);
	return true;
}

/* Return true if another thread has taken the ring from this one. */
static COSY_ALWAYS_INLINE bool has_lost_ring(const struct cosy_loop *loop)
{
	return !cosy_submit_is_of(loop->ring.submit, cosy_submit_self());
}

/*
 * Take the lock, because the thread needs it, or has lost the ring. Return what cosy_ring_wait()
 * returns with it.
 */
static COSY_NOINLINE int go_on_with_lock(struct cosy_loop *loop)
{
	cosy_submit_end(loop->ring.submit);
	cosy_lock(&loop->lock);
	if (loop->biased)
		cosy_ring_take(loop);
	return -EAGAIN;
}

/*
 * The same to look whether what other entries wait for has happened. @readable: epoll reports
 * something.
 */
static COSY_NOINLINE int go_on_for_others(struct cosy_loop *loop, bool readable)
{
	int err = go_on_with_lock(loop);

	loop->ring.readable = readable;
	loop->module.up_to_date = loop->ring.up_to_date = false;
	/* Check epoll also if there is something to deliver. */
	loop->epoll_skips = UINT32_MAX;
	return err;
}

/*
 * The same if the operation that was collected last has a colour. It is collected again with the lock:
 * without it, another thread could collect and deliver the next one of that colour before.
 */
static COSY_NOINLINE int go_on_for_coloured(struct cosy_loop *loop, struct cosy_async *op)
{
	struct cosy_ring *ring = &loop->ring;

	if (op->slot & COSY_RING_OF_TASK)
		ring->of_tasks++;
	else
		loop->ring.submit->room--;
	if (op->slot & COSY_RING_CANCELLED) {
		op->result = (int64_t)(uintptr_t)ring->cancelled;
		ring->cancelled = op;
	} else {
		ring->done_head--;
	}
	return go_on_with_lock(loop);
}

/* The same after the module has given back entries, or could not be entered. @ret: its result. */
static COSY_NOINLINE int go_on_after(struct cosy_loop *loop, uint64_t ret)
{
	int err = go_on_with_lock(loop);

	if (!was_entered(ret))
		cosy_module_lose(loop, ret);
	return err;
}

/* The only entry that the module has not taken, if it is a call; otherwise NULL. */
static COSY_ALWAYS_INLINE struct cosy_submit_entry *only_call(const struct cosy_loop *loop)
{
	const struct cosy_ring_page *page = loop->ring.page;
	const struct cosy_submit *s = loop->ring.submit;

	if (s->calls_tail - page->calls_head != 1 || s->receives_tail != page->receives_head)
		return NULL;
	return &s->calls[page->calls_head & s->mask];
}

/*
 * Count a call that the thread makes itself. Return false from time to time: then the thread first enters
 * the module for calls that wait.
 */
static COSY_ALWAYS_INLINE bool is_own_turn(struct cosy_loop *loop)
{
	const struct cosy_submit *s = loop->ring.submit;

	return loop->ring.own_calls++ < COSY_RING_OWN_CALLS || s->room == (int32_t)s->mask;
}

/* The only call that the module has not taken, if it is made here with fewer instructions. */
static COSY_ALWAYS_INLINE struct cosy_submit_entry *entry_for_here(struct cosy_loop *loop)
{
	struct cosy_submit_entry *entry = only_call(loop);

	if (!entry || !is_own_turn(loop))
		return NULL;
	if (entry->nr == SYS_sendto) {
		/* A send that waits in the module comes first. One that has waited there must not be attempted. */
		if (COSY_UNLIKELY(entry->flags) || COSY_UNLIKELY(loop->ring.page->sending))
			return NULL;
	} else if (cosy_how(entry->nr) != COSY_HOW_DIRECT) {
		return NULL;
	}
	return entry;
}

/* Make the call of an entry in this thread, with @more added to its fourth argument. Return its result. */
static COSY_ALWAYS_INLINE int64_t call_of(const struct cosy_submit_entry *entry, uint64_t more)
{
	return cosy_sys6(entry->nr, (long)entry->args[0], (long)entry->args[1],
			 (long)entry->args[2], (long)(entry->args[3] | more), (long)entry->args[4],
			 (long)entry->args[5]);
}

/* Remove the only call from the ring: it was made in this thread. */
static COSY_ALWAYS_INLINE void made_here(struct cosy_loop *loop)
{
	loop->ring.submit->calls_tail--;
	loop->ring.here++;
}

/* Make the call of an entry in this thread. */
static COSY_ALWAYS_INLINE enum cosy_ring_sent make_here(struct cosy_loop *loop,
							const struct cosy_submit_entry *entry,
							int64_t *result)
{
	const bool sends = entry->nr == SYS_sendto;
	enum cosy_ring_sent sent = COSY_RING_SENT_ALL;

	*result = call_of(entry, sends ? MSG_DONTWAIT : 0);
	if (sends)
		sent = cosy_ring_sent(*result, entry->args[2]);
	if (sent != COSY_RING_SENT_NOTHING)
		made_here(loop);
	return sent;
}

/* A send that was made here has sent a part of its data: the rest waits. */
static COSY_NOINLINE int go_on_with_rest(struct cosy_loop *loop,
					 const struct cosy_submit_entry *entry, int64_t sent)
{
	const struct cosy_submit_entry copy = *entry;
	int err = go_on_with_lock(loop);

	loop->ring.here--;
	loop->ring.submitted++;
	if (copy.op)
		free_place(loop, op_of(copy.op));
	move_entry(loop, &copy, (uint32_t)sent);
	return err;
}

/* The calls for which the module's ring has a function of its own wait as this file expects. */
enum {
#define COSY_WAITS(name, how) RING_CALL_##name = COSY_HOW_##how,
#include "waits.def"
};

#define WAITS_LIKE_NOWAIT(how)	((how) == COSY_HOW_READ || (how) == COSY_HOW_CLOSE)
#define WAITS_LIKE_SEND(how)	((how) == COSY_HOW_SEND)
#define WAITS_LIKE_MESSAGE(how)	((how) == COSY_HOW_SEND)
#define WAITS_LIKE_GIVEN(how)	((how) == COSY_HOW_RECEIVE || (how) == COSY_HOW_ACCEPT)
#define COSY_RING_CALL(name, made) \
	_Static_assert(WAITS_LIKE_##made((enum cosy_how)RING_CALL_##name), "waits.def and syscalls.def agree");
#include <syscalls.def>

bool cosy_ring_make_first(struct cosy_loop *loop, struct cosy_async *op, int64_t *result, uint64_t *ret)
{
	struct cosy_ring *ring = &loop->ring;
	const struct cosy_ring_done *done = &ring->done[ring->done_head & loop->page.mask];

	publish_ring(loop);
	*ret = enter_ring(loop, COSY_RING_MAX | COSY_ASYNC_AWAIT);
	if (COSY_UNLIKELY(!was_entered(*ret)))
		return false;
	note_entered(loop);
	/* The module makes the call before any receive, so its completion comes first. */
	if (COSY_UNLIKELY(ring->page->ngiven) || COSY_UNLIKELY(has_lost_ring(loop)) ||
	    COSY_UNLIKELY(!has_completion(ring)) || COSY_UNLIKELY(op_of(done->op) != op))
		return false;
	ring->done_head++;
	*result = done->result;
	if (op->slot & COSY_RING_OPENS)
		note_opened(loop, *result);
	cosy_op_complete(op);
	return true;
}

void cosy_ring_end_unmade(struct cosy_loop *loop, uint64_t ret)
{
	if (was_entered(ret) && !loop->ring.page->ngiven && !has_lost_ring(loop)) {
		cosy_submit_end(loop->ring.submit);
		return;
	}
	go_on_after(loop, ret);
	cosy_loop_leave(loop);
}

void cosy_ring_send_rest(struct cosy_loop *loop, int64_t sent)
{
	const struct cosy_submit *s = loop->ring.submit;
	const struct cosy_submit_entry *entry = &s->calls[(s->calls_tail - 1) & s->mask];

	made_here(loop);
	go_on_with_rest(loop, entry, sent);
	cosy_loop_leave(loop);
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

/* Complete the next operations as long as they have no callback, at most @max. Return their number. */
static COSY_ALWAYS_INLINE unsigned int complete_plain(struct cosy_loop *loop, unsigned int max)
{
	struct cosy_ring *ring = &loop->ring;
	const uint32_t head = ring->done_head, place = head & loop->page.mask;
	const struct cosy_ring_done *const begin = &ring->done[place], *done = begin, *end;
	uint32_t n = cosy_index_load(&ring->page->done_tail) - head;

	if (n > max)
		n = max;
	/* Up to the end of the array: so no index has to be masked. */
	if (n > loop->page.mask + 1 - place)
		n = loop->page.mask + 1 - place;
	for (end = begin + n; done != end; done++) {
		struct cosy_async *op = op_of(done->op);

		if (COSY_UNLIKELY(!op) || op->done || COSY_UNLIKELY(op->slot & COSY_RING_MARKS))
			break;
		op->result = done->result;
		cosy_op_complete(op);
	}
	n = (uint32_t)(done - begin);
	ring->done_head = head + n;
	ring->submit->room += (int32_t)n;
	return n;
}

/*
 * Complete an operation that was collected, and those after it, as long as they have no callback.
 * Return the first with a callback, which is still pending; or NULL.
 */
static COSY_ALWAYS_INLINE struct cosy_async *complete_usual(struct cosy_loop *loop,
							    struct cosy_async *op,
							    unsigned int *delivered)
{
	while (!op->done) {
		++*delivered;
		cosy_op_complete(op);
		if (*delivered < COSY_WAIT_MAX && cosy_ring_has_done(&loop->ring))
			*delivered += complete_plain(loop, COSY_WAIT_MAX - *delivered);
		if (*delivered >= COSY_WAIT_MAX)
			return NULL;
		op = collect_one(loop);
		if (!op)
			return NULL;
	}
	return op;
}

/* Return true if the module has left early, for a signal or the kernel's own work. @ret: its result */
static COSY_ALWAYS_INLINE bool left_early(const struct cosy_loop *loop, uint64_t ret)
{
	return loop->ring.page->calls_head != loop->ring.submit->calls_tail ||
	       (uint32_t)ret & COSY_ASYNC_MORE;
}

/* Return true if cosy_loop_stop() was called since @stops was read. */
static COSY_ALWAYS_INLINE bool has_stopped(const struct cosy_loop *loop, unsigned int stops)
{
	return atomic_load_explicit(&loop->stops, memory_order_relaxed) != stops;
}

/* Return true if an entry has an operation with a colour: see go_on_for_coloured(). */
static COSY_ALWAYS_INLINE bool has_colour(const struct cosy_submit_entry *entry)
{
	const struct cosy_async *op = op_of(entry->op);

	return op && cosy_is_coloured(op);
}

/*
 * Make the only call here, if that takes fewer instructions. @op: set to its operation, whose result is
 * set; NULL: it has none. Return false if the module has to make it. @err: set if the thread has to go on
 * with the lock.
 */
static COSY_ALWAYS_INLINE bool make_only_here(struct cosy_loop *loop, struct cosy_async **op, int *err)
{
	const struct cosy_submit_entry *entry = entry_for_here(loop);
	enum cosy_ring_sent made = COSY_RING_SENT_NOTHING;
	int64_t result;

	if (entry && !has_colour(entry))
		made = make_here(loop, entry, &result);
	if (made == COSY_RING_SENT_PART)
		*err = go_on_with_rest(loop, entry, result);
	if (made != COSY_RING_SENT_ALL)
		return false;
	*op = op_of(entry->op);
	if (*op) {
		free_place(loop, *op);
		(*op)->result = result;
	} else {
		loop->ring.submit->quiet--;
		loop->ring.submit->room++;
	}
	return true;
}

/*
 * Return true if an operation, which has a mark of COSY_RING_MARKS, is a call of a function that is resumed
 * without more ado.
 */
static COSY_ALWAYS_INLINE bool is_of_function(const struct cosy_loop *loop, const struct cosy_async *op)
{
	return !(op->slot & COSY_RING_NOTED) && op->done == cosy_above.task_done &&
	       COSY_LIKELY(loop->deliver == NULL);
}

/*
 * Resume a function whose call is complete. Return false if the thread does not have the ring any more.
 */
static COSY_ALWAYS_INLINE bool resume_function(struct cosy_loop *loop, struct cosy_submit *s,
					       struct cosy_async *op)
{
	loop->ring.of_tasks--;
	cosy_op_complete(op);
	cosy_submit_end(s);
	/* A fibre may go on in another thread, but not while that has the ring. */
	return cosy_above.resume(op, loop->ring.error) || cosy_submit_begin(s);
}

/* Deliver an operation that has a callback. Returns as resume_function(). */
static COSY_ALWAYS_INLINE bool deliver_one(struct cosy_loop *loop, struct cosy_submit *s,
					   struct cosy_async *op)
{
	void (*done)(struct cosy_async *op) = op->done;

	cosy_op_complete(op);
	cosy_submit_end(s);
	cosy_loop_call(loop, op, done);
	return cosy_submit_begin(s);
}

/*
 * Deliver what has completed, and what the thread makes itself. @delivered: increased, to COSY_WAIT_MAX
 * at most. Return 0; -EAGAIN: as cosy_ring_wait().
 */
static COSY_ALWAYS_INLINE int deliver_all(struct cosy_loop *loop, struct cosy_submit *s,
					  unsigned int stops, unsigned int *delivered)
{
	struct cosy_async *op;
	int err = 0;

	while (*delivered < COSY_WAIT_MAX && !COSY_UNLIKELY(has_stopped(loop, stops))) {
		op = next_done(loop);
		if (!op) {
			op = next_cancelled(loop);
			if (!op && !make_only_here(loop, &op, &err))
				break;
		} else if (COSY_LIKELY(!(op->slot & COSY_RING_MARKS))) {
			s->room++;
		} else if (is_of_function(loop, op)) {
			++*delivered;
			if (COSY_UNLIKELY(!resume_function(loop, s, op)))
				return go_on_with_lock(loop);
			continue;
		} else {
			note_marked(loop, op);
		}
		if (op)
			op = complete_usual(loop, op, delivered);
		if (!op)
			continue;
		if (COSY_UNLIKELY(cosy_is_coloured(op)))
			return go_on_for_coloured(loop, op);
		++*delivered;
		if (COSY_UNLIKELY(!deliver_one(loop, s, op)))
			return go_on_with_lock(loop);
	}
	return err;
}

int cosy_ring_wait(struct cosy_loop *loop, unsigned int min, uint64_t until,
		   unsigned int stops, unsigned int *delivered)
{
	const void *self = cosy_submit_self();
	struct cosy_submit *s = loop->ring.submit;
	unsigned int n = 0;
	uint32_t seen = 0;
	uint64_t ret;
	int err;

	if (COSY_UNLIKELY(loop->ring.others) && loop->ring.until < until)
		until = loop->ring.until;
	loop->inside++;
	for (;;) {
		err = deliver_all(loop, s, stops, &n);
		*delivered = n;
		if (COSY_UNLIKELY(err))
			return err;
		if (COSY_UNLIKELY(loop->ring.others) && cosy_ring_hides_events(&loop->ring))
			return go_on_for_others(loop, seen & COSY_ASYNC_READABLE);
		if (n >= COSY_WAIT_MAX || (min ? n >= min : seen & LOOKED) || has_stopped(loop, stops))
			break;
		if (COSY_UNLIKELY(loop->ring.others) &&
		    (!cosy_ring_outstanding(loop) || seen & (COSY_ASYNC_READABLE | COSY_ASYNC_TIMEOUT)))
			return go_on_for_others(loop, seen & COSY_ASYNC_READABLE);
		if (!cosy_ring_outstanding(loop) ||
		    COSY_UNLIKELY(seen & COSY_ASYNC_TIMEOUT))
			break;
		if (COSY_UNLIKELY(seen & COSY_ASYNC_SIGNAL)) {
			err = n ? 0 : -EINTR;
			break;
		}
		loop->ring.own_calls = 0;
		/* Do not sleep for quiet calls only: when they end, nothing wakes the thread. */
		ret = enter_to_wait(loop, COSY_WAIT_MAX - n,
				    min && cosy_ring_outstanding(loop) != s->quiet, until);
		if (COSY_UNLIKELY(!was_entered(ret)))
			return go_on_after(loop, ret);
		note_batch(loop);
		/* Another thread that takes the ring wakes this one. */
		if (COSY_UNLIKELY(loop->ring.page->ngiven) ||
		    COSY_UNLIKELY(!cosy_submit_is_of(s, self)))
			return go_on_after(loop, ret);
		seen = (uint32_t)ret;
		if (min || !left_early(loop, ret))
			seen |= LOOKED;
	}
	if (COSY_UNLIKELY(has_stopped(loop, stops))) {
		err = 1;
		if (loop->inside == 1)
			cosy_loop_has_stopped(loop);
	}
	loop->inside--;
	cosy_submit_end(s);
	return err;
}

/* Deliver a call that was cancelled while it waited, for cosy_ring_make_only(). */
static COSY_NOINLINE enum cosy_ring_made deliver_cancelled(struct cosy_loop *loop)
{
	struct cosy_async *op = loop->ring.cancelled;

	if (op->done)
		return COSY_RING_IN_USE;
	cosy_op_complete(collect_cancelled(loop));
	cosy_submit_end(loop->ring.submit);
	return COSY_RING_COMPLETE;
}

enum cosy_ring_made cosy_ring_make_only(struct cosy_loop *loop)
{
	struct cosy_ring *ring = &loop->ring;
	const struct cosy_submit_entry *entry;
	struct cosy_async *op;
	enum cosy_how how;
	uint64_t ret;

	if (has_completion(ring) || cosy_loop_is_stopping(loop))
		return COSY_RING_IN_USE;
	if (ring->cancelled)
		return deliver_cancelled(loop);
	entry = only_call(loop);
	if (!entry)
		return COSY_RING_IN_USE;
	op = op_of(entry->op);
	how = cosy_how(entry->nr);
	if (!op || op->done || !is_own_turn(loop))
		return COSY_RING_IN_USE;
	if (how == COSY_HOW_DIRECT) {
		op->result = call_of(entry, 0);
		made_here(loop);
		ring->submit->room++;
		cosy_op_complete(op);
		cosy_submit_end(ring->submit);
		return COSY_RING_COMPLETE;
	}
	if (how != COSY_HOW_NOWAIT)
		return COSY_RING_IN_USE;
	if (!cosy_ring_make_first(loop, op, &op->result, &ret)) {
		cosy_ring_end_unmade(loop, ret);
		return COSY_RING_NOT_IN_USE;
	}
	ring->submit->room++;
	cosy_submit_end(ring->submit);
	return COSY_RING_COMPLETE;
}

void cosy_ring_add_info(const struct cosy_loop *loop, struct cosy_loop_info *info)
{
	const struct cosy_ring *ring = &loop->ring;
	const struct cosy_submit *s = loop->ring.submit;
	uint64_t submitted;

	if (!ring->page)
		return;
	submitted = ring->submitted - ring->moved + ring->here +
		    (uint32_t)(s->calls_tail - ring->counted_calls) +
		    (uint32_t)(s->receives_tail - ring->counted_receives);
	info->submitted += submitted;
	info->completed += submitted - cosy_ring_outstanding(loop);
	info->outstanding += cosy_ring_outstanding(loop) - ring->of_tasks;
	info->waiting += ring->page->waiting;
	info->attempts += ring->page->executed + ring->here;
	info->entries += ring->entered + ring->here;
}
