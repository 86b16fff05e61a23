/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * start.c - decides how an entry is executed: it is attempted and, if it would block, waits for its
 * descriptor; it waits for a time; or a thread makes its call.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "device/descriptor.h"
#include "device/sys.h"
#include "arguments.h"
#include "cancel.h"
#include "complete.h"
#include "connection.h"
#include "cpu.h"
#include "dispatch.h"
#include "loop.h"
#include "start.h"
#include "transfer.h"

/* In nanoseconds: see try_later(). */
#define TRIES_AFTER	1000000u

/* The next step of an entry. These functions call each other. */
static void finish(struct cosy_loop *loop, uint32_t slot, int64_t result);
static void start_attempt(struct cosy_loop *loop, uint32_t slot);
static void start_waiting(struct cosy_loop *loop, uint32_t slot);

/* Make a call that ends by itself here, because there is no thread. */
static void call_here(struct cosy_loop *loop, uint32_t slot)
{
	uint64_t args[6];
	long result;

	cosy_thread_args(loop, slot, args);
	loop->info.entries++;
	result = cosy_slot_call(&loop->slots.all[slot], loop->page.entries[slot].nr, args);
	/* As after a thread's close(), entries have to be cancelled that have begun to wait meanwhile. */
	if (loop->slots.all[slot].how == COSY_HOW_CLOSE)
		cosy_thread_made(loop, slot, result);
	else
		finish(loop, slot, result);
}

/* Let a thread make the call of an entry. */
static void call_by_thread(struct cosy_loop *loop, uint32_t slot, bool disk)
{
	int err = cosy_slot_is_in_share(loop, slot) ? cosy_loop_uses_share(loop) : 0;

	/* The descriptors of a poll() are in the program's memory: its address may be invalid. */
	if (loop->slots.all[slot].how != COSY_HOW_POLL)
		cosy_module_use_fd(loop, cosy_slot_fd(loop, slot));
	if (!err)
		err = cosy_thread_add(loop, slot, disk);
	if (!err)
		return;
	if (disk || loop->slots.all[slot].how == COSY_HOW_CLOSE)
		call_here(loop, slot);
	else
		finish(loop, slot, err);
}

/* Return true if the call can continue after a short count. Other calls on disks are not attempted. */
static bool one_buffer(uint32_t nr)
{
	return nr == SYS_read || nr == SYS_pread64;
}

/* Return true if a blocking write() goes on until all is written. On other files, it may return less. */
static bool writes_all(int fd, const struct cosy_descriptor *d)
{
	switch (d->kind) {
	case COSY_KIND_PIPE:
		return true;
	case COSY_KIND_SOCKET:
		return d->type == SOCK_STREAM;
	default:
		return d->kind == COSY_KIND_NOWAIT && cosy_is_terminal(fd);
	}
}

/* Return true if the call has one buffer, and can be continued after a partial transfer. */
static bool continues(const struct cosy_async_entry *entry,
		      const struct cosy_descriptor *d)
{
	switch (entry->nr) {
	case SYS_read:
	case SYS_pread64:
		return d->kind == COSY_KIND_DISK;
	case SYS_write:
		return writes_all((int)entry->args[0], d);
	case SYS_sendto:
		return d->type == SOCK_STREAM && !(entry->args[3] & MSG_OOB);
	case SYS_recvfrom:
		return d->type == SOCK_STREAM &&
		       (entry->args[3] & (MSG_WAITALL | MSG_PEEK)) ==
			       MSG_WAITALL;
	default:
		return false;
	}
}

/* Remove an entry from the list of its descriptor. */
static void waits_no_longer(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_slot *s = &loop->slots.all[slot];
	int fd = s->fd;

	cosy_descriptor_remove(&loop->fds, slot);
	if (s->how != COSY_HOW_SIGNAL)
		return;
	/* If the program has closed it, its number may refer to another file in another epoll. */
	if (!cosy_loop_owns(loop, fd))
		cosy_descriptor_set_added(&loop->fds, cosy_descriptor_find(&loop->fds, fd), false);
	cosy_descriptor_forget(&loop->fds, fd);
	cosy_loop_close_fd(loop, fd);
}

static void reads_no_longer(struct cosy_loop *loop, uint32_t slot)
{
	loop->slots.all[slot].buffered = false;
	cosy_queue_remove(loop->slots.all, &loop->module.reading, slot);
}

/* Return true if a read or write cannot be made with RWF_NOWAIT. */
static bool is_polled(const struct cosy_slot *s, const struct cosy_descriptor *d)
{
	return s->polled || (s->list < COSY_LISTS && d->polled & 1u << s->list);
}

/* Return true if the call receives until its buffers are full, and cannot be continued. */
static bool fills_buffers(const struct cosy_async_entry *entry, const struct cosy_descriptor *d)
{
	if (d->kind != COSY_KIND_SOCKET || d->type != SOCK_STREAM)
		return false;
	if (entry->nr == SYS_recvmsg)
		return entry->args[2] & MSG_WAITALL;
	return entry->nr == SYS_recvfrom && entry->args[3] & MSG_WAITALL &&
	       entry->args[3] & MSG_PEEK;
}

/*
 * Return true for a datagram for which the sending socket had room, and the receiving one had none. A
 * socket of AF_UNIX without a connection does not tell when the receiving socket has room.
 */
static bool waits_for_receiver(const struct cosy_slot *s, const struct cosy_descriptor *d)
{
	return s->reported && d->kind == COSY_KIND_SOCKET && d->type == SOCK_DGRAM;
}

/*
 * Return true if a thread has to make the call once the descriptor is ready. Another process may
 * have taken the data, and the call would block.
 */
static bool needs_thread(const struct cosy_loop *loop, uint32_t slot,
			 const struct cosy_descriptor *d)
{
	const struct cosy_slot *s = &loop->slots.all[slot];

	switch (s->how) {
	case COSY_HOW_ACCEPT:
	case COSY_HOW_CONNECT:
		return cosy_blocks(s);
	case COSY_HOW_READ:
	case COSY_HOW_WRITE:
		return is_polled(s, d) && cosy_blocks(s);
	case COSY_HOW_SEND:
		return waits_for_receiver(s, d) && cosy_blocks(s);
	case COSY_HOW_RECEIVE:
		return fills_buffers(&loop->page.entries[slot], d) && cosy_blocks(s);
	default:
		return false;
	}
}

/* Return how an entry begins for which needs_thread() is true. A call that fails at once does not wait. */
static enum cosy_beginning beginning_for_thread(const struct cosy_loop *loop, uint32_t slot,
					   const struct cosy_descriptor *d)
{
	const struct cosy_slot *s = &loop->slots.all[slot];
	const struct cosy_async_entry *entry = &loop->page.entries[slot];

	switch (s->how) {
	case COSY_HOW_READ:
	case COSY_HOW_WRITE:
		return cosy_polled_beginning(loop, s, entry, d);
	case COSY_HOW_ACCEPT:
		return cosy_socket_option(s->fd, SO_ACCEPTCONN) ? COSY_BEGIN_WAITING :
								  COSY_BEGIN_ATTEMPT;
	case COSY_HOW_RECEIVE:
		return cosy_socket_option(s->fd, SO_ACCEPTCONN) || cosy_connection_is_missing(s->fd) ||
				       cosy_has_wrong_message(entry) ?
			       COSY_BEGIN_ATTEMPT : COSY_BEGIN_WAITING;
	case COSY_HOW_CONNECT:
		/* A descriptor that has no connection yet may never be ready. */
		return COSY_BEGIN_THREAD;
	default:
		return COSY_BEGIN_WAITING;
	}
}

/* Begin with the first entry of a list. */
static void begin_first(struct cosy_loop *loop, uint32_t slot, const struct cosy_descriptor *d)
{
	if (d->kind == COSY_KIND_DISK && !one_buffer(loop->page.entries[slot].nr)) {
		call_by_thread(loop, slot, true);
		return;
	}
	switch (needs_thread(loop, slot, d) ? beginning_for_thread(loop, slot, d) :
					      COSY_BEGIN_ATTEMPT) {
	case COSY_BEGIN_ATTEMPT:
		start_attempt(loop, slot);
		break;
	case COSY_BEGIN_WAITING:
		start_waiting(loop, slot);
		break;
	case COSY_BEGIN_THREAD:
		call_by_thread(loop, slot, false);
		break;
	}
}

void cosy_end(struct cosy_loop *loop, uint32_t slot, int64_t result)
{
	const struct cosy_slot *s = &loop->slots.all[slot];

	/* Report a partial transfer, as the call does after a signal. */
	if (s->done && s->how != COSY_HOW_POLL)
		result = (int64_t)s->done + (result > 0 ? result : 0);
	if (s->list != COSY_LIST_NONE)
		waits_no_longer(loop, slot);
	if (s->buffered)
		reads_no_longer(loop, slot);
	cosy_complete(loop, slot, result);
}

void cosy_start_next(struct cosy_loop *loop, const struct cosy_slot *before)
{
	struct cosy_descriptor *d;
	uint32_t slot;

	if (before->list == COSY_LIST_NONE || before->how == COSY_HOW_SIGNAL ||
	    before->prev != COSY_NO_SLOT)
		return;
	d = cosy_descriptor_find(&loop->fds, before->fd);
	slot = d->head[before->list];
	if (slot == COSY_NO_SLOT ||
	    loop->slots.all[slot].state != COSY_SLOT_WAITING)
		return;
	if (before->list == COSY_LIST_POLL)
		start_waiting(loop, slot);
	else
		begin_first(loop, slot, d);
}

/* Finish an entry with the result of its call, and begin with the next entry of its list. */
static void finish(struct cosy_loop *loop, uint32_t slot, int64_t result)
{
	const struct cosy_slot *s = &loop->slots.all[slot];
	struct cosy_slot before;

	/* The entry is mostly the last of its list. */
	if (s->next == COSY_NO_SLOT) {
		cosy_end(loop, slot, result);
		return;
	}
	before = *s;
	cosy_end(loop, slot, result);
	cosy_start_next(loop, &before);
}

void cosy_thread_made(struct cosy_loop *loop, uint32_t slot, int64_t result)
{
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	const struct cosy_slot s = loop->slots.all[slot];
	uint32_t first = 1, last = 0, next;
	const struct cosy_descriptor *d;

	/* The program may have closed the first descriptor of dup2() since the call. */
	if (s.how == COSY_HOW_CLOSE)
		cosy_named_range(entry->nr, (const uint64_t *)entry->args, &first, &last);
	cosy_end(loop, slot, result);
	if (first <= last)
		cosy_fds_cancel_stale(loop, first, last);
	if (s.list == COSY_LIST_NONE)
		return;
	d = cosy_descriptor_find(&loop->fds, s.fd);
	next = d->head[s.list];
	if (next == COSY_NO_SLOT)
		return;
	/* An attempt is added to the batch: this thread, which has signals blocked, does not make it. */
	if (d->kind == COSY_KIND_DISK)
		call_by_thread(loop, next, true);
	else
		begin_first(loop, next, d);
}

/* Let an entry wait until @time. */
static void wait_until(struct cosy_loop *loop, uint32_t slot, uint64_t time)
{
	int err = cosy_timer_add(&loop->timers, slot, time);

	if (err)
		finish(loop, slot, err);
}

/* Attempt a call again after a short time, because no event says when that is useful. */
static void try_later(struct cosy_loop *loop, uint32_t slot)
{
	wait_until(loop, slot, cosy_clock() + TRIES_AFTER);
}

/* Let an entry at the head of a list wait for its descriptor. */
static void start_waiting(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_slot *s = &loop->slots.all[slot];
	int err;

	s->state = COSY_SLOT_WAITING;
	err = cosy_descriptor_arm(&loop->fds, s->fd);
	if (!err)
		return;
	/*
	 * A poll is repeated, see cosy_start_again(). EBADF: the descriptor was closed. EPERM: the file cannot be
	 * polled. Other errors are those of epoll: it has no memory, or a limit is reached. Then the call is
	 * repeated. A thread could wait instead, but there are few, and their calls cannot be cancelled.
	 */
	if (s->list == COSY_LIST_POLL)
		try_later(loop, slot);
	else if (err == -EBADF)
		finish(loop, slot, err);
	else if (err == -EPERM)
		call_by_thread(loop, slot, false);
	else
		try_later(loop, slot);
}

/* Change a read or write so that it does not wait. */
static void attempt_nowait(struct cosy_attempt *a, const struct cosy_descriptor *d, bool reads)
{
	switch (a->nr) {
	case SYS_read:
	case SYS_write:
		if (d->kind == COSY_KIND_SOCKET) {
			a->nr = reads ? SYS_recvfrom : SYS_sendto;
			a->args[3] = MSG_DONTWAIT;
			if (!reads && d->type == SOCK_SEQPACKET)
				a->args[3] |= MSG_EOR;
			a->args[4] = a->args[5] = 0;
			return;
		}
		a->args[3] = (uint64_t)-1;
		/* fall through */
	case SYS_pread64:
	case SYS_pwrite64:
		/* With no byte it does not wait, and with a vector the kernel does not ask the file. */
		if (!a->args[2])
			return;
		a->iov.iov_base = (void *)a->args[1];
		a->iov.iov_len = a->args[2];
		a->args[1] = (uintptr_t)&a->iov;
		a->args[2] = 1;
		break;
	case SYS_readv:
	case SYS_writev:
		a->args[3] = (uint64_t)-1;
		break;
	}
	if (a->nr != SYS_preadv2 && a->nr != SYS_pwritev2)
		a->args[5] = 0;
	a->nr = reads ? SYS_preadv2 : SYS_pwritev2;
	a->args[4] = 0;
	a->args[5] |= RWF_NOWAIT;
}

/* Let the module read. It holds the file, so the descriptor is looked up only once. */
static void read_in_module(struct cosy_loop *loop, uint32_t slot)
{
	loop->slots.all[slot].buffered = true;
	cosy_queue_add(loop->slots.all, &loop->module.reading, slot);
}

/*
 * Return true if the module has to read without a first attempt. With many calls, that saves each
 * of them the attempt. A few calls cost less with an attempt, if the file is cached. Calls that use
 * the file's position are made one at a time.
 */
static bool reads_at_once(struct cosy_loop *loop, uint32_t slot,
			  const struct cosy_descriptor *d)
{
	return d->kind == COSY_KIND_DISK && loop->page.entries[slot].nr == SYS_pread64 &&
	       !cosy_is_of_share(loop->slots.all[slot].fd) &&
	       loop->attempts.count + cosy_page_submitted(&loop->page) >= COSY_MIN_BATCH &&
	       cosy_module_has(loop, COSY_ASYNC_BUFFERED);
}

/* Continue a call that would wait for a disk: in the module if it is a read, or by a thread. */
static void wait_for_disk(struct cosy_loop *loop, uint32_t slot)
{
	if (!one_buffer(loop->page.entries[slot].nr) ||
	    cosy_is_of_share(loop->slots.all[slot].fd) || !cosy_module_has(loop, COSY_ASYNC_BUFFERED)) {
		call_by_thread(loop, slot, true);
		return;
	}
	read_in_module(loop, slot);
	start_attempt(loop, slot);
}

void cosy_read_by_thread(struct cosy_loop *loop, uint32_t slot)
{
	reads_no_longer(loop, slot);
	call_by_thread(loop, slot, true);
}

/* After a partial send the call returns its size, and must not raise SIGPIPE. */
static void attempt_rest(struct cosy_attempt *a)
{
	a->args[3] |= MSG_NOSIGNAL;
	/* The first part has opened the connection. */
	if (a->args[3] & MSG_FASTOPEN) {
		a->args[3] &= ~(uint64_t)MSG_FASTOPEN;
		a->args[4] = a->args[5] = 0;
	}
}

/*
 * Attempt the call of an entry without blocking. If the entry is in a list, it is at the head. When
 * the batch is made, cosy_attempted() gets the result.
 */
static void start_attempt(struct cosy_loop *loop, uint32_t slot)
{
	static const struct timespec no_time;
	struct cosy_slot *s = &loop->slots.all[slot];
	struct cosy_attempt *a = cosy_attempt_add(&loop->attempts, &loop->page, &loop->slots, slot);
	const struct cosy_descriptor *d;

	s->state = COSY_SLOT_ATTEMPT;
	if (s->how == COSY_HOW_SIGNAL) {
		a->args[2] = (uintptr_t)&no_time;
		return;
	}
	if (s->fd < 0)
		return;
	d = cosy_descriptor_find(&loop->fds, s->fd);
	if (s->done)
		cosy_skip(a->args, (uint32_t)a->nr, s->done);
	switch (s->how) {
	case COSY_HOW_READ:
		if (!s->buffered && reads_at_once(loop, slot, d))
			read_in_module(loop, slot);
		if (!s->buffered && !is_polled(s, d))
			attempt_nowait(a, d, true);
		break;
	case COSY_HOW_WRITE:
		if (!is_polled(s, d))
			attempt_nowait(a, d, false);
		break;
	case COSY_HOW_RECEIVE:
	case COSY_HOW_SEND:
		a->args[a->nr == SYS_recvfrom || a->nr == SYS_sendto ? 3 : 2] |=
			MSG_DONTWAIT;
		break;
	default:
		break;
	}
	if (s->done && a->nr == SYS_sendto)
		attempt_rest(a);
}

static bool transfers(enum cosy_how how)
{
	return how == COSY_HOW_WRITE || how == COSY_HOW_SEND || how == COSY_HOW_RECEIVE;
}

/* Continue a connect() whose socket is ready. */
static void finish_connect(struct cosy_loop *loop, uint32_t slot)
{
	long result;

	if (cosy_connection_made(&loop->page.entries[slot], loop->slots.all[slot].fd, &result))
		finish(loop, slot, result);
	else
		start_waiting(loop, slot);
}

/* Finish a call whose connection has ended. The next one has waited, too: it is not attempted. */
static void finish_with_connection(struct cosy_loop *loop, uint32_t slot, int error)
{
	const struct cosy_descriptor *d =
		cosy_descriptor_find(&loop->fds, loop->slots.all[slot].fd);
	const struct cosy_async_entry *entry;
	const struct cosy_slot *s;
	uint32_t next;

	for (;;) {
		entry = &loop->page.entries[slot];
		next = loop->slots.all[slot].next;
		cosy_end(loop, slot, entry->nr == SYS_recvmsg ? cosy_receive_nothing(entry, true) :
								-error);
		if (next == COSY_NO_SLOT)
			return;
		s = &loop->slots.all[next];
		if (s->how == COSY_HOW_CONNECT || !cosy_connection_send_ended(s, d, &error))
			break;
		slot = next;
	}
	start_waiting(loop, next);
}

/* Finish a call that receives nothing. It sets lengths in its arguments. */
static void finish_shut_down(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_slot *s = &loop->slots.all[slot];

	if (cosy_blocks(s))
		call_by_thread(loop, slot, false);
	else if (s->how == COSY_HOW_RECEIVE)
		finish(loop, slot, cosy_receive_nothing(&loop->page.entries[slot], true));
	else
		finish(loop, slot, s->how == COSY_HOW_ACCEPT ? -EINVAL : 0);
}

void cosy_start_ready(struct cosy_loop *loop, uint32_t slot, uint32_t events)
{
	struct cosy_slot *s = &loop->slots.all[slot];
	int error;

	if (s->connecting) {
		finish_connect(loop, slot);
	} else if (s->how != COSY_HOW_SIGNAL &&
		   needs_thread(loop, slot, cosy_descriptor_find(&loop->fds, s->fd))) {
		call_by_thread(loop, slot, false);
	} else if (s->how == COSY_HOW_RECEIVE && s->done && cosy_connection_is_at_mark(s->fd)) {
		finish(loop, slot, 0);
	} else if (events & EPOLLHUP && transfers((enum cosy_how)s->how) &&
		   cosy_connection_ended(loop, slot, &error)) {
		finish_with_connection(loop, slot, error);
	} else {
		s->reported = true;
		start_attempt(loop, slot);
	}
}

void cosy_start_again(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_slot *s = &loop->slots.all[slot];
	struct pollfd poll = { .fd = s->fd };
	long ready;

	switch ((enum cosy_list)s->list) {
	case COSY_LIST_POLL:
		ready = cosy_sys(SYS_poll, (long)loop->page.entries[slot].args[0], 1, 0);
		if (ready)
			finish(loop, slot, ready);
		else
			try_later(loop, slot);
		return;
	case COSY_LIST_IN:
		poll.events = POLLIN | POLLPRI | POLLRDHUP;
		break;
	default:
		poll.events = POLLOUT;
		break;
	}
	/* These are attempted without an event. Other calls could block, so their descriptor is polled first. */
	if (!s->connecting && (s->how == COSY_HOW_SEND || s->how == COSY_HOW_CONNECT || s->how == COSY_HOW_SIGNAL))
		cosy_start_ready(loop, slot, 0);
	else if (cosy_fd_poll(&poll))
		cosy_start_ready(loop, slot, (uint32_t)poll.revents);
	else
		try_later(loop, slot);
}

/* The file does not support RWF_NOWAIT: poll it instead. */
static void cannot_nowait(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_slot *s = &loop->slots.all[slot];
	struct cosy_descriptor *d = cosy_descriptor_find(&loop->fds, s->fd);

	if (d->kind == COSY_KIND_DISK) {
		call_by_thread(loop, slot, true);
		return;
	}
	if (cosy_has_unknown_flags(loop, &loop->page.entries[slot])) {
		finish(loop, slot, -EOPNOTSUPP);
		return;
	}
	if (d->kind == COSY_KIND_NOWAIT || d->kind == COSY_KIND_PIPE)
		d->polled |= (uint8_t)(1u << s->list);
	s->polled = true;
	s->reported = false;
	begin_first(loop, slot, d);
}

/* The number refers to another file now, and the program has not called cosy_cancel_fd(). */
static void look_again(struct cosy_loop *loop, uint32_t slot)
{
	int fd = loop->slots.all[slot].fd;
	struct cosy_descriptor *d = cosy_descriptor_find(&loop->fds, fd);
	int err = cosy_descriptor_look(d, fd);

	if (err)
		finish(loop, slot, err);
	else if (d->kind == COSY_KIND_DISK)
		call_by_thread(loop, slot, true);
	else
		start_attempt(loop, slot);
}

static void attempted_signal(struct cosy_loop *loop, uint32_t slot,
			     int64_t result)
{
	struct cosy_slot *s = &loop->slots.all[slot];
	const struct cosy_async_entry *entry = &loop->page.entries[slot];

	if (result != -EAGAIN) {
		finish(loop, slot, result);
		return;
	}
	if (s->list == COSY_LIST_NONE) {
		long fd = cosy_sys6(SYS_signalfd4, -1, (long)entry->args[0],
				    (long)entry->args[3], SFD_CLOEXEC, 0, 0);

		/* The process has no free descriptor. A thread that waits could not be cancelled. */
		if (fd < 0 || cosy_loop_own(loop, (int)fd) ||
		    !cosy_descriptor(&loop->fds, (int)fd)) {
			if (fd >= 0)
				cosy_sys(SYS_close, fd, 0, 0);
			try_later(loop, slot);
			return;
		}
		cosy_descriptor_forget(&loop->fds, (int)fd);
		s->fd = (int)fd;
		s->list = COSY_LIST_IN;
		cosy_descriptor_append(&loop->fds, slot);
	}
	start_waiting(loop, slot);
}

/* Continue a buffered read. A read at the file's position may have read a part only. */
static void attempted_read(struct cosy_loop *loop, uint32_t slot, int64_t result)
{
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	struct cosy_slot *s = &loop->slots.all[slot];

	if (!cosy_has_offset(entry->nr) && result > 0 &&
	    s->done + (uint64_t)result < cosy_bytes(entry->args[2])) {
		s->done += (uint64_t)result;
		start_attempt(loop, slot);
	} else {
		finish(loop, slot, result);
	}
}

void cosy_attempted(struct cosy_loop *loop, const struct cosy_attempt *a)
{
	uint32_t slot = a->slot;
	struct cosy_slot *s = &loop->slots.all[slot];
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	struct cosy_descriptor *d;
	int64_t result = a->result;

	if (s->how == COSY_HOW_SIGNAL) {
		attempted_signal(loop, slot, result);
		return;
	}
	if (s->buffered) {
		attempted_read(loop, slot, result);
		return;
	}
	if (s->fd < 0) {
		finish(loop, slot, result);
		return;
	}
	d = cosy_descriptor_find(&loop->fds, s->fd);
	if (result > 0 && s->done + (uint64_t)result < cosy_bytes(entry->args[2]) &&
	    continues(entry, d) && !(s->how == COSY_HOW_RECEIVE &&
				 cosy_connection_is_at_mark(s->fd))) {
		/* The module reads a pread64() completely, so this is only for read(). */
		if (!cosy_has_offset(entry->nr))
			s->done += (uint64_t)result;
		s->reported = false;
		result = -EAGAIN;
	}
	if (cosy_connection_opens(entry, result))
		result = -EAGAIN;
	switch (result) {
	case -EAGAIN:
		if (s->how == COSY_HOW_CONNECT) {
			if (!cosy_connection_has_backlog(s->fd))
				break;
			/* poll() cannot wait for room in the backlog of a listening socket. */
			try_later(loop, slot);
			return;
		}
		d->receives |= s->how == COSY_HOW_READ || s->how == COSY_HOW_RECEIVE;
		if (d->kind == COSY_KIND_DISK)
			wait_for_disk(loop, slot);
		else if (s->how == COSY_HOW_SEND && waits_for_receiver(s, d) && !cosy_blocks(s))
			try_later(loop, slot);
		else if (cosy_connection_is_shut_down(s, d))
			finish_shut_down(loop, slot);
		else
			start_waiting(loop, slot);
		return;
	case -EOPNOTSUPP:
		if ((a->nr != SYS_preadv2 && a->nr != SYS_pwritev2) || s->polled)
			break;
		cannot_nowait(loop, slot);
		return;
	case -ENOTSOCK:
		if (a->nr == entry->nr)
			break;
		look_again(loop, slot);
		return;
	case -EALREADY: /* The program has begun to connect. */
	case -EINPROGRESS:
		if (s->how != COSY_HOW_CONNECT)
			break;
		s->connecting = true;
		start_waiting(loop, slot);
		return;
	}
	finish(loop, slot, result);
}

/* Return true for calls on disks that do not use the file's position: they have no order. */
static bool unordered_on_disk(struct cosy_loop *loop, uint32_t slot)
{
	uint32_t nr = loop->page.entries[slot].nr;

	if (!cosy_has_offset(nr))
		return false;
	/* For 0 bytes, pread() asks the file system, which may wait. With RWF_NOWAIT the kernel does not ask it. */
	if (one_buffer(nr) && loop->page.entries[slot].args[2])
		start_attempt(loop, slot);
	else
		call_by_thread(loop, slot, true);
	return true;
}

/*
 * Begin with an entry that uses a descriptor, after earlier ones in its list. @waited: its call has
 * waited before, so it is not attempted until the descriptor is ready.
 */
static void start_descriptor(struct cosy_loop *loop, uint32_t slot, enum cosy_list list, bool waited)
{
	struct cosy_slot *s = &loop->slots.all[slot];
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	int fd = (int)entry->args[0];
	struct cosy_descriptor *d = cosy_descriptor(&loop->fds, fd);

	if (!d) {
		struct cosy_descriptor unknown;
		int err = cosy_descriptor_look(&unknown, fd);

		finish(loop, slot, err ? err : -ENOMEM);
		return;
	}
	if (d->kind == COSY_KIND_UNKNOWN) {
		int err = cosy_is_of_share(fd) ? cosy_loop_uses_share(loop) : 0;

		if (!err)
			err = cosy_descriptor_look(d, fd);
		if (err) {
			finish(loop, slot, err);
			return;
		}
		cosy_module_use_fd(loop, fd);
		cosy_descriptor_learned(&loop->fds, fd);
	}
	s->fd = fd;
	/* For 0 bytes, the kernel asks the file only without RWF_NOWAIT. */
	if (d->kind == COSY_KIND_NOWAIT && one_buffer(entry->nr) && !entry->args[2])
		s->polled = true;
	if (d->kind == COSY_KIND_DISK && unordered_on_disk(loop, slot))
		return;
	/* It may end a connection, and then the program may let the socket listen. */
	if (s->how == COSY_HOW_CONNECT)
		d->receives = false;
	s->list = (uint8_t)list;
	s->state = COSY_SLOT_WAITING;
	cosy_descriptor_append(&loop->fds, slot);
	if (d->head[list] != slot)
		return;
	if (waited)
		start_waiting(loop, slot);
	else if (!cosy_is_reported(entry->nr, d))
		begin_first(loop, slot, d);
}

static void start_poll(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_slot *s = &loop->slots.all[slot];
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	const struct pollfd *poll = (const struct pollfd *)entry->args[0];
	long ready;

	if (entry->args[1] != 1 || (int)entry->args[2] >= 0) {
		call_by_thread(loop, slot, false);
		return;
	}
	ready = cosy_sys(SYS_poll, (long)poll, 1, 0);
	if (ready) {
		finish(loop, slot, ready);
		return;
	}
	if (poll->fd < 0) {
		wait_until(loop, slot, UINT64_MAX);
		return;
	}
	if (!cosy_descriptor(&loop->fds, poll->fd)) {
		finish(loop, slot, -ENOMEM);
		return;
	}
	cosy_module_use_fd(loop, poll->fd);
	cosy_descriptor_learned(&loop->fds, poll->fd);
	s->fd = poll->fd;
	s->list = COSY_LIST_POLL;
	s->state = COSY_SLOT_WAITING;
	s->done = (uint16_t)poll->events;
	cosy_descriptor_append(&loop->fds, slot);
	start_waiting(loop, slot);
}

static void start_sleep(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	const struct timespec *time = (const void *)entry->args[0];
	bool absolute = false;
	uint64_t at;

	if (entry->nr == SYS_clock_nanosleep) {
		clockid_t clock = (clockid_t)entry->args[0];

		absolute = entry->args[1] & TIMER_ABSTIME;
		if (clock != CLOCK_MONOTONIC &&
		    !(clock == CLOCK_REALTIME && !absolute)) {
			call_by_thread(loop, slot, false);
			return;
		}
		time = (const void *)entry->args[2];
	}
	if (!cosy_time_is_readable(time)) {
		finish(loop, slot, -EFAULT);
		return;
	}
	if (time->tv_sec < 0 || time->tv_nsec < 0 ||
	    time->tv_nsec >= 1000000000) {
		finish(loop, slot, -EINVAL);
		return;
	}
	/* The latest time that can be represented, in 292 years. */
	at = INT64_MAX;
	if (time->tv_sec < INT64_MAX / 1000000000 / 2)
		at = (uint64_t)time->tv_sec * 1000000000u +
		     (uint64_t)time->tv_nsec + (absolute ? 0 : cosy_clock());
	wait_until(loop, slot, at);
}

/*
 * Ask other loops of a group to cancel what was submitted to them for descriptors that a call closes. Return
 * true if the call has to wait for answers.
 */
static bool ask_others(struct cosy_loop *loop, uint32_t slot, uint32_t first, uint32_t last)
{
	struct cosy_question *question = NULL;

	if (!loop->closing && cosy_group_is_known(&loop->fds, first, last))
		question = calloc(1, sizeof(*question));
	/* Without memory the others are told, and the call does not wait. */
	if (!question)
		return false;
	question->slot = slot;
	question->next = loop->fds.questions;
	__atomic_store_n(&loop->fds.questions, question, __ATOMIC_RELAXED);
	question->unanswered = cosy_group_closes(&loop->fds, first, last, question);
	if (!question->unanswered) {
		cosy_question_end(&loop->fds, question);
		return false;
	}
	loop->slots.all[slot].state = COSY_SLOT_ASKING;
	return true;
}

/* Descriptors that are closed. */
struct closed_range {
	const struct cosy_loop *loop;
	uint32_t first;
	uint32_t last;
};

static bool lingers_in(int fd, void *arg)
{
	const struct closed_range *range = arg;

	return cosy_fd_is_in(fd, range->first, range->last) && cosy_connection_lingers(range->loop, fd);
}

/* In a larger range, only the descriptors that are open are asked whether they linger. */
#define SMALL_RANGE	32

/* Return true if a call that closes descriptors may wait for one of them. */
static bool one_lingers(const struct cosy_loop *loop, uint32_t first, uint32_t last)
{
	struct closed_range range = { loop, first, last };
	bool found = false;

	if (first > last)
		return false;
	if (last - first >= SMALL_RANGE)
		/* Without /proc none is asked. */
		return cosy_descriptors_each(lingers_in, &range) > 0;
	/* The number after the last one may be 0. */
	for (uint32_t i = 0; i <= last - first && !found; i++)
		found = cosy_connection_lingers(loop, (int)(first + i));
	return found;
}

static void start_close(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	uint32_t first, last;
	bool waits, interrupts;

	/*
	 * A close is ordered with all other entries: make the earlier ones now. But if the ring has given
	 * the close back, the entries in the ring come after it.
	 */
	if (cosy_ring_is_due(&loop->ring) && !loop->ring.takes_given)
		cosy_ring_make(loop);
	cosy_attempts_make(loop);
	cosy_closed_range(entry->nr, (const uint64_t *)entry->args, &first, &last);
	if (ask_others(loop, slot, first, last))
		return;
	/* While the loop is destroyed, its threads make no more calls. */
	waits = !loop->closing && one_lingers(loop, first, last);
	cosy_fds_cancel(loop, first, last);
	interrupts = cosy_cpus_cancel_fds(loop, first, last) > 0;
	if (waits) {
		call_by_thread(loop, slot, false);
		return;
	}
	start_attempt(loop, slot);
	cosy_attempts_make(loop);
	/* A function may have waited again before the descriptor was closed. */
	if (interrupts)
		cosy_cpus_cancel_stale(loop, first, last);
}

void cosy_close_answered(struct cosy_loop *loop, struct cosy_question *question)
{
	uint32_t slot;

	if (cosy_loop_enter(loop))
		return;
	if (!--question->unanswered) {
		slot = question->slot;
		cosy_question_end(&loop->fds, question);
		if (slot != COSY_NO_SLOT) {
			start_close(loop, slot);
			cosy_loop_tell(loop);
		}
	}
	cosy_loop_leave(loop);
}

/* Return true if an earlier call that waits has to be made before one that asks not to wait. */
static bool would_overtake(const struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	const struct cosy_descriptor *d;
	enum cosy_list list = cosy_list_of((enum cosy_how)loop->slots.all[slot].how);

	if (list == COSY_LIST_NONE || !cosy_asks_in_order(entry))
		return false;
	d = cosy_descriptor_find(&loop->fds, (int)entry->args[0]);
	return d && d->head[list] != COSY_NO_SLOT;
}

void cosy_start(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_slot *s = &loop->slots.all[slot];
	const struct cosy_async_entry *entry = &loop->page.entries[slot];

	cosy_slots_prepare(&loop->slots, slot);
	if (s->how == COSY_HOW_COMPOUND) {
		/* The call may close descriptors that attempts use: make these now. */
		if (loop->attempts.count)
			cosy_attempts_make(loop);
		if (!cosy_module_compound(loop, slot))
			cosy_compound_refused(loop, slot);
		return;
	}
	if (s->cancelled) {
		finish(loop, slot, -ECANCELED);
		return;
	}
	if (cosy_asks_not_to_wait(entry)) {
		/* The earlier call waits, so this one would have to wait, too. */
		if (would_overtake(loop, slot))
			finish(loop, slot, -EAGAIN);
		else
			start_attempt(loop, slot);
		return;
	}
	switch ((enum cosy_how)s->how) {
	case COSY_HOW_READ:
	case COSY_HOW_RECEIVE:
	case COSY_HOW_ACCEPT:
		start_descriptor(loop, slot, COSY_LIST_IN, false);
		break;
	case COSY_HOW_WRITE:
	case COSY_HOW_SEND:
	case COSY_HOW_CONNECT:
		start_descriptor(loop, slot, COSY_LIST_OUT, false);
		break;
	case COSY_HOW_POLL:
		start_poll(loop, slot);
		break;
	case COSY_HOW_SLEEP:
		start_sleep(loop, slot);
		break;
	case COSY_HOW_SIGNAL:
		if (entry->args[2])
			call_by_thread(loop, slot, false);
		else
			start_attempt(loop, slot);
		break;
	case COSY_HOW_CLOSE:
		start_close(loop, slot);
		break;
	case COSY_HOW_DIRECT:
		start_attempt(loop, slot);
		break;
	case COSY_HOW_IN_SHARE:
		if (cosy_how(entry->nr) == COSY_HOW_DIRECT)
			call_here(loop, slot);
		else
			call_by_thread(loop, slot, cosy_how(entry->nr) <= COSY_HOW_NOWAIT);
		break;
	case COSY_HOW_LOCK:
	case COSY_HOW_THREAD:
	case COSY_HOW_TIMED:
		call_by_thread(loop, slot, false);
		break;
	case COSY_HOW_DISK:
	case COSY_HOW_NOWAIT:
	case COSY_HOW_REFUSED:
	case COSY_HOW_COMPOUND:
		/* Also open(), which seldom waits for long: the threads of the other pool may all be waiting. */
		call_by_thread(loop, slot, true);
		break;
	}
}

void cosy_start_sent(struct cosy_loop *loop, uint32_t slot, uint32_t sent)
{
	cosy_slots_prepare(&loop->slots, slot);
	loop->slots.all[slot].done = sent;
	start_descriptor(loop, slot, COSY_LIST_OUT, false);
}

void cosy_start_waited(struct cosy_loop *loop, uint32_t slot)
{
	bool sends = loop->slots.all[slot].how == COSY_HOW_SEND ||
		     loop->slots.all[slot].how == COSY_HOW_WRITE;

	cosy_slots_prepare(&loop->slots, slot);
	start_descriptor(loop, slot, sends ? COSY_LIST_OUT : COSY_LIST_IN, true);
}
