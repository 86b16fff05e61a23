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
