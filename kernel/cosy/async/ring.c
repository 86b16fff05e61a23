// SPDX-License-Identifier: GPL-2.0
/*
 * ring.c - executes the ring of a loop, see <linux/cosy_ring.h>.
 *
 * The thread that has entered the loop owns the ring. The process can write to the page at any
 * time: each word of an entry is read once, places are masked, and what is needed later is kept
 * here.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/unistd.h>
#include <linux/vmalloc.h>

#include <cosy/calls.h>
#include <cosy/exec.h>

#include "async/async.h"
#include "async/receive.h"
#include "async/ring.h"
#include "async/socket.h"
#include "async/transfer.h"
#include "call/call.h"
#include "call/history.h"
#include "compat/compat.h"
#include "fast/calls.h"
#include "fast/nowait.h"
#include "limit/limit.h"
#include "run/run.h"
#include "trace/cosy_trace.h"

/* Calls are made first, but after this number of entries into the loop receives are not delayed. */
#define COSY_RING_DELAYS	4

/* How a call is made: GIVEN; PLAIN + n, with n arguments; the others do not block. */
enum {
	COSY_RING_GIVEN,
	COSY_RING_PLAIN,
	COSY_RING_SEND = COSY_RING_PLAIN + 7,
	COSY_RING_NOWAIT,
};

/* A power of two, so that a mask limits the index also on a mispredicted path. */
#define COSY_RING_CALLS	512

/* By number: how the call is made, and by which function. */
static u8 cosy_ring_kinds[COSY_RING_CALLS] __ro_after_init;
static cosy_callee_fn *cosy_ring_callees[COSY_RING_CALLS] __ro_after_init;

/** cosy_ring_init() - decide how the calls of rings are made; after cosy_syscalls_init() */
void __init cosy_ring_init(void)
{
	static const u16 nowait[] __initconst = {
		__NR_stat, __NR_lstat, __NR_fstat, __NR_newfstatat, __NR_statx,
		__NR_access, __NR_faccessat, __NR_faccessat2,
	};
	enum { NESTED, LEAVE };
	unsigned int i;

	BUILD_BUG_ON(NR_syscalls > COSY_RING_CALLS);
#define COSY_SYSCALL(nr, name, args, nested)				\
	if ((nr) < NR_syscalls && cosy_call_nests(nr)) {		\
		cosy_ring_kinds[nr] = COSY_RING_PLAIN + sizeof(args) - 1; \
		cosy_ring_callees[nr] = cosy_callees[nr];		\
	}
#include <syscalls.def>
	for (i = 0; i < ARRAY_SIZE(nowait); i++)
		cosy_ring_kinds[nowait[i]] = COSY_RING_NOWAIT;
	cosy_ring_kinds[__NR_sendto] = COSY_RING_SEND;
	/* Among the calls, it would block. */
	cosy_ring_kinds[__NR_recvfrom] = COSY_RING_GIVEN;
}

/**
 * struct cosy_ring_run - what is done in one entry into a ring
 * @done:  number of completions
 * @given: number of entries that were given back
 * @calls: number of calls that were made
 * @max:   maximum of @done + @given
 */
struct cosy_ring_run {
	unsigned int done;
	unsigned int given;
	unsigned int calls;
	unsigned int max;
};

static __always_inline bool cosy_run_has_room(const struct cosy_ring_run *run, unsigned int n)
{
	return run->done + run->given + n <= run->max;
}

static __always_inline void cosy_ring_complete(struct cosy_ring *ring, struct cosy_ring_run *run,
					       u64 op, s64 result)
{
	struct cosy_ring_done *done = &ring->done[ring->done_tail & ring->mask];

	trace_complete(ring->loop->id, (u32)op, COSY_ENTRY_DONE, result);
	WRITE_ONCE(done->op, op);
	WRITE_ONCE(done->result, result);
	ring->done_tail++;
	run->done++;
}

/* Give a call back to the process. @sent: number of bytes that a send has transferred. */
static noinline void cosy_ring_give(struct cosy_ring *ring, struct cosy_ring_run *run, u32 nr,
				    u32 sent, u64 op, const u64 *args)
{
	struct cosy_ring_entry *to = &ring->page->given[run->given++];
	int i;

	trace_complete(ring->loop->id, (u32)op, COSY_ENTRY_USER, 0);
	WRITE_ONCE(to->nr, nr);
	WRITE_ONCE(to->flags, sent);
	WRITE_ONCE(to->op, op);
	for (i = 0; i < ARRAY_SIZE(to->args); i++)
		WRITE_ONCE(to->args[i], args[i]);
}

/* Read the arguments of an entry, each once. */
static noinline void cosy_ring_all_args(const struct cosy_ring_entry *entry, u64 *args)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(entry->args); i++)
		args[i] = READ_ONCE(entry->args[i]);
}

/* Give an entry back that was not executed. */
static noinline void cosy_ring_give_entry(struct cosy_ring *ring, struct cosy_ring_run *run,
					  const struct cosy_ring_entry *entry, u32 nr, u64 op)
{
	u64 args[6] __uninitialized;

	cosy_ring_all_args(entry, args);
	cosy_ring_give(ring, run, nr, 0, op, args);
}

/* Give a receive back that waits. */
static void cosy_ring_give_receive(struct cosy_ring *ring, struct cosy_ring_run *run,
				   struct cosy_receiver *receiver)
{
	const u64 args[] = {
		receiver->fd, receiver->buffer, receiver->size, receiver->flags, 0, 0
	};

	cosy_receiver_end(receiver);
	cosy_ring_give(ring, run, __NR_recvfrom, 0, receiver->op, args);
}

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
	/* A tracer sees the native call. One that attaches stops the thread, which then leaves. */
	if (cosy_ptraced())
		return false;
	cosy_loop_state(&st);
	st.env.regs = *regs;
	return !cosy_env_watched(&st, nr);
}

/* Give back a call whose arguments have been read. */
static noinline void cosy_ring_give_regs(struct cosy_ring *ring, struct cosy_ring_run *run, u32 nr,
					 u32 sent, u64 op, const struct pt_regs *regs)
{
	const u64 args[] = { regs->di, regs->si, regs->dx, regs->r10, regs->r8, regs->r9 };

	cosy_ring_give(ring, run, nr, sent, op, args);
}

/*
 * Make a sendto(). Return false if the process has to continue; then @sent is the number of bytes
 * sent.
 */
static __always_inline bool cosy_ring_send(struct pt_regs *regs, s64 *result, u32 *sent)
{
	struct cosy_fd fd = cosy_fd_get(regs->di);
	struct socket *socket = cosy_socket_of(fd.file);
	bool made = false;

	*sent = 0;
	if (likely(socket && !regs->r8) && likely(!(regs->r10 & COSY_RING_SEND_UNUSUAL))) {
		*result = cosy_transfer(socket, regs, false);
		made = true;
		if (unlikely(*result != regs->dx)) {
			if (*result == -EAGAIN) {
				made = false;
			} else if (*result >= 0 && socket->type == SOCK_STREAM) {
				made = false;
				*sent = *result;
			}
		}
	}
	cosy_fd_put(fd);
	return made;
}

/* Execute an entry that is not a call. */
static noinline void cosy_ring_special(struct cosy_ring *ring, struct cosy_ring_run *run,
				       const struct cosy_ring_entry *entry, u32 nr, u64 op)
{
	struct cosy_receiver *receiver;

	if (nr == COSY_RING_CANCEL) {
		receiver = cosy_receiver_of(ring, READ_ONCE(entry->args[0]));
		/* It stays in the queue, where it ignores events. */
		if (receiver && receiver->waits && receiver->op == READ_ONCE(entry->args[1]))
			cosy_receiver_end(receiver);
		return;
	}
	if (op)
		cosy_ring_complete(ring, run, op, READ_ONCE(entry->args[0]));
}

static noinline s64 cosy_ring_nowait(u32 nr, const struct pt_regs *regs)
{
	const u64 args[] = { regs->di, regs->si, regs->dx, regs->r10, regs->r8, regs->r9 };

	return cosy_nowait_call(nr, args);
}

/* How a call has ended. */
enum cosy_ring_end {
	COSY_RING_MADE,
	COSY_RING_NOT_MADE,	/* and it has to be given back */
	COSY_RING_SEND_NOT_MADE,
};

/* Make the call of an entry. @sent is only set if a send was not made. */
static __always_inline enum cosy_ring_end
cosy_ring_call(cosy_self *self, u32 nr, const struct cosy_ring_entry *entry, struct pt_regs *regs,
	       s64 *result, u32 *sent)
{
	const u8 kind = cosy_ring_kinds[nr];
	bool watched = cosy_ring_is_watched(self);

	if (unlikely(watched) && !cosy_ring_read_watched(regs, nr, entry)) {
		*sent = 0;
		return kind == COSY_RING_SEND ? COSY_RING_SEND_NOT_MADE : COSY_RING_NOT_MADE;
	}
	cosy_history_clear();
	if (kind == COSY_RING_PLAIN) {
		*result = cosy_ring_callees[nr](regs);
	} else if (likely(kind == COSY_RING_SEND)) {
		if (likely(!watched))
			cosy_ring_args(regs, entry, 5);
		if (unlikely(!cosy_ring_send(regs, result, sent)))
			return COSY_RING_SEND_NOT_MADE;
	} else if (kind == COSY_RING_NOWAIT) {
		if (likely(!watched))
			cosy_ring_args(regs, entry, 6);
		*result = cosy_ring_nowait(nr, regs);
		if (*result == -EAGAIN)
			return COSY_RING_NOT_MADE;
	} else if (likely(kind)) {
		if (likely(!watched))
			cosy_ring_args(regs, entry, kind - COSY_RING_PLAIN);
		regs->orig_ax = nr;
		*result = cosy_ring_callees[nr](regs);
	} else {
		if (likely(!watched))
			cosy_ring_args(regs, entry, 6);
		return COSY_RING_NOT_MADE;
	}
	return COSY_RING_MADE;
}

/*
 * Execute calls up to @tail, until @run has no room. Return false if the thread has to leave: for
 * other work, or because a send was given back.
 */
static __always_inline bool cosy_ring_execute_calls(struct cosy_ring *ring,
						    struct cosy_ring_run *run, u32 tail)
{
	cosy_self *self = current_thread_info();
	struct pt_regs regs __uninitialized;
	const struct cosy_ring_entry *entry;
	/* Entries that do not complete take no room, and the process chooses their number. */
	unsigned int entries = COSY_LOOP_CALLS;
	u32 head = ring->calls_head, nr;
	enum cosy_ring_end end;
	bool goes_on = true;
	s64 result;
	u32 sent;
	u64 op;

	/* A call with too few arguments must not get what is on the stack. */
	regs.di = 0;
	regs.si = 0;
	regs.dx = 0;
	regs.r10 = 0;
	regs.r8 = 0;
	regs.r9 = 0;
	do {
		entry = &ring->calls[head & ring->mask];
		nr = READ_ONCE(entry->nr);
		op = READ_ONCE(entry->op);
		trace_submit(ring->loop->id, (u32)op, nr);
		if (unlikely(nr >= COSY_RING_CALLS)) {
			if (nr >= COSY_RING_NOP)
				cosy_ring_special(ring, run, entry, nr, op);
			else
				cosy_ring_give_entry(ring, run, entry, nr, op);
			continue;
		}
		/* Also on a mispredicted path. */
		nr &= COSY_RING_CALLS - 1;
		trace_start(ring->loop->id, (u32)op);
		end = cosy_ring_call(self, nr, entry, &regs, &result, &sent);
		if (unlikely(end != COSY_RING_MADE)) {
			/* Those behind it may be for the same socket. */
			goes_on = end == COSY_RING_NOT_MADE;
			cosy_ring_give_regs(ring, run, nr, goes_on ? 0 : sent, op, &regs);
			continue;
		}
		if (unlikely(result < 0) && cosy_call_restarts(result)) {
			goes_on = false;
			break;
		}
		run->calls++;
		cosy_ring_complete(ring, run, op, result);
		cosy_env_called(self);
		if (cosy_env_leave(self))
			goes_on = false;
	} while (++head != tail && --entries && goes_on && cosy_run_has_room(run, 1));
	ring->calls_head = head;
	WRITE_ONCE(ring->page->calls_head, head);
	return goes_on;
}

/* Make the receives whose sockets have had events. Return false if the thread has to leave. */
static bool cosy_ring_execute_fired(struct cosy_ring *ring, struct cosy_ring_run *run)
{
	cosy_self *self = current_thread_info();
	struct cosy_receiver *receiver;
	struct pt_regs regs __uninitialized;
	unsigned int calls = COSY_LOOP_CALLS;
	s64 result;

	while (calls-- && cosy_run_has_room(run, 1) && (receiver = cosy_receiver_next(ring))) {
		if (!receiver->waits)
			continue;
		if (unlikely(cosy_ring_is_watched(self))) {
			regs.di = receiver->fd;
			regs.si = receiver->buffer;
			regs.dx = receiver->size;
			regs.r10 = receiver->flags;
			regs.r8 = 0;
			regs.r9 = 0;
			if (!cosy_ring_read_watched(&regs, __NR_recvfrom, NULL)) {
				cosy_ring_give_receive(ring, run, receiver);
				continue;
			}
		}
		trace_start(ring->loop->id, (u32)receiver->op);
		cosy_history_clear();
		run->calls++;
		switch (cosy_receive_fired(receiver, &regs, &result)) {
		case COSY_RECEIVE_MADE:
			cosy_receiver_end(receiver);
			cosy_ring_complete(ring, run, receiver->op, result);
			break;
		case COSY_RECEIVE_AGAIN:
			cosy_receiver_again(receiver);
			return false;
		case COSY_RECEIVE_WAITS:
			break;
		default:
			cosy_ring_give_receive(ring, run, receiver);
			break;
		}
		cosy_env_called(self);
		if (cosy_env_leave(self))
			return false;
	}
	return true;
}

/* Execute an entry among the receives that is none. */
static noinline void cosy_ring_other_receive(struct cosy_ring *ring, struct cosy_ring_run *run,
					     const struct cosy_ring_entry *entry, u64 op)
{
	u32 nr = READ_ONCE(entry->nr);

	if (nr != COSY_RING_NOP)
		cosy_ring_give_entry(ring, run, entry, nr, op);
	else if (op)
		cosy_ring_complete(ring, run, op, READ_ONCE(entry->args[0]));
}

/*
 * Make receives, in their order, until one waits although there is something to deliver: the others
 * have probably nothing to receive either. Return false if the thread has to leave.
 */
static __always_inline bool cosy_ring_execute_receives(struct cosy_ring *ring,
						       struct cosy_ring_run *run)
{
	cosy_self *self = current_thread_info();
	const struct cosy_ring_entry *entry;
	struct pt_regs regs __uninitialized;
	unsigned int calls = COSY_LOOP_CALLS;
	u32 head = ring->receives_head, tail;
	bool goes_on = true;
	s64 result;
	u64 op;

	/* Acquire: the entries were written before the tail. */
	tail = smp_load_acquire(&ring->page->receives_tail);
	if (head == tail)
		return true;
	regs.r9 = 0;
	/* A second receive gives back two. */
	for (; head != tail && goes_on && calls-- && cosy_run_has_room(run, 2); head++) {
		entry = &ring->receives[head & ring->mask];
		op = READ_ONCE(entry->op);
		if (unlikely(READ_ONCE(entry->nr) != __NR_recvfrom)) {
			cosy_ring_other_receive(ring, run, entry, op);
			continue;
		}
		trace_submit(ring->loop->id, (u32)op, __NR_recvfrom);
		if (unlikely(cosy_ring_is_watched(self))) {
			if (!cosy_ring_read_watched(&regs, __NR_recvfrom, entry)) {
				cosy_ring_give_regs(ring, run, __NR_recvfrom, 0, op, &regs);
				continue;
			}
		} else {
			cosy_ring_args(&regs, entry, 5);
		}
		trace_start(ring->loop->id, (u32)op);
		cosy_history_clear();
		run->calls++;
		switch (cosy_receive(ring, &regs, op, &result)) {
		case COSY_RECEIVE_MADE:
			cosy_ring_complete(ring, run, op, result);
			break;
		case COSY_RECEIVE_WAITS:
			goes_on = !run->done;
			break;
		case COSY_RECEIVE_SECOND:
			cosy_ring_give_receive(ring, run,
					       cosy_receiver_of(ring, (u32)regs.di));
			fallthrough;
		case COSY_RECEIVE_GIVEN:
			cosy_ring_give_regs(ring, run, __NR_recvfrom, 0, op, &regs);
			break;
		case COSY_RECEIVE_AGAIN:
			goto out;
		}
		cosy_env_called(self);
		if (cosy_env_leave(self))
			goes_on = false;
	}
out:
	ring->receives_head = head;
	WRITE_ONCE(ring->page->receives_head, head);
	return goes_on;
}

/*
 * Cancel receives whose CANCEL is behind calls that are not made yet. They have been completed by
 * the process, and must not be made.
 */
static void cosy_ring_cancel_early(struct cosy_ring *ring, struct cosy_ring_run *run, u32 tail)
{
	struct cosy_ring_entry *entry;
	u32 head = ring->calls_head;

	if (tail - head > ring->mask + 1)
		tail = head + ring->mask + 1;
	for (; head != tail; head++) {
		entry = &ring->calls[head & ring->mask];
		if (READ_ONCE(entry->nr) != COSY_RING_CANCEL)
			continue;
		cosy_ring_special(ring, run, entry, COSY_RING_CANCEL, 0);
		/* The operation may wait again when this is reached. */
		WRITE_ONCE(entry->op, 0);
		WRITE_ONCE(entry->nr, COSY_RING_NOP);
	}
}

/* Calls come first. If they have delayed receives often, leave room for some. */
static noinline bool cosy_ring_execute_delayed(struct cosy_ring *ring, struct cosy_ring_run *run,
					       u32 tail)
{
	unsigned int max = run->max;
	bool goes_on;

	run->max = DIV_ROUND_UP(max, 2);
	goes_on = cosy_ring_execute_calls(ring, run, tail);
	run->max = max;
	if (!goes_on)
		return false;
	cosy_ring_cancel_early(ring, run, tail);
	ring->delayed = 0;
	return cosy_ring_execute_receives(ring, run) && cosy_ring_execute_fired(ring, run);
}

/* Execute what is in the rings, and has had an event. Return false if the thread has to leave. */
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

/**
 * cosy_ring_execute() - execute entries of a ring
 * @ring: the ring, entered
 * @max:  maximum number of completions and of entries that are given back, at most COSY_RING_MAX
 *
 * Return: the number of completions.
 */
unsigned int cosy_ring_execute(struct cosy_ring *ring, unsigned int max)
{
	struct cosy_ring_run run = { .max = max };
	struct cosy_ring_page *page = ring->page;
	u64 *executed;

	cosy_ring_execute_all(ring, &run);
	WRITE_ONCE(page->ngiven, run.given);
	WRITE_ONCE(page->waiting, ring->waiting);
	/* Release: with the new tail, the completions are seen. */
	smp_store_release(&page->done_tail, ring->done_tail);
	/* If the thread has migrated, all calls count for its present CPU. */
	executed = &ring->loop->cpus[raw_smp_processor_id()].executed;
	WRITE_ONCE(*executed, *executed + run.calls);
	ring->executed += run.calls;
	WRITE_ONCE(page->executed, ring->executed);
	return run.done;
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
 * @ring: the ring
 */
void cosy_ring_kick(struct cosy_ring *ring)
{
	WRITE_ONCE(ring->kicked, true);
	/* Either this sees @asleep, or the thread sees @kicked before it sleeps. */
	smp_mb();
	rcu_read_lock();
	if (READ_ONCE(ring->asleep))
		default_wake_function(&ring->sleeper, TASK_INTERRUPTIBLE, 0, NULL);
	rcu_read_unlock();
}

/* Put a receive that waits back to its ring, in front of those that were not made. */
static void cosy_ring_put_back(struct cosy_ring *ring, struct cosy_receiver *receiver)
{
	struct cosy_ring_entry *entry = &ring->receives[--ring->receives_head & ring->mask];

	cosy_receiver_end(receiver);
	WRITE_ONCE(entry->nr, __NR_recvfrom);
	WRITE_ONCE(entry->flags, 0);
	WRITE_ONCE(entry->op, receiver->op);
	WRITE_ONCE(entry->args[0], receiver->fd);
	WRITE_ONCE(entry->args[1], receiver->buffer);
	WRITE_ONCE(entry->args[2], receiver->size);
	WRITE_ONCE(entry->args[3], receiver->flags);
	WRITE_ONCE(entry->args[4], 0);
	WRITE_ONCE(entry->args[5], 0);
}

/**
 * cosy_ring_return() - put all receives that wait back to their ring
 * @ring: the ring, entered
 */
void cosy_ring_return(struct cosy_ring *ring)
{
	struct cosy_ring_page *page = ring->page;
	u32 fd;

	for (fd = 0; fd < ring->nreceivers && ring->waiting; fd++) {
		if (ring->receivers[fd] && ring->receivers[fd]->waits)
			cosy_ring_put_back(ring, ring->receivers[fd]);
		if (!(fd & 0xff))
			cond_resched();
	}
	WRITE_ONCE(page->receives_head, ring->receives_head);
	/* Release: a process that sees that nothing waits sees the entries. */
	smp_store_release(&page->waiting, ring->waiting);
}

/* COSY_ASYNC_CANCEL_FD. Return the number of receives that are given back. */
static unsigned int cosy_ring_forget(struct cosy_ring *ring, u64 fd)
{
	struct cosy_receiver *receiver = cosy_receiver_of(ring, fd);
	struct cosy_ring_run run = {};

	if (receiver) {
		if (receiver->waits)
			cosy_ring_give_receive(ring, &run, receiver);
		cosy_receiver_forget(receiver);
	}
	WRITE_ONCE(ring->page->ngiven, run.given);
	WRITE_ONCE(ring->page->waiting, ring->waiting);
	return run.given;
}

/* Execute, and sleep if @sleeps. Sets @entered to false if the thread is not inside any more. */
static __always_inline loff_t cosy_ring_enter(struct cosy_ring *ring, u64 max, bool sleeps,
					      bool *entered)
{
	u64 seccomp = cosy_seccomp_state();
	int done;

	if (!max || max > COSY_RING_MAX)
		return -EINVAL;
	done = cosy_ring_execute(ring, max);
	if (sleeps && !done && !READ_ONCE(ring->page->ngiven))
		done = cosy_ring_sleep(ring, max, seccomp, entered);
	cosy_history_clear();
	if (unlikely(done < 0))
		return done;
	/* Filters that permitted this entry permit the next one: ask only if there are new ones. */
	if (unlikely(cosy_seccomp_state() != seccomp) && cosy_seccomp_blocks_entry())
		return COSY_ASYNC_BARRED | done;
	return COSY_ASYNC_ENTERED | done;
}

/**
 * cosy_ring_llseek() - COSY_ASYNC_RING_ENTER
 * @loop: the loop. The caller has checked that this thread may enter it
 * @what: the command without that bit
 *
 * The call may close the loop's last descriptor.
 *
 * Return: the value that the interface documents.
 */
loff_t cosy_ring_llseek(struct cosy_loop *loop, u64 what)
{
	/* Acquire: the ring was initialised before. */
	struct cosy_ring *ring = smp_load_acquire(&loop->ring);
	bool entered = true;
	loff_t ret;

	if (unlikely(!ring))
		return -EINVAL;
	if (unlikely(what == COSY_ASYNC_WORK)) {
		cosy_ring_kick(ring);
		return COSY_ASYNC_ENTERED;
	}
	if (unlikely(!cosy_loop_lock(loop))) {
		ret = what & COSY_ASYNC_AWAIT ? cosy_loop_await(loop) : -EBUSY;
		if (ret)
			return ret;
	}
	what &= ~COSY_ASYNC_AWAIT;
	refcount_inc(&loop->users);
	WRITE_ONCE(loop->enters, loop->enters + 1);
	if (unlikely(what & COSY_ASYNC_CANCEL_FD)) {
		ret = COSY_ASYNC_ENTERED |
		      cosy_ring_forget(ring, what & ~COSY_ASYNC_CANCEL_FD);
	} else if (unlikely(what == COSY_ASYNC_CANCEL)) {
		ret = COSY_ASYNC_ENTERED | ring->waiting;
		cosy_ring_return(ring);
	} else {
		ret = cosy_ring_enter(ring, what & ~COSY_ASYNC_SLEEP, what & COSY_ASYNC_SLEEP,
				      &entered);
	}
	if (likely(entered)) {
		if (unlikely(cosy_loop_is_lost(loop)))
			WRITE_ONCE(loop->closed, true);
		cosy_loop_unlock(loop);
	}
	cosy_loop_put(loop);
	return ret;
}

static struct cosy_ring *cosy_ring_alloc(struct cosy_loop *loop)
{
	u64 size = COSY_RING_SIZE((u64)loop->nentries);
	struct cosy_ring_page *page;
	struct cosy_ring *ring;

	ring = kzalloc(sizeof(*ring), COSY_GFP);
	if (!ring)
		return NULL;
	ring->npages = size >> PAGE_SHIFT;
	ring->pages = cosy_pages_alloc(ring->npages);
	if (!ring->pages)
		goto free_ring;
	page = vmap(ring->pages, ring->npages, VM_MAP | VM_USERMAP, PAGE_KERNEL);
	if (!page)
		goto free_pages;
	ring->loop = loop;
	ring->page = page;
	ring->mask = loop->nentries - 1;
	page->version = COSY_RING_VERSION;
	page->nentries = loop->nentries;
	page->calls = sizeof(*page);
	page->receives = page->calls + loop->nentries * sizeof(*ring->calls);
	page->done = page->receives + loop->nentries * sizeof(*ring->receives);
	ring->calls = (void *)page + page->calls;
	ring->receives = (void *)page + page->receives;
	ring->done = (void *)page + page->done;
	init_llist_head(&ring->fired);
	return ring;

free_pages:
	cosy_pages_free(ring->pages, ring->npages);
free_ring:
	kfree(ring);
	return NULL;
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

	if (loop->ring || vma->vm_end - vma->vm_start != size || !(vma->vm_flags & VM_SHARED) ||
	    vma->vm_flags & VM_EXEC)
		return -EINVAL;
	err = cosy_quota_charge(loop->owner, sizeof(*ring) + size);
	if (err)
		return err;
	ring = cosy_ring_alloc(loop);
	if (!ring)
		goto uncharge;
	vma->vm_pgoff = 0;
	cosy_vma_flags(vma, VM_DONTCOPY, VM_MAYEXEC);
	err = remap_vmalloc_range(vma, ring->page, 0);
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
	cosy_receivers_free(ring);
	vunmap(ring->page);
	cosy_pages_free(ring->pages, ring->npages);
	kfree(ring);
}
