// SPDX-License-Identifier: GPL-2.0
/*
 * calls.c - the calls that park, by syscalls.def, for compounds that a loop runs.
 *
 * These calls do not block. If a call would block, its compound is parked. If the loop cannot wait
 * for it, the call has no effect, and the process has to make it in user mode.
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/net.h>
#include <linux/sched/xacct.h>
#include <linux/socket.h>
#include <linux/uaccess.h>
#include <linux/unistd.h>

#include <net/sock.h>

#include <cosy/exec.h>

#include "async/async.h"
#include "async/coroutine.h"
#include "async/ring.h"
#include "async/socket.h"
#include "async/transfer.h"
#include "async/wait.h"
#include "call/call.h"
#include "compat/compat.h"
#include "fast/calls.h"
#include "fast/fast.h"
#include "fast/io.h"
#include "kernel/internals.h"

/*
 * Return true if the flags of a call say that it must not wait. Sending urgent data may wait.
 * Sockets that have no urgent data, or no queue of errors, may ignore MSG_OOB or MSG_ERRQUEUE, and
 * wait for data.
 */
static bool cosy_call_is_dontwait(const struct socket *socket, u64 flags, bool receives)
{
	if (flags & MSG_DONTWAIT)
		return true;
	if (receives && flags & MSG_OOB && (!socket || socket->type == SOCK_STREAM))
		return true;
	if (!receives || !(flags & MSG_ERRQUEUE))
		return false;
	return !socket || (socket->ops->family != AF_UNIX && socket->ops->family != AF_NETLINK);
}

/*
 * read() and write()
 */

/* The checks at the beginning of vfs_read() and vfs_write(). */
static long cosy_file_begin(const struct pt_regs *regs, struct file *file,
			    bool receives)
{
	if (unlikely(!cosy_access_ok((void __user *)regs->si, regs->dx)))
		return -EFAULT;
	return rw_verify_area(receives ? READ : WRITE, file, NULL, regs->dx);
}

/* For a socket, set the other arguments of recvfrom() or sendto(): see sock_write_iter(). */
static void cosy_file_args(struct pt_regs *regs, const struct socket *socket,
			   bool receives)
{
	regs->r10 = !receives && socket->type == SOCK_SEQPACKET ? MSG_EOR : 0;
	regs->r8 = 0;
}

/*
 * The accounting at the end of vfs_read() and vfs_write(). @file: NULL if it was closed and nothing
 * was read.
 */
static void cosy_file_end(struct file *file, long result, bool receives)
{
	if (receives) {
		if (result > 0) {
			fsnotify_access(file);
			add_rchar(current, result);
		}
		inc_syscr(current);
		return;
	}
	if (result > 0) {
		if (likely(file))
			fsnotify_modify(file);
		add_wchar(current, result);
	}
	inc_syscw(current);
}

/* Check a call once, when it begins, and not again after each wait. */
static long cosy_file_begin_once(struct cosy_coroutine *co,
				 const struct pt_regs *regs, struct file *file,
				 bool receives)
{
	long err;

	if (co->counts && co->parked.target.queue)
		return 0;
	err = cosy_file_begin(regs, file, receives);
	co->counts = !err;
	co->receives = receives;
	return err;
}

/**
 * cosy_call_ended() - account for a read() or write() that has begun and is not continued
 * @co:     its compound, which may still wait for the file
 * @result: the result that the call gets
 *
 * Nothing happens for other calls.
 */
void cosy_call_ended(struct cosy_coroutine *co, long result)
{
	struct cosy_fd fd;

	if (!co->counts)
		return;
	fd = cosy_fd_get(co->parked.call.args[0]);
	cosy_file_end(cosy_parked_is_current(&co->parked, fd.file) ? fd.file : NULL,
		      result, co->receives);
	cosy_fd_put(fd);
}

/*
 * All calls that transfer bytes
 */

/* Skip the bytes that were sent before. */
static void cosy_send_rest(const struct cosy_coroutine *co, struct pt_regs *regs)
{
	regs->dx = min_t(u64, regs->dx, MAX_RW_COUNT) - co->sent;
	regs->si += co->sent;
}

/* Make the call without blocking. Without a socket the system call itself returns the error. */
static long cosy_call_make(struct pt_regs *regs, struct socket *socket,
			   bool receives)
{
	if (likely(socket && !regs->r8))
		return cosy_transfer(socket, regs, receives);
	regs->r10 |= MSG_DONTWAIT;
	regs->orig_ax = cosy_env_callee(receives ? __NR_recvfrom : __NR_sendto);
	return cosy_callees[regs->orig_ax](regs);
}

/*
 * Return true if no more bytes can be sent. The call then returns what it has sent, and the next
 * call returns the error, as natively after a partial send.
 */
static bool cosy_send_has_ended(const struct socket *socket)
{
	const struct sock *sk = READ_ONCE(socket->sk);

	return !sk || READ_ONCE(sk->sk_err) ||
	       READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN;
}

/* Wait for the file of a call that has failed with -EAGAIN. Return COSY_PARKED. */
static __always_inline long cosy_call_wait(struct cosy_coroutine *co,
					   struct file *file, bool receives)
{
	co->user = !cosy_park_on(&co->parked, file, receives ? COSY_WAIT_IN :
							       COSY_WAIT_OUT);
	return COSY_PARKED;
}

/*
 * Return true if a call with MSG_FASTOPEN has begun to open a connection. Natively the call waits,
 * and then sends. It has to be made again with the same arguments.
 */
static bool cosy_call_connects(u64 flags, long result)
{
	return flags & MSG_FASTOPEN && (result == -EINPROGRESS || result == -EALREADY);
}

/*
 * Finish an attempt without blocking: wait if the call would have blocked, or if bytes remain to be
 * sent. Return the result, or COSY_PARKED.
 */
static __always_inline long cosy_call_made(struct cosy_coroutine *co,
					   const struct pt_regs *regs,
					   struct file *file, bool receives,
					   long result)
{
	if (!receives && result > 0 && (u64)result < regs->dx) {
		co->sent += result;
		/* Room may be left, and then no event comes: let the wait check for room again. */
		WRITE_ONCE(co->parked.events, 0);
		result = -EAGAIN;
	}
	if (!receives && unlikely(cosy_call_connects(regs->r10, result)))
		result = -EAGAIN;
	return result == -EAGAIN ? cosy_call_wait(co, file, receives) : result;
}

/* The same as cosy_call_try(), for read() and write() of files that are not sockets. */
static long cosy_file_try(struct cosy_coroutine *co, struct pt_regs *regs,
			  struct file *file, bool receives)
{
	struct cosy_parked *parked = &co->parked;
	long result;

	if (co->interrupted || co->cancelled)
		return -ECANCELED;
	if (!cosy_target_transfers(&parked->target, file, receives)) {
		/* What is cached of a file on a disk need not wait. */
		result = receives ? cosy_read_cached_here(file, regs->si, regs->dx) : -EAGAIN;
		co->user = result == -EAGAIN;
		return co->user ? COSY_PARKED : result;
	}
	if (!(file->f_mode & (receives ? FMODE_READ : FMODE_WRITE)))
		return -EBADF;
	result = cosy_file_begin_once(co, regs, file, receives);
	if (result)
		return result;
	/* For an eventfd, poll() is right only for a call of at least 8 bytes. */
	if (!co->waits && receives && regs->dx >= sizeof(u64) &&
	    cosy_park_idle(parked, file))
		return COSY_PARKED;
	cosy_send_rest(co, regs);
	result = cosy_target_transfer(file, regs, receives);
	return cosy_call_made(co, regs, file, receives, result);
}

/* Return true if a call that begins to receive waits, because the socket has nothing for it. */
static __always_inline bool cosy_call_is_idle(struct cosy_coroutine *co,
					      const struct pt_regs *regs,
					      struct file *file,
					      const struct socket *socket)
{
	return !co->waits && cosy_transfer_waits(&co->parked, regs, file, socket);
}

/*
 * Return true if the call receives no bytes. If its connection ends while it waits, it must not get
 * the error of the socket.
 */
static bool cosy_call_only_waits(const struct pt_regs *regs, const struct socket *socket)
{
	return !regs->dx && socket && cosy_socket_is_tcp(socket);
}

/* Return the error of a send that has waited, if it ends with its connection; otherwise 0. */
static __always_inline long cosy_call_ends(const struct cosy_coroutine *co,
					   const struct socket *socket, bool receives)
{
	if (receives || likely(!co->waits) || !socket)
		return 0;
	return cosy_socket_send_ends(socket);
}

/*
 * Make the call, or wait. @socket: that of @file, or NULL. @file_io: the call is read() or write().
 * Return the result, or COSY_PARKED.
 */
static __always_inline long cosy_call_try(struct cosy_coroutine *co,
					  struct pt_regs *regs,
					  struct file *file,
					  struct socket *socket, bool receives,
					  bool file_io)
{
	bool dontwait = !file_io && cosy_call_is_dontwait(socket, regs->r10, receives);
	long result;

	if (unlikely(co->interrupted || (co->cancelled && !dontwait)))
		return -ECANCELED;
	if (file_io && unlikely(!file))
		return -EBADF;
	if (file_io && unlikely(!socket))
		return cosy_file_try(co, regs, file, receives);
	/* With MSG_WAITALL no event says when all bytes are there. */
	if (!file_io && receives &&
	    unlikely(regs->r10 & MSG_WAITALL || cosy_call_only_waits(regs, socket))) {
		co->user = true;
		return COSY_PARKED;
	}
	if (file_io) {
		result = cosy_file_begin_once(co, regs, file, receives);
		if (unlikely(result))
			return result;
		/* See sock_read_iter(). */
		if (receives && unlikely(!regs->dx))
			return 0;
	}
	if (file_io)
		cosy_file_args(regs, socket, receives);
	/* With MSG_OOB the call is made first: other sockets than UDP's refuse it at once. */
	if (receives && !dontwait && !(regs->r10 & MSG_OOB) && socket &&
	    cosy_call_is_idle(co, regs, file, socket))
		return COSY_PARKED;
	result = cosy_call_ends(co, socket, receives);
	if (result)
		return result;
	cosy_send_rest(co, regs);
	if (unlikely(co->sent)) {
		if (!socket || cosy_send_has_ended(socket))
			return 0;
		regs->r10 |= MSG_NOSIGNAL;
		/* The first part of the data has opened the connection. */
		regs->r10 &= ~(u64)MSG_FASTOPEN;
		regs->r8 = 0;
	}
	result = cosy_call_make(regs, socket, receives);
	return dontwait ? result : cosy_call_made(co, regs, file, receives, result);
}

/*
 * Begin a call of a compound, or continue it after a wait. Return the file of its descriptor;
 * none if the descriptor now refers to another file.
 */
static __always_inline struct cosy_fd cosy_call_begin(struct cosy_coroutine *co,
						      struct cosy_env *env)
{
	struct cosy_parked *parked = &co->parked;
	struct cosy_fd fd;

	/* Data of fast paths must be in the process's memory before it is sent. */
	cosy_fast_leave(env, false);
	if (!co->waits) {
		co->sent = 0;
		co->counts = false;
	}
	co->user = false;
	co->raised = false;
	parked->call.args[0] = env->regs.di;
	fd = cosy_fd_get(env->regs.di);
	/* The descriptor was closed during the wait. */
	if (co->waits && parked->target.queue &&
	    unlikely(!cosy_parked_is_current(parked, fd.file))) {
		co->interrupted = true;
		fd.file = NULL;
	}
	return fd;
}

/* End a call, or note that it waits. @result: its result, or COSY_PARKED. Return the result. */
static __always_inline long cosy_call_end(struct cosy_coroutine *co,
					  struct cosy_env *env, long result)
{
	co->waits = result == COSY_PARKED;
	/* An interrupted call is made again, unless bytes were sent: then it ends below. */
	if (unlikely(!co->waits && !co->sent && cosy_call_restarts(result))) {
		/* It is made again from its beginning, and may then wait for another socket. */
		co->waits = true;
		cosy_parked_unqueue(&co->parked);
	}
	/* Report the bytes that were sent, as after a signal: they must not be sent again. */
	if (unlikely(co->sent) && (!co->waits || co->user)) {
		co->waits = false;
		result = (long)co->sent + max(result, 0L);
	}
	if (!co->waits)
		co->interrupted = false;
	/* The thread may have got SIGPIPE for the program: let it return to user mode. */
	if (unlikely(result == -EPIPE) && co->moves) {
		co->raised = true;
		co->user = true;
		result = COSY_PARKED;
	}
	env->parked = result == COSY_PARKED;
	return result;
}

/*
 * Return true for a recvfrom() or sendto() without an address and without unusual flags. The call
 * must have sent nothing yet, not be cancelled, and not be a send that has waited. cosy_call_try()
 * handles the unusual flags; the comment at COSY_RING_RECEIVE_UNUSUAL says why other lists differ.
 */
static __always_inline bool cosy_call_is_usual(const struct cosy_coroutine *co,
					       const struct pt_regs *regs, bool receives)
{
	const u64 unusual = MSG_DONTWAIT | MSG_OOB | MSG_ERRQUEUE | MSG_WAITALL;

	return !(regs->r10 & unusual) && !regs->r8 && !co->sent &&
	       !(co->cancelled | co->interrupted) && (receives ? regs->dx : !co->waits);
}

/*
 * The same as cosy_call_try() and cosy_call_end() for usual calls, in half as many instructions.
 * Servers make mostly these calls.
 */
static __always_inline long cosy_call_usual(struct cosy_coroutine *co,
					    struct cosy_env *env,
					    struct file *file,
					    struct socket *socket, bool receives)
{
	struct pt_regs *regs = &env->regs;
	long result;

	if (receives && cosy_call_is_idle(co, regs, file, socket)) {
		co->waits = true;
		env->parked = true;
		return COSY_PARKED;
	}
	result = cosy_transfer(socket, regs, receives);
	if (likely(result >= 0 && (receives || result == regs->dx))) {
		co->waits = false;
		return result;
	}
	/* @sent is 0: this only limits the size. */
	cosy_send_rest(co, regs);
	result = cosy_call_made(co, regs, file, receives, result);
	return cosy_call_end(co, env, result);
}

static __always_inline long cosy_call_transfer(const struct pt_regs *args,
					       bool receives, bool file_io)
{
	struct cosy_env *env = container_of((struct pt_regs *)args,
					    struct cosy_env, regs);
	struct cosy_coroutine *co = env->coroutine;
	struct cosy_fd fd = cosy_call_begin(co, env);
	struct socket *socket = cosy_socket_of(fd.file);
	long result;

	if (!file_io && likely(socket && cosy_call_is_usual(co, &env->regs, receives))) {
		result = cosy_call_usual(co, env, fd.file, socket, receives);
		cosy_fd_put(fd);
		return result;
	}
	result = cosy_call_try(co, &env->regs, fd.file, socket, receives, file_io);
	result = cosy_call_end(co, env, result);
	if (file_io && co->counts && !co->waits)
		cosy_file_end(fd.file, result, receives);
	cosy_fd_put(fd);
	return result;
}

static long cosy_call_recvfrom(const struct pt_regs *regs)
{
	return cosy_call_transfer(regs, true, false);
}

static long cosy_call_sendto(const struct pt_regs *regs)
{
	return cosy_call_transfer(regs, false, false);
}

static long cosy_call_read(const struct pt_regs *regs)
{
	return cosy_call_transfer(regs, true, true);
}

static long cosy_call_write(const struct pt_regs *regs)
{
	return cosy_call_transfer(regs, false, true);
}

/*
 * recvmsg() and sendmsg()
 */

/* Return true if a message, whose vector the system call has read before, has no bytes. */
static bool cosy_message_is_empty(const struct user_msghdr *message)
{
	size_t i, pieces = min_t(size_t, message->msg_iovlen, UIO_MAXIOV);
	struct iovec piece;

	for (i = 0; i < pieces; i++) {
		if (copy_from_user(&piece, message->msg_iov + i, sizeof(piece)) || piece.iov_len)
			return false;
	}
	return true;
}

/*
 * End a recvmsg() of no bytes that has waited, because its connection has an error: natively the
 * next call gets the error. Write what the system call writes. Return 0, -EFAULT, or COSY_PARKED:
 * the call has to be made.
 */
static long cosy_message_ends(const struct cosy_coroutine *co, const struct pt_regs *regs,
			      const struct socket *socket)
{
	struct user_msghdr __user *to = (void __user *)regs->si;
	struct user_msghdr message;

	if (likely(!co->waits) || !socket || !cosy_socket_receive_fails(socket) ||
	    copy_from_user(&message, to, sizeof(message)) || !cosy_message_is_empty(&message))
		return COSY_PARKED;
	if ((message.msg_name && put_user(0, &to->msg_namelen)) ||
	    put_user(regs->dx & MSG_CMSG_CLOEXEC, &to->msg_flags) ||
	    put_user(0, &to->msg_controllen))
		return -EFAULT;
	return 0;
}

/*
 * Make the call, or wait. The system call itself reads the message header. So it is always tried
 * first, and a wrong header fails at once, as natively.
 */
static long cosy_message_try(struct cosy_coroutine *co, struct pt_regs *regs,
			     struct file *file, bool receives)
{
	struct socket *socket = cosy_socket_of(file);
	bool dontwait = cosy_call_is_dontwait(socket, regs->dx, receives);
	long result;

	if (co->interrupted || (co->cancelled && !dontwait))
		return -ECANCELED;
	if (receives && regs->dx & MSG_WAITALL) {
		co->user = true;
		return COSY_PARKED;
	}
	if (receives)
		result = cosy_message_ends(co, regs, socket);
	else
		result = cosy_call_ends(co, socket, false) ?: COSY_PARKED;
	if (result != COSY_PARKED)
		return result;
	regs->dx |= MSG_DONTWAIT;
	regs->orig_ax = cosy_env_callee(receives ? __NR_recvmsg : __NR_sendmsg);
	result = cosy_callees[regs->orig_ax](regs);
	if (!dontwait && !receives && unlikely(cosy_call_connects(regs->dx, result)))
		result = -EAGAIN;
	return dontwait || result != -EAGAIN ? result :
					     cosy_call_wait(co, file, receives);
}

static long cosy_call_message(const struct pt_regs *args, bool receives)
{
	struct cosy_env *env = container_of((struct pt_regs *)args,
					    struct cosy_env, regs);
	struct cosy_coroutine *co = env->coroutine;
	struct cosy_fd fd = cosy_call_begin(co, env);
	long result;

	result = cosy_message_try(co, &env->regs, fd.file, receives);
	result = cosy_call_end(co, env, result);
	cosy_fd_put(fd);
	return result;
}

static long cosy_call_recvmsg(const struct pt_regs *regs)
{
	return cosy_call_message(regs, true);
}

static long cosy_call_sendmsg(const struct pt_regs *regs)
{
	return cosy_call_message(regs, false);
}

/*
 * accept() and accept4()
 */

/**
 * cosy_accept() - accept a connection without blocking: the same as __sys_accept4_file()
 * @regs:  the arguments of accept(); COSY_NEEDS(do_accept) are there
 * @file:  the file of a socket
 * @flags: valid flags of accept4()
 *
 * Return: the result of the call.
 */
long cosy_accept(const struct pt_regs *regs, struct file *file, int flags)
{
	struct file *accepted;
	int fd;

	fd = get_unused_fd_flags(flags);
	if (fd < 0)
		return fd;
	accepted = cosy_internal(do_accept)(file, cosy_accept_nonblock(),
					    (struct sockaddr __user *)regs->si,
					    (int __user *)regs->dx, flags);
	if (IS_ERR(accepted)) {
		put_unused_fd(fd);
		return PTR_ERR(accepted);
	}
	fd_install(fd, accepted);
	return fd;
}

/* Make the call, or wait. Return the result, or COSY_PARKED. */
static long cosy_accept_try(struct cosy_coroutine *co,
			    const struct pt_regs *regs, struct file *file,
			    int flags)
{
	struct socket *socket = cosy_socket_of(file);
	long result;

	if (co->interrupted || co->cancelled)
		return -ECANCELED;
	if (!file)
		return -EBADF;
	if (flags & ~(SOCK_CLOEXEC | SOCK_NONBLOCK))
		return -EINVAL;
	if (!socket)
		return -ENOTSOCK;
	if (!cosy_has(COSY_NEEDS(do_accept))) {
		co->user = true;
		return COSY_PARKED;
	}
	/* Errors of the limit and of security modules come before the wait. */
	result = cosy_accept(regs, file, flags);
	if (result != -EAGAIN)
		return result;
	co->user = !cosy_park_exclusively(&co->parked, file);
	return COSY_PARKED;
}

static long cosy_accept_call(const struct pt_regs *args, int flags)
{
	struct cosy_env *env = container_of((struct pt_regs *)args,
					    struct cosy_env, regs);
	struct cosy_coroutine *co = env->coroutine;
	struct cosy_fd fd = cosy_call_begin(co, env);
	long result;

	result = cosy_accept_try(co, args, fd.file, flags);
	/* If it has not used the event, another waiter gets the connection. */
	if (result != COSY_PARKED)
		cosy_park_pass(&co->parked, result >= 0);
	result = cosy_call_end(co, env, result);
	cosy_fd_put(fd);
	return result;
}

static long cosy_call_accept(const struct pt_regs *regs)
{
	return cosy_accept_call(regs, 0);
}

static long cosy_call_accept4(const struct pt_regs *regs)
{
	return cosy_accept_call(regs, regs->r10);
}

/*
 * close()
 */

/*
 * Return true if operations of the process in user mode use a descriptor, or if the process has not
 * told which ones do.
 */
static bool cosy_fd_is_used(const struct cosy_loop *loop, unsigned int fd)
{
	u8 __user *used = u64_to_user_ptr(READ_ONCE(loop->page->used));
	/* Acquire: another thread may have just made it. */
	const struct cosy_ring *ring = smp_load_acquire(&loop->ring);
	u8 byte;

	/* Entries that the ring has not taken may use any descriptor. */
	if (ring && (cosy_receiver_of(ring, fd) || cosy_sender_of(ring, fd) ||
		     cosy_ring_has_more(ring)))
		return true;
	if (!used)
		return true;
	if (fd >= READ_ONCE(loop->page->nused))
		return false;
	return get_user(byte, used + fd / 8) || byte & BIT(fd % 8);
}

static bool cosy_may_close(const struct cosy_loop *loop, unsigned int fd)
{
	struct cosy_fd found = cosy_fd_get(fd);
	bool may = found.file &&
		   (cosy_target_may_close(found.file) || cosy_closes_at_once(found.file)) &&
		   !cosy_fd_is_used(loop, fd);

	cosy_fd_put(found);
	return may;
}

static long cosy_call_close(const struct pt_regs *args)
{
	struct cosy_env *env = container_of((struct pt_regs *)args,
					    struct cosy_env, regs);
	struct cosy_coroutine *co = env->coroutine;
	struct cosy_loop *loop = co->parked.loop;

	cosy_fast_leave(env, false);
	co->user = !cosy_may_close(loop, args->di);
	co->raised = false;
	env->parked = co->user;
	if (env->parked)
		return COSY_PARKED;
	/* Calls that wait for the descriptor fail first. */
	cosy_park_interrupt(loop, args->di);
	env->regs.orig_ax = cosy_env_callee(__NR_close);
	return cosy_callees[env->regs.orig_ax](&env->regs);
}

/** cosy_coroutine_init() - register the calls at which compounds can be parked */
void __init cosy_coroutine_init(void)
{
#define COSY_PARKS(name) cosy_parks_init(__NR_##name, cosy_call_##name);
#include <syscalls.def>
}
