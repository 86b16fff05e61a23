/* SPDX-License-Identifier: GPL-2.0 */
/*
 * transfer.h - recvfrom() and sendto() of a socket that was looked up before.
 *
 * Does what __sys_recvfrom() and __sys_sendto() of net/socket.c do after their look-up, with the
 * same hooks of security modules, but without addresses.
 */
#ifndef COSY_ASYNC_TRANSFER_H
#define COSY_ASYNC_TRANSFER_H

#include <linux/build_bug.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/net.h>
#include <linux/ptrace.h>
#include <linux/socket.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "async/loop.h"
#include "async/socket.h"
#include "compat/compat.h"

static __always_inline size_t cosy_transfer_size(const struct pt_regs *regs)
{
	return min_t(u64, regs->dx, MAX_RW_COUNT);
}

/**
 * cosy_transfer_waits() - let a receive that begins wait without making it, if that is possible
 * @parked: what waits; see cosy_park_idle()
 * @regs:   the arguments of recvfrom()
 * @file:   the file of @socket
 * @socket: the socket
 *
 * A call whose buffer is no address of a process fails before it looks at the socket.
 *
 * Return: true if it waits, because the socket has nothing to receive; false if the caller has to
 * make the call.
 */
static __always_inline bool cosy_transfer_waits(struct cosy_parked *parked,
						const struct pt_regs *regs, struct file *file,
						const struct socket *socket)
{
	return likely(cosy_access_ok((void __user *)regs->si, cosy_transfer_size(regs))) &&
	       cosy_socket_may_ask(socket) && cosy_park_idle(parked, file);
}

/* Clear all of a message but the iterator, in half as many instructions as memset(). */
static __always_inline void cosy_message_init(struct msghdr *msg)
{
	u64 *word = (u64 *)msg;
	const size_t iter = offsetof(struct msghdr, msg_iter) / sizeof(*word);
	const size_t rest = offsetofend(struct msghdr, msg_iter) / sizeof(*word);
	size_t i;

	BUILD_BUG_ON(sizeof(*msg) % sizeof(*word) || sizeof(msg->msg_iter) % sizeof(*word));
	/* Each store is one instruction: compilers do not make a loop of string stores of these. */
#pragma GCC unroll 16
	for (i = 0; i < sizeof(*msg) / sizeof(*word); i++) {
		if (i < iter || i >= rest)
			WRITE_ONCE(word[i], 0);
	}
}

/**
 * cosy_transfer_now() - call recvfrom() or sendto() without blocking
 * @socket:   the socket
 * @buffer:   argument of the call
 * @size:     argument of the call
 * @flags:    argument of the call
 * @receives: true for recvfrom(), false for sendto()
 *
 * Return: what the system call returns with MSG_DONTWAIT and no address.
 */
static __always_inline long cosy_transfer_now(struct socket *socket, u64 buffer, u64 size,
					      unsigned int flags, bool receives)
{
	struct msghdr msg __uninitialized;

	flags |= MSG_DONTWAIT;
	size = min_t(u64, size, MAX_RW_COUNT);
	if (unlikely(!cosy_access_ok((void __user *)buffer, size)))
		return -EFAULT;
	cosy_message_init(&msg);
	iov_iter_ubuf(&msg.msg_iter, receives ? READ : WRITE, (void __user *)buffer, size);
	if (receives)
		return sock_recvmsg(socket, &msg, flags);
	msg.msg_flags = flags & ~MSG_INTERNAL_SENDMSG_FLAGS;
	return sock_sendmsg(socket, &msg);
}

/* The same with the arguments in @regs. */
static __always_inline long cosy_transfer(struct socket *socket, const struct pt_regs *regs,
					  bool receives)
{
	return cosy_transfer_now(socket, regs->si, regs->dx, regs->r10, receives);
}

#endif /* COSY_ASYNC_TRANSFER_H */
