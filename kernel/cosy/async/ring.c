// SPDX-License-Identifier: GPL-2.0
/*
 * ring.c - executes the ring of a loop, see <linux/cosy_ring.h>.
 *
 * The thread that has entered the loop owns the ring. The process can write to the page at any
 * time. So each word of an entry is read once, indices are masked, and the kernel keeps its own
 * copy of what it needs later.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/unistd.h>

#include <cosy/calls.h>
#include <cosy/exec.h>

#include "async/async.h"
#include "async/ring.h"
#include "async/socket.h"
#include "async/transfer.h"
#include "async/wait.h"
#include "call/call.h"
#include "call/history.h"
#include "fast/calls.h"
#include "fast/io.h"
#include "fast/nowait.h"
#include "limit/limit.h"
#include "run/run.h"
#include "trace/cosy_trace.h"

/* Calls are made before receives, which they delay in at most this number of entries in a row. */
#define COSY_RING_DELAYS	4

/*
 * How a call is made. PLAIN + n: by the system call, with n arguments; GIVEN: by the process; the
 * others: without blocking. Those before SEND never wait.
 */
enum {
	COSY_RING_PLAIN,
	COSY_RING_SEND = COSY_RING_PLAIN + 7,
	COSY_RING_MESSAGE,
	COSY_RING_NOWAIT,
	COSY_RING_GIVEN,
};

/* A power of two, so that a mask limits the index also on a mispredicted path. */
#define COSY_RING_CALLS	512

/* By number: how the call is made, and by which function. */
static u8 cosy_ring_kinds[COSY_RING_CALLS] __ro_after_init;
static cosy_callee_fn *cosy_ring_callees[COSY_RING_CALLS] __ro_after_init;

/** cosy_ring_init() - decide how the calls of rings are made; after cosy_syscalls_init() */
void __init cosy_ring_init(void)
{
	enum { NESTED, LEAVE };

	BUILD_BUG_ON(NR_syscalls > COSY_RING_CALLS);
	memset(cosy_ring_kinds, COSY_RING_GIVEN, sizeof(cosy_ring_kinds));
#define COSY_SYSCALL(nr, name, args, nested)				\
	if ((nr) < NR_syscalls && cosy_call_nests(nr)) {		\
		cosy_ring_kinds[nr] = COSY_RING_PLAIN + sizeof(args) - 1; \
		cosy_ring_callees[nr] = cosy_callees[nr];		\
	}
#define COSY_NOWAIT(name) cosy_ring_kinds[__NR_##name] = COSY_RING_NOWAIT;
#define COSY_RING_CALL(name, made) cosy_ring_kinds[__NR_##name] = COSY_RING_##made;
#include <syscalls.def>
}

/**
 * struct cosy_ring_run - what is done in one entry into a ring
 * @begin: ring->done_tail at its beginning
 * @end:   ring->done_tail when nothing more may complete. An entry that is given back decrements it
 * @given: number of entries that were given back
 * @quiet: number of calls that were made and do not complete
 * @calls: number of calls that were made
 * @sleeps: the thread sleeps if nothing completes, and nothing is given back
 */
struct cosy_ring_run {
	u32 begin;
	u32 end;
	unsigned int given;
	unsigned int quiet;
	unsigned int calls;
	bool sleeps;
};

/* Return true if @n more entries may complete, or be given back. */
static __always_inline bool cosy_run_has_room(const struct cosy_ring *ring,
					      const struct cosy_ring_run *run, s32 n)
{
	return (s32)(run->end - ring->done_tail) >= n;
}

/* The arguments of tracepoints are computed only if these are on. */
static __always_inline void cosy_ring_trace_submit(const struct cosy_ring *ring, u64 op, u32 nr)
{
	if (trace_submit_enabled())
		trace_submit(ring->loop->id, (u32)op, nr);
}

static __always_inline void cosy_ring_trace_start(const struct cosy_ring *ring, u64 op)
{
	if (trace_start_enabled())
		trace_start(ring->loop->id, (u32)op);
}

static __always_inline void cosy_ring_write_done(const struct cosy_ring *ring,
						 struct cosy_ring_done *done, u64 op, s64 result)
{
	if (trace_complete_enabled())
		trace_complete(ring->loop->id, (u32)op, COSY_ENTRY_DONE, result);
	WRITE_ONCE(done->op, op);
	WRITE_ONCE(done->result, result);
}

static __always_inline void cosy_ring_complete(struct cosy_ring *ring, u64 op, s64 result)
{
	cosy_ring_write_done(ring, &ring->done[ring->done_tail & ring->mask], op, result);
	ring->done_tail++;
}

/* Read @n arguments of an entry, each once. */
static __always_inline void cosy_ring_args(struct pt_regs *regs,
					   const struct cosy_ring_entry *entry, unsigned int n)
{
	switch (n) {
	default:
		regs->r9 = READ_ONCE(entry->args[5]);
		fallthrough;
	case 5:
		regs->r8 = READ_ONCE(entry->args[4]);
		fallthrough;
	case 4:
		regs->r10 = READ_ONCE(entry->args[3]);
		fallthrough;
	case 3:
		regs->dx = READ_ONCE(entry->args[2]);
		fallthrough;
	case 2:
		regs->si = READ_ONCE(entry->args[1]);
		fallthrough;
	case 1:
		regs->di = READ_ONCE(entry->args[0]);
		fallthrough;
	case 0:
		break;
	}
}

/* A call with too few arguments, or none, must not get what is on the stack. */
static __always_inline void cosy_ring_no_args(struct pt_regs *regs)
{
	regs->di = 0;
	regs->si = 0;
	regs->dx = 0;
	regs->r10 = 0;
	regs->r8 = 0;
	regs->r9 = 0;
}

/* Write an entry, which the process reads. */
static noinline void cosy_ring_write(struct cosy_ring_entry *to, u32 nr, u32 flags, u64 op,
				     const struct pt_regs *regs)
{
	WRITE_ONCE(to->nr, nr);
	WRITE_ONCE(to->flags, flags);
	WRITE_ONCE(to->op, op);
	WRITE_ONCE(to->args[0], regs->di);
	WRITE_ONCE(to->args[1], regs->si);
	WRITE_ONCE(to->args[2], regs->dx);
	WRITE_ONCE(to->args[3], regs->r10);
	WRITE_ONCE(to->args[4], regs->r8);
	WRITE_ONCE(to->args[5], regs->r9);
}

/* Give a call back to the process. @flags: as in struct cosy_ring_page. */
static noinline void cosy_ring_give(struct cosy_ring *ring, struct cosy_ring_run *run, u32 nr,
				    u32 flags, u64 op, const struct pt_regs *regs)
{
	run->end--;
	trace_complete(ring->loop->id, (u32)op, COSY_ENTRY_USER, 0);
	cosy_ring_write(&ring->page->given[run->given++], nr, flags, op, regs);
}

/* Give an entry back that was not executed. */
static noinline void cosy_ring_give_entry(struct cosy_ring *ring, struct cosy_ring_run *run,
					  const struct cosy_ring_entry *entry, u32 nr, u64 op)
{
	struct pt_regs regs __uninitialized;

	cosy_ring_args(&regs, entry, 6);
	cosy_ring_give(ring, run, nr, 0, op, &regs);
}

/* Give a call back that waits, and has sent @sent bytes. */
static void cosy_ring_give_waiter(struct cosy_ring *ring, struct cosy_ring_run *run,
				  struct cosy_waiter *waiter, u32 sent)
{
	struct pt_regs regs __uninitialized;

	cosy_waiter_args(waiter, &regs);
	cosy_waiter_end(waiter);
	cosy_ring_give(ring, run, cosy_waiter_nr(waiter), sent ?: COSY_RING_WAITED, waiter->op,
		       &regs);
}

/**
 * struct cosy_ring_transfer - the arguments of a sendto() or recvfrom(), each read once
 * @fd:	     the descriptor
 * @buffer:  of the process
 * @size:    of @buffer
 * @flags:   of the call
 * @address: of the process
 */
struct cosy_ring_transfer {
	u64 fd;
	u64 buffer;
	u64 size;
	u64 flags;
	u64 address;
};

static __always_inline struct cosy_ring_transfer
cosy_ring_transfer_args(const struct cosy_ring_entry *entry)
{
	return (struct cosy_ring_transfer){
		.fd = READ_ONCE(entry->args[0]),
		.buffer = READ_ONCE(entry->args[1]),
		.size = READ_ONCE(entry->args[2]),
		.flags = READ_ONCE(entry->args[3]),
		.address = READ_ONCE(entry->args[4]),
	};
}

/* Set the registers to what a call without an address uses. */
static __always_inline void cosy_ring_usual_regs(struct pt_regs *regs,
						 const struct cosy_ring_transfer *args)
{
	regs->di = args->fd;
	regs->si = args->buffer;
	regs->dx = args->size;
	regs->r10 = args->flags;
}

/* Set all registers. The last argument counts only with an address. */
static __always_inline void cosy_ring_transfer_regs(struct pt_regs *regs,
						    const struct cosy_ring_entry *entry,
						    const struct cosy_ring_transfer *args)
{
	cosy_ring_usual_regs(regs, args);
	regs->r8 = args->address;
	regs->r9 = args->address ? READ_ONCE(entry->args[5]) : 0;
}

/* Set those that cosy_ring_usual_regs() has not set. */
static __always_inline void cosy_ring_no_address(struct pt_regs *regs)
{
	regs->r8 = 0;
	regs->r9 = 0;
}

/* Return true if the thread's system calls are watched: by filters, a tracer, an audit. */
static __always_inline bool cosy_ring_is_watched(cosy_self *self)
{
	return unlikely(cosy_any_bits(&self->syscall_work, SYSCALL_WORK_ENTER)) ||
	       unlikely(cosy_ptraced());
}

/*
 * Read all arguments of an entry of a watched thread: filters read all of them, and then the call
 * uses the same. @entry: NULL if @regs has them. Return true if the call may be made here.
 */
static noinline bool cosy_ring_read_watched(struct pt_regs *regs, u32 nr,
					    const struct cosy_ring_entry *entry)
{
	struct cosy_state st __uninitialized;

	if (entry)
		cosy_ring_args(regs, entry, 6);
	/* A tracer sees the native call. One that attaches now stops the thread, which leaves. */
	if (cosy_ptraced() || nr >= COSY_RING_NOP)
		return false;
	cosy_loop_state(&st);
	st.env.regs = *regs;
	return !cosy_env_watched(&st, nr);
}

static int cosy_waiter_compare(const void *key, const struct rb_node *node)
{
	const u64 op = *(const u64 *)key, other = rb_entry(node, struct cosy_waiter, by_op)->op;

	return op < other ? -1 : op > other;
}

/* Find the call with an operation that waits to send. The process may have many of them. */
static struct cosy_waiter *cosy_ring_find_send(const struct cosy_ring *ring, u64 op)
{
	return rb_entry_safe(rb_find(&op, &ring->sending, cosy_waiter_compare),
			     struct cosy_waiter, by_op);
}

/* Execute a COSY_RING_CANCEL or COSY_RING_CANCEL_SEND. */
static void cosy_ring_cancel(struct cosy_ring *ring, const struct cosy_ring_entry *entry, u32 nr)
{
	const u64 op = READ_ONCE(entry->args[1]);
	struct cosy_waiter *waiter;

	waiter = nr == COSY_RING_CANCEL ? cosy_receiver_of(ring, READ_ONCE(entry->args[0])) :
					  cosy_ring_find_send(ring, op);
	/* A waiter that receives stays in the queue, where it ignores events. */
	if (waiter && waiter->waits && waiter->op == op)
		cosy_waiter_end(waiter);
}

/* Execute an entry that is not a call. */
static noinline void cosy_ring_special(struct cosy_ring *ring, const struct cosy_ring_entry *entry,
				       u32 nr, u64 op)
{
	if (nr == COSY_RING_CANCEL || nr == COSY_RING_CANCEL_SEND)
		cosy_ring_cancel(ring, entry, nr);
	else if (op)
		cosy_ring_complete(ring, op, READ_ONCE(entry->args[0]));
}

/*
 * Read a regular file that is cached, at its position or at that of the call. Return the result of
 * the call, or -EAGAIN if it has to be made in another way; then it has no effect, except that a
 * part of the memory may be written.
 */
static noinline s64 cosy_ring_read(const u64 *args, bool here)
{
	struct cosy_fd fd = cosy_fd_get(args[0]);
	s64 result = -EAGAIN;

	if (fd.file)
		result = here ? cosy_read_cached_here(fd.file, args[1], args[2]) :
				cosy_read_cached_at(fd.file, args[1], args[2], args[3]);
	cosy_fd_put(fd);
	return result;
}

/*
 * Close a file or a directory of a local file system, for which no entry waits. Return the result
 * of the call, or -EAGAIN if the process has to close it: that ends what waits.
 */
static noinline s64 cosy_ring_close(const u64 *args)
{
	struct cosy_fd fd = cosy_fd_get_raw(args[0]);
	bool closes = fd.file && cosy_closes_at_once(fd.file);
	struct pt_regs regs __uninitialized;

	cosy_fd_put(fd);
	if (!closes)
		return -EAGAIN;
	cosy_ring_no_args(&regs);
	regs.di = args[0];
	regs.orig_ax = __NR_close;
	return cosy_callees[__NR_close](&regs);
}

/*
 * Make a call that must not wait. Return its result, or -EAGAIN if the process has to make it.
 */
static noinline s64 cosy_ring_nowait(u32 nr, const u64 *args)
{
	switch (nr) {
	case __NR_read:
	case __NR_pread64:
		return cosy_ring_read(args, nr == __NR_read);
	case __NR_close:
		return cosy_ring_close(args);
	default:
		return cosy_nowait_call(nr, args);
	}
}

/* Return how a call ends that has to be given back. */
static enum cosy_wait_end cosy_ring_not_made(u32 nr)
{
	return nr == __NR_sendto || nr == __NR_sendmsg || nr == __NR_read || nr == __NR_close ?
		       COSY_WAIT_GIVEN : COSY_WAIT_ALONE;
}

/* Make a call of a watched thread that must not wait. Returns as cosy_ring_any_call(). */
static enum cosy_wait_end cosy_ring_nowait_watched(u32 nr, const struct pt_regs *regs, s64 *result)
{
	const u64 args[] = { regs->di, regs->si, regs->dx, regs->r10, regs->r8, regs->r9 };

	*result = cosy_ring_nowait(nr, args);
	return *result == -EAGAIN ? cosy_ring_not_made(nr) : COSY_WAIT_MADE;
}

/* The same for a thread that is not watched. @regs: set to the arguments unless it was made. */
static __always_inline enum cosy_wait_end
cosy_ring_nowait_call(u32 nr, const struct cosy_ring_entry *entry, struct pt_regs *regs,
		      s64 *result, u32 *sent)
{
	const u64 args[] = { READ_ONCE(entry->args[0]), READ_ONCE(entry->args[1]),
			     READ_ONCE(entry->args[2]), READ_ONCE(entry->args[3]),
			     READ_ONCE(entry->args[4]), READ_ONCE(entry->args[5]) };

	*result = cosy_ring_nowait(nr, args);
	if (likely(*result != -EAGAIN))
		return COSY_WAIT_MADE;
	*sent = 0;
	regs->di = args[0];
	regs->si = args[1];
	regs->dx = args[2];
	regs->r10 = args[3];
	regs->r8 = args[4];
	regs->r9 = args[5];
	return cosy_ring_not_made(nr);
}

/* Return how a send has ended, if it may be linked. */
static enum cosy_wait_end cosy_ring_send_end(enum cosy_wait_end end, bool linked, u64 size,
					     s64 result)
{
	if (end != COSY_WAIT_MADE || !linked || cosy_call_restarts(result))
		return end;
	return result >= 0 && result == size ? COSY_WAIT_LINKED_SENT : COSY_WAIT_LINKED_FAILED;
}

/* Make a send whose arguments have been read, or let it wait. Returns as cosy_ring_any_call(). */
static noinline enum cosy_wait_end cosy_ring_any_send(struct cosy_ring *ring, u32 nr, u32 flags,
						      u64 op, struct pt_regs *regs, s64 *result,
						      u32 *sent)
{
	const bool linked = nr == __NR_sendto && flags & COSY_RING_LINKED;
	enum cosy_wait_end end = cosy_send(ring, nr, regs, flags, op, result, sent);

	return cosy_ring_send_end(end, linked, regs->dx, *result);
}

/* Continue a usual send that has not sent all its data. */
static noinline enum cosy_wait_end cosy_ring_send_ended(struct cosy_ring *ring, struct file *file,
							struct socket *socket, u32 flags, u64 op,
							const struct pt_regs *regs, s64 *result,
							u32 *sent)
{
	enum cosy_wait_end end = cosy_send_ended(ring, file, socket, regs, flags, op, *result,
						 sent);

	return cosy_ring_send_end(end, flags & COSY_RING_LINKED, regs->dx, *result);
}

/*
 * Make a sendto() of a thread that is not watched. Returns as cosy_ring_any_call(). @regs: set to
 * all of its arguments unless it was made.
 */
static __always_inline enum cosy_wait_end
cosy_ring_send(struct cosy_ring *ring, const struct cosy_ring_entry *entry, u64 op,
	       struct pt_regs *regs, s64 *result, u32 *sent)
{
	const u32 flags = READ_ONCE(entry->flags);
	const struct cosy_ring_transfer args = cosy_ring_transfer_args(entry);
	enum cosy_wait_end end = COSY_WAIT_GIVEN;
	struct socket *socket;
	struct cosy_fd fd;

	/*
	 * If a send waits, later sends on its socket have to wait, too. A size from 2^31 on is
	 * never sent, and may be equal to an error.
	 */
	if (unlikely(ring->nsending) || unlikely(flags & COSY_RING_WAITED) ||
	    unlikely(args.address | (args.flags & COSY_RING_SEND_UNUSUAL) | args.size >> 31)) {
		cosy_ring_transfer_regs(regs, entry, &args);
		return cosy_ring_any_send(ring, __NR_sendto, flags, op, regs, result, sent);
	}
	/* Before the call: otherwise the compiler saves the same elsewhere, and reads it again. */
	cosy_ring_usual_regs(regs, &args);
	fd = cosy_fd_get(args.fd);
	socket = cosy_socket_of(fd.file);
	if (likely(socket)) {
		*result = cosy_transfer_now(socket, args.buffer, args.size, args.flags, false);
		/* In memory already, so that the size is not saved during the call. */
		if (likely(*result == regs->dx)) {
			end = flags & COSY_RING_LINKED ? COSY_WAIT_LINKED_SENT : COSY_WAIT_MADE;
		} else {
			cosy_ring_no_address(regs);
			end = cosy_ring_send_ended(ring, fd.file, socket, flags, op, regs, result,
						   sent);
		}
	} else {
		cosy_ring_no_address(regs);
		*sent = 0;
	}
	cosy_fd_put(fd);
	return end;
}

/*
 * Make a call, or let it wait. @regs: has its number, and is set to its arguments. @result: set if
 * the call was made.
 * @sent: set if it was not: the number of bytes that it has sent.
 */
static noinline enum cosy_wait_end cosy_ring_any_call(struct cosy_ring *ring, u32 nr, u64 op,
						      const struct cosy_ring_entry *entry,
						      struct pt_regs *regs, bool watched,
						      s64 *result, u32 *sent)
{
	*sent = 0;
	if (!watched)
		cosy_ring_args(regs, entry, 6);
	else if (!cosy_ring_read_watched(regs, nr, entry))
		return cosy_ring_not_made(nr);
	switch (cosy_ring_kinds[nr]) {
	case COSY_RING_GIVEN:
		return COSY_WAIT_ALONE;
	case COSY_RING_SEND:
	case COSY_RING_MESSAGE:
		return cosy_ring_any_send(ring, nr, READ_ONCE(entry->flags), op, regs, result,
					  sent);
	case COSY_RING_NOWAIT:
		return cosy_ring_nowait_watched(nr, regs, result);
	default:
		*result = cosy_ring_callees[nr](regs);
		return COSY_WAIT_MADE;
	}
}

/*
 * The same. The usual calls of a thread that is not watched are made here. Its calls that never
 * wait do not come here: cosy_ring_plain_calls() makes them.
 */
static __always_inline enum cosy_wait_end
cosy_ring_call(struct cosy_ring *ring, u32 nr, u64 op, const struct cosy_ring_entry *entry,
	       struct pt_regs *regs, bool watched, s64 *result, u32 *sent)
{
	if (likely(nr == __NR_sendto) && likely(!watched))
		return cosy_ring_send(ring, entry, op, regs, result, sent);
	/* cosy_call_by_number() and cosy_call_cleared() read the number from here. */
	regs->orig_ax = nr;
	if (likely(!watched) && cosy_ring_kinds[nr] == COSY_RING_NOWAIT)
		return cosy_ring_nowait_call(nr, entry, regs, result, sent);
	return cosy_ring_any_call(ring, nr, op, entry, regs, watched, result, sent);
}

/*
 * Continue after a call that was not made, or has not sent all. Sets @goes_on to false if the
 * thread has to leave. Return false if the entry stays in its ring.
 */
static noinline bool cosy_ring_give_call(struct cosy_ring *ring, struct cosy_ring_run *run,
					 enum cosy_wait_end end, u32 nr, u32 sent, s64 result,
					 u64 op, const struct pt_regs *regs, bool *goes_on)
{
	if (end == COSY_WAIT_WAITS)
		return true;
	/* Later calls may be for the same socket. */
	*goes_on = end == COSY_WAIT_ALONE;
	if (end == COSY_WAIT_LINKED_FAILED) {
		cosy_ring_give(ring, run, __NR_sendto, result, op, regs);
		return true;
	}
	if (end == COSY_WAIT_SECOND) {
		if (!cosy_run_has_room(ring, run, 2))
			return false;
		cosy_ring_give_waiter(ring, run, cosy_sender_of(ring, (u32)regs->di), 0);
	}
	run->calls--;
	cosy_ring_give(ring, run, nr, *goes_on ? 0 : sent, op, regs);
	return true;
}

/*
 * Execute an entry that is no call, or that is given back. Return false if it is a close, which
 * must not overtake a call that was given back: later calls may be for the same descriptor.
 */
static bool cosy_ring_other_call(struct cosy_ring *ring, struct cosy_ring_run *run,
				 const struct cosy_ring_entry *entry, u32 nr, u64 op)
{
	run->calls--;
	if (nr >= COSY_RING_NOP)
		cosy_ring_special(ring, entry, nr, op);
	else
		cosy_ring_give_entry(ring, run, entry, nr, op);
	return nr >= COSY_RING_CALLS;
}

/* Return the end of the calls, from @head to @tail, that can be made before @run has no room. */
static __always_inline u32 cosy_ring_stop(const struct cosy_ring *ring,
					  const struct cosy_ring_run *run, u32 head, u32 tail)
{
	/* A call takes room for one entry. The last one may need room for two, and checks that. */
	return cosy_run_has_room(ring, run, 1) ?
		       head + min(tail - head, run->end - ring->done_tail) : head;
}

/* Return true if a system call makes a call, which never waits. @nr: below COSY_RING_CALLS. */
static __always_inline bool cosy_ring_is_plain(u32 nr)
{
	return cosy_ring_kinds[nr] < COSY_RING_SEND;
}

/*
 * Make calls that never wait, as long as they are next to each other and the thread is not watched:
 * from @head, for @op and with the number @nr, to @stop at most. Return the place of the first that
 * was not made. Sets @goes_on to false if the thread has to leave.
 */
static noinline u32 cosy_ring_plain_calls(struct cosy_ring *ring, struct cosy_ring_run *run,
					  u32 head, u32 stop, u32 nr, u64 op, bool *goes_on)
{
	const u32 size = ring->mask + 1, place = head & ring->mask;
	const u32 done_place = ring->done_tail & ring->mask;
	/* No index is masked below: @n ends where an array does. */
	const u32 n = min3(stop - head, size - place, size - done_place);
	const struct cosy_ring_entry *const begin = &ring->calls[place];
	struct cosy_ring_done *const first = &ring->done[done_place];
	const struct cosy_ring_entry *entry = begin;
	struct cosy_ring_done *done = first;
	cosy_self *self = current_thread_info();
	struct pt_regs regs __uninitialized;
	unsigned int nargs;
	s64 result;

	cosy_ring_no_args(&regs);
	for (;;) {
		/* cosy_call_by_number() and cosy_call_cleared() read the number from here. */
		regs.orig_ax = nr;
		nargs = cosy_ring_kinds[nr] - COSY_RING_PLAIN;
		if (nargs)
			cosy_ring_args(&regs, entry, nargs);
		cosy_ring_trace_start(ring, op);
		cosy_history_clear();
		result = cosy_ring_callees[nr](&regs);
		if (unlikely(result < 0) && cosy_call_restarts(result)) {
			*goes_on = false;
			break;
		}
		entry++;
		if (likely(op))
			cosy_ring_write_done(ring, done++, op, result);
		else
			run->quiet++;
		cosy_env_called(self);
		if (unlikely(cosy_env_leave(self))) {
			*goes_on = false;
			break;
		}
		if (entry == begin + n)
			break;
		nr = READ_ONCE(entry->nr);
		if (unlikely(nr >= COSY_RING_CALLS))
			break;
		/* This limits the index also on a mispredicted path. */
		nr &= COSY_RING_CALLS - 1;
		if (!cosy_ring_is_plain(nr) || cosy_ring_is_watched(self))
			break;
		op = READ_ONCE(entry->op);
		cosy_ring_trace_submit(ring, op, nr);
	}
	ring->done_tail += done - first;
	return head + (entry - begin);
}

/*
 * Execute calls up to @tail, until @run has no room. Return false if the thread has to leave: for
 * other work, or because a call was given back after which others have to come.
 */
static __always_inline bool cosy_ring_execute_calls(struct cosy_ring *ring,
						    struct cosy_ring_run *run, u32 tail)
{
	cosy_self *self = current_thread_info();
	struct pt_regs regs __uninitialized;
	const struct cosy_ring_entry *entry;
	const u32 begin = ring->calls_head;
	u32 head = begin, stop, nr, sent;
	enum cosy_wait_end end;
	bool goes_on = true, watched;
	s64 result;
	u64 op;

	/* Entries that do not complete take no room, so limit them, too. */
	if (tail - head > COSY_LOOP_CALLS)
		tail = head + COSY_LOOP_CALLS;
	stop = cosy_ring_stop(ring, run, head, tail);
	cosy_ring_no_args(&regs);
	do {
		entry = &ring->calls[head++ & ring->mask];
		nr = READ_ONCE(entry->nr);
		op = READ_ONCE(entry->op);
		cosy_ring_trace_submit(ring, op, nr);
		watched = cosy_ring_is_watched(self);
		if (unlikely(nr != __NR_sendto) || unlikely(watched)) {
			/* It must not close the file of a call that was given back. */
			if (unlikely(nr >= COSY_RING_CALLS) ||
			    (unlikely(run->given) && cosy_call_closes(nr))) {
				goes_on = cosy_ring_other_call(ring, run, entry, nr, op);
				if (goes_on)
					continue;
				break;
			}
			/* This limits the index also on a mispredicted path. */
			nr &= COSY_RING_CALLS - 1;
			if (likely(!watched) && cosy_ring_is_plain(nr)) {
				/* After a call that was given back, each has to be checked. */
				head = cosy_ring_plain_calls(ring, run, head - 1,
							     run->given ? head : stop, nr,
							     op, &goes_on);
				if (goes_on)
					continue;
				break;
			}
		}
		cosy_ring_trace_start(ring, op);
		cosy_history_clear();
		end = cosy_ring_call(ring, nr, op, entry, &regs, watched, &result, &sent);
		if (unlikely(end > COSY_WAIT_LINKED_SENT)) {
			if (!cosy_ring_give_call(ring, run, end, nr, sent, result, op, &regs,
						 &goes_on)) {
				head--;
				break;
			}
			if (goes_on)
				continue;
			break;
		}
		if (unlikely(end == COSY_WAIT_LINKED_SENT))
			op = 0;
		if (unlikely(result < 0) && cosy_call_restarts(result)) {
			goes_on = false;
			head--;
			break;
		}
		if (likely(op))
			cosy_ring_complete(ring, op, result);
		else
			run->quiet++;
		cosy_env_called(self);
		if (unlikely(cosy_env_leave(self))) {
			goes_on = false;
			break;
		}
	} while (head != stop ||
		 (head != tail && (stop = cosy_ring_stop(ring, run, head, tail)) != head));
	run->calls += head - begin;
	WRITE_ONCE(ring->calls_head, head);
	WRITE_ONCE(ring->page->calls_head, head);
	return goes_on;
}

/* Take the next waiter whose socket has had an event. Return NULL if there is none. */
static __always_inline struct cosy_waiter *cosy_waiter_next(struct cosy_ring *ring)
{
	struct llist_node *node = ring->left;
	struct cosy_waiter *waiter;

	if (!node) {
		if (llist_empty(&ring->fired))
			return NULL;
		node = llist_reverse_order(llist_del_all(&ring->fired));
	}
	waiter = llist_entry(node, struct cosy_waiter, node);
	WRITE_ONCE(ring->left, node->next);
	/* Clear it before the state of the socket is read: a later event adds the waiter again. */
	smp_store_mb(waiter->fired, false);
	return waiter;
}

/*
 * Make the calls whose sockets have had events. Return false if the thread has to leave: for other
 * work, or because a call was given back, and others may be for the same socket.
 */
static bool cosy_ring_execute_fired(struct cosy_ring *ring, struct cosy_ring_run *run)
{
	cosy_self *self = current_thread_info();
	struct cosy_waiter *waiter;
	struct pt_regs regs __uninitialized;
	unsigned int calls = COSY_LOOP_CALLS;
	s64 result;
	u32 sent;

	while (calls-- && cosy_run_has_room(ring, run, 1) && (waiter = cosy_waiter_next(ring))) {
		if (!waiter->waits)
			continue;
		cosy_waiter_args(waiter, &regs);
		if (unlikely(cosy_ring_is_watched(self)) &&
		    !cosy_ring_read_watched(&regs, cosy_waiter_nr(waiter), NULL)) {
			cosy_ring_give_waiter(ring, run, waiter, 0);
			return false;
		}
		cosy_ring_trace_start(ring, waiter->op);
		cosy_history_clear();
		run->calls++;
		switch (cosy_waiter_fired(waiter, &regs, &result, &sent)) {
		case COSY_WAIT_MADE:
			cosy_waiter_end(waiter);
			cosy_ring_complete(ring, waiter->op, result);
			break;
		case COSY_WAIT_AGAIN:
			cosy_waiter_again(waiter);
			return false;
		case COSY_WAIT_WAITS:
			break;
		default:
			cosy_ring_give_waiter(ring, run, waiter, sent);
			return false;
		}
		cosy_env_called(self);
		if (cosy_env_leave(self))
			return false;
	}
	return true;
}

/* Execute an entry in the ring of receives that is not a receive. */
static noinline void cosy_ring_other_receive(struct cosy_ring *ring, struct cosy_ring_run *run,
					     const struct cosy_ring_entry *entry, u32 nr, u64 op)
{
	if (nr != COSY_RING_NOP)
		cosy_ring_give_entry(ring, run, entry, nr, op);
	else if (op)
		cosy_ring_complete(ring, op, READ_ONCE(entry->args[0]));
}

/*
 * Make a receive of a thread that is not watched, or let it wait. @regs: set to all of its
 * arguments unless it was made. A usual one is made here, unless the last ones had to wait.
 */
static __always_inline enum cosy_wait_end
cosy_ring_receive(struct cosy_ring *ring, u32 nr, const struct cosy_ring_entry *entry, u64 op,
		  struct pt_regs *regs, s64 *result)
{
	const struct cosy_ring_transfer args = cosy_ring_transfer_args(entry);
	enum cosy_wait_end end = COSY_WAIT_MADE;
	struct cosy_waiter *waiter;
	struct socket *socket;
	struct cosy_fd fd;

	if (unlikely(nr != __NR_recvfrom) || unlikely(!args.size) ||
	    unlikely(args.address | (args.flags & COSY_RING_RECEIVE_UNUSUAL))) {
		cosy_ring_transfer_regs(regs, entry, &args);
		return cosy_receive(ring, nr, regs, op, result);
	}
	cosy_ring_usual_regs(regs, &args);
	waiter = cosy_receiver_of(ring, (u32)args.fd);
	fd = cosy_fd_get(args.fd);
	socket = cosy_socket_of(fd.file);
	if (unlikely(waiter && waiter->queued)) {
		cosy_ring_no_address(regs);
		end = cosy_receive_usual(ring, waiter, fd.file, socket, regs, op, result);
	} else {
		if (likely(socket))
			*result = cosy_transfer_now(socket, args.buffer, args.size, args.flags,
						    true);
		if (unlikely(!socket) || unlikely(*result < 0)) {
			cosy_ring_no_address(regs);
			end = cosy_receive_ended(ring, waiter, fd.file, socket, 0, regs, op,
						 result);
		}
	}
	cosy_fd_put(fd);
	return end;
}

/* Return true if the send of a linked receive may be among calls that were not made yet. */
static __always_inline bool cosy_ring_comes_later(const struct cosy_ring *ring, u32 flags)
{
	return flags & COSY_RING_LINKED &&
	       (s32)((ring->calls_head << 1) - (flags & ~COSY_RING_LINKED)) <= 0;
}

/*
 * Make receives in their order. If one waits, stop if the thread does not sleep, because something
 * has completed: the other receives probably have to wait, too. Return false if the thread has to
 * leave.
 */
static __always_inline bool cosy_ring_execute_receives(struct cosy_ring *ring,
						       struct cosy_ring_run *run)
{
	cosy_self *self = current_thread_info();
	const struct cosy_ring_entry *entry;
	struct pt_regs regs __uninitialized;
	const u32 begin = ring->receives_head;
	u32 head = begin, tail, nr;
	enum cosy_wait_end end;
	bool goes_on = true;
	s64 result;
	u64 op;

	/* Acquire: the entries were written before the tail. */
	tail = smp_load_acquire(&ring->page->receives_tail);
	if (head == tail)
		return true;
	if (tail - head > COSY_LOOP_CALLS)
		tail = head + COSY_LOOP_CALLS;
	/* The second receive of a descriptor gives back two entries. */
	for (; head != tail && goes_on && cosy_run_has_room(ring, run, 2); head++) {
		entry = &ring->receives[head & ring->mask];
		nr = READ_ONCE(entry->nr);
		op = READ_ONCE(entry->op);
		if (unlikely(nr != __NR_recvfrom) && !cosy_call_receives(nr)) {
			run->calls--;
			cosy_ring_other_receive(ring, run, entry, nr, op);
			continue;
		}
		if (unlikely(cosy_ring_comes_later(ring, READ_ONCE(entry->flags))))
			break;
		cosy_ring_trace_submit(ring, op, nr);
		cosy_ring_trace_start(ring, op);
		cosy_history_clear();
		if (likely(!cosy_ring_is_watched(self))) {
			end = cosy_ring_receive(ring, nr, entry, op, &regs, &result);
		} else {
			end = COSY_WAIT_GIVEN;
			if (cosy_ring_read_watched(&regs, nr, entry))
				end = cosy_receive(ring, nr, &regs, op, &result);
			else
				run->calls--;
		}
		switch (end) {
		case COSY_WAIT_MADE:
			cosy_ring_complete(ring, op, result);
			break;
		case COSY_WAIT_WAITS:
			goes_on = ring->done_tail == run->begin && (run->sleeps || !run->quiet);
			break;
		case COSY_WAIT_AGAIN:
			run->calls++;
			goto out;
		case COSY_WAIT_SECOND:
			cosy_ring_give_waiter(ring, run, cosy_receiver_of(ring, (u32)regs.di), 0);
			fallthrough;
		default:
			/* Later receives may be for the same socket. */
			cosy_ring_give(ring, run, nr, 0, op, &regs);
			goes_on = false;
		}
		cosy_env_called(self);
		if (unlikely(cosy_env_leave(self)))
			goes_on = false;
	}
out:
	run->calls += head - begin;
	WRITE_ONCE(ring->receives_head, head);
	WRITE_ONCE(ring->page->receives_head, head);
	return goes_on;
}

/*
 * Cancel calls whose CANCEL comes after calls that are not made yet. The process has completed the
 * cancelled calls, so they must not be made. Ends early if the process is killed, with @stops also
 * at other signals: then it returns false, and has to be called again.
 */
static bool cosy_ring_cancel_early(struct cosy_ring *ring, u32 tail, bool stops)
{
	struct cosy_ring_entry *entry;
	u32 head = ring->calls_head, nr;

	if (tail - head > ring->mask + 1)
		tail = head + ring->mask + 1;
	for (; head != tail; head++) {
		entry = &ring->calls[head & ring->mask];
		nr = READ_ONCE(entry->nr);
		if (!(head & 0xfff)) {
			cond_resched_tasks_rcu_qs();
			if (fatal_signal_pending(current))
				return false;
		}
		if (nr != COSY_RING_CANCEL && nr != COSY_RING_CANCEL_SEND)
			continue;
		cosy_ring_cancel(ring, entry, nr);
		/* When this entry is reached, another call of the operation may wait. */
		WRITE_ONCE(entry->op, 0);
		WRITE_ONCE(entry->nr, COSY_RING_NOP);
		/* The next call of this function skips the entries that are no CANCEL any more. */
		if (stops && signal_pending(current))
			return false;
	}
	return true;
}

/* Execute calls that have delayed receives too often. Leave room for receives: at least for two. */
static noinline bool cosy_ring_execute_delayed(struct cosy_ring *ring, struct cosy_ring_run *run,
					       u32 tail)
{
	const u32 kept = max(2u, (run->end - run->begin) / 2);
	bool goes_on = true;

	run->end -= kept;
	if (cosy_run_has_room(ring, run, 1))
		goes_on = cosy_ring_execute_calls(ring, run, tail);
	run->end += kept;
	if (!goes_on)
		return false;
	if (!cosy_ring_cancel_early(ring, tail, true))
		return false;
	ring->delayed = 0;
	return cosy_ring_execute_receives(ring, run) && cosy_ring_execute_fired(ring, run);
}

/*
 * Execute the entries of the rings, and calls whose sockets have had events. Return false if the
 * thread has to leave.
 */
static __always_inline bool cosy_ring_execute_all(struct cosy_ring *ring,
						  struct cosy_ring_run *run)
{
	/* Acquire: the entries were written before the tail. */
	u32 tail = smp_load_acquire(&ring->page->calls_tail);

	if (tail != ring->calls_head) {
		if (unlikely(ring->delayed >= COSY_RING_DELAYS))
			return cosy_ring_execute_delayed(ring, run, tail);
		if (!cosy_ring_execute_calls(ring, run, tail))
			return false;
		if (unlikely(ring->calls_head != tail)) {
			ring->delayed += cosy_ring_has_fired(ring) ||
					 ring->receives_head !=
						 READ_ONCE(ring->page->receives_tail);
			return true;
		}
	}
	ring->delayed = 0;
	if (cosy_ring_has_fired(ring) && !cosy_ring_execute_fired(ring, run))
		return false;
	return cosy_ring_execute_receives(ring, run);
}

/* cosy_ring_execute(), inline for the usual entry. */
static __always_inline unsigned int cosy_ring_execute_here(struct cosy_ring *ring,
							   unsigned int max, bool sleeps)
{
	struct cosy_ring_run run = {
		.begin = ring->done_tail, .end = ring->done_tail + max, .sleeps = sleeps,
	};
	struct cosy_ring_page *page = ring->page;
	u64 *executed;

	cosy_ring_execute_all(ring, &run);
	WRITE_ONCE(page->ngiven, run.given);
	WRITE_ONCE(page->waiting, ring->waiting);
	WRITE_ONCE(page->sending, ring->nsending);
	/* Release: with the new tail, the completions are seen. */
	smp_store_release(&page->done_tail, ring->done_tail);
	/* If the thread has migrated, all calls count for its present CPU. */
	executed = &ring->loop->cpus[raw_smp_processor_id()].executed;
	WRITE_ONCE(*executed, *executed + run.calls);
	ring->executed += run.calls;
	WRITE_ONCE(page->executed, ring->executed);
	return ring->done_tail - run.begin;
}

/**
 * cosy_ring_execute() - execute entries of a ring
 * @ring: the ring, entered
 * @max:  maximum number of completions and of entries that are given back, from COSY_RING_MIN to
 *	  COSY_RING_MAX
 * @sleeps: the thread sleeps if nothing completes, and nothing is given back
 *
 * Return: the number of completions.
 */
unsigned int cosy_ring_execute(struct cosy_ring *ring, unsigned int max, bool sleeps)
{
	return cosy_ring_execute_here(ring, max, sleeps);
}

/**
 * cosy_ring_has_more() - test whether entries can be executed
 * @ring: the ring, entered
 *
 * Return: true if there are any.
 */
bool cosy_ring_has_more(const struct cosy_ring *ring)
{
	const struct cosy_ring_page *page = ring->page;

	return ring->calls_head != READ_ONCE(page->calls_tail) ||
	       ring->receives_head != READ_ONCE(page->receives_tail) ||
	       cosy_ring_has_fired(ring);
}

/**
 * cosy_ring_kick() - make the thread that sleeps in a ring leave; otherwise the next one to sleep
 * @loop: the loop; may have no ring
 *
 * Return: the value that the interface documents for COSY_ASYNC_WORK.
 */
loff_t cosy_ring_kick(struct cosy_loop *loop)
{
	/* Acquire: the ring was initialised before. */
	struct cosy_ring *ring = smp_load_acquire(&loop->ring);

	if (!ring)
		return -EINVAL;
	WRITE_ONCE(ring->kicked, true);
	/* Either this sees @asleep, or the thread sees @kicked before it sleeps. */
	smp_mb();
	rcu_read_lock();
	if (READ_ONCE(ring->asleep))
		default_wake_function(&ring->sleeper, TASK_INTERRUPTIBLE, 0, NULL);
	rcu_read_unlock();
	return COSY_ASYNC_ENTERED;
}

/* Put a call that waits back to its ring, in front of those that were not made. */
static void cosy_ring_put_back(struct cosy_ring *ring, struct cosy_waiter *waiter)
{
	struct cosy_ring_entry *entry = waiter->sends ?
		&ring->calls[--ring->calls_head & ring->mask] :
		&ring->receives[--ring->receives_head & ring->mask];
	struct pt_regs regs __uninitialized;

	cosy_waiter_args(waiter, &regs);
	cosy_waiter_end(waiter);
	cosy_ring_write(entry, cosy_waiter_nr(waiter), COSY_RING_WAITED, waiter->op, &regs);
}

/**
 * cosy_ring_return() - put all calls that wait back to their rings
 * @ring: the ring, entered
 *
 * Return: their number.
 */
unsigned int cosy_ring_return(struct cosy_ring *ring)
{
	struct cosy_ring_page *page = ring->page;
	struct rb_node *node;
	unsigned int waiting;
	u32 fd;

	/* Acquire: the entries were written before the tail. */
	cosy_ring_cancel_early(ring, smp_load_acquire(&page->calls_tail), false);
	waiting = ring->waiting;
	while ((node = rb_first(&ring->sending))) {
		cosy_ring_put_back(ring, rb_entry(node, struct cosy_waiter, by_op));
		cond_resched();
	}
	for (fd = 0; fd < ring->receivers.n && ring->waiting; fd++) {
		if (ring->receivers.of[fd] && ring->receivers.of[fd]->waits)
			cosy_ring_put_back(ring, ring->receivers.of[fd]);
		if (!(fd & 0xff))
			cond_resched();
	}
	WRITE_ONCE(page->calls_head, ring->calls_head);
	WRITE_ONCE(page->receives_head, ring->receives_head);
	WRITE_ONCE(page->sending, ring->nsending);
	/* Release: a process that sees that nothing waits sees the entries. */
	smp_store_release(&page->waiting, ring->waiting);
	return waiting;
}

/* Forget a descriptor for one direction. Give the call back that waits. */
static void cosy_ring_forget_waiter(struct cosy_ring *ring, struct cosy_ring_run *run,
				    struct cosy_waiter *waiter, bool stale)
{
	if (!waiter || (stale && cosy_waiter_is_current(waiter)))
		return;
	if (waiter->waits)
		cosy_ring_give_waiter(ring, run, waiter, 0);
	cosy_waiter_forget(waiter);
}

/* COSY_ASYNC_CANCEL_FD. Return the number of calls that are given back. */
static unsigned int cosy_ring_forget(struct cosy_ring *ring, u64 fd, bool stale)
{
	struct cosy_ring_run run = {};

	/* Acquire: the entries were written before the tail. */
	cosy_ring_cancel_early(ring, smp_load_acquire(&ring->page->calls_tail), false);
	cosy_ring_forget_waiter(ring, &run, cosy_receiver_of(ring, fd), stale);
	cosy_ring_forget_waiter(ring, &run, cosy_sender_of(ring, fd), stale);
	WRITE_ONCE(ring->page->ngiven, run.given);
	WRITE_ONCE(ring->page->waiting, ring->waiting);
	WRITE_ONCE(ring->page->sending, ring->nsending);
	return run.given;
}

/* Execute, and sleep if @sleeps. Afterwards the thread may not be inside any more. */
static __always_inline loff_t cosy_ring_execute_or_sleep(struct cosy_ring *ring, u64 max,
							 bool sleeps)
{
	u64 seccomp = cosy_seccomp_state();
	int done;

	if (max < COSY_RING_MIN || max > COSY_RING_MAX)
		return -EINVAL;
	done = cosy_ring_execute_here(ring, max, sleeps);
	if (!done && !READ_ONCE(ring->page->ngiven)) {
		if (sleeps)
			done = cosy_ring_sleep(ring, max, seccomp);
		else if (cosy_ring_has_more(ring))
			done = COSY_ASYNC_MORE;
	}
	cosy_history_clear();
	if (unlikely(done < 0))
		return done;
	/* Filters that permitted this entry permit the next one: ask only if there are new ones. */
	if (unlikely(cosy_seccomp_state() != seccomp) && cosy_seccomp_blocks_entry())
		return COSY_ASYNC_SECCOMP_BLOCKED | done;
	return COSY_ASYNC_ENTERED | done;
}

/**
 * cosy_ring_enter() - COSY_ASYNC_RING_ENTER
 * @loop: the loop, entered; may not be on return: cosy_loop_is_inside()
 * @what: the command without that bit
 *
 * The call may close the loop's last descriptor.
 *
 * Return: the value that the interface documents.
 */
loff_t cosy_ring_enter(struct cosy_loop *loop, u64 what)
{
	/* Acquire: the ring was initialised before. */
	struct cosy_ring *ring = smp_load_acquire(&loop->ring);

	if (unlikely(!ring))
		return -EINVAL;
	if (unlikely(what & COSY_ASYNC_CANCEL_FD))
		return COSY_ASYNC_ENTERED | cosy_ring_forget(ring, (u32)what,
							     what & COSY_ASYNC_CANCEL);
	if (unlikely(what == COSY_ASYNC_CANCEL))
		return COSY_ASYNC_ENTERED | cosy_ring_return(ring);
	return cosy_ring_execute_or_sleep(ring, what & ~COSY_ASYNC_SLEEP, what & COSY_ASYNC_SLEEP);
}

static struct cosy_ring *cosy_ring_alloc(struct cosy_loop *loop)
{
	u64 size = COSY_RING_SIZE((u64)loop->nentries);
	struct cosy_ring_page *page;
	struct cosy_ring *ring;

	ring = kzalloc(sizeof(*ring), COSY_GFP);
	if (!ring)
		return NULL;
	page = cosy_mappable_alloc(&ring->memory, size);
	if (!page) {
		kfree(ring);
		return NULL;
	}
	ring->loop = loop;
	ring->page = page;
	ring->mask = loop->nentries - 1;
	page->version = COSY_RING_VERSION;
	page->nentries = loop->nentries;
	page->calls = sizeof(*page);
	page->receives = page->calls + loop->nentries * sizeof(*ring->calls);
	page->done = page->receives + loop->nentries * sizeof(*ring->receives);
	page->buffers = page->done + loop->nentries * sizeof(*ring->done);
	ring->calls = (void *)page + page->calls;
	ring->receives = (void *)page + page->receives;
	ring->done = (void *)page + page->done;
	ring->buffers = (void *)page + page->buffers;
	init_llist_head(&ring->fired);
	ring->sending = RB_ROOT;
	return ring;
}

/**
 * cosy_ring_mmap() - make the ring of a loop, and map it
 * @loop: the loop
 * @vma:  the mapping of the loop's process, at COSY_RING_OFFSET
 *
 * The process's lock for mappings is taken, so one thread at a time does this.
 *
 * Return: 0; -EINVAL, -EDQUOT or -ENOMEM.
 */
int cosy_ring_mmap(struct cosy_loop *loop, struct vm_area_struct *vma)
{
	u64 size = COSY_RING_SIZE((u64)loop->nentries);
	struct cosy_ring *ring;
	int err;

	if (loop->ring || !cosy_mappable_fits(vma, size))
		return -EINVAL;
	err = cosy_quota_charge(loop->owner, sizeof(*ring) + size);
	if (err)
		return err;
	ring = cosy_ring_alloc(loop);
	if (!ring)
		goto uncharge;
	vma->vm_pgoff = 0;
	err = cosy_mappable_map(&ring->memory, vma);
	if (err) {
		cosy_ring_free(ring);
		cosy_quota_uncharge(loop->owner, sizeof(*ring) + size);
		return err;
	}
	ring->charged = sizeof(*ring) + size;
	/* Release: threads enter it from here on. */
	smp_store_release(&loop->ring, ring);
	return 0;

uncharge:
	cosy_quota_uncharge(loop->owner, sizeof(*ring) + size);
	return -ENOMEM;
}

/**
 * cosy_ring_free() - free a ring
 * @ring: the ring, or NULL; its loop has no user any more
 */
void cosy_ring_free(struct cosy_ring *ring)
{
	if (!ring)
		return;
	cosy_waiters_free(ring);
	cosy_mappable_free(&ring->memory);
	kfree(ring);
}
