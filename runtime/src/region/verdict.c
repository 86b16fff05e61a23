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
/* A loss by the costs that is large enough without measuring: 16 up-calls. */
#define LARGE_LOSS	(16 * COSY_COST_UPCALL)
/*
 * The first steps are watched, in the kernel, because many regions are entered only a few times.
 * One native run is not measured, as it may resolve symbols. The other steps are measured.
 */
#define STEP_NATIVE	3
#define STEP_MEASURED	4
#define NATIVE_STEPS	0x7238dcu
/* Without a verdict after this number of steps, runs do not end: they are left by longjmp(). */
#define LOST_STEPS	96
/* The number of runs of each kind for a first verdict, and after a loss. */
#define FEW_RUNS	3
#define RUNS_AFTER_LOSS	2
/* With more runs of each kind, smaller differences are seen; with COSY_VERDICT_SAMPLES, all are. */
#define SEVERAL_RUNS	8
/*
 * Ticks that are subtracted from a native run. Its measured time contains the path from the first
 * reading of the counter to the native code. A run in the kernel has less code of libcosy between
 * its two readings.
 */
#define NATIVE_EXCESS	50
/* The error of a difference of two times, e.g. by the unknown part of NATIVE_EXCESS. */
#define TICKS_ERROR	30
/*
 * The number of entries that a region runs natively after a loss. Doubled after each loss, so
 * that the loss of the runs between them is soon below 1 %.
 */
#define FIRST_BACKOFF	256
#define LAST_BACKOFF	(1u << 20)
/*
 * Counting an entry takes 20 instructions, which is more than 1 % of a run that is shorter than
 * this. Such a region is not tried again after its third loss, within the first thousand
 * entries.
 */
#define SHORT_RUN	2000
#define LAST_SHORT_BACKOFF	(FIRST_BACKOFF * 2)

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
#define SAVING(name, path, here, in_directory) case NR_##name: return path;
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
	__atomic_store_n(&verdict->estimate, cosy_verdict_gain(verdict, sample),
			 __ATOMIC_RELAXED);
}

bool cosy_verdict_is_open(const struct cosy_verdict *verdict)
{
	return verdict->watched && get(&verdict->opinion) == COSY_OPINION_NONE &&
	       get(&verdict->step) > STEP_NATIVE;
}

static void forget_times(struct cosy_verdict *verdict)
{
	set(&verdict->kernel.count, 0);
	set(&verdict->native.count, 0);
}

void cosy_verdict_doubt(struct cosy_verdict *verdict)
{
	forget_times(verdict);
	set(&verdict->step, 0);
	set(&verdict->opinion, COSY_OPINION_NONE);
}

void cosy_verdict_back_off(struct cosy_verdict *verdict, uint32_t entries)
{
	set(&verdict->left, entries);
}

static void add_time(struct cosy_times *times, uint64_t ticks)
{
	uint32_t i = __atomic_fetch_add(&times->count, 1, __ATOMIC_RELAXED);

	/* The counters of two processors may differ. */
	if ((int64_t)ticks < 0)
		ticks = 0;
	if (i < COSY_VERDICT_SAMPLES)
		__atomic_store_n(&times->ticks[i], ticks, __ATOMIC_RELAXED);
}

void cosy_verdict_kernel(struct cosy_verdict *verdict, uint64_t ticks)
{
	add_time(&verdict->kernel, ticks);
}

static uintptr_t this_thread(void)
{
	return (uintptr_t)__builtin_thread_pointer();
}

/* Return true if the native run of this thread is being measured. */
static bool is_measured(const struct cosy_verdict *verdict)
{
	return __atomic_load_n(&verdict->measured, __ATOMIC_RELAXED) == this_thread();
}

void cosy_verdict_native_begins(struct cosy_verdict *verdict)
{
	uintptr_t none = 0;

	if (__atomic_compare_exchange_n(&verdict->measured, &none, this_thread(), false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		verdict->begin = cosy_verdict_ticks();
}

static void stop_measuring(struct cosy_verdict *verdict)
{
	__atomic_store_n(&verdict->measured, 0, __ATOMIC_RELAXED);
}

void cosy_verdict_native_ends(struct cosy_verdict *verdict)
{
	uint64_t now = cosy_verdict_ticks();

	if (!is_measured(verdict))
		return;
	add_time(&verdict->native, now - verdict->begin);
	stop_measuring(verdict);
}

/* Copy the times to @sorted in ascending order. Return their number. */
static uint32_t sort_times(const struct cosy_times *times, uint64_t *sorted)
{
	uint32_t count = get(&times->count);

	if (count > COSY_VERDICT_SAMPLES)
		count = COSY_VERDICT_SAMPLES;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t ticks = __atomic_load_n(&times->ticks[i], __ATOMIC_RELAXED);
		uint32_t at = i;

		for (; at && sorted[at - 1] > ticks; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = ticks;
	}
	return count;
}

static int64_t median(const uint64_t *sorted, uint32_t count)
{
	return (int64_t)((sorted[(count - 1) / 2] + sorted[count / 2]) / 2);
}

/* Return the difference of the least and the greatest time. */
static int64_t range(const uint64_t *sorted, uint32_t count)
{
	return (int64_t)(sorted[count - 1] - sorted[0]);
}

/* The same, but of many times, the greatest is left out. */
static int64_t spread(const uint64_t *sorted, uint32_t count)
{
	return range(sorted, count > FEW_RUNS ? count - 1 : count);
}

/* Return the mean. Of many times, the greatest is left out: it may have been interrupted. */
static int64_t mean(const uint64_t *sorted, uint32_t count)
{
	uint64_t sum = 0;

	if (count > FEW_RUNS)
		count--;
	for (uint32_t i = 0; i < count; i++)
		sum += sorted[i];
	return (int64_t)(sum / count);
}

/**
 * struct comparison - compares the times in the kernel with the native ones
 * @count:  number of runs of the kind that has fewer
 * @native: median of the native times
 * @gain:   by how much the median of the times in the kernel is less
 * @mean_gain: by how much their mean is less
 * @faster: of 100 pairs of a run in the kernel and a native one, the number of those in
 *	    which the former took less time
 * @spread: sum of the spreads of both kinds
 * @differ: times of a kind differ by more than @native
 */
struct comparison {
	uint32_t count;
	int64_t native;
	int64_t gain;
	int64_t mean_gain;
	uint32_t faster;
	int64_t spread;
	bool differ;
};

static struct comparison compare(const struct cosy_verdict *verdict)
{
	uint64_t kernel[COSY_VERDICT_SAMPLES], native[COSY_VERDICT_SAMPLES];
	uint32_t nkernel = sort_times(&verdict->kernel, kernel);
	uint32_t nnative = sort_times(&verdict->native, native);
	struct comparison found = { .count = nkernel < nnative ? nkernel : nnative };
	uint32_t faster = 0;

	if (!found.count)
		return found;
	for (uint32_t i = 0; i < nkernel; i++) {
		for (uint32_t j = 0; j < nnative; j++)
			faster += kernel[i] + NATIVE_EXCESS < native[j];
	}
	found.faster = faster * 100 / (nkernel * nnative);
	found.native = median(native, nnative) - NATIVE_EXCESS;
	found.gain = found.native - median(kernel, nkernel);
	found.mean_gain = mean(native, nnative) - NATIVE_EXCESS - mean(kernel, nkernel);
	found.spread = spread(kernel, nkernel) + spread(native, nnative);
	found.differ = range(kernel, nkernel) > found.native || range(native, nnative) > found.native;
	return found;
}

/*
 * Return what the comparison shows: GAINS, LOSES, or NONE if more runs are needed. If there
 * are few runs, each run in the kernel has to differ from each native one in the same direction, by much.
 * If entries differ much, few of them may do most of the work: then the mean of all runs decides.
 */
static enum cosy_opinion judge(const struct comparison *found)
{
	uint32_t least = found->count >= COSY_VERDICT_SAMPLES ? 0 :
			 found->count >= SEVERAL_RUNS	      ? 75 : 100;
	int64_t much = least == 100 ? found->native / 16 : 0;

	if (found->count < FEW_RUNS)
		return COSY_OPINION_NONE;
	if (found->differ && found->count < COSY_VERDICT_SAMPLES)
		return COSY_OPINION_NONE;
	if (found->differ)
		return found->mean_gain > 0 ? COSY_OPINION_GAINS : COSY_OPINION_LOSES;
	if (found->gain > much && found->faster >= least)
		return COSY_OPINION_GAINS;
	if (found->gain <= -much && found->faster <= 100 - least)
		return COSY_OPINION_LOSES;
	return COSY_OPINION_NONE;
}

/* Note the measured gain. If times vary much, or it is a small part of them, it is not precise. */
static void note_gain(struct cosy_verdict *verdict, const struct comparison *found)
{
	int64_t size = found->gain < 0 ? -found->gain : found->gain;
	int64_t skew = found->gain - found->mean_gain;

	__atomic_store_n(&verdict->gain, found->gain, __ATOMIC_RELAXED);
	__atomic_store_n(&verdict->is_known,
			 found->count && size >= 4 * TICKS_ERROR &&
				 size * 50 >= found->native && 2 * found->spread <= size &&
				 4 * (skew < 0 ? -skew : skew) <= size,
			 __ATOMIC_RELAXED);
}

static enum cosy_choice choose_gain(struct cosy_verdict *verdict,
				    const struct comparison *found)
{
	note_gain(verdict, found);
	set(&verdict->backoff, 0);
	set(&verdict->opinion, COSY_OPINION_GAINS);
	return COSY_CHOICE_KERNEL;
}

static enum cosy_choice choose_loss(struct cosy_verdict *verdict,
				    const struct comparison *found, uint32_t *backoff)
{
	uint32_t last = get(&verdict->backoff);

	/* The first measurement has more runs than those after it. */
	if (!last || !verdict->is_known)
		note_gain(verdict, found);
	set(&verdict->opinion, COSY_OPINION_LOSES);
	forget_times(verdict);
	set(&verdict->step, STEP_MEASURED);
	if (found->count && found->native < SHORT_RUN && last >= LAST_SHORT_BACKOFF) {
		__atomic_store_n(&verdict->final, true, __ATOMIC_RELAXED);
		return COSY_CHOICE_NATIVE;
	}
	*backoff = !last ? FIRST_BACKOFF : last < LAST_BACKOFF ? last * 2 : last;
	set(&verdict->backoff, *backoff);
	return COSY_CHOICE_BACK_OFF;
}

/*
 * Return the kind of run that is measured at @step. A program may do something else in every second,
 * third, fourth or sixth entry. The native runs are the bits of NATIVE_STEPS: each half is the complement
 * of the other one, and so are the halves of these. So in 24 steps, as many of the entries that do the
 * same are native as in the kernel; in 12 steps, also, but for those that are done in every fourth.
 */
static enum cosy_choice kind_of_step(uint32_t step)
{
	return NATIVE_STEPS >> (step - STEP_MEASURED) % 24 & 1 ? COSY_CHOICE_MEASURE_NATIVE :
								 COSY_CHOICE_MEASURE_KERNEL;
}

/* Choose at a step, by the runs until now. */
static enum cosy_choice choose_step(struct cosy_verdict *verdict, uint32_t step,
				    uint32_t *backoff)
{
	int64_t estimate = __atomic_load_n(&verdict->estimate, __ATOMIC_RELAXED);
	const struct comparison unknown = { 0 };
	struct comparison found;

	if (step && step <= STEP_NATIVE && estimate < -LARGE_LOSS)
		return choose_loss(verdict, &unknown, backoff);
	if (step < STEP_NATIVE)
		return COSY_CHOICE_WATCH;
	if (step == STEP_NATIVE) {
		*backoff = 0;
		return COSY_CHOICE_BACK_OFF;
	}
	found = compare(verdict);
	/* After a loss, the same result needs fewer runs. */
	if (get(&verdict->backoff) && found.count == RUNS_AFTER_LOSS && found.gain <= 0)
		return choose_loss(verdict, &found, backoff);
	switch (judge(&found)) {
	case COSY_OPINION_GAINS:
		return choose_gain(verdict, &found);
	case COSY_OPINION_LOSES:
		return choose_loss(verdict, &found, backoff);
	default:
		break;
	}
	if (step < LOST_STEPS)
		return kind_of_step(step);
	return estimate < 0 ? choose_loss(verdict, &unknown, backoff) :
			      choose_gain(verdict, &unknown);
}

enum cosy_choice cosy_verdict_choose(struct cosy_verdict *verdict,
				     uint32_t *backoff)
{
	uint32_t left = get(&verdict->left), step;

	/* Its run was left by longjmp(), or it enters the region again. */
	if (is_measured(verdict))
		stop_measuring(verdict);
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
		*backoff = FIRST_RUNS - 1;
		return COSY_CHOICE_BACK_OFF;
	}
	step = __atomic_fetch_add(&verdict->step, 1, __ATOMIC_RELAXED);
	return choose_step(verdict, step, backoff);
}
