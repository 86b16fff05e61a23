/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * verdict.c - COSY_EXECUTOR=auto: decides whether a region gains in the kernel.
 *
 * A region without a loop runs natively a few times before it is loaded, because many run
 * only once. A region with a loop may run only once, but for a long time, so it is loaded
 * immediately. A region that cannot gain on any path is not loaded at all.
 */
#include <cosy/costs.h>
#include <cosy/format.h>

#include <stddef.h>
#include <string.h>

#include "region/verdict.h"

/*
 * The number of native runs before a region without a loop is loaded. Loading costs about
 * what this number of runs with several path calls saves.
 */
#define FIRST_RUNS	8
/* The number of runs for a first verdict: the loops of a single run may be short. */
#define RUNS		8
/* The number of runs without an end, because they were left by longjmp(). */
#define LOST_RUNS	64
/* A loss that is large enough for a verdict without further runs: 16 up-calls. */
#define LARGE_LOSS	(16 * COSY_COST_UPCALL)
/*
 * The number of entries that a region runs natively after a loss. Doubled after each loss, so
 * that the loss of the runs between them is soon below 1 %.
 */
#define FIRST_REST	256
#define LAST_REST	(1u << 20)
/*
 * Counting an entry takes 20 instructions, which is more than 1 % of a run that makes fewer
 * calls than this. Such a region is not tried again after its third loss, within the first
 * thousand entries.
 */
#define FEW_CALLS	8
#define LAST_SMALL_REST	(FIRST_REST * 2)

#define NARGS_SIZE	(COSY_MAX_ARGS + 1)

/* The kinds of arguments of each call, by number; no pointers to be relocated. */
static const char arguments[][NARGS_SIZE + 1] = {
#define COSY_SYSCALL(nr, name, args, nested) [nr] = args,
#include <syscalls.def>
};

enum {
#define COSY_SYSCALL(nr, name, args, nested) NR_##name = nr,
#include <syscalls.def>
};

/* Return the minimum that a call saves as a single call, in instructions. */
static uint32_t saved_singly(uint64_t nr)
{
	switch (nr) {
#define SAVING(name, saved, near) case NR_##name: return saved;
	COSY_PRELOAD_SAVINGS(SAVING)
#undef SAVING
	default:
		return 0;
	}
}

/* Return the maximum that a call saves in a compound, in instructions. */
static uint32_t saved_by(const struct cosy_op *op, bool plain, bool singly)
{
	uint64_t nr = (uint64_t)op->imm;
	uint32_t names = 0;

	if (plain || op->c & COSY_HINT_PLAIN ||
	    nr >= sizeof(arguments) / sizeof(*arguments))
		return COSY_CALL_SAVES;
	/* The saving of these calls grows with the data. */
	if (op->c)
		return COSY_NAME_CALL_SAVES;
	for (const char *arg = arguments[nr]; *arg; arg++)
		names += *arg == 's';
	if (names)
		return names * COSY_NAME_CALL_SAVES -
		       (singly ? saved_singly(nr) : 0);
	switch (nr) {
#define FILE_CALL(name) case NR_##name:
	COSY_FILE_CALLS(FILE_CALL)
		return COSY_FILE_CALL_SAVES;
#undef FILE_CALL
	default:
		return COSY_CALL_SAVES;
	}
}

static bool is_branch(const struct cosy_op *op)
{
	switch (op->code) {
	case COSY_OP_JMP:
	case COSY_OP_BR:
	case COSY_OP_LOOP:
	case COSY_OP_SWITCH:
	case COSY_OP_CASE:
		return true;
	default:
		return false;
	}
}

void cosy_verdict_init(struct cosy_verdict *verdict, const void *image,
		       bool plain, bool singly)
{
	const struct cosy_header *header = image;
	const struct cosy_op *ops = (const void *)(header + 1);
	uint32_t target = UINT32_MAX;	/* lowest one of the branches from here on */
	uint64_t run_saves = 0;

	for (uint32_t pc = header->nops; pc-- > 0;) {
		const struct cosy_op *op = &ops[pc];
		uint32_t saved;

		if (is_branch(op) && op->target < target)
			target = op->target;
		if (op->code != COSY_OP_SYS && op->code != COSY_OP_LIBC)
			continue;
		saved = saved_by(op, plain, singly);
		/* All code that can run twice is between a branch and its target. */
		if (target > pc)
			run_saves += saved;
		else if (saved > verdict->call_saves)
			verdict->call_saves = saved;
	}
	verdict->run_saves = run_saves < INT32_MAX ? (uint32_t)run_saves :
						     INT32_MAX;
	verdict->watched = true;
	if (verdict->call_saves || verdict->run_saves >= COSY_COST_ENTRY)
		return;
	verdict->final = true;
	verdict->average = (int64_t)verdict->run_saves - COSY_COST_ENTRY;
	verdict->opinion = COSY_OPINION_LOSES;
}

int64_t cosy_verdict_gain(const struct cosy_verdict *verdict,
			  const struct cosy_sample *sample)
{
	return (int64_t)(sample->calls * verdict->call_saves +
			 sample->entries * verdict->run_saves) -
	       (int64_t)(sample->upcalls * COSY_COST_UPCALL +
			 sample->slots * COSY_COST_OPERATION +
			 sample->entries * COSY_COST_ENTRY);
}

static uint32_t get(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void set(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

void cosy_verdict_add(struct cosy_verdict *verdict,
		      const struct cosy_sample *sample)
{
	__atomic_fetch_add(&verdict->gain, cosy_verdict_gain(verdict, sample),
			   __ATOMIC_RELAXED);
	__atomic_fetch_add(&verdict->calls, sample->calls, __ATOMIC_RELAXED);
	__atomic_fetch_add(&verdict->ended, 1, __ATOMIC_RELAXED);
}

void cosy_verdict_doubt(struct cosy_verdict *verdict)
{
	set(&verdict->begun, 0);
	set(&verdict->opinion, COSY_OPINION_NONE);
}

void cosy_verdict_rest(struct cosy_verdict *verdict, uint32_t entries)
{
	set(&verdict->left, entries);
}

/* Return true if the counts suffice for a verdict. */
static bool is_enough(const struct cosy_verdict *verdict, uint32_t begun)
{
	if (begun >= LOST_RUNS)
		return true;
	if (!get(&verdict->ended))
		return false;
	return begun >= (get(&verdict->rest) ? 1 : RUNS) ||
	       __atomic_load_n(&verdict->gain, __ATOMIC_RELAXED) < -LARGE_LOSS;
}

/* Return true if runs make few calls. A call that can save more takes longer natively. */
static bool is_small(const struct cosy_verdict *verdict, uint64_t calls,
		     uint32_t runs)
{
	return calls * verdict->call_saves +
		       (uint64_t)runs * verdict->run_saves <
	       (uint64_t)runs * FEW_CALLS * COSY_CALL_SAVES;
}

static enum cosy_choice choose_loss(struct cosy_verdict *verdict, bool small,
				    uint32_t *rest)
{
	uint32_t last = get(&verdict->rest);

	set(&verdict->opinion, COSY_OPINION_LOSES);
	if (small && last >= LAST_SMALL_REST) {
		__atomic_store_n(&verdict->final, true, __ATOMIC_RELAXED);
		return COSY_CHOICE_NATIVE;
	}
	*rest = !last ? FIRST_REST : last < LAST_REST ? last * 2 : last;
	set(&verdict->rest, *rest);
	return COSY_CHOICE_REST;
}

enum cosy_choice cosy_verdict_choose(struct cosy_verdict *verdict,
				     uint32_t *rest)
{
	uint32_t begun, ended, left = get(&verdict->left);
	uint64_t calls;
	int64_t gain;

	if (get(&verdict->opinion) == COSY_OPINION_GAINS)
		return COSY_CHOICE_KERNEL;
	if (left) {
		set(&verdict->left, left - 1);
		return COSY_CHOICE_NATIVE;
	}
	if (__atomic_load_n(&verdict->final, __ATOMIC_RELAXED))
		return COSY_CHOICE_NATIVE;
	if (!verdict->call_saves &&
	    !__atomic_exchange_n(&verdict->put_off, true, __ATOMIC_RELAXED)) {
		*rest = FIRST_RUNS - 1;
		return COSY_CHOICE_REST;
	}
	begun = __atomic_fetch_add(&verdict->begun, 1, __ATOMIC_RELAXED);
	if (!is_enough(verdict, begun))
		return COSY_CHOICE_WATCH;
	ended = __atomic_exchange_n(&verdict->ended, 0, __ATOMIC_RELAXED);
	gain = __atomic_exchange_n(&verdict->gain, 0, __ATOMIC_RELAXED);
	calls = __atomic_exchange_n(&verdict->calls, 0, __ATOMIC_RELAXED);
	set(&verdict->begun, 0);
	if (ended)
		__atomic_store_n(&verdict->average, gain / (int64_t)ended,
				 __ATOMIC_RELAXED);
	if (gain < 0)
		return choose_loss(verdict, is_small(verdict, calls, ended), rest);
	/* After a loss, one run is not enough for a gain. */
	if (get(&verdict->rest) && begun < RUNS) {
		set(&verdict->rest, 0);
		return COSY_CHOICE_WATCH;
	}
	set(&verdict->opinion, COSY_OPINION_GAINS);
	return COSY_CHOICE_KERNEL;
}
