// SPDX-License-Identifier: GPL-2.0
/*
 * target.c - files for which entries wait: sockets, pipes and eventfds.
 *
 * A waiting entry does not hold the file, but the object that contains the file's wait queue. So
 * closing the last descriptor has its usual effect although an entry waits. The queue of a socket
 * is in its inode, the queue of an eventfd in its context. A pipe is freed with its last file. It
 * counts its files; an entry counts as a file, but neither as a reader nor as a writer.
 *
 * These objects hold no files. The messages in a socket do, but they are freed when the socket's
 * file is released. So waiting entries create no reference cycles, not even for a loop that is in
 * flight over a socket for which it waits.
 */
#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/fs.h>
#include <linux/in.h>
#include <linux/magic.h>
#include <linux/net.h>
#include <linux/pipe_fs_i.h>
#include <linux/poll.h>
#include <linux/stat.h>
#include <linux/wait.h>

#include <net/sock.h>

#include "async/loop.h"
#include "async/socket.h"
#include "kernel/internals.h"

/* The operations of sockets, or NULL before one was seen. All sockets have the same. */
const struct file_operations *cosy_socket_ops;

/**
 * cosy_socket_find() - the same as cosy_socket_of() for a file that may be the first socket
 * @file: the file
 *
 * Return: the socket, or NULL.
 */
struct socket *cosy_socket_find(struct file *file)
{
	struct socket *socket = sock_from_file(file);

	if (socket)
		WRITE_ONCE(cosy_socket_ops, file->f_op);
	return socket;
}

/* Return the socket of a file; NULL if the file has none, or has the socket of another inode. */
static struct socket *cosy_target_socket(struct file *file)
{
	struct socket *socket = cosy_socket_of(file);

	return socket && SOCK_INODE(socket) == file_inode(file) ? socket : NULL;
}

/* Return true for sockets that wake all their waiters through their own wait queue. */
static bool cosy_socket_parks(const struct socket *socket, u8 flags)
{
	const struct sock *sk = READ_ONCE(socket->sk);

	if (!sk)
		return false;
	/* IPV6_ADDRFORM may change AF_INET6 to AF_INET meanwhile. */
	switch (READ_ONCE(sk->sk_family)) {
	case AF_UNIX:
		break;
	case AF_INET:
	case AF_INET6:
		if (sk->sk_protocol != IPPROTO_TCP &&
		    sk->sk_protocol != IPPROTO_UDP)
			return false;
		break;
	default:
		return false;
	}
	switch (sk->sk_type) {
	case SOCK_STREAM:
	case SOCK_SEQPACKET:
		return true;
	case SOCK_DGRAM:
		/* Room in the receiver's queue need not wake waiters of the sender. */
		return !(flags & COSY_WAIT_OUT);
	default:
		return false;
	}
}

/*
 * Return the pipe of a file, or NULL. Not for FIFOs: their content must be dropped with the last
 * file, and an entry would count as a file.
 */
static struct pipe_inode_info *cosy_pipe_of(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	return S_ISFIFO(inode->i_mode) && inode->i_sb->s_magic == PIPEFS_MAGIC ?
		       file->private_data : NULL;
}

/*
 * Return true if entries can wait for a pipe, either to read or to write. Without FMODE_NOWAIT,
 * which splice() clears, calls may block. In packet mode a write is not continued: its rest could
 * be added to another packet. The kernel itself writes into the pipe of a watch_queue.
 */
static bool cosy_pipe_parks(const struct file *file,
			    const struct pipe_inode_info *pipe, u8 flags)
{
	if (!cosy_has(COSY_NEEDS(free_pipe_info)) || pipe_has_watch_queue(pipe) ||
	    !(READ_ONCE(file->f_mode) & FMODE_NOWAIT))
		return false;
	if (flags & COSY_WAIT_OUT)
		return !(flags & COSY_WAIT_IN ||
			 READ_ONCE(file->f_flags) & O_DIRECT);
	return true;
}

static wait_queue_head_t *cosy_pipe_queue(struct pipe_inode_info *pipe, u8 flags)
{
	return flags & COSY_WAIT_OUT ? &pipe->wr_wait : &pipe->rd_wait;
}

static bool cosy_is_eventfd(struct file *file)
{
	struct eventfd_ctx *context = eventfd_ctx_fileget(file);

	if (IS_ERR(context))
		return false;
	/* The file also holds it. */
	eventfd_ctx_put(context);
	return true;
}

/**
 * struct cosy_queue_finder - gets the wait queue that a file's poll() uses
 * @table: passed to poll()
 * @queue: the queue, or NULL
 */
struct cosy_queue_finder {
	poll_table table;
	wait_queue_head_t *queue;
};

static void cosy_queue_found(struct file *file, wait_queue_head_t *queue,
			     poll_table *table)
{
	container_of(table, struct cosy_queue_finder, table)->queue = queue;
}

static wait_queue_head_t *cosy_eventfd_queue(struct file *file)
{
	struct cosy_queue_finder finder = {};

	init_poll_funcptr(&finder.table, cosy_queue_found);
	finder.table._key = EPOLLIN;
	vfs_poll(file, &finder.table);
	return finder.queue;
}

/**
 * cosy_target_transfers() - test whether read() or write() of a file can be made without blocking
 * @target:   the last target, which makes the test faster if it is the same
 * @file:     the file, not a socket
 * @receives: true for read(), false for write()
 *
 * Writing to an eventfd cannot.
 *
 * Return: true if cosy_target_transfer() can make the call, and cosy_target_find() finds the
 * target to wait for.
 */
bool cosy_target_transfers(const struct cosy_target *target, struct file *file,
			   bool receives)
{
	const struct pipe_inode_info *pipe = cosy_pipe_of(file);

	if (pipe)
		return cosy_pipe_parks(file, pipe, receives ? COSY_WAIT_IN :
							      COSY_WAIT_OUT);
	return receives && (cosy_target_is(target, file) || cosy_is_eventfd(file));
}

/**
 * cosy_target_transfer() - call read() or write() without blocking
 * @file:     the file, for which cosy_target_transfers() returned true
 * @regs:     the arguments, checked by the caller as the system call checks them
 * @receives: true for read(), false for write()
 *
 * Return: what the system call returns if the file has O_NONBLOCK.
 */
long cosy_target_transfer(struct file *file, const struct pt_regs *regs,
			  bool receives)
{
	struct iov_iter iter;
	struct kiocb kiocb;

	iov_iter_ubuf(&iter, receives ? READ : WRITE, (void __user *)regs->si,
		      regs->dx);
	init_sync_kiocb(&kiocb, file);
	kiocb.ki_flags |= IOCB_NOWAIT;
	/* These files have no position. */
	kiocb.ki_pos = 0;
	return receives ? file->f_op->read_iter(&kiocb, &iter) :
			  file->f_op->write_iter(&kiocb, &iter);
}

/**
 * cosy_target_find() - find the target to wait for
 * @target: set to the target, without a reference
 * @file:   the file
 * @flags:  COSY_WAIT_IN, COSY_WAIT_OUT
 *
 * Return: false if entries cannot wait for such a file.
 */
bool cosy_target_find(struct cosy_target *target, struct file *file, u8 flags)
{
	struct socket *socket = cosy_target_socket(file);
	struct pipe_inode_info *pipe;

	target->object = file->private_data;
	target->inode = file_inode(file);
	if (socket) {
		target->kind = COSY_TARGET_SOCKET;
		target->queue = &socket->wq.wait;
		return cosy_socket_parks(socket, flags);
	}
	pipe = cosy_pipe_of(file);
	if (pipe) {
		target->kind = COSY_TARGET_PIPE;
		target->queue = cosy_pipe_queue(pipe, flags);
		return cosy_pipe_parks(file, pipe, flags);
	}
	if (!cosy_is_eventfd(file) || flags & COSY_WAIT_OUT)
		return false;
	target->kind = COSY_TARGET_EVENTFD;
	target->queue = cosy_eventfd_queue(file);
	return target->queue;
}

/**
 * cosy_target_same() - test whether cosy_target_find() would find the same target
 * @target: the present target; its object may be NULL
 * @file:   as for cosy_target_find()
 * @flags:  as for cosy_target_find()
 *
 * Return: true if it would, and entries can still wait for such a file.
 */
bool cosy_target_same(const struct cosy_target *target, struct file *file, u8 flags)
{
	if (!cosy_target_is(target, file))
		return false;
	switch (target->kind) {
	case COSY_TARGET_SOCKET:
		return cosy_socket_parks(target->object, flags);
	case COSY_TARGET_PIPE:
		return target->queue == cosy_pipe_queue(target->object, flags) &&
		       cosy_pipe_parks(file, target->object, flags);
	default:
		return !(flags & COSY_WAIT_OUT);
	}
}

/**
 * cosy_target_get() - take a reference to the object that has the wait queue
 * @target: found by cosy_target_find()
 * @file:   the file
 */
void cosy_target_get(const struct cosy_target *target, struct file *file)
{
	struct pipe_inode_info *pipe = target->object;

	switch (target->kind) {
	case COSY_TARGET_PIPE:
		ihold(target->inode);
		spin_lock(&target->inode->i_lock);
		pipe->files++;
		spin_unlock(&target->inode->i_lock);
		break;
	case COSY_TARGET_EVENTFD:
		/* Cannot fail: the file is an eventfd. */
		eventfd_ctx_fileget(file);
		break;
	default:
		ihold(target->inode);
	}
}

/* The same as put_pipe_info(), which is not exported. */
static void cosy_pipe_put(struct inode *inode, struct pipe_inode_info *pipe)
{
	bool last;

	spin_lock(&inode->i_lock);
	last = !--pipe->files;
	if (last)
		inode->i_pipe = NULL;
	spin_unlock(&inode->i_lock);
	if (last)
		cosy_internal(free_pipe_info)(pipe);
	iput(inode);
}

/**
 * cosy_target_put() - drop the reference
 * @target: the target, whose wait queue the entry has left; cleared
 *
 * May sleep.
 */
void cosy_target_put(struct cosy_target *target)
{
	switch (target->kind) {
	case COSY_TARGET_PIPE:
		cosy_pipe_put(target->inode, target->object);
		break;
	case COSY_TARGET_EVENTFD:
		eventfd_ctx_put(target->object);
		break;
	default:
		iput(target->inode);
	}
	*target = (struct cosy_target){};
}

/*
 * The conditions of pipe_poll(). That also sets poll_usage, so that every write wakes waiters.
 * Entries wait only while the pipe is empty or full, and the end of that always wakes them. The
 * state is read without the pipe's mutex. If it is stale, the wake-up is still to come.
 */
static __poll_t cosy_pipe_poll(const struct pipe_inode_info *pipe, __poll_t events)
{
	unsigned int head = READ_ONCE(pipe->head), tail = READ_ONCE(pipe->tail);
	__poll_t now = 0;

	if (events & EPOLLIN) {
		if (!pipe_empty(head, tail))
			now |= EPOLLIN;
		/* Written under the pipe's mutex. */
		if (!data_race(READ_ONCE(pipe->writers)))
			now |= EPOLLHUP;
	}
	if (events & EPOLLOUT) {
		if (!pipe_full(head, tail, READ_ONCE(pipe->max_usage)))
			now |= EPOLLOUT;
		/* Written under the pipe's mutex. */
		if (!data_race(READ_ONCE(pipe->readers)))
			now |= EPOLLERR;
	}
	return now;
}

/**
 * cosy_target_poll() - get the present events of a target
 * @target: the target
 * @file:   its file
 * @events: the events to check
 *
 * Return: those of @events that are present.
 */
__poll_t cosy_target_poll(const struct cosy_target *target, struct file *file,
			  __poll_t events)
{
	poll_table pt = { ._key = events };

	if (target->kind == COSY_TARGET_PIPE)
		return cosy_pipe_poll(target->object, events) & events;
	return vfs_poll(file, &pt) & events;
}

/**
 * cosy_target_may_close() - test whether closing a file is quick
 * @file: the file
 *
 * Return: true if entries can wait for such files, and it is not a socket with SO_LINGER.
 */
bool cosy_target_may_close(struct file *file)
{
	struct socket *socket = cosy_target_socket(file);

	if (socket)
		return cosy_socket_parks(socket, COSY_WAIT_IN) &&
		       !sock_flag(socket->sk, SOCK_LINGER);
	return cosy_pipe_of(file) || cosy_is_eventfd(file);
}

/**
 * cosy_target_each_queue() - call a function for the wait queues of a file
 * @file:     the file
 * @function: the function
 * @argument: passed to it
 */
void cosy_target_each_queue(struct file *file,
			    void (*function)(wait_queue_head_t *queue, void *argument),
			    void *argument)
{
	static const u8 directions[] = { COSY_WAIT_IN, COSY_WAIT_OUT };
	wait_queue_head_t *before = NULL;
	struct cosy_target target;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(directions); i++) {
		target.queue = NULL;
		cosy_target_find(&target, file, directions[i]);
		if (target.queue && target.queue != before)
			function(target.queue, argument);
		before = target.queue;
	}
}
