/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * connection.c - how calls on sockets end when a connection is made, ends, or is shut down.
 *
 * An attempt may then have another result than a call that has waited.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "device/sys.h"
#include "connection.h"
#include "loop.h"

/* The C library's headers have this for GNU sources only. */
#ifndef POLLRDHUP
#define POLLRDHUP 0x2000
#endif
/* Older headers do not have this. */
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

static bool is_unix(int fd)
{
	return cosy_socket_option(fd, SO_DOMAIN) == AF_UNIX;
}

bool cosy_connection_has_backlog(int fd)
{
	return is_unix(fd);
}

/*
 * Return true if another connect() returns how the first one has ended, as for TCP. Only after that can a
 * socket whose connection was refused connect again. So SO_ERROR, which takes the error, is not read.
 */
static bool connect_tells(int fd)
{
	const int protocol = cosy_socket_option(fd, SO_PROTOCOL);

	return protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP;
}

bool cosy_connection_made(const struct cosy_async_entry *entry, int fd, long *result)
{
	struct pollfd poll = { .fd = fd, .events = POLLOUT };
	int error = 0;
	socklen_t size = sizeof(error);
	long err;

	/* An event that was reported before a callback may be one of the previous file. */
	if (cosy_fd_poll(&poll) <= 0)
		return false;
	if (connect_tells(fd)) {
		*result = cosy_fd_call(SYS_connect, fd, (long)entry->args[1], (long)entry->args[2], 0, 0,
				       0);
		return *result != -EALREADY;
	}
	err = cosy_fd_call(SYS_getsockopt, fd, SOL_SOCKET, SO_ERROR, (long)&error, (long)&size, 0);
	*result = err < 0 ? err : -error;
	return true;
}

bool cosy_connection_opens(const struct cosy_async_entry *entry, int64_t result)
{
	if (result != -EINPROGRESS && result != -EALREADY)
		return false;
	return (entry->nr == SYS_sendto && entry->args[3] & MSG_FASTOPEN) ||
	       (entry->nr == SYS_sendmsg && entry->args[2] & MSG_FASTOPEN);
}

/* Copy between memory of libcosy and of the program, whose address the kernel checks: @nr. */
static long copy_checked(long nr, void *ours, void *programs, size_t size)
{
	const struct iovec local = { ours, size }, remote = { programs, size };
	const long n = cosy_sys6(nr, cosy_sys(SYS_getpid, 0, 0, 0), (long)&local, 1, (long)&remote,
				 1, 0);

	return n == (long)size ? 0 : n < 0 ? n : -EFAULT;
}

/* Write what a recvfrom() or recvmsg() sets that ends without data. Needs no descriptor. */
static long set_nothing(const struct cosy_async_entry *entry)
{
	struct msghdr message, *to = (struct msghdr *)entry->args[1];
	int size = 0;
	long err;

	if (entry->nr == SYS_recvfrom) {
		if (!entry->args[4])
			return 0;
		err = copy_checked(SYS_process_vm_readv, &size, (int *)entry->args[5], sizeof(size));
		if (err || size < 0)
			return err ? err : -EINVAL;
		size = 0;
		return copy_checked(SYS_process_vm_writev, &size, (int *)entry->args[5], sizeof(size));
	}
	err = copy_checked(SYS_process_vm_readv, &message, to, sizeof(message));
	if (!err && message.msg_name)
		err = copy_checked(SYS_process_vm_writev, &size, &to->msg_namelen, sizeof(size));
	message.msg_flags = (int)entry->args[2] & MSG_CMSG_CLOEXEC;
	message.msg_controllen = 0;
	if (!err)
		err = copy_checked(SYS_process_vm_writev, &message.msg_flags, &to->msg_flags,
				   sizeof(message.msg_flags));
	if (!err)
		err = copy_checked(SYS_process_vm_writev, &message.msg_controllen, &to->msg_controllen,
				   sizeof(message.msg_controllen));
	return err;
}

long cosy_receive_nothing(const struct cosy_async_entry *entry, bool ended)
{
	int fds[2];
	long third = ended ? (long)entry->args[2] : MSG_DONTWAIT;
	long result = cosy_sys6(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, (long)fds,
				0, 0);

	/* There is no pair to receive from, e.g. because the process has no free descriptors. */
	if (result < 0)
		return ended ? set_nothing(entry) : result;
	if (ended)
		cosy_sys(SYS_close, fds[1], 0, 0);
	result = cosy_sys6((long)entry->nr, fds[0], (long)entry->args[1], third,
			   (long)entry->args[3], (long)entry->args[4], (long)entry->args[5]);
	if (!ended)
		cosy_sys(SYS_close, fds[1], 0, 0);
	cosy_sys(SYS_close, fds[0], 0, 0);
	return result;
}

/* Return true if a call that waits receives 0 bytes. */
static bool receives_nothing(const struct cosy_async_entry *entry)
{
	const struct msghdr *message = (const void *)entry->args[1];

	if (entry->nr != SYS_recvmsg)
		return cosy_receives_nothing(entry);
	/*
	 * If an earlier call has ended with the connection, this one was never attempted. So the kernel
	 * checks its vector before this thread reads it.
	 */
	if (cosy_receive_nothing(entry, false) != -EAGAIN)
		return false;
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

	return !cosy_fd_ask(SYS_ioctl, fd, FIONREAD, (long)&bytes) && !bytes;
}

/* Take the error of a call that waits to send on a stream of AF_UNIX, and ends. */
static int unix_send_error(int fd)
{
	int error = cosy_socket_option(fd, SO_ERROR);

	return error ? error : EPIPE;
}

bool cosy_connection_send_ended(const struct cosy_slot *s, const struct cosy_descriptor *d,
				int *error)
{
	/* A send of no bytes only checks the connection, and never waits. */
	if (s->list != COSY_LIST_OUT || d->kind != COSY_KIND_SOCKET || d->type != SOCK_STREAM ||
	    !is_unix(s->fd) || cosy_fd_call(SYS_sendto, s->fd, 0, 0, MSG_NOSIGNAL, 0, 0) != -EPIPE)
		return false;
	*error = unix_send_error(s->fd);
	return true;
}

bool cosy_connection_ended(const struct cosy_loop *loop, uint32_t slot, int *error)
{
	const struct cosy_slot *s = &loop->slots.all[slot];
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	const struct cosy_descriptor *d = cosy_descriptor_find(&loop->fds, s->fd);
	struct pollfd poll = { .fd = s->fd };

	/* An event that was reported before a callback may be one of the previous file. */
	if (d->kind != COSY_KIND_SOCKET || d->type != SOCK_STREAM ||
	    cosy_fd_poll(&poll) <= 0 || !(poll.revents & POLLHUP))
		return false;
	*error = 0;
	if (s->list == COSY_LIST_OUT && is_unix(s->fd)) {
		*error = unix_send_error(s->fd);
		return true;
	}
	return cosy_socket_option(s->fd, SO_PROTOCOL) == IPPROTO_TCP &&
	       (s->list == COSY_LIST_OUT || tcp_is_empty(s->fd)) &&
	       (s->done || receives_nothing(entry));
}

static bool is_shut_down(int fd)
{
	struct pollfd poll = { .fd = fd, .events = POLLRDHUP };

	return cosy_fd_poll(&poll) > 0 && poll.revents & POLLRDHUP;
}

bool cosy_connection_is_shut_down(const struct cosy_slot *s, const struct cosy_descriptor *d)
{
	/* A shutdown is reported as an event, so other calls need no check. */
	return s->reported && s->list == COSY_LIST_IN && d->kind == COSY_KIND_SOCKET &&
	       (d->type != SOCK_STREAM || s->how == COSY_HOW_ACCEPT) && is_shut_down(s->fd);
}

bool cosy_connection_is_over(int fd)
{
	char byte;

	return is_shut_down(fd) && cosy_fd_call(SYS_recvfrom, fd, (long)&byte, 1,
					     MSG_PEEK | MSG_DONTWAIT, 0, 0) == -EAGAIN;
}

bool cosy_connection_is_missing(int fd)
{
	struct sockaddr_storage name;
	socklen_t size = sizeof(name);

	return cosy_socket_option(fd, SO_DOMAIN) == AF_VSOCK &&
	       cosy_fd_call(SYS_getpeername, fd, (long)&name, (long)&size, 0, 0, 0) == -ENOTCONN;
}

bool cosy_connection_is_at_mark(int fd)
{
	int is = 0;

	return !cosy_fd_ask(SYS_ioctl, fd, SIOCATMARK, (long)&is) && is;
}

bool cosy_connection_lingers(const struct cosy_loop *loop, int fd)
{
	const struct cosy_descriptor *d = cosy_descriptor_find(&loop->fds, fd);
	struct linger linger;
	socklen_t size = sizeof(linger);

	if (d && d->kind != COSY_KIND_UNKNOWN && d->kind != COSY_KIND_SOCKET)
		return false;
	return !cosy_fd_call(SYS_getsockopt, fd, SOL_SOCKET, SO_LINGER, (long)&linger,
			  (long)&size, 0) &&
	       linger.l_onoff && linger.l_linger;
}
