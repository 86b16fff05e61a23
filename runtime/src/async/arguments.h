/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * arguments.h - what the arguments of a call say: its descriptor, and whether it waits.
 */
#ifndef COSY_LOOP_ARGUMENTS_H
#define COSY_LOOP_ARGUMENTS_H

#include <stdbool.h>
#include <time.h>

#include <linux/cosy_async.h>

#include "descriptor.h"

/* The C library's headers have this for GNU sources only. */
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 0x00000008
#endif

struct cosy_loop;
struct cosy_slot;

/** cosy_asks_not_to_wait() - return true if the arguments of the call say that it must not wait */
bool cosy_asks_not_to_wait(const struct cosy_async_entry *entry);

/**
 * cosy_asks_in_order() - return true if cosy_asks_not_to_wait(), and it takes or adds data
 *
 * Then it must not overtake an earlier call on its descriptor that waits. Urgent data, and messages of
 * the queue of errors, have no place in that order, and a call that only peeks takes nothing.
 */
bool cosy_asks_in_order(const struct cosy_async_entry *entry);

/** cosy_has_wrong_message() - return true if a call fails at once because of its message */
bool cosy_has_wrong_message(const struct cosy_async_entry *entry);

/** cosy_has_unknown_flags() - return true if the call has flags that the kernel does not know */
bool cosy_has_unknown_flags(const struct cosy_loop *loop, const struct cosy_async_entry *entry);

/** cosy_time_is_readable() - return true if the kernel can read a time */
bool cosy_time_is_readable(const struct timespec *time);

/**
 * cosy_blocks() - return true if a call that is made unchanged would block
 *
 * The program may have changed O_NONBLOCK since the last call, and so may another process that has
 * the open file.
 */
bool cosy_blocks(const struct cosy_slot *s);

/** cosy_is_terminal() - return true if a descriptor is one of a terminal, or of its master */
bool cosy_is_terminal(int fd);

/** cosy_slot_fd() - return the descriptor that an entry uses, or -1 */
int cosy_slot_fd(const struct cosy_loop *loop, uint32_t slot);

/** cosy_slot_uses() - return true if the call of an entry uses, and does not close, a descriptor of a range */
bool cosy_slot_uses(const struct cosy_loop *loop, uint32_t slot, uint32_t first, uint32_t last);

/** enum cosy_beginning - how to begin with the first entry of a list */
enum cosy_beginning {
	COSY_BEGIN_ATTEMPT,
	COSY_BEGIN_WAITING,	/* until the descriptor is ready; then a thread makes the call */
	COSY_BEGIN_THREAD,	/* a thread makes the call at once: there may never be an event */
};

/**
 * cosy_polled_beginning() - decide how a read or write begins that cannot be made with RWF_NOWAIT
 *
 * Because of its arguments, it may end at once, although the descriptor is not ready.
 */
enum cosy_beginning cosy_polled_beginning(const struct cosy_loop *loop,
					  const struct cosy_slot *s,
					  const struct cosy_async_entry *entry,
					  const struct cosy_descriptor *d);

#endif /* COSY_LOOP_ARGUMENTS_H */
