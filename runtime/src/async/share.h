/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * share.h - calls on descriptors that may be of a share (cosy/share.h).
 *
 * The descriptor of a share is a number that the process's table never has. A loop keeps for it what it
 * keeps for any other one, and makes the same calls: these functions make them in the share. The folder
 * share/, which is a layer above this one, says how.
 */
#ifndef COSY_LOOP_SHARE_H
#define COSY_LOOP_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "device/sys.h"
#include "calls.h"
#include "inline.h"

struct epoll_event;
struct pollfd;

/**
 * struct cosy_share_calls - how calls are made in the shares of the program
 * @call:    make a call whose first argument is a descriptor of a share
 * @call_in: make a call in the share with a number
 * @lend:    call a function with a descriptor of the process that is a copy, until it returns
 */
struct cosy_share_calls {
	long (*call)(long nr, const uint64_t args[6]);
	long (*call_in)(uint32_t share, long nr, const uint64_t args[6]);
	long (*lend)(int fd, long (*use)(int copy, void *arg), void *arg);
};

/* NULL until the program makes its first share. */
extern const struct cosy_share_calls *cosy_share_calls;

/** cosy_has_shares() - return true if the program has made a share */
static inline bool cosy_has_shares(void)
{
	return __atomic_load_n(&cosy_share_calls, __ATOMIC_ACQUIRE);
}

/** cosy_is_of_share() - return true for a number that only descriptors of shares have */
static COSY_ALWAYS_INLINE bool cosy_is_of_share(int fd)
{
	return fd >= (int)COSY_OF_SHARE;
}

/** cosy_share_of() - return the number of the share that has a descriptor */
static inline uint32_t cosy_share_of(uint32_t fd)
{
	return (fd - COSY_OF_SHARE) >> COSY_OF_SHARE_SHIFT;
}

/** cosy_share_first() - return the lowest descriptor of the share with a number */
static inline uint32_t cosy_share_first(uint32_t share)
{
	return COSY_OF_SHARE | share << COSY_OF_SHARE_SHIFT;
}

/** cosy_share_last() - return the highest descriptor of the share with a number */
static inline uint32_t cosy_share_last(uint32_t share)
{
	return cosy_share_first(share) + (1u << COSY_OF_SHARE_SHIFT) - 1;
}

/** cosy_names_share() - return true if the first argument of a call is a descriptor of a share */
bool cosy_names_share(long nr, const uint64_t args[6]);

/** cosy_call_anywhere() - make a call, in a share if its first argument is a descriptor of one */
long cosy_call_anywhere(long nr, const uint64_t args[6]);

/** cosy_share_fd_call() - cosy_fd_call() for a descriptor of a share */
long cosy_share_fd_call(long nr, int fd, long b, long c, long d, long e, long f);

/** cosy_fd_call() - make a call whose first argument is a descriptor, in its table */
static COSY_ALWAYS_INLINE long cosy_fd_call(long nr, int fd, long b, long c, long d, long e, long f)
{
	if (COSY_UNLIKELY(cosy_is_of_share(fd)))
		return cosy_share_fd_call(nr, fd, b, c, d, e, f);
	return cosy_sys6(nr, fd, b, c, d, e, f);
}

/**
 * cosy_fd_lend() - call a function with a descriptor, or with a copy of it in the process's table
 *
 * For what is not done in shares. It must leave the file as it is.
 *
 * Return: the result of the function; -errno without a copy.
 */
long cosy_fd_lend(int fd, long (*use)(int copy, void *arg), void *arg);

/** cosy_fd_ask() - make such a call with three arguments */
long cosy_fd_ask(long nr, int fd, long b, long c);

/** cosy_fd_poll() - poll() for one descriptor, without waiting */
long cosy_fd_poll(struct pollfd *poll);

/** cosy_fd_control() - epoll_ctl() for a descriptor; @epoll is one of the process */
long cosy_fd_control(int epoll, int op, int fd, struct epoll_event *event);

/** cosy_call_in_share() - make a call in the share with a number */
long cosy_call_in_share(uint32_t share, long nr, const uint64_t args[6]);

#endif /* COSY_LOOP_SHARE_H */
