/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * verdict.h - COSY_EXECUTOR=auto: decides whether a region gains in the kernel.
 *
 * The figures of <cosy/costs.h> decide only what is tried first. Then entries run in the kernel and
 * natively in turn, and their times are compared, in ticks of the time-stamp counter. The native
 * code makes its calls through the module one at a time, so the compound is compared with what
 * runs in its place. A region that loses runs natively for a number of entries, then it is measured
 * again. A region that gains is not measured any more, except in runs that leave the kernel.
 */
#ifndef COSY_VERDICT_H
#define COSY_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

/** enum cosy_choice - how the next run of a region is executed */
enum cosy_choice {
	COSY_CHOICE_KERNEL,	/* in the kernel */
	COSY_CHOICE_WATCH,	/* in the kernel, and it is watched */
	COSY_CHOICE_MEASURE_KERNEL, /* in the kernel, and it is measured */
	COSY_CHOICE_MEASURE_NATIVE, /* natively, and it is measured */
	COSY_CHOICE_BACK_OFF,	/* natively, like the given number of entries after it */
	COSY_CHOICE_NATIVE,	/* natively, like all later ones if the verdict is final */
};

/** enum cosy_opinion - the last verdict about a region */
enum cosy_opinion {
	COSY_OPINION_NONE,	/* none yet, because too few runs were measured */
	COSY_OPINION_GAINS,
	COSY_OPINION_LOSES,
};

/* The maximum number of measured runs of a kind. */
#define COSY_VERDICT_SAMPLES	12

/**
 * struct cosy_times - how long runs of one kind took
 * @count: number of runs that were measured; may exceed COSY_VERDICT_SAMPLES
 * @ticks: the times of the first ones
 */
struct cosy_times {
	uint32_t count;
	uint64_t ticks[COSY_VERDICT_SAMPLES];
};

/**
 * struct cosy_verdict - whether a region gains in the kernel
 * @watched:  libcosy chooses the executor; false if it is given
 * @final:    the region loses, and is not tried again
 * @put_off:  the first runs of a region without a loop have been postponed
 * @is_known: @gain was measured, and is precise enough to be printed
 * @call_saves: maximum of the instructions that one call in a loop saves
 * @run_saves: maximum of the instructions that all calls outside of loops save in a run
 * @opinion:  the last verdict, enum cosy_opinion
 * @step:     number of entries since the measurement began
 * @backoff:  number of entries that run natively after a loss; 0 before the first loss
 * @left:     number of these entries still to come, if cosy_verdict_back_off() counts them
 * @estimate: maximum of the instructions that the last watched run has saved
 * @kernel:   times of the runs in the kernel
 * @native:   times of the native runs
 * @measured: the thread whose native run is being measured, or 0
 * @begin:    when this run began
 * @gain:     ticks that a run saves; negative if it loses
 *
 * All members are 0 at first, and are accessed relaxed. Threads that change them at the same time
 * lose the counts of a run or two, which does no harm.
 */
struct cosy_verdict {
	bool watched;
	bool final;
	bool put_off;
	bool is_known;
	uint32_t call_saves;
	uint32_t run_saves;
	uint32_t opinion;
	uint32_t step;
	uint32_t backoff;
	uint32_t left;
	int64_t estimate;
	struct cosy_times kernel;
	struct cosy_times native;
	uintptr_t measured;
	uint64_t begin;
	int64_t gain;
};

/**
 * struct cosy_sample - counts of a run, or of a part of it, in the kernel
 * @calls:    system calls
 * @upcalls:  up-calls, and calls for which it left the kernel
 * @slots:    slots of its image that were executed in loops
 * @entries:  1 if the part includes the beginning of the run
 */
struct cosy_sample {
	uint64_t calls;
	uint64_t upcalls;
	uint64_t slots;
	uint64_t entries;
};

/**
 * cosy_verdict_init() - allow libcosy to choose the executor of a region
 * @verdict: all 0
 * @image:   its image, verified
 * @plain:   the module makes calls without fast paths
 * @singly:  the native code makes calls through the module, one at a time: the compound
 *	     saves only what it saves beyond that
 */
void cosy_verdict_init(struct cosy_verdict *verdict, const void *image,
		       bool plain, bool singly);

/**
 * cosy_verdict_is_open() - return true if runs have been measured, but too few for a verdict
 * @verdict: verdict of the region
 */
bool cosy_verdict_is_open(const struct cosy_verdict *verdict);

/**
 * cosy_verdict_choose() - choose the executor for the next run
 * @verdict: verdict of the region
 * @backoff: set with COSY_CHOICE_BACK_OFF: the number of entries
 *
 * Thread-safe, async-signal-safe.
 *
 * Return: the choice.
 */
enum cosy_choice cosy_verdict_choose(struct cosy_verdict *verdict,
				     uint32_t *backoff);

/**
 * cosy_verdict_back_off() - let cosy_verdict_choose() count the entries that run natively
 * @verdict: verdict of the region
 * @entries: their number
 */
void cosy_verdict_back_off(struct cosy_verdict *verdict, uint32_t entries);

/**
 * cosy_verdict_add() - add a watched run that has ended
 * @verdict: verdict of the region
 * @sample:  counts of the run
 *
 * Thread-safe, async-signal-safe. A run that an up-call or a handler leaves by
 * longjmp() never ends.
 */
void cosy_verdict_add(struct cosy_verdict *verdict,
		      const struct cosy_sample *sample);

/** cosy_verdict_ticks() - read the time-stamp counter */
static inline uint64_t cosy_verdict_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/**
 * cosy_verdict_kernel() - a run in the kernel was measured
 * @verdict: the region's
 * @ticks:   its time
 *
 * Thread-safe, async-signal-safe.
 */
void cosy_verdict_kernel(struct cosy_verdict *verdict, uint64_t ticks);

/**
 * cosy_verdict_native_begins() - a native run of this thread is measured from now on
 * @verdict: the region's
 *
 * Nothing happens if the run of another thread is being measured. Thread-safe,
 * async-signal-safe.
 */
void cosy_verdict_native_begins(struct cosy_verdict *verdict);

/**
 * cosy_verdict_native_ends() - a native run of this thread has ended
 * @verdict: the region's
 *
 * Nothing happens if it is not being measured. Thread-safe, async-signal-safe.
 */
void cosy_verdict_native_ends(struct cosy_verdict *verdict);

/**
 * cosy_verdict_gain() - return the maximum of the instructions that a sample has saved
 * @verdict: verdict of the region
 * @sample:  the sample
 *
 * Return: the instructions; negative for a loss.
 */
int64_t cosy_verdict_gain(const struct cosy_verdict *verdict,
			  const struct cosy_sample *sample);

/**
 * cosy_verdict_doubt() - watch a region again that gained and has begun to lose
 * @verdict: verdict of the region
 *
 * Thread-safe, async-signal-safe.
 */
void cosy_verdict_doubt(struct cosy_verdict *verdict);

#endif /* COSY_VERDICT_H */
