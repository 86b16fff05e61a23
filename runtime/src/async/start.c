/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * start.c - decides how an entry is executed: it is attempted and, if it would block, waits for its
 * descriptor; it waits for a time; or a thread makes its call.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <linux/userfaultfd.h>

#include <cosy/calls.h>

#include "../sys.h"
#include "loop.h"
#include "transfer.h"

/* The C library's headers have these for GNU sources only. */
#ifndef F_OFD_SETLKW
#define F_OFD_SETLKW 38
#endif
#ifndef POLLRDHUP
#define POLLRDHUP 0x2000
#endif
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 0x00000008
#endif

/* No kernel knows these flags of preadv2(). */
#define UNKNOWN_FLAGS	0x40000000
/* CPU time of the calling thread. No thread can sleep until a time of this clock. */
#define OWN_CPU_TIME	(-2)
/* In nanoseconds: see try_later(). */
#define TRIES_AFTER	1000000u

enum { NESTED = 0, LEAVE = COSY_HOW_REFUSED };

/* The C library may be older than the table. */
enum {
#define COSY_SYSCALL(nr, name, args, nested) NR_##name = nr,
#include <syscalls.def>
};

/* waits.def overrides syscalls.def, which says only DISK or REFUSED. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const uint8_t how_table[] = {
#define COSY_SYSCALL(nr, name, args, nested) [nr] = nested,
#include <syscalls.def>
#define COSY_WAITS(name, how) [NR_##name] = COSY_HOW_##how,
#include "waits.def"
};
#pragma GCC diagnostic pop

static const bool moves_table[sizeof(how_table)] = {
#define COSY_MOVES(name) [NR_##name] = true,
#include "waits.def"
};

static const bool fd_table[] = {
#define COSY_SYSCALL(nr, name, args, nested) [nr] = args[0] == 'd',
#include <syscalls.def>
};

enum cosy_how cosy_how(long nr)
{
	if ((unsigned long)nr >= sizeof(how_table))
		return COSY_HOW_REFUSED;
	return how_table[nr];
}

bool cosy_call_moves(long nr)
{
	return (unsigned long)nr < sizeof(moves_table) &&
	       (moves_table[nr] || cosy_call_parks((uint32_t)nr));
}

bool cosy_takes_fd(long nr)
{
	return nr >= 0 && (unsigned long)nr < sizeof(fd_table) && fd_table[nr];
}

/*
 * Return true if receiving with these flags does not wait. Sockets that have no queue of errors
 * ignore MSG_ERRQUEUE, and wait for data.
 */
static bool receives_at_once(int fd, uint64_t flags)
{
	int domain;

	if (flags & (MSG_DONTWAIT | MSG_OOB))
		return true;
	if (!(flags & MSG_ERRQUEUE))
		return false;
	domain = cosy_socket_option(fd, SO_DOMAIN);
	return domain != AF_UNIX && domain != AF_NETLINK;
}

/* Return true if the arguments of the call say that it must not wait. */
static bool asks_not_to_wait(const struct cosy_async_entry *entry)
{
	switch (entry->nr) {
	case SYS_read:
		return (int64_t)entry->args[2] <= 0;
	case SYS_write:
		/* It fails with EFAULT. */
		return (int64_t)entry->args[2] < 0;
	case SYS_recvfrom:
		return receives_at_once((int)entry->args[0], entry->args[3]);
	case SYS_recvmsg:
		return receives_at_once((int)entry->args[0], entry->args[2]);
	case SYS_sendto:
		return entry->args[3] & MSG_DONTWAIT;
	case SYS_sendmsg:
		return entry->args[2] & MSG_DONTWAIT;
	case SYS_preadv2:
	case SYS_pwritev2:
		return entry->args[5] & RWF_NOWAIT;
	case SYS_pread64:
	case SYS_pwrite64:
		return (int64_t)entry->args[2] < 0 || (int64_t)entry->args[3] < 0;
	case SYS_preadv:
	case SYS_pwritev:
		/* It fails with EINVAL. In preadv2() the same number means the file's position. */
		return (int64_t)entry->args[3] < 0;
	case SYS_accept4:
		/* It fails with EINVAL. */
		return (int)entry->args[3] & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);
	case SYS_fcntl:
		return (int)entry->args[1] != F_SETLKW &&
		       (int)entry->args[1] != F_OFD_SETLKW;
	case SYS_flock:
		return entry->args[1] & (LOCK_NB | LOCK_UN);
	default:
		return false;
	}
}

static bool has_offset(uint32_t nr)
{
	return nr == SYS_pread64 || nr == SYS_preadv || nr == SYS_pwrite64 ||
	       nr == SYS_pwritev;
}

/* Return true if a short count can be continued. Other calls are not tried on disks. */
static bool one_buffer(uint32_t nr)
{
	return nr == SYS_read || nr == SYS_pread64;
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
		return d->kind != COSY_KIND_SOCKET || d->type == SOCK_STREAM;
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
	struct cosy_slot *s = &loop->slots[slot];
	int fd = s->fd;

	cosy_descriptor_remove(loop, slot);
	if (s->how != COSY_HOW_SIGNAL)
		return;
	/* If the program has closed it, its number may refer to another file in another epoll. */
	if (!cosy_loop_owns(loop, fd))
		cosy_descriptor_find(loop, fd)->added = false;
	cosy_descriptor_forget(loop, fd);
	cosy_loop_close_fd(loop, fd);
}

static void reads_no_longer(struct cosy_loop *loop, uint32_t slot)
{
	loop->slots[slot].buffered = false;
	cosy_queue_remove(loop, &loop->reading, slot);
}

/* Return true if a read or write cannot be made with RWF_NOWAIT. */
static bool is_polled(const struct cosy_slot *s, const struct cosy_descriptor *d)
{
	return s->polled || (s->list < COSY_LISTS && d->polled & 1u << s->list);
}

/*
 * Return true if a call that is made unchanged would block. The program may have changed O_NONBLOCK
 * since the last call, and so may another process that has the open file.
 */
static bool blocks(const struct cosy_slot *s)
{
	long flags = cosy_sys(SYS_fcntl, s->fd, F_GETFL, 0);
	long mode = flags & O_ACCMODE;

	/* Otherwise the call fails, and there may never be an event. */
	return flags >= 0 && !(flags & O_NONBLOCK) &&
	       !(s->how == COSY_HOW_READ && mode == O_WRONLY) &&
	       !(s->how == COSY_HOW_WRITE && mode == O_RDONLY);
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
 * Return true for a datagram for which the socket had room, but not the one that receives it. A
 * socket of AF_UNIX without a connection does not tell when that has room.
 */
static bool waits_for_receiver(const struct cosy_slot *s, const struct cosy_descriptor *d)
{
	return s->reported && d->kind == COSY_KIND_SOCKET && d->type == SOCK_DGRAM;
}

/*
 * Make a recvmsg() on another socket, which has no data. @ended: its connection has ended without
 * an error, and the call sets the lengths and the flags in the message. Otherwise it does not wait.
 *
 * Return: the result of the call, or the error of creating the socket.
 */
static long receive_nothing(const struct cosy_async_entry *entry, bool ended)
{
	int fds[2];
	long flags = ended ? (long)entry->args[2] : MSG_DONTWAIT;
	long result = cosy_sys6(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, (long)fds,
				0, 0);

	if (result < 0)
		return result;
	if (ended)
		cosy_sys(SYS_close, fds[1], 0, 0);
	result = cosy_sys(SYS_recvmsg, fds[0], (long)entry->args[1], flags);
	if (!ended)
		cosy_sys(SYS_close, fds[1], 0, 0);
	cosy_sys(SYS_close, fds[0], 0, 0);
	return result;
}

/* Return true if a call fails at once because the kernel refuses its message. */
static bool has_wrong_message(const struct cosy_async_entry *entry)
{
	long result;

	if (entry->nr != SYS_recvmsg)
		return false;
	result = receive_nothing(entry, false);
	return result == -EFAULT || result == -EINVAL || result == -EMSGSIZE;
}

/* Read the name of a descriptor's file. It is cut off, or empty if there is no /proc. */
static void read_name(int fd, char name[32])
{
	char path[32];
	long length;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	length = cosy_sys(SYS_readlink, (long)path, (long)name, 31);
	name[length < 0 ? 0 : length] = 0;
}

/* Return true if a vector is invalid or has no bytes: then no call waits. */
static bool has_no_bytes(const struct cosy_loop *loop, const struct cosy_async_entry *entry)
{
	/* The kernel reads the vector before it refuses the flags. */
	return cosy_sys6(SYS_preadv2, loop->wake_fd, (long)entry->args[1], (long)entry->args[2],
			 -1, 0, UNKNOWN_FLAGS) != -EOPNOTSUPP;
}

/*
 * Return true for a call that reads too few bytes. These files check the size first, that of the
 * first piece of a vector. They support RWF_NOWAIT only since Linux 6.10.
 */
static bool reads_too_little(const struct cosy_async_entry *entry, uint64_t bytes)
{
	static const struct {
		const char *name;
		size_t bytes;
	} files[] = {
		{ "anon_inode:[timerfd]", sizeof(uint64_t) },
		{ "anon_inode:[signalfd]", sizeof(struct signalfd_siginfo) },
		{ "anon_inode:[userfaultfd]", sizeof(struct uffd_msg) },
	};

	char name[32];

	if (bytes >= sizeof(struct signalfd_siginfo))
		return false;
	read_name((int)entry->args[0], name);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (!strcmp(name, files[i].name))
			return bytes < files[i].bytes;
	}
	return false;
}

/* Return true for an eventfd that is full, but has room for 0. */
static bool is_full_eventfd(int fd)
{
	struct pollfd poll = { .fd = fd, .events = POLLOUT };
	char name[32];

	/* If the kernel has added too much, there is no room for 0, and this is an event. */
	if (cosy_sys(SYS_poll, (long)&poll, 1, 0))
		return false;
	read_name(fd, name);
	return !strcmp(name, "anon_inode:[eventfd]");
}

/* Write to the loop's eventfd in place of another one. At most, that wakes the loop. */
static long write_to_own_eventfd(const struct cosy_loop *loop,
				 const struct cosy_async_entry *entry)
{
	return cosy_sys6(entry->nr, loop->wake_fd, (long)entry->args[1], (long)entry->args[2],
			 (long)entry->args[3], (long)entry->args[4], (long)entry->args[5]);
}

/** enum beginning - how to begin with the first entry of a list */
enum beginning {
	BEGIN_ATTEMPT,
	BEGIN_WAITING,	/* until the descriptor is ready; then a thread makes the call */
	BEGIN_THREAD,	/* a thread makes the call at once, because there may never be an event */
};

/* Return how a write begins, for which an eventfd may not have room. */
static enum beginning eventfd_beginning(const struct cosy_loop *loop,
					const struct cosy_async_entry *entry)
{
	const uint64_t *value = (const void *)entry->args[1];
	long result;

	if (!is_full_eventfd((int)entry->args[0]))
		return BEGIN_WAITING;
	result = write_to_own_eventfd(loop, entry);
	/* It has too few bytes, or an invalid value. */
	if (result < 0 && result != -EAGAIN)
		return BEGIN_ATTEMPT;
	if (result < 0)
		return BEGIN_WAITING;
	/* Without an error, the call has a valid value. */
	if (entry->nr != SYS_write)
		value = ((const struct iovec *)entry->args[1])->iov_base;
	/* To add 0 does not wait. The rest of a vector may. */
	return *value ? BEGIN_WAITING : BEGIN_THREAD;
}

/* Return true if the call fails at once because it names a position, and the file has none. */
static bool has_no_position(const struct cosy_slot *s, const struct cosy_async_entry *entry)
{
	bool names = has_offset(entry->nr);

	if (entry->nr == SYS_preadv2 || entry->nr == SYS_pwritev2)
		names = (int64_t)entry->args[3] != -1;
	/* With such an address a call fails in any case, and does not wait. */
	return names && cosy_sys6(s->how == COSY_HOW_READ ? SYS_pread64 : SYS_pwrite64, s->fd, -1,
				  1, 0, 0, 0) == -ESPIPE;
}

/*
 * Return how a read or write begins that cannot be made with RWF_NOWAIT. Because of its arguments,
 * it may end at once, although the descriptor is not ready.
 */
static enum beginning polled_beginning(const struct cosy_loop *loop, const struct cosy_slot *s,
				       const struct cosy_async_entry *entry,
				       const struct cosy_descriptor *d)
{
	uint64_t bytes = entry->args[2];

	if (has_no_position(s, entry))
		return BEGIN_ATTEMPT;
	if (entry->nr == SYS_readv || entry->nr == SYS_writev || entry->nr == SYS_preadv2 ||
	    entry->nr == SYS_pwritev2) {
		if (has_no_bytes(loop, entry))
			return BEGIN_ATTEMPT;
		bytes = ((const struct iovec *)entry->args[1])->iov_len;
	}
	if (d->kind != COSY_KIND_NOWAIT)
		return BEGIN_WAITING;
	if (s->how == COSY_HOW_READ)
		return reads_too_little(entry, bytes) ? BEGIN_ATTEMPT : BEGIN_WAITING;
	/* write() of no byte does not wait. */
	if (entry->nr == SYS_write && !bytes)
		return BEGIN_ATTEMPT;
	return eventfd_beginning(loop, entry);
}

/*
 * Return true if a thread has to make the call once the descriptor is ready. Another process may
 * have taken the data, and the call would block.
 */
static bool needs_thread(const struct cosy_loop *loop, uint32_t slot,
			 const struct cosy_descriptor *d)
{
	const struct cosy_slot *s = &loop->slots[slot];

	switch (s->how) {
	case COSY_HOW_ACCEPT:
	case COSY_HOW_CONNECT:
		return blocks(s);
	case COSY_HOW_READ:
	case COSY_HOW_WRITE:
		return is_polled(s, d) && blocks(s);
	case COSY_HOW_SEND:
		return waits_for_receiver(s, d) && blocks(s);
	case COSY_HOW_RECEIVE:
		return fills_buffers(&loop->entries[slot], d) && blocks(s);
	default:
		return false;
	}
}

/* Return how an entry begins for which needs_thread(). What fails at once need not be ready. */
static enum beginning beginning_for_thread(const struct cosy_loop *loop, uint32_t slot,
					   const struct cosy_descriptor *d)
{
	const struct cosy_slot *s = &loop->slots[slot];
	const struct cosy_async_entry *entry = &loop->entries[slot];

	switch (s->how) {
	case COSY_HOW_READ:
	case COSY_HOW_WRITE:
		return polled_beginning(loop, s, entry, d);
	case COSY_HOW_ACCEPT:
		return cosy_socket_option(s->fd, SO_ACCEPTCONN) ? BEGIN_WAITING : BEGIN_ATTEMPT;
	case COSY_HOW_RECEIVE:
		return cosy_socket_option(s->fd, SO_ACCEPTCONN) || has_wrong_message(entry) ?
			       BEGIN_ATTEMPT : BEGIN_WAITING;
	case COSY_HOW_CONNECT:
		/* A descriptor that has no connection yet may never be ready. */
		return BEGIN_THREAD;
	default:
		return BEGIN_WAITING;
	}
}

/* Begin with the first entry of a list. */
static void begin_first(struct cosy_loop *loop, uint32_t slot, const struct cosy_descriptor *d)
{
	switch (needs_thread(loop, slot, d) ? beginning_for_thread(loop, slot, d) : BEGIN_ATTEMPT) {
	case BEGIN_ATTEMPT:
		cosy_start_attempt(loop, slot);
		break;
	case BEGIN_WAITING:
		cosy_start_waiting(loop, slot);
		break;
	case BEGIN_THREAD:
		cosy_thread_call(loop, slot, false);
		break;
	}
}

void cosy_end(struct cosy_loop *loop, uint32_t slot, int64_t result)
{
	const struct cosy_slot *s = &loop->slots[slot];

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
	d = cosy_descriptor_find(loop, before->fd);
	slot = d->head[before->list];
	if (slot == COSY_NO_SLOT ||
	    loop->slots[slot].state != COSY_SLOT_WAITING)
		return;
	if (before->list == COSY_LIST_POLL)
		cosy_start_waiting(loop, slot);
	else
		begin_first(loop, slot, d);
}

void cosy_finish(struct cosy_loop *loop, uint32_t slot, int64_t result)
{
	const struct cosy_slot *s = &loop->slots[slot];
	struct cosy_slot before;

	/* Mostly it is the last of its list. */
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
	const struct cosy_slot s = loop->slots[slot];
	int closed = s.how == COSY_HOW_CLOSE ? (int)loop->entries[slot].args[0] : -1;
	struct cosy_descriptor *d;
	uint32_t next;
	int err;

	cosy_end(loop, slot, result);
	if (closed >= 0)
		cosy_fd_cancel_stale(loop, closed);
	if (s.list == COSY_LIST_NONE)
		return;
	/* The next call is not attempted here, because this thread has signals blocked. */
	d = cosy_descriptor_find(loop, s.fd);
	while ((next = d->head[s.list]) != COSY_NO_SLOT) {
		if (d->kind == COSY_KIND_DISK) {
			cosy_thread_call(loop, next, true);
			return;
		}
		if (needs_thread(loop, next, d) &&
		    beginning_for_thread(loop, next, d) != BEGIN_WAITING) {
			cosy_thread_call(loop, next, false);
			return;
		}
		loop->slots[next].state = COSY_SLOT_WAITING;
		err = cosy_descriptor_arm(loop, s.fd);
		if (!err)
			return;
		if (err == -EPERM) {
			cosy_thread_call(loop, next, false);
			return;
		}
		cosy_end(loop, next, err);
	}
}

void cosy_start_waiting(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_slot *s = &loop->slots[slot];
	int err;

	s->state = COSY_SLOT_WAITING;
	err = cosy_descriptor_arm(loop, s->fd);
	if (err == -EPERM)
		cosy_thread_call(loop, slot, false);
	else if (err)
		cosy_finish(loop, slot, err);
}

static void attempt_read(struct cosy_attempt *a, const struct cosy_descriptor *d)
{
	switch (a->nr) {
	case SYS_read:
		if (d->kind == COSY_KIND_SOCKET) {
			a->nr = SYS_recvfrom;
			a->args[3] = MSG_DONTWAIT;
			a->args[4] = a->args[5] = 0;
			return;
		}
		a->args[3] = (uint64_t)-1;
		/* fall through */
	case SYS_pread64:
		a->iov.iov_base = (void *)a->args[1];
		a->iov.iov_len = a->args[2];
		a->args[1] = (uintptr_t)&a->iov;
		a->args[2] = 1;
		break;
	case SYS_readv:
		a->args[3] = (uint64_t)-1;
		break;
	}
	if (a->nr != SYS_preadv2)
		a->args[5] = 0;
	a->nr = SYS_preadv2;
	a->args[4] = 0;
	a->args[5] |= RWF_NOWAIT;
}

static void attempt_write(struct cosy_attempt *a,
			  const struct cosy_descriptor *d)
{
	switch (a->nr) {
	case SYS_write:
		if (d->kind == COSY_KIND_SOCKET) {
			a->nr = SYS_sendto;
			a->args[3] = MSG_DONTWAIT;
			if (d->type == SOCK_SEQPACKET)
				a->args[3] |= MSG_EOR;
			a->args[4] = a->args[5] = 0;
			return;
		}
		/* Of no byte: it does not wait, and pwritev2() does not ask the file. */
		if (!a->args[2])
			return;
		a->args[3] = (uint64_t)-1;
		/* fall through */
	case SYS_pwrite64:
		a->iov.iov_base = (void *)a->args[1];
		a->iov.iov_len = a->args[2];
		a->args[1] = (uintptr_t)&a->iov;
		a->args[2] = 1;
		break;
	case SYS_writev:
		a->args[3] = (uint64_t)-1;
		break;
	}
	if (a->nr != SYS_pwritev2)
		a->args[5] = 0;
	a->nr = SYS_pwritev2;
	a->args[4] = 0;
	a->args[5] |= RWF_NOWAIT;
}

/* Skip the bytes that have been transferred. */
static void skip_done(uint64_t *args, uint32_t nr, uint64_t done)
{
	args[1] += done;
	args[2] -= done;
	if (has_offset(nr))
		args[3] += done;
}

/* Let the module read. It holds the file, so the descriptor is looked up only once. */
static void read_in_module(struct cosy_loop *loop, uint32_t slot)
{
	loop->slots[slot].buffered = true;
	cosy_queue_add(loop, &loop->reading, slot);
}

/*
 * Return true if the module has to read without a first attempt. With many calls, that saves each
 * of them the attempt. A few calls cost less with an attempt, if the file is cached. Calls that use
 * the file's position are made one at a time.
 */
static bool reads_at_once(struct cosy_loop *loop, uint32_t slot,
			  const struct cosy_descriptor *d)
{
	const struct cosy_async_page *page = loop->page;

	return d->kind == COSY_KIND_DISK && loop->entries[slot].nr == SYS_pread64 &&
	       loop->nbatch + (page->submit_tail - page->submit_head) >= COSY_MIN_BATCH &&
	       cosy_module_has_buffered(loop);
}

/* Continue a call that would wait for a disk: in the module if it is a read, or by a thread. */
static void wait_for_disk(struct cosy_loop *loop, uint32_t slot)
{
	if (!one_buffer(loop->entries[slot].nr) || !cosy_module_has_buffered(loop)) {
		cosy_thread_call(loop, slot, true);
		return;
	}
	read_in_module(loop, slot);
	cosy_start_attempt(loop, slot);
}

void cosy_read_by_thread(struct cosy_loop *loop, uint32_t slot)
{
	reads_no_longer(loop, slot);
	cosy_thread_call(loop, slot, true);
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

void cosy_start_attempt(struct cosy_loop *loop, uint32_t slot)
{
	static const struct timespec no_time;
	struct cosy_slot *s = &loop->slots[slot];
	struct cosy_attempt *a = cosy_attempt_add(loop, slot);
	const struct cosy_descriptor *d;

	s->state = COSY_SLOT_ATTEMPT;
	if (s->how == COSY_HOW_SIGNAL) {
		a->args[2] = (uintptr_t)&no_time;
		return;
	}
	if (s->fd < 0)
		return;
	d = cosy_descriptor_find(loop, s->fd);
	if (s->done)
		skip_done(a->args, (uint32_t)a->nr, s->done);
	switch (s->how) {
	case COSY_HOW_READ:
		if (!s->buffered && reads_at_once(loop, slot, d))
			read_in_module(loop, slot);
		if (!s->buffered && !is_polled(s, d))
			attempt_read(a, d);
		break;
	case COSY_HOW_WRITE:
		if (!is_polled(s, d))
			attempt_write(a, d);
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

/* Finish a connect(), whose socket is ready, with the result that the socket has. */
static void connection_ready(struct cosy_loop *loop, uint32_t slot)
{
	struct pollfd poll = { .fd = loop->slots[slot].fd, .events = POLLOUT };
	int error = 0;
	socklen_t size = sizeof(error);
	long err;

	/* An event that was reported before a callback may be one of the previous file. */
	if (!cosy_sys(SYS_poll, (long)&poll, 1, 0)) {
		cosy_start_waiting(loop, slot);
		return;
	}
	err = cosy_sys6(SYS_getsockopt, poll.fd, SOL_SOCKET, SO_ERROR, (long)&error,
			(long)&size, 0);
	cosy_finish(loop, slot, err < 0 ? err : -error);
}

/* Return true if a call, which has been attempted, receives 0 bytes. */
static bool receives_nothing(const struct cosy_async_entry *entry)
{
	const struct msghdr *message = (const void *)entry->args[1];

	if (entry->nr != SYS_recvmsg)
		return cosy_receives_nothing(entry);
	/* The attempt has read the vector. */
	for (size_t i = 0; i < message->msg_iovlen; i++) {
		if (message->msg_iov[i].iov_len)
			return false;
	}
	return true;
}

/* Return true if a TCP socket has no data that was not received. */
static bool tcp_is_empty(int fd)
{
	int bytes = 0;

	return !cosy_sys(SYS_ioctl, fd, FIONREAD, (long)&bytes) && !bytes;
}

static bool is_unix(int fd)
{
	return cosy_socket_option(fd, SO_DOMAIN) == AF_UNIX;
}

/* Return true if a call that waits to send on a stream of AF_UNIX ends, because that is shut down. */
static bool unix_send_ends(const struct cosy_slot *s, const struct cosy_descriptor *d)
{
	/* Without bytes the call does nothing else, and never waits. */
	return s->list == COSY_LIST_OUT && d->kind == COSY_KIND_SOCKET &&
	       d->type == SOCK_STREAM && is_unix(s->fd) &&
	       cosy_sys6(SYS_sendto, s->fd, 0, 0, MSG_NOSIGNAL, 0, 0) == -EPIPE;
}

/* Take the error of a call that waits to send on a stream of AF_UNIX, and ends. */
static int unix_send_error(int fd)
{
	int error = cosy_socket_option(fd, SO_ERROR);

	return error ? error : EPIPE;
}

/*
 * Return true if a call on a stream ends because its connection has ended while it waited, and if
 * an attempt would have another effect than the blocking call. @error: set to its error, or 0.
 *
 * In TCP, the error stays for the next call after a partial transfer, and also if the call receives
 * no bytes: it ends with any event. A send of AF_UNIX gets the error, and raises no SIGPIPE.
 */
static bool ends_with_connection(const struct cosy_loop *loop, uint32_t slot, int *error)
{
	const struct cosy_slot *s = &loop->slots[slot];
	const struct cosy_async_entry *entry = &loop->entries[slot];
	const struct cosy_descriptor *d = cosy_descriptor_find(loop, s->fd);
	struct pollfd poll = { .fd = s->fd };

	/* An event that was reported before a callback may be one of the previous file. */
	if (d->kind != COSY_KIND_SOCKET || d->type != SOCK_STREAM ||
	    cosy_sys(SYS_poll, (long)&poll, 1, 0) <= 0 || !(poll.revents & POLLHUP))
		return false;
	*error = 0;
	if (s->list == COSY_LIST_OUT && is_unix(s->fd)) {
		*error = unix_send_error(s->fd);
		return true;
	}
	return (s->done || receives_nothing(entry)) &&
	       cosy_socket_option(s->fd, SO_PROTOCOL) == IPPROTO_TCP &&
	       (s->list == COSY_LIST_OUT || tcp_is_empty(s->fd));
}

/* Finish a call whose connection has ended. The next one has waited, too: it is not attempted. */
static void finish_with_connection(struct cosy_loop *loop, uint32_t slot, int error)
{
	const struct cosy_descriptor *d = cosy_descriptor_find(loop, loop->slots[slot].fd);
	const struct cosy_async_entry *entry;
	const struct cosy_slot *s;
	uint32_t next;

	for (;;) {
		entry = &loop->entries[slot];
		next = loop->slots[slot].next;
		cosy_end(loop, slot, entry->nr == SYS_recvmsg ? receive_nothing(entry, true) :
								-error);
		if (next == COSY_NO_SLOT)
			return;
		s = &loop->slots[next];
		if (s->how == COSY_HOW_CONNECT || !unix_send_ends(s, d))
			break;
		error = unix_send_error(s->fd);
		slot = next;
	}
	cosy_start_waiting(loop, next);
}

static bool transfers(enum cosy_how how)
{
	return how == COSY_HOW_WRITE || how == COSY_HOW_SEND || how == COSY_HOW_RECEIVE;
}

void cosy_start_ready(struct cosy_loop *loop, uint32_t slot, uint32_t events)
{
	struct cosy_slot *s = &loop->slots[slot];
	int error;

	if (s->connecting) {
		connection_ready(loop, slot);
	} else if (s->how != COSY_HOW_SIGNAL &&
		   needs_thread(loop, slot, cosy_descriptor_find(loop, s->fd))) {
		cosy_thread_call(loop, slot, false);
	} else if (events & EPOLLHUP && transfers((enum cosy_how)s->how) &&
		   ends_with_connection(loop, slot, &error)) {
		finish_with_connection(loop, slot, error);
	} else {
		s->reported = true;
		cosy_start_attempt(loop, slot);
	}
}

/*
 * Return true if the call has flags that the kernel does not know. The kernel checks them before
 * the eventfd refuses a buffer of one byte.
 */
static bool has_unknown_flags(const struct cosy_loop *loop,
			      const struct cosy_async_entry *entry)
{
	char byte;
	struct iovec iov = { &byte, sizeof(byte) };

	return (entry->nr == SYS_preadv2 || entry->nr == SYS_pwritev2) && entry->args[5] &&
	       cosy_sys6(SYS_preadv2, loop->wake_fd, (long)&iov, 1, -1, 0,
			 (long)entry->args[5]) == -EOPNOTSUPP;
}

/* The file does not support RWF_NOWAIT: poll it instead. */
static void cannot_nowait(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_slot *s = &loop->slots[slot];
	struct cosy_descriptor *d = cosy_descriptor_find(loop, s->fd);

	if (d->kind == COSY_KIND_DISK) {
		cosy_thread_call(loop, slot, true);
		return;
	}
	if (has_unknown_flags(loop, &loop->entries[slot])) {
		cosy_finish(loop, slot, -EOPNOTSUPP);
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
	int fd = loop->slots[slot].fd;
	struct cosy_descriptor *d = cosy_descriptor_find(loop, fd);
	int err = cosy_descriptor_look(d, fd);

	if (err)
		cosy_finish(loop, slot, err);
	else if (d->kind == COSY_KIND_DISK)
		cosy_thread_call(loop, slot, true);
	else
		cosy_start_attempt(loop, slot);
}

static void attempted_signal(struct cosy_loop *loop, uint32_t slot,
			     int64_t result)
{
	struct cosy_slot *s = &loop->slots[slot];
	const struct cosy_async_entry *entry = &loop->entries[slot];

	if (result != -EAGAIN) {
		cosy_finish(loop, slot, result);
		return;
	}
	if (s->list == COSY_LIST_NONE) {
		long fd = cosy_sys6(SYS_signalfd4, -1, (long)entry->args[0],
				    (long)entry->args[3], SFD_CLOEXEC, 0, 0);

		/* The process has no free descriptor: a thread waits for the signal. */
		if (fd < 0 || cosy_loop_own(loop, (int)fd) || !cosy_descriptor(loop, (int)fd)) {
			if (fd >= 0)
				cosy_sys(SYS_close, fd, 0, 0);
			cosy_thread_call(loop, slot, false);
			return;
		}
		cosy_descriptor_forget(loop, (int)fd);
		s->fd = (int)fd;
		s->list = COSY_LIST_IN;
		cosy_descriptor_append(loop, slot);
	}
	cosy_start_waiting(loop, slot);
}

/* Continue a buffered read. A read at the file's position may have read a part only. */
static void attempted_read(struct cosy_loop *loop, uint32_t slot, int64_t result)
{
	struct cosy_slot *s = &loop->slots[slot];

	const struct cosy_async_entry *entry = &loop->entries[slot];

	if (!has_offset(entry->nr) && result > 0 &&
	    s->done + (uint64_t)result < entry->args[2]) {
		s->done += (uint64_t)result;
		cosy_start_attempt(loop, slot);
	} else {
		cosy_finish(loop, slot, result);
	}
}

/*
 * Return true if a call with MSG_FASTOPEN has begun to open a connection. The blocking call waits
 * for it, and then sends. This one has to be made again with the same arguments.
 */
static bool opens_connection(const struct cosy_async_entry *entry, int64_t result)
{
	if (result != -EINPROGRESS && result != -EALREADY)
		return false;
	return (entry->nr == SYS_sendto && entry->args[3] & MSG_FASTOPEN) ||
	       (entry->nr == SYS_sendmsg && entry->args[2] & MSG_FASTOPEN);
}

/*
 * Return true if a socket is shut down for receiving. Blocking calls then end without data, but those
 * that do not block return -EAGAIN on datagram sockets, and on listening ones of AF_UNIX.
 */
static bool is_shut_down(const struct cosy_slot *s, const struct cosy_descriptor *d)
{
	struct pollfd poll = { .fd = s->fd, .events = POLLRDHUP };

	/* Shutting it down is an event. */
	return s->reported && s->list == COSY_LIST_IN && d->kind == COSY_KIND_SOCKET &&
	       (d->type != SOCK_STREAM || s->how == COSY_HOW_ACCEPT) &&
	       cosy_sys(SYS_poll, (long)&poll, 1, 0) > 0 &&
	       poll.revents & POLLRDHUP;
}

/* Finish a call that receives nothing. A thread's call also sets the lengths in the arguments. */
static void finish_shut_down(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_slot *s = &loop->slots[slot];

	if (blocks(s))
		cosy_thread_call(loop, slot, false);
	else
		cosy_finish(loop, slot, s->how == COSY_HOW_ACCEPT ? -EINVAL : 0);
}

/* Attempt a call again after a short time, because no event says when that is useful. */
static void try_later(struct cosy_loop *loop, uint32_t slot)
{
	int err = cosy_timer_add(loop, slot, cosy_clock() + TRIES_AFTER);

	if (err)
		cosy_finish(loop, slot, err);
}

void cosy_attempted(struct cosy_loop *loop, const struct cosy_attempt *a)
{
	uint32_t slot = a->slot;
	struct cosy_slot *s = &loop->slots[slot];
	const struct cosy_async_entry *entry = &loop->entries[slot];
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
		cosy_finish(loop, slot, result);
		return;
	}
	d = cosy_descriptor_find(loop, s->fd);
	if (result > 0 && continues(entry, d) &&
	    s->done + (uint64_t)result < entry->args[2]) {
		/* The module reads a pread64() completely, so this is only for read(). */
		if (!has_offset(entry->nr))
			s->done += (uint64_t)result;
		s->reported = false;
		result = -EAGAIN;
	}
	if (opens_connection(entry, result))
		result = -EAGAIN;
	switch (result) {
	case -EAGAIN:
		/* poll() cannot wait for room in the backlog of a listening socket. */
		if (s->how == COSY_HOW_CONNECT)
			break;
		d->receives |= s->how == COSY_HOW_READ || s->how == COSY_HOW_RECEIVE;
		if (d->kind == COSY_KIND_DISK)
			wait_for_disk(loop, slot);
		else if (is_shut_down(s, d))
			finish_shut_down(loop, slot);
		else if (s->how == COSY_HOW_SEND && waits_for_receiver(s, d) && !blocks(s))
			try_later(loop, slot);
		/* The module has waited. Shutting down the peer is no event for epoll. */
		else if (loop->module.waits && unix_send_ends(s, d))
			finish_with_connection(loop, slot, unix_send_error(s->fd));
		else
			cosy_start_waiting(loop, slot);
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
	case -EINPROGRESS:
		if (s->how != COSY_HOW_CONNECT)
			break;
		s->connecting = true;
		cosy_start_waiting(loop, slot);
		return;
	}
	cosy_finish(loop, slot, result);
}

/* Return true for calls on disks that do not use the file's position: they have no order. */
static bool unordered_on_disk(struct cosy_loop *loop, uint32_t slot)
{
	uint32_t nr = loop->entries[slot].nr;

	if (!has_offset(nr))
		return false;
	if (one_buffer(nr))
		cosy_start_attempt(loop, slot);
	else
		cosy_thread_call(loop, slot, true);
	return true;
}

/*
 * Begin with an entry that uses a descriptor, after earlier ones in its list. @waited: its call has
 * waited before, so it is not attempted until the descriptor is ready.
 */
static void start_descriptor(struct cosy_loop *loop, uint32_t slot, enum cosy_list list, bool waited)
{
	struct cosy_slot *s = &loop->slots[slot];
	const struct cosy_async_entry *entry = &loop->entries[slot];
	int fd = (int)entry->args[0];
	struct cosy_descriptor *d = cosy_descriptor(loop, fd);

	if (!d) {
		struct cosy_descriptor unknown;
		int err = cosy_descriptor_look(&unknown, fd);

		cosy_finish(loop, slot, err ? err : -ENOMEM);
		return;
	}
	if (d->kind == COSY_KIND_UNKNOWN) {
		int err = cosy_descriptor_look(d, fd);

		if (err) {
			cosy_finish(loop, slot, err);
			return;
		}
		cosy_descriptor_use(loop, fd);
	}
	s->fd = fd;
	if (d->kind == COSY_KIND_DISK && unordered_on_disk(loop, slot))
		return;
	/* It may end a connection, and then the program may let the socket listen. */
	if (s->how == COSY_HOW_CONNECT)
		d->receives = false;
	s->list = (uint8_t)list;
	s->state = COSY_SLOT_WAITING;
	cosy_descriptor_append(loop, slot);
	if (d->head[list] != slot)
		return;
	if (waited)
		cosy_start_waiting(loop, slot);
	else if (d->kind == COSY_KIND_DISK && !one_buffer(entry->nr))
		cosy_thread_call(loop, slot, true);
	else if (!cosy_is_reported(entry->nr, d))
		begin_first(loop, slot, d);
}

static void start_poll(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_slot *s = &loop->slots[slot];
	const struct cosy_async_entry *entry = &loop->entries[slot];
	const struct pollfd *poll = (const struct pollfd *)entry->args[0];
	long ready;
	int err;

	if (entry->args[1] != 1 || (int)entry->args[2] >= 0) {
		cosy_thread_call(loop, slot, false);
		return;
	}
	ready = cosy_sys(SYS_poll, (long)poll, 1, 0);
	if (ready) {
		cosy_finish(loop, slot, ready);
		return;
	}
	if (poll->fd < 0) {
		err = cosy_timer_add(loop, slot, UINT64_MAX);
		if (err)
			cosy_finish(loop, slot, err);
		return;
	}
	if (!cosy_descriptor(loop, poll->fd)) {
		cosy_finish(loop, slot, -ENOMEM);
		return;
	}
	cosy_descriptor_use(loop, poll->fd);
	s->fd = poll->fd;
	s->list = COSY_LIST_POLL;
	s->state = COSY_SLOT_WAITING;
	s->done = (uint16_t)poll->events;
	cosy_descriptor_append(loop, slot);
	err = cosy_descriptor_arm(loop, s->fd);
	if (err)
		cosy_finish(loop, slot, err);
}

/* Return true if the kernel can read a time. */
static bool is_readable(const struct timespec *time)
{
	/* The clock is refused after the time was read. */
	return cosy_sys6(SYS_clock_nanosleep, OWN_CPU_TIME, 0, (long)time, 0, 0, 0) != -EFAULT;
}

static void start_sleep(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->entries[slot];
	const struct timespec *time = (const void *)entry->args[0];
	bool absolute = false;
	uint64_t at;
	int err;

	if (entry->nr == SYS_clock_nanosleep) {
		clockid_t clock = (clockid_t)entry->args[0];

		absolute = entry->args[1] & TIMER_ABSTIME;
		if (clock != CLOCK_MONOTONIC &&
		    !(clock == CLOCK_REALTIME && !absolute)) {
			cosy_thread_call(loop, slot, false);
			return;
		}
		time = (const void *)entry->args[2];
	}
	if (!is_readable(time)) {
		cosy_finish(loop, slot, -EFAULT);
		return;
	}
	if (time->tv_sec < 0 || time->tv_nsec < 0 ||
	    time->tv_nsec >= 1000000000) {
		cosy_finish(loop, slot, -EINVAL);
		return;
	}
	/* The latest time that can be represented, in 292 years. */
	at = INT64_MAX;
	if (time->tv_sec < INT64_MAX / 1000000000 / 2)
		at = (uint64_t)time->tv_sec * 1000000000u +
		     (uint64_t)time->tv_nsec + (absolute ? 0 : cosy_clock());
	err = cosy_timer_add(loop, slot, at);
	if (err)
		cosy_finish(loop, slot, err);
}

/* Return true if dup2() or dup3() fails, or has nothing to do. */
static bool closes_nothing(long nr, const uint64_t args[6])
{
	return (uint32_t)args[0] == (uint32_t)args[1] ||
	       (nr == SYS_dup3 && (int)args[2] & ~O_CLOEXEC) ||
	       cosy_sys(SYS_fcntl, (int)args[0], F_GETFD, 0) < 0;
}

void cosy_closed_range(long nr, const uint64_t args[6], uint32_t *first, uint32_t *last)
{
	switch (nr) {
	case SYS_dup2:
	case SYS_dup3:
		*first = *last = (uint32_t)args[1];
		if (closes_nothing(nr, args)) {
			*first = 1;
			*last = 0;
		}
		break;
	case SYS_close_range:
		*first = (uint32_t)args[0];
		*last = (uint32_t)args[1];
		if (args[2]) {
			*first = 1;
			*last = 0;
		}
		break;
	default:
		*first = *last = (uint32_t)args[0];
		break;
	}
}

/* Return true if close() may wait until a socket has sent its data. */
static bool lingers(const struct cosy_loop *loop, int fd)
{
	const struct cosy_descriptor *d = cosy_descriptor_find(loop, fd);
	struct linger linger;
	socklen_t size = sizeof(linger);

	if (d && d->kind != COSY_KIND_UNKNOWN && d->kind != COSY_KIND_SOCKET)
		return false;
	return !cosy_sys6(SYS_getsockopt, fd, SOL_SOCKET, SO_LINGER, (long)&linger,
			  (long)&size, 0) &&
	       linger.l_onoff && linger.l_linger;
}

static void start_close(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->entries[slot];
	uint32_t first, last;
	bool waits, interrupts;

	/* A close is ordered with all other entries: make the earlier ones now. */
	cosy_attempts_make(loop);
	cosy_closed_range(entry->nr, (const uint64_t *)entry->args, &first, &last);
	/* While the loop is destroyed, its threads make no more calls. */
	waits = entry->nr == SYS_close && !loop->closing && lingers(loop, (int)entry->args[0]);
	cosy_fds_cancel(loop, first, last);
	interrupts = cosy_cpus_cancel_fds(loop, first, last) > 0;
	if (waits) {
		cosy_thread_call(loop, slot, false);
		return;
	}
	cosy_start_attempt(loop, slot);
	cosy_attempts_make(loop);
	/* A function may have waited again before the descriptor was closed. */
	if (interrupts)
		cosy_cpus_cancel_stale(loop, first, last);
}

void cosy_start(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_slot *s = &loop->slots[slot];
	const struct cosy_async_entry *entry = &loop->entries[slot];

	cosy_page_prepare(loop, slot);
	if (s->how == COSY_HOW_COMPOUND) {
		/* The call may close descriptors that attempts use: make these now. */
		if (loop->nbatch)
			cosy_attempts_make(loop);
		cosy_module_compound(loop, slot);
		return;
	}
	if (s->cancelled) {
		cosy_finish(loop, slot, -ECANCELED);
		return;
	}
	if (asks_not_to_wait(entry)) {
		cosy_start_attempt(loop, slot);
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
			cosy_thread_call(loop, slot, false);
		else
			cosy_start_attempt(loop, slot);
		break;
	case COSY_HOW_CLOSE:
		start_close(loop, slot);
		break;
	case COSY_HOW_DIRECT:
		cosy_start_attempt(loop, slot);
		break;
	case COSY_HOW_NOWAIT:
		if (cosy_module_has_nowait(loop)) {
			cosy_descriptor_use(loop, cosy_slot_fd(loop, slot));
			cosy_start_attempt(loop, slot);
		} else {
			cosy_thread_call(loop, slot, true);
		}
		break;
	case COSY_HOW_LOCK:
	case COSY_HOW_THREAD:
	case COSY_HOW_TIMED:
		cosy_thread_call(loop, slot, false);
		break;
	case COSY_HOW_DISK:
	case COSY_HOW_REFUSED:
	case COSY_HOW_COMPOUND:
		cosy_thread_call(loop, slot, true);
		break;
	}
}

void cosy_start_waited(struct cosy_loop *loop, uint32_t slot)
{
	bool sends = loop->slots[slot].how == COSY_HOW_SEND ||
		     loop->slots[slot].how == COSY_HOW_WRITE;

	cosy_page_prepare(loop, slot);
	start_descriptor(loop, slot, sends ? COSY_LIST_OUT : COSY_LIST_IN, true);
}
