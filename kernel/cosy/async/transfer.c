// SPDX-License-Identifier: GPL-2.0
/*
 * transfer.c - recvfrom() and sendto() of a socket that was looked up before.
 *
 * Does what __sys_recvfrom() and __sys_sendto() of net/socket.c do after their look-up, with the
 * same hooks of security modules, but without addresses.
 */
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/net.h>
#include <linux/ptrace.h>
#include <linux/socket.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include <net/sock.h>

#include "async/loop.h"
#include "compat/compat.h"

/**
 * cosy_transfer() - call recvfrom() or sendto() without blocking
 * @socket:   the socket
 * @regs:     the arguments; the address is NULL
 * @receives: true for recvfrom(), false for sendto()
 *
 * Return: what the system call returns with MSG_DONTWAIT.
 */
long cosy_transfer(struct socket *socket, const struct pt_regs *regs,
		   bool receives)
{
	void __user *buffer = (void __user *)regs->si;
	size_t size = min_t(u64, regs->dx, MAX_RW_COUNT);
	unsigned int flags = regs->r10 | MSG_DONTWAIT;
	struct msghdr msg = {};

	if (unlikely(!cosy_access_ok(buffer, size)))
		return -EFAULT;
	iov_iter_ubuf(&msg.msg_iter, receives ? READ : WRITE, buffer, size);
	if (receives)
		return sock_recvmsg(socket, &msg, flags);
	msg.msg_flags = flags & ~MSG_INTERNAL_SENDMSG_FLAGS;
	return sock_sendmsg(socket, &msg);
}

/* The conditions of unix_poll() for connected sockets. */
static bool cosy_unix_idle(const struct sock *sk)
{
	return !READ_ONCE(sk->sk_err) && !READ_ONCE(sk->sk_shutdown) &&
	       READ_ONCE(sk->sk_state) == TCP_ESTABLISHED &&
	       skb_queue_empty_lockless(&sk->sk_receive_queue) &&
	       !sk_is_readable((struct sock *)sk);
}

/**
 * cosy_transfer_may_ask() - test whether a socket's poll() tells if recvfrom() would wait
 * @socket: the socket
 *
 * It does not for a listening socket, where recvfrom() fails, and with SO_RCVLOWAT, where poll()
 * waits for more bytes.
 *
 * Return: true if it does.
 */
bool cosy_transfer_may_ask(const struct socket *socket)
{
	const struct sock *sk = READ_ONCE(socket->sk);

	return sk && READ_ONCE(sk->sk_state) != TCP_LISTEN &&
	       READ_ONCE(sk->sk_rcvlowat) <= 1;
}

/**
 * cosy_socket_listens() - test whether a socket listens, so that poll() tells if accept() waits
 * @socket: the socket
 *
 * Return: true if it listens.
 */
bool cosy_socket_listens(const struct socket *socket)
{
	const struct sock *sk = READ_ONCE(socket->sk);

	return sk && READ_ONCE(sk->sk_state) == TCP_LISTEN;
}

/**
 * cosy_transfer_idle() - test whether a socket certainly has nothing to receive
 * @socket: the socket
 *
 * Return: true if it has nothing; false if only poll() can tell.
 */
bool cosy_transfer_idle(const struct socket *socket)
{
	const struct sock *sk = READ_ONCE(socket->sk);

	/* IPV6_ADDRFORM may change the family meanwhile, but never from or to AF_UNIX. */
	return sk && READ_ONCE(sk->sk_family) == AF_UNIX && sk->sk_type == SOCK_STREAM &&
	       cosy_unix_idle(sk);
}
