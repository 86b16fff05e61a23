/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * calls.h - which calls there are, how each one waits, and what it does with descriptors.
 */
#ifndef COSY_LOOP_CALLS_H
#define COSY_LOOP_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <linux/cosy_async.h>

/*
 * A descriptor of a share (cosy/share.h) consists of this bit, the number of the share, and that in its
 * table. As in linux/cosy_share.h, which <cosy/team.h> excludes.
 */
#define COSY_OF_SHARE		(1u << 30)
#define COSY_OF_SHARE_SHIFT	20
#define COSY_SHARES_MAX		1024u

/** enum cosy_how - how a call waits (waits.def) */
enum cosy_how {
	COSY_HOW_DISK,		/* for a limited time: a thread makes it */
	COSY_HOW_REFUSED,	/* the call is not allowed */
	COSY_HOW_NOWAIT,	/* does not wait in the module; otherwise as DISK */
	COSY_HOW_DIRECT,	/* never waits */
	COSY_HOW_READ,
	COSY_HOW_WRITE,
	COSY_HOW_RECEIVE,
	COSY_HOW_SEND,
	COSY_HOW_ACCEPT,
	COSY_HOW_CONNECT,
	COSY_HOW_POLL,
	COSY_HOW_SLEEP,
	COSY_HOW_SIGNAL,
	COSY_HOW_CLOSE,
	COSY_HOW_LOCK,
	COSY_HOW_THREAD,
	COSY_HOW_TIMED,		/* the same; a signal neither ends nor restarts it */
	COSY_HOW_COMPOUND,	/* not a call: the module runs a compound */
	COSY_HOW_IN_SHARE,	/* any call that does not wait for a descriptor, in a share */
};

/** cosy_how() - return how a call waits */
enum cosy_how cosy_how(long nr);

/** cosy_call_moves() - test whether a call of a compound does the same in each thread */
bool cosy_call_moves(long nr);

/** cosy_fd_mask() - return the arguments of a call that are descriptors: bit n for argument n */
uint8_t cosy_fd_mask(long nr);

/** cosy_takes_fds() - return true if an argument after the first one is a descriptor */
bool cosy_takes_fds(long nr);

/** cosy_takes_fd() - return true if the first argument of a call is a descriptor */
bool cosy_takes_fd(long nr);

/**
 * cosy_call_uses() - return true if a call that may wait has a descriptor of a range as an argument
 *
 * Not a call that closes descriptors.
 */
bool cosy_call_uses(long nr, const uint64_t args[6], uint32_t first, uint32_t last);

/**
 * cosy_call_may_last() - return true if a call may wait for ever, for something other than a disk
 *
 * Then it fails if its function was cancelled.
 */
bool cosy_call_may_last(long nr);

/** cosy_receives_nothing() - return true if the call of an entry receives 0 bytes */
static inline bool cosy_receives_nothing(const struct cosy_async_entry *entry)
{
	return entry->nr == SYS_recvfrom && !entry->args[2];
}

/** cosy_has_offset() - return true if the call has an offset in the file as its last argument */
bool cosy_has_offset(uint32_t nr);

/* No call transfers more bytes: MAX_RW_COUNT of the kernel. */
#define COSY_MAX_TRANSFER	0x7ffff000u

/** cosy_bytes() - return how many of @size bytes a call transfers at most */
static inline uint64_t cosy_bytes(uint64_t size)
{
	return size < COSY_MAX_TRANSFER ? size : COSY_MAX_TRANSFER;
}

/** cosy_skip() - let a call that transfers data continue after @done bytes */
static inline void cosy_skip(uint64_t args[6], uint32_t nr, uint64_t done)
{
	args[1] += done;
	args[2] = cosy_bytes(args[2]) - done;
	if (cosy_has_offset(nr))
		args[3] += done;
}

/**
 * cosy_named_range() - get the descriptors that a call of kind CLOSE closes if it succeeds
 * @first: set to the first one
 * @last:  set to the last one; less than @first if there are none
 */
void cosy_named_range(long nr, const uint64_t args[6], uint32_t *first, uint32_t *last);

/** cosy_closed_range() - the same before the call is made: none if dup2() or dup3() will fail */
void cosy_closed_range(long nr, const uint64_t args[6], uint32_t *first, uint32_t *last);

/** cosy_fd_is_in() - return true if a descriptor, which may be negative, is in a range */
static inline bool cosy_fd_is_in(int fd, uint32_t first, uint32_t last)
{
	return fd >= 0 && (uint32_t)fd >= first && (uint32_t)fd <= last;
}

#endif /* COSY_LOOP_CALLS_H */
