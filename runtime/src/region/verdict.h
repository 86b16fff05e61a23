/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * verdict.h - COSY_EXECUTOR=auto: decides whether a region gains in the kernel.
 *
 * The first runs of a region are watched: the module and libcosy count what they do,
 * and the figures of <cosy/costs.h> say what that saves or costs. A region that
 * loses runs natively for a number of entries, then one run is watched again. A
 * region that gains is not counted any more, except where it leaves the kernel.
 *
 * A region runs natively only if it loses by the highest figures: a call in a loop
 * is taken to save as much as any call in a loop of that region can.
 */
#ifndef COSY_VERDICT_H
#define COSY_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

/** enum cosy_choice - where the next run of a region goes */
enum cosy_choice {
	COSY_CHOICE_KERNEL,	/* into the kernel */
	COSY_CHOICE_WATCH,	/* into the kernel, and is watched */
	COSY_CHOICE_REST,	/* natively; so many entries after it, too */
	COSY_CHOICE_NATIVE,	/* natively, as all later ones unless it rests */
};

/** enum cosy_opinion - what is known of a region */
enum cosy_opinion {
	COSY_OPINION_NONE,	/* too few runs were watched */
	COSY_OPINION_GAINS,
	COSY_OPINION_LOSES,
};

/**
 * struct cosy_verdict - what is known of a region; relaxed, 0 where it begins
 * @watched:  false: it runs where it is told to
 * @final:    it loses, and is not tried again
 * @put_off:  the first runs of a region without a loop have been put off
 * @call_saves: instructions that a call in a loop saves, at most
 * @run_saves: that the calls outside of loops save in a run, at most
 * @opinion:  enum cosy_opinion
 * @begun:    runs that were watched since the last verdict
 * @ended:    those of them that have ended
 * @calls:    system calls that these have made
 * @gain:     instructions that these have saved, at most; a loss is negative
 * @rest:     entries that it runs natively after a loss; 0 before the first
 * @left:     of these, where cosy_verdict_rest() counts them
 * @average:  of a run, the gain that the last verdict was given for
 *
 * Threads that change it at the same time lose a run or two, which does no harm.
 */
struct cosy_verdict {
	bool watched;
	bool final;
	bool put_off;
	uint32_t call_saves;
	uint32_t run_saves;
	uint32_t opinion;
	uint32_t begun;
	uint32_t ended;
	uint64_t calls;
	int64_t gain;
	uint32_t rest;
	uint32_t left;
	int64_t average;
};

/**
 * struct cosy_sample - what a run, or a part of it, has done in the kernel
 * @calls:    system calls
 * @upcalls:  up-calls, and calls that it left the kernel for
 * @slots:    slots of its image that were executed in loops
 * @entries:  1 if the beginning is included
 */
struct cosy_sample {
	uint64_t calls;
	uint64_t upcalls;
	uint64_t slots;
	uint64_t entries;
};

/**
 * cosy_verdict_init() - a region may be watched
 * @verdict: all 0
 * @image:   its image, verified
 * @plain:   calls have no fast paths
 * @singly:  the native code makes calls through the module, one at a time: the compound
 *	     saves only what it saves beyond that
 */
void cosy_verdict_init(struct cosy_verdict *verdict, const void *image,
		       bool plain, bool singly);

/**
 * cosy_verdict_choose() - a region that is watched is entered
 * @verdict: the region's
 * @rest:    set with COSY_CHOICE_REST: that number of entries
 *
 * Thread-safe, async-signal-safe.
 *
 * Return: where it goes.
 */
enum cosy_choice cosy_verdict_choose(struct cosy_verdict *verdict,
				     uint32_t *rest);

/**
 * cosy_verdict_rest() - have cosy_verdict_choose() count the entries of a rest
 * @verdict: the region's
 * @entries: their number
 */
void cosy_verdict_rest(struct cosy_verdict *verdict, uint32_t entries);

/**
 * cosy_verdict_add() - a watched run has ended
 * @verdict: the region's
 * @sample:  what it has done
 *
 * Thread-safe, async-signal-safe. A run that an up-call or a handler leaves by
 * longjmp() never ends.
 */
void cosy_verdict_add(struct cosy_verdict *verdict,
		      const struct cosy_sample *sample);

/**
 * cosy_verdict_gain() - instructions that a sample has saved, at most
 * @verdict: the region's
 * @sample:  the sample
 *
 * Return: it; a loss is negative.
 */
int64_t cosy_verdict_gain(const struct cosy_verdict *verdict,
			  const struct cosy_sample *sample);

/**
 * cosy_verdict_doubt() - a region that gained has begun to lose: watch it again
 * @verdict: the region's
 *
 * Thread-safe, async-signal-safe.
 */
void cosy_verdict_doubt(struct cosy_verdict *verdict);

#endif /* COSY_VERDICT_H */
