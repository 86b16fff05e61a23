/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cosy/share.h - descriptors that are not in the process's table.
 *
 *	COSY_SHARE_SCOPE share = NULL;			// closes them at the end of the block
 *
 *	cosy_share_create(&share, NULL);
 *	int fd = cosy_share_accept(share, listener, NULL, NULL, SOCK_NONBLOCK);
 *	...
 *	cosy_share_give(share, fd, other);		// now it belongs to another share
 *
 * All threads of a process have one table of descriptors. open(), dup(), accept() and close() take its
 * lock, write to its lines, and so make other CPUs wait that use other descriptors. A share is a table
 * of its own. A program has one for each worker, connection or function that uses descriptors alone,
 * and nothing else sees them.
 *
 * A descriptor of a share is a number that no open() returns. Only the functions of this header, and
 * operations and functions of loops (cosy/async.h), take it. All others fail with EBADF. Functions return
 * -errno and are thread-safe. Threads that use one share also share its lock. A child of fork() cannot use
 * the shares of its parent, and does not have their descriptors; exec() closes them. All descriptors of a
 * share are closed with it.
 *
 * With the module, a share is a table in the kernel (linux/cosy_share.h). Without it, and if
 * COSY_EXECUTOR=user is set, it is one in libcosy, and its files are in the process's table, too.
 *
 * The shares of Boyd-Wickizer et al., "Corey: An Operating System for Many Cores", OSDI 2008.
 * See cosy_share_create(3).
 */
#ifndef COSY_SHARE_H
#define COSY_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct cosy_share - a table of descriptors; opaque */
struct cosy_share;

struct cosy_async;
struct cosy_loop;

/**
 * struct cosy_share_options - options of cosy_share_create()
 * @struct_size: sizeof(struct cosy_share_options)
 * @max:	 maximum number of descriptors, at most 2^20; 0: 64
 */
struct cosy_share_options {
	uint32_t struct_size;
	uint32_t max;
};

/**
 * cosy_share_create() - make an empty share
 * @share:   out: the share, to be freed by cosy_share_destroy()
 * @options: options; NULL: the defaults
 *
 * The maxima of all shares and the descriptors in the process's table must not be more than
 * RLIMIT_NOFILE together.
 *
 * Return: 0; -EINVAL (an option), -EMFILE (also if the process has 1024 shares), -ENFILE, -EDQUOT, -ENOMEM.
 */
int cosy_share_create(struct cosy_share **share, const struct cosy_share_options *options);

/**
 * cosy_share_destroy() - close all descriptors of a share, and free it
 * @share: the share, or NULL; no other thread calls a function of this header with it
 *
 * Operations of loops that wait for its descriptors are cancelled. If a thread of a loop makes a call in
 * it, that call goes on.
 */
void cosy_share_destroy(struct cosy_share *share);

/**
 * cosy_share_syscall() - make a system call in a share
 * @share: the share
 * @nr:	   the number of the call, as for syscall(2)
 * @args:  its arguments
 *
 * The arguments that are descriptors must be of this share; a directory may be AT_FDCWD. The argument
 * of dup() may be an ordinary descriptor: this copies it into the share. The first argument of epoll_ctl()
 * may be an ordinary epoll, which then watches a descriptor of the share. New descriptors are of the
 * share. Numbers of descriptors in memory are not translated. The calls are listed in
 * cosy_share_create(3).
 *
 * Return: the result of the call, or -errno: -EBADF (a descriptor is not of this share), -EINVAL (no such
 * call in shares), -EMFILE (the share has its maximum), -EPERM (in a child).
 */
long cosy_share_syscall(struct cosy_share *share, long nr, const uint64_t args[6]);

/**
 * cosy_share_async() - submit a system call in a share
 * @share: the share
 * @loop:  the loop that executes it (cosy/async.h)
 * @op:	   receives the result: as of cosy_share_syscall(), or -ECANCELED
 * @nr:	   the number of the call
 * @args:  its arguments, which are read now
 *
 * This is for calls without a descriptor of the share, for example to open a file or to copy an ordinary
 * descriptor. For other calls cosy_async_call() does the same, as do the functions of cosy/async-calls.h.
 *
 * Return: as cosy_async_call(); -EINVAL (no such call in shares); -EBADF (it waits for a descriptor, which
 * is not of this share).
 */
int cosy_share_async(struct cosy_share *share, struct cosy_loop *loop, struct cosy_async *op, long nr,
		     const uint64_t args[6]);

/**
 * cosy_share_open() - open a file
 * @share: the share that gets the descriptor
 * @dir:   AT_FDCWD, or a descriptor of this share
 *
 * Return: the descriptor or -errno, as openat(2).
 */
int cosy_share_open(struct cosy_share *share, int dir, const char *path, int flags, mode_t mode);

/** cosy_share_socket() - make a socket; returns its descriptor or -errno, as socket(2) */
int cosy_share_socket(struct cosy_share *share, int domain, int type, int protocol);

/**
 * cosy_share_accept() - accept a connection
 * @share: the share that has the socket @fd, and gets the connection
 *
 * Return: the descriptor or -errno, as accept4(2).
 */
int cosy_share_accept(struct cosy_share *share, int fd, struct sockaddr *address, socklen_t *size,
		      int flags);

/** cosy_share_pipe() - make a pipe with the ends @fds; returns 0 or -errno, as pipe2(2) */
int cosy_share_pipe(struct cosy_share *share, int fds[2], int flags);

/**
 * cosy_share_dup() - duplicate a descriptor
 * @share: the share that gets the copy
 * @fd:	   a descriptor of the share, or an ordinary one
 *
 * Return: the lowest descriptor of the share that is free, or -errno, as dup(2).
 */
int cosy_share_dup(struct cosy_share *share, int fd);

/** cosy_share_close() - close a descriptor; returns 0 or -errno, as close(2) */
int cosy_share_close(struct cosy_share *share, int fd);

/** cosy_share_read() - read; returns the number of bytes or -errno, as read(2) */
ssize_t cosy_share_read(struct cosy_share *share, int fd, void *data, size_t size);

/** cosy_share_write() - write; returns the number of bytes or -errno, as write(2) */
ssize_t cosy_share_write(struct cosy_share *share, int fd, const void *data, size_t size);

/** cosy_share_recv() - receive; returns the number of bytes or -errno, as recv(2) */
ssize_t cosy_share_recv(struct cosy_share *share, int fd, void *data, size_t size, int flags);

/** cosy_share_send() - send; returns the number of bytes or -errno, as send(2) */
ssize_t cosy_share_send(struct cosy_share *share, int fd, const void *data, size_t size, int flags);

/**
 * cosy_share_give() - move a descriptor to another share
 * @share: the share that has it
 * @fd:	   the descriptor, which does not exist after success
 * @to:	   the share that gets it
 *
 * If the descriptor is closed, or given away, by two threads at once, one of them succeeds and the other
 * fails with -EBADF.
 *
 * Return: the descriptor of @to; -EBADF, -EMFILE (@to is full; @fd is still open), -EPERM (also if a
 * seccomp filter does not allow fcntl(fd, F_DUPFD_CLOEXEC)).
 */
int cosy_share_give(struct cosy_share *share, int fd, struct cosy_share *to);

/**
 * cosy_share_install() - move a descriptor to the table of the process
 * @share: the share that has it
 * @fd:	   the descriptor, which does not exist after success
 * @flags: 0 or O_CLOEXEC
 *
 * Return: an ordinary descriptor; otherwise as cosy_share_give(), and -EINVAL (@flags).
 */
int cosy_share_install(struct cosy_share *share, int fd, int flags);

/**
 * struct cosy_share_info - the state of a share
 * @max:    maximum number of descriptors
 * @open:   number of descriptors
 * @kernel: it is a table in the kernel
 */
struct cosy_share_info {
	uint32_t max;
	uint32_t open;
	bool kernel;
};

/**
 * cosy_share_info() - read the state of a share
 * @size: sizeof(struct cosy_share_info); unknown members are set to 0
 */
void cosy_share_info(struct cosy_share *share, struct cosy_share_info *info, size_t size);

/** cosy_share_destroy_scope() - for COSY_SHARE_SCOPE */
static inline void cosy_share_destroy_scope(struct cosy_share **share)
{
	cosy_share_destroy(*share);
}

/* A variable whose share is destroyed at the end of its block. It must be initialised. */
#define COSY_SHARE_SCOPE \
	__attribute__((cleanup(cosy_share_destroy_scope))) struct cosy_share *

#ifdef __cplusplus
}
#endif

#endif /* COSY_SHARE_H */
