/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * module.h - what the module executes beside the ring.
 */
#ifndef COSY_LOOP_MODULE_H
#define COSY_LOOP_MODULE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/cosy_async.h>

#include "page.h"
#include "queue.h"

struct cosy_attempt;
struct cosy_loop;

/**
 * struct cosy_module - a loop's page in the module
 * @usable:    the module makes the attempts
 * @fd:	       the descriptor by which it is entered, or -1
 * @page:      the page; its @shared is NULL without it
 * @tail:      number of entries submitted so far
 * @head:      number of entries collected so far
 * @inside:    number of entries submitted and not collected
 * @compounds: number of entries inside that run compounds
 * @tried:     creating a page was tried
 * @features:  what it can do, now: COSY_ASYNC_ and so on; 0 without it
 * @up_to_date:it was entered since a thread last began to wait, or checked epoll
 * @reading:   entries that read a file there, and wait for the disk
 * @resumed:   number of compounds that it has continued, up to when they were counted
 * @batches:   the same of batches of these
 * @asleep:    a thread sleeps in it, or executes entries after its wake-up, without the lock
 */
struct cosy_module {
	bool usable;
	int fd;
	struct cosy_page page;
	uint32_t tail;
	uint32_t head;
	uint32_t inside;
	uint32_t compounds;
	bool tried;
	uint64_t features;
	bool up_to_date;
	struct cosy_queue reading;
	uint32_t resumed;
	uint32_t batches;
	atomic_bool asleep;
};

/** cosy_module_init() - create the page in the module if possible; call it after epoll exists */
void cosy_module_init(struct cosy_loop *loop);

/* The features of a module that can run compounds of COSY_ASYNC functions. */
#define COSY_MODULE_COMPOUNDS	(COSY_ASYNC_COMPOUNDS | COSY_ASYNC_FILE_IO | \
				 COSY_ASYNC_CLOSES | COSY_ASYNC_ACCEPTS | COSY_ASYNC_MESSAGES)

/* The features of a module in which threads can wait for work, and a waiting thread can sleep. */
#define COSY_MODULE_THREADS	(COSY_ASYNC_SLEEPS | COSY_ASYNC_THREADS)

/** cosy_module_has() - return true if it can make attempts, and has features; creates the page */
bool cosy_module_has(struct cosy_loop *loop, uint64_t features);

/**
 * cosy_module_use_fd() - note that an operation uses a descriptor
 * @fd: the descriptor; nothing happens if it is negative
 *
 * Until cosy_descriptor_forget(), the module does not close the descriptor itself.
 */
void cosy_module_use_fd(struct cosy_loop *loop, int fd);

/** cosy_module_use_all() - the same for all descriptors, for ever */
void cosy_module_use_all(struct cosy_loop *loop);

/**
 * cosy_module_lend() - submit an entry whose call a thread in the module has to make
 * @flags: COSY_ENTRY_LONG, COSY_ENTRY_TAKE
 */
void cosy_module_lend(struct cosy_loop *loop, uint32_t slot, uint8_t flags,
		      const uint64_t args[6]);

/** cosy_module_is_running() - return true if a thread makes the call of a lent entry */
bool cosy_module_is_running(const struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_module_cancel_lent() - cancel a lent entry
 *
 * Return: 0 if it was removed from the module; -EALREADY if its call was interrupted, and it will
 * complete; -ENOENT if it is complete.
 */
int cosy_module_cancel_lent(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_module_work() - wait in the module for calls to make, and make them
 * @waits: calls that may wait for ever
 *
 * Releases the lock meanwhile.
 *
 * Return: the entry with which the thread has left, or COSY_NO_SLOT.
 */
uint32_t cosy_module_work(struct cosy_loop *loop, bool waits);

/**
 * cosy_module_take() - take an entry with which a thread has left the module
 * @result: set to the result if the call was made
 *
 * Return: true if the call was made.
 */
bool cosy_module_take(struct cosy_loop *loop, uint32_t slot, int64_t *result);

/**
 * cosy_module_recall() - make threads that wait for work leave the module and stay out
 * @waits:  the threads for calls that may wait for ever; otherwise the others
 * @recall: false to let them wait again
 */
void cosy_module_recall(struct cosy_loop *loop, bool waits, bool recall);

/** cosy_module_compound() - submit an entry of kind COMPOUND. Return: false if it is refused */
bool cosy_module_compound(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_module_interrupt() - make the calls fail that compounds wait to make on descriptors
 * @first: the first descriptor
 * @last:  the last one; less than @first if there are none
 *
 * Return: the number of calls.
 */
int cosy_module_interrupt(struct cosy_loop *loop, uint32_t first, uint32_t last);

/** cosy_module_interrupt_stale() - the same for waits for files that were closed there */
void cosy_module_interrupt_stale(struct cosy_loop *loop, uint32_t first, uint32_t last);

/** cosy_module_lose() - continue without the module. @ret: what entering it has returned */
void cosy_module_lose(struct cosy_loop *loop, uint64_t ret);

/**
 * cosy_module_await() - wait until a module that was lost has given a compound back
 *
 * If the program has closed the descriptor in another thread, the number is free before the module
 * is called.
 */
void cosy_module_await(const struct cosy_loop *loop, uint32_t slot);

/** cosy_module_close() - close and unmap the page. @mapped: false in a child, which has no map */
void cosy_module_close(struct cosy_loop *loop, bool mapped);

/** cosy_module_is_needed() - return true if one of @n attempts can only be made by the module */
bool cosy_module_is_needed(const struct cosy_loop *loop,
			   const struct cosy_attempt *a, uint32_t n);

/** cosy_module_submitted() - return true if there are entries that the module has not taken */
static inline bool cosy_module_submitted(const struct cosy_module *m)
{
	return m->fd >= 0 && m->page.shared->submit_head != m->tail;
}

/** cosy_module_flush() - let the module take all submitted entries */
void cosy_module_flush(struct cosy_loop *loop);

/**
 * cosy_module_make() - make @n attempts; collect their results afterwards
 *
 * Return: the number of attempts, the last ones, for which the module was lost.
 */
uint32_t cosy_module_make(struct cosy_loop *loop, struct cosy_attempt *a, uint32_t n);

/** cosy_module_done() - return true if cosy_module_next() has a completion */
static inline bool cosy_module_done(const struct cosy_module *m)
{
	return m->inside && m->head != cosy_index_load(&m->page.shared->done_tail);
}

/**
 * cosy_module_next() - take the next completion
 * @mask: number of entries - 1
 * @slot: set to its slot
 *
 * Return: the entry; NULL if there is none.
 */
const struct cosy_async_entry *cosy_module_next(struct cosy_module *m, uint32_t mask,
						uint32_t *slot);

/** cosy_module_look() - enter the module: continue IN_MODULE entries that are ready */
void cosy_module_look(struct cosy_loop *loop);

/** cosy_module_poll() - add the module to epoll; without events if a thread may sleep there */
int cosy_module_poll(const struct cosy_loop *loop);

/** cosy_module_sleeps() - return true if a thread can sleep in the module for its entries */
bool cosy_module_sleeps(const struct cosy_loop *loop);

/**
 * cosy_module_sleep() - sleep in the module until an entry is complete
 * @until: CLOCK_MONOTONIC in nanoseconds, or UINT64_MAX
 *
 * Releases the lock meanwhile. The module executes entries that become ready. The caller has to
 * collect completions.
 *
 * Return: COSY_ASYNC_READABLE if epoll has events; COSY_ASYNC_SIGNAL after a signal; otherwise
 * another value.
 */
uint32_t cosy_module_sleep(struct cosy_loop *loop, uint64_t until);

/**
 * cosy_module_cancel() - take an IN_MODULE entry back from the module; it stays in its list
 *
 * A COMPOUND stays in the module: its calls that would wait fail.
 *
 * Return: false if it has completed.
 */
bool cosy_module_cancel(struct cosy_loop *loop, uint32_t slot);

#endif /* COSY_LOOP_MODULE_H */
