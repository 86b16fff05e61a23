/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loop.c - finds loops that break the promise of COSY_BATCH.
 *
 * Ordering by time stamps, as databases have it, where an iteration's number is
 * its time: for each byte the table has the last iteration of the batch that read
 * it, the last one that wrote it, and the last one that added to it. The loop as
 * written accesses each byte in the order of the iterations. So an access finds a
 * violation if a later iteration has accessed the byte, unless both read it or both
 * add to it. It is reported when the iteration is finished: if that leaves the loop
 * instead, the loop as written does not run the later one.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/export.h"
#include "device/message.h"
#include "check/check.h"

static _Thread_local COSY_TLS struct cosy_batch_loop *innermost;
/* The last loop that was left before all iterations were finished, or NULL. */
static _Thread_local COSY_TLS struct cosy_batch_loop *left;
/* A signal handler does not look at tables that are being changed. */
static _Thread_local COSY_TLS bool busy;

bool cosy_batch_is_idle(void)
{
	return (!innermost && !left) || busy;
}

/* Reports the conflicts of iterations before @end, which are finished. */
static void report_finished(struct cosy_batch_loop *loop, uint64_t end)
{
	unsigned int kept = 0;

	busy = true;
	for (unsigned int i = 0; i < loop->num_conflicts; i++)
		if (loop->conflicts[i].index < end)
			cosy_batch_report_order(loop, &loop->conflicts[i]);
		else
			loop->conflicts[kept++] = loop->conflicts[i];
	loop->num_conflicts = kept;
	busy = false;
}

/* @loop has ended, and cosy_batch_leave() was not called. */
static void check_end(const struct cosy_batch_loop *loop, const char *how)
{
	uint64_t pending = loop->phase == COSY_BATCH_FINISH ? 0 : loop->index;

	if (pending)
		cosy_batch_report_end(loop, how, pending);
}

static void free_loop(struct cosy_batch_loop *loop)
{
	if (loop)
		cosy_stamps_free(&loop->stamps);
	free(loop);
}

static void at_exit(void)
{
	for (struct cosy_batch_loop *loop = innermost; loop; loop = loop->outer)
		check_end(loop, "exit()");
}

static void begin(void)
{
	cosy_batch_report_init();
	atexit(at_exit);
}

static void no_memory(void)
{
	static bool told;

	if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		cosy_message("out of memory: the check of COSY_BATCH misses some "
			     "accesses", NULL);
}

/** struct piece - bytes of an access that are in one line */
struct piece {
	uint64_t address;
	unsigned int from, to;	/* in the line; 0, 0: before the first piece */
};

static bool next_piece(const struct cosy_batch_access *a, struct piece *p)
{
	uint64_t end = a->address + a->size, room;

	p->address = p->to ? p->address + (p->to - p->from) : a->address;
	if (p->address >= end)
		return false;
	p->from = p->address % COSY_STAMP_LINE;
	room = COSY_STAMP_LINE - p->from;
	p->to = p->from + (end - p->address < room ? end - p->address : room);
	return true;
}

static uint64_t stamp_of(const struct cosy_batch_loop *loop, const char *site)
{
	return cosy_stamp_of(loop->index, loop->phase, site);
}

/* Return true if the order of these accesses matters. */
static bool order_matters(enum cosy_stamp_kind a, enum cosy_stamp_kind b)
{
	return a != b || a == COSY_STAMP_WRITE;
}

static struct cosy_batch_conflict conflict_of(const struct cosy_batch_loop *loop, const struct cosy_batch_access *a,
				   uint64_t stamp, enum cosy_stamp_kind earlier)
{
	struct cosy_batch_conflict c = {
		.index = loop->index,
		.phase = loop->phase,
		.kind = a->kind,
		.site = a->site,
		.is_object = a->object,
		.stamp = stamp,
		.earlier = earlier,
	};

	cosy_batch_describe(c.what, sizeof(c.what), a);
	return c;
}

/* Those of the first iterations are kept: they are the first to be finished. */
static void add_conflict(struct cosy_batch_loop *loop, struct cosy_batch_conflict c)
{
	struct cosy_batch_conflict *last = &loop->conflicts[0];

	if (loop->num_conflicts < COSY_BATCH_CONFLICTS) {
		loop->conflicts[loop->num_conflicts++] = c;
		return;
	}
	for (unsigned int i = 1; i < COSY_BATCH_CONFLICTS; i++)
		if (loop->conflicts[i].index > last->index)
			last = &loop->conflicts[i];
	if (c.index < last->index)
		*last = c;
}

/* Checks the bytes @p of a line, and stamps them. One conflict is enough. */
static void check_line(struct cosy_batch_loop *loop, struct cosy_stamp_line *line,
		       const struct piece *p, const struct cosy_batch_access *a)
{
	uint64_t now = stamp_of(loop, a->site), found = 0;
	enum cosy_stamp_kind earlier = COSY_STAMP_READ;

	for (enum cosy_stamp_kind kind = 0; kind < COSY_STAMP_KINDS; kind++)
		for (unsigned int i = p->from; i < p->to; i++) {
			uint64_t *stamp = &line->stamps[kind][i];

			if (order_matters(a->kind, kind) && cosy_stamp_is_later(*stamp, now)) {
				found = *stamp;
				earlier = kind;
				/* If the loop is left now, the old value is lost anyway. */
				if (a->kind == COSY_STAMP_WRITE && kind != COSY_STAMP_READ)
					*stamp = 0;
			}
			if (a->kind == kind && !cosy_stamp_is_later(*stamp, now))
				*stamp = now;
		}
	if (found)
		add_conflict(loop, conflict_of(loop, a, found, earlier));
}

/* The same for the loop that was left early. A write ends what was there. */
static void check_left(struct cosy_stamp_line *line, const struct piece *p,
		       const struct cosy_batch_access *a)
{
	uint64_t now = stamp_of(left, NULL), found = 0;
	enum cosy_stamp_kind earlier = COSY_STAMP_WRITE;

	for (enum cosy_stamp_kind kind = COSY_STAMP_WRITE; kind < COSY_STAMP_KINDS; kind++)
		for (unsigned int i = p->from; i < p->to; i++) {
			uint64_t *stamp = &line->stamps[kind][i];

			if (a->kind == COSY_STAMP_READ && cosy_stamp_is_later(*stamp, now)) {
				found = *stamp;
				earlier = kind;
			}
			if (a->kind != COSY_STAMP_UPDATE)
				*stamp = 0;
		}
	if (found) {
		struct cosy_batch_conflict c = conflict_of(left, a, found, earlier);

		cosy_batch_report_left(left, &c);
	}
}

void cosy_batch_record(const struct cosy_batch_access *a)
{
	const char *sp = __builtin_frame_address(0);
	int error = errno;

	busy = true;
	for (struct cosy_batch_loop *loop = innermost; loop; loop = loop->outer) {
		/* A local variable of a function that the loop calls, or another stack. */
		if (sp >= loop->stack ||
		    (a->address >= (uintptr_t)sp && a->address < (uintptr_t)loop->stack))
			continue;
		for (struct piece p = { 0 }; next_piece(a, &p);) {
			struct cosy_stamp_line *line =
				cosy_stamps_make(&loop->stamps, p.address);

			if (line)
				check_line(loop, line, &p, a);
			else
				no_memory();
		}
	}
	for (struct piece p = { 0 }; left && next_piece(a, &p);) {
		struct cosy_stamp_line *line = cosy_stamps_find(&left->stamps, p.address);

		if (line)
			check_left(line, &p, a);
	}
	busy = false;
	errno = error;
}

static void forget_in(const struct cosy_batch_loop *loop, const struct cosy_batch_access *a)
{
	for (struct piece p = { 0 }; next_piece(a, &p);) {
		struct cosy_stamp_line *line = cosy_stamps_find(&loop->stamps, p.address);

		for (int kind = 0; line && kind < COSY_STAMP_KINDS; kind++)
			memset(&line->stamps[kind][p.from], 0,
			       (p.to - p.from) * sizeof(uint64_t));
	}
}

void cosy_batch_forget(uint64_t address, size_t size)
{
	struct cosy_batch_access a = { .address = address, .size = size };

	busy = true;
	for (struct cosy_batch_loop *loop = innermost; loop; loop = loop->outer)
		forget_in(loop, &a);
	if (left)
		forget_in(left, &a);
	busy = false;
}

/*
 * Loops
 */

COSY_EXPORT void cosy_batch_enter(const char *site)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	/* What the caller has pushed ends above the return address. */
	const char *stack = (const char *)__builtin_frame_address(0) + 16;
	int error = errno;
	struct cosy_batch_loop *loop;

	pthread_once(&once, begin);
	/* The frames of calling functions are higher. */
	while (innermost && innermost->stack <= stack) {
		check_end(innermost, "longjmp() or an exception");
		loop = innermost->outer;
		free_loop(innermost);
		innermost = loop;
	}
	loop = calloc(1, sizeof(*loop));
	if (loop) {
		loop->outer = innermost;
		loop->site = site;
		loop->stack = stack;
		innermost = loop;
	} else {
		no_memory();
	}
	errno = error;
}

COSY_EXPORT void cosy_batch_at(unsigned int phase, uint64_t index)
{
	if (!innermost)
		return;
	innermost->phase = phase;
	innermost->index = index;
	if (phase == COSY_BATCH_FINISH)
		report_finished(innermost, index);
}

COSY_EXPORT void cosy_batch_next(void)
{
	int error = errno;

	if (!innermost)
		return;
	report_finished(innermost, UINT64_MAX);
	busy = true;
	innermost->first += innermost->index;
	innermost->index = 0;
	cosy_stamps_clear(&innermost->stamps);
	busy = false;
	errno = error;
}

COSY_EXPORT void cosy_batch_leave(void)
{
	struct cosy_batch_loop *loop = innermost;
	int error = errno;

	if (!loop)
		return;
	innermost = loop->outer;
	if (loop->phase == COSY_BATCH_COLLECT) {
		report_finished(loop, UINT64_MAX);
		free_loop(loop);
	} else {
		busy = true;
		for (unsigned int i = 0; i < loop->num_conflicts; i++)
			if (loop->conflicts[i].index == loop->index &&
			    loop->conflicts[i].kind == COSY_STAMP_READ)
				cosy_batch_report_left(loop, &loop->conflicts[i]);
		free_loop(left);
		left = loop;
		busy = false;
	}
	errno = error;
}

COSY_EXPORT void cosy_batch_return(const void *frame)
{
	const char *sp = __builtin_frame_address(0);

	for (size_t i = 0; left && i < left->stamps.size; i++) {
		struct cosy_stamp_line *line = left->stamps.slots[i];

		for (unsigned int k = 0; line && k < COSY_STAMP_LINE; k++)
			if (line->address + k >= (uintptr_t)sp &&
			    line->address + k <= (uintptr_t)frame)
				line->stamps[COSY_STAMP_WRITE][k] =
					line->stamps[COSY_STAMP_UPDATE][k] = 0;
	}
}
