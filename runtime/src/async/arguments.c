/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * arguments.c - what the arguments of a call say: its descriptor, and whether it waits.
 *
 * The answer mostly comes from the kernel: it checks the same arguments in a call without an effect.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>

#include <linux/userfaultfd.h>

#include "device/sys.h"
#include "arguments.h"
#include "connection.h"
#include "loop.h"

/* The C library's headers have these for GNU sources only. */
#ifndef F_OFD_SETLKW
#define F_OFD_SETLKW 38
#endif
#ifndef RWF_HIPRI
#define RWF_HIPRI 0x00000001
#endif

/* No kernel knows these flags of preadv2(). */
#define UNKNOWN_FLAGS	0x40000000
/* CPU time of the calling thread. No thread can sleep until a time of this clock. */
#define OWN_CPU_TIME	(-2)

/* Return true if a receive with MSG_OOB does not wait: it takes the urgent byte of a stream. */
static bool has_urgent_data(int fd)
{
	return cosy_socket_option(fd, SO_TYPE) == SOCK_STREAM &&
	       (cosy_socket_option(fd, SO_DOMAIN) == AF_UNIX ||
		cosy_socket_option(fd, SO_PROTOCOL) == IPPROTO_TCP);
}

/*
 * Return true if sockets of AF_VSOCK have an error queue: since Linux 6.7. A socket without a connection
 * tells, because the kernel reads the queue before it checks the connection.
 */
static bool vsock_has_error_queue(void)
{
	long fd = cosy_sys(SYS_socket, AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0), result;
	char byte;

	if (fd < 0)
		return false;
	result = cosy_sys6(SYS_recvfrom, fd, (long)&byte, 1, MSG_ERRQUEUE | MSG_DONTWAIT, 0, 0);
	cosy_sys(SYS_close, fd, 0, 0);
	return result == -EAGAIN;
}

/* Return true if a receive with MSG_ERRQUEUE does not wait. */
static bool has_error_queue(int fd)
{
	int domain = cosy_socket_option(fd, SO_DOMAIN);

	return domain == AF_INET || domain == AF_INET6 || domain == AF_PACKET || domain == AF_CAN ||
	       (domain == AF_VSOCK && vsock_has_error_queue());
}

/* Return true if receiving with these flags does not wait. Other sockets ignore the flags, and wait for data. */
static bool receives_at_once(int fd, uint64_t flags)
{
	return flags & MSG_DONTWAIT || (flags & MSG_OOB && has_urgent_data(fd)) ||
	       (flags & MSG_ERRQUEUE && has_error_queue(fd));
}

/* Return true if read() of no bytes does not wait. An inotify descriptor waits for an event. */
static bool receives_no_bytes_at_once(int fd)
{
	struct cosy_descriptor d;

	return cosy_descriptor_look(&d, fd) || d.kind != COSY_KIND_NOWAIT;
}

bool cosy_asks_not_to_wait(const struct cosy_async_entry *entry)
{
	switch (entry->nr) {
	case SYS_read:
		return (int64_t)entry->args[2] < 0 ||
		       (!entry->args[2] && receives_no_bytes_at_once((int)entry->args[0]));
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

bool cosy_has_wrong_message(const struct cosy_async_entry *entry)
{
	long result;

	if (entry->nr != SYS_recvmsg)
		return false;
	result = cosy_receive_nothing(entry, false);
	return result == -EFAULT || result == -EINVAL || result == -EMSGSIZE;
}

static long read_name_of(int fd, void *name)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return cosy_sys(SYS_readlink, (long)path, (long)name, 31);
}

/* Read the name of a descriptor's file. It is cut off, or empty if there is no /proc. */
static void read_name(int fd, char name[32])
{
	long length = cosy_fd_lend(fd, read_name_of, name);

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
 * Return true if a read is too small for its file, and fails at once. These files check the size before
 * they wait; of a vector, they check the first piece. They support RWF_NOWAIT only since Linux 6.10.
 */
static bool reads_too_little(const char name[32], uint64_t bytes)
{
	static const struct {
		const char *name;
		size_t bytes;
	} files[] = {
		{ "anon_inode:[timerfd]", sizeof(uint64_t) },
		{ "anon_inode:[signalfd]", sizeof(struct signalfd_siginfo) },
		{ "anon_inode:[userfaultfd]", sizeof(struct uffd_msg) },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (!strcmp(name, files[i].name))
			return bytes < files[i].bytes;
	}
	return false;
}

/* Get the mode of a terminal. Return false for another file. */
static bool terminal_mode(int fd, struct termios *mode)
{
	return !cosy_fd_ask(SYS_ioctl, fd, TCGETS, (long)mode);
}

bool cosy_is_terminal(int fd)
{
	struct termios mode;

	return terminal_mode(fd, &mode);
}

/* Return true if a read of a terminal ends without input: after a time, or at once. */
static bool ends_without_input(int fd)
{
	struct termios mode;
	int number;

	/* A master has the mode of its slave, which does not apply to it. */
	return terminal_mode(fd, &mode) && !(mode.c_lflag & ICANON) && !mode.c_cc[VMIN] &&
	       cosy_fd_ask(SYS_ioctl, fd, TIOCGPTN, (long)&number) < 0;
}

/* Return how a read of @bytes begins. For a vector, @bytes is the size of the first piece. */
static enum cosy_beginning read_beginning(const struct cosy_async_entry *entry, uint64_t bytes)
{
	int fd = (int)entry->args[0];
	char name[32];

	read_name(fd, name);
	/* A read of performance counters never waits. poll() reports something else: samples. */
	if (reads_too_little(name, bytes) || !strcmp(name, "anon_inode:[perf_event]"))
		return COSY_BEGIN_ATTEMPT;
	/* Some files wait until they are readable to read no bytes, others do not. */
	if (((entry->nr == SYS_read || entry->nr == SYS_pread64) && !bytes) || ends_without_input(fd))
		return COSY_BEGIN_THREAD;
	return COSY_BEGIN_WAITING;
}

/*
 * Make a write to the loop's eventfd in place of the program's. The kernel checks the same arguments, and
 * at most, that wakes the loop.
 */
static long write_to_own_eventfd(const struct cosy_loop *loop,
				 const struct cosy_async_entry *entry)
{
	return cosy_sys6(entry->nr, loop->wake_fd, (long)entry->args[1], (long)entry->args[2],
			 (long)entry->args[3], (long)entry->args[4], (long)entry->args[5]);
}

/* Return how a write to a full eventfd begins. A write of the value 0 still ends at once. */
static enum cosy_beginning eventfd_beginning(const struct cosy_loop *loop,
					     const struct cosy_async_entry *entry)
{
	const uint64_t *value = (const void *)entry->args[1];
	long result;

	/* The program has closed it. */
	if (!cosy_loop_owns(loop, loop->wake_fd))
		return COSY_BEGIN_WAITING;
	result = write_to_own_eventfd(loop, entry);
	/* It has too few bytes, or an invalid value. */
	if (result < 0 && result != -EAGAIN)
		return COSY_BEGIN_ATTEMPT;
	if (result < 0)
		return COSY_BEGIN_WAITING;
	/* Without an error, the call has a valid value. */
	if (entry->nr != SYS_write)
		value = ((const struct iovec *)entry->args[1])->iov_base;
	/* Adding 0 does not wait, but the rest of a vector may: a thread makes the call. */
	return *value ? COSY_BEGIN_WAITING : COSY_BEGIN_THREAD;
}

/* Return how a write begins. */
static enum cosy_beginning write_beginning(const struct cosy_loop *loop,
					   const struct cosy_async_entry *entry)
{
	struct pollfd poll = { .fd = (int)entry->args[0], .events = POLLOUT };
	char name[32];

	/* write() of no byte does not wait. */
	if (entry->nr == SYS_write && !entry->args[2])
		return COSY_BEGIN_ATTEMPT;
	/* If the kernel has added too much to an eventfd, poll() reports POLLERR, and even 0 has to wait. */
	if (cosy_fd_poll(&poll))
		return COSY_BEGIN_WAITING;
	read_name(poll.fd, name);
	if (!strcmp(name, "anon_inode:[eventfd]"))
		return eventfd_beginning(loop, entry);
	/* Other files, such as those of fanotify, may never report that they have room. */
	return cosy_is_terminal(poll.fd) ? COSY_BEGIN_WAITING : COSY_BEGIN_THREAD;
}

/* Return true if the call fails at once because it names a position, and the file has none. */
static bool has_no_position(const struct cosy_slot *s, const struct cosy_async_entry *entry)
{
	bool names = cosy_has_offset(entry->nr);

	if (entry->nr == SYS_preadv2 || entry->nr == SYS_pwritev2)
		names = (int64_t)entry->args[3] != -1;
	/* The address -1 is invalid. So this call fails with another error if the file has a position. */
	return names && cosy_fd_call(s->how == COSY_HOW_READ ? SYS_pread64 : SYS_pwrite64, s->fd,
				     -1, 1, 0, 0, 0) == -ESPIPE;
}

enum cosy_beginning cosy_polled_beginning(const struct cosy_loop *loop,
					  const struct cosy_slot *s,
					  const struct cosy_async_entry *entry,
					  const struct cosy_descriptor *d)
{
	uint64_t bytes = entry->args[2];

	if (has_no_position(s, entry))
		return COSY_BEGIN_ATTEMPT;
	if (entry->nr == SYS_readv || entry->nr == SYS_writev || entry->nr == SYS_preadv2 ||
	    entry->nr == SYS_pwritev2) {
		if (has_no_bytes(loop, entry))
			return COSY_BEGIN_ATTEMPT;
		bytes = ((const struct iovec *)entry->args[1])->iov_len;
	}
	if (d->kind != COSY_KIND_NOWAIT)
		return COSY_BEGIN_WAITING;
	/* A file without functions for vectors refuses all flags but RWF_HIPRI, and then does not wait. */
	if ((entry->nr == SYS_preadv2 || entry->nr == SYS_pwritev2) && entry->args[5] & ~(uint64_t)RWF_HIPRI)
		return COSY_BEGIN_THREAD;
	return s->how == COSY_HOW_READ ? read_beginning(entry, bytes) :
					 write_beginning(loop, entry);
}

bool cosy_has_unknown_flags(const struct cosy_loop *loop, const struct cosy_async_entry *entry)
{
	char byte;
	struct iovec iov = { &byte, sizeof(byte) };

	return (entry->nr == SYS_preadv2 || entry->nr == SYS_pwritev2) && entry->args[5] &&
	       cosy_loop_owns(loop, loop->wake_fd) &&
	       cosy_sys6(SYS_preadv2, loop->wake_fd, (long)&iov, 1, -1, 0,
			 (long)entry->args[5]) == -EOPNOTSUPP;
}

bool cosy_time_is_readable(const struct timespec *time)
{
	/* The kernel reads the time before it refuses the clock. */
	return cosy_sys6(SYS_clock_nanosleep, OWN_CPU_TIME, 0, (long)time, 0, 0, 0) != -EFAULT;
}

bool cosy_blocks(const struct cosy_slot *s)
{
	long flags = cosy_fd_call(SYS_fcntl, s->fd, F_GETFL, 0, 0, 0, 0);
	long mode = flags & O_ACCMODE;

	/* If the descriptor is not open for reading, or writing, the call fails: there may never be an event. */
	return flags >= 0 && !(flags & O_NONBLOCK) &&
	       !(s->how == COSY_HOW_READ && mode == O_WRONLY) &&
	       !(s->how == COSY_HOW_WRITE && mode == O_RDONLY);
}

bool cosy_asks_in_order(const struct cosy_async_entry *entry)
{
	const uint64_t others = MSG_OOB | MSG_ERRQUEUE | MSG_PEEK;

	switch (entry->nr) {
	case SYS_recvfrom:
	case SYS_sendto:
		return (entry->args[3] & (others | MSG_DONTWAIT)) == MSG_DONTWAIT;
	case SYS_recvmsg:
	case SYS_sendmsg:
		return (entry->args[2] & (others | MSG_DONTWAIT)) == MSG_DONTWAIT;
	case SYS_preadv2:
	case SYS_pwritev2:
		/* At the file's position. */
		return entry->args[5] & RWF_NOWAIT && entry->args[3] == (uint64_t)-1;
	default:
		return false;
	}
}

/* Return false if the kernel cannot read an element of poll(): nothing has checked its address before. */
static bool is_readable(const struct pollfd *poll)
{
	/* The kernel reads as many bytes as an element has, and then refuses the first argument. */
	return poll && cosy_sys6(SYS_rt_sigprocmask, -1, (long)poll, 0, sizeof(*poll), 0, 0) != -EFAULT;
}

/* Return true if a poll() has a descriptor of a range. */
static bool polls(const struct cosy_async_entry *entry, uint32_t first, uint32_t last)
{
	const struct pollfd *poll = (const struct pollfd *)entry->args[0];
	uint64_t count = entry->args[1];

	/* The kernel refuses more. */
	if (count > COSY_MAX_FD)
		return false;
	for (; count && is_readable(poll); count--, poll++)
		if (cosy_fd_is_in(poll->fd, first, last))
			return true;
	return false;
}

int cosy_slot_fd(const struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	const struct pollfd *poll;

	switch (loop->slots.all[slot].how) {
	case COSY_HOW_DIRECT:
	case COSY_HOW_CLOSE:
	case COSY_HOW_COMPOUND:
		return -1;
	case COSY_HOW_POLL:
		poll = (const struct pollfd *)entry->args[0];
		return entry->args[1] == 1 && is_readable(poll) ? poll->fd : -1;
	default:
		return cosy_takes_fd(entry->nr) ? (int)entry->args[0] : -1;
	}
}

bool cosy_slot_uses(const struct cosy_loop *loop, uint32_t slot, uint32_t first, uint32_t last)
{
	const struct cosy_async_entry *entry = &loop->page.entries[slot];

	if (loop->slots.all[slot].how == COSY_HOW_POLL)
		return polls(entry, first, last);
	/* Such a call is cancelled only with all descriptors of its share: when the share ends. */
	if (loop->slots.all[slot].how == COSY_HOW_IN_SHARE)
		return cosy_share_first(loop->slots.all[slot].share) >= first &&
		       cosy_share_last(loop->slots.all[slot].share) <= last;
	return cosy_call_uses(entry->nr, (const uint64_t *)entry->args, first, last);
}
