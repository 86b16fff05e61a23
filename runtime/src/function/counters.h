/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * counters.h - COSY_STATS: counts, and the file to which they are printed at exit.
 */
#ifndef COSY_FUNCTION_COUNTERS_H
#define COSY_FUNCTION_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include <cosy/region.h>

/**
 * struct cosy_counted - something with counts, in a list of all that have them
 * @next:  in the list; never taken out
 * @print: prints the counts
 * @data:  for @print; NULL once they have been printed for the last time
 */
struct cosy_counted {
	struct cosy_counted *next;
	void (*print)(const void *data);
	const void *data;
};

/**
 * struct cosy_counts - changed by cosy_count()
 * @counted:  prints them
 * @process:  of whom they are, see cosy_count()
 * @runs:     runs begun
 * @syscalls: system calls made by the compound
 * @entries:  entries into the kernel
 * @upcalls:  up-calls
 * @steps:    operations the kernel could not do, done in user mode
 * @user:     runs in user mode, from the beginning or to the end
 * @native:   runs in native code, as the region loses in the kernel
 */
struct cosy_counts {
	struct cosy_counted counted;
	uint64_t process;
	uint64_t runs;
	uint64_t syscalls;
	uint64_t entries;
	uint64_t upcalls;
	uint64_t steps;
	uint64_t user;
	uint64_t native;
};

/**
 * cosy_stats_init() - prepare for counting, if COSY_STATS asks for it
 *
 * Opens the file that the lines go to. Called before the program's own code
 * runs; further calls have no effect.
 */
void cosy_stats_init(void);

/** cosy_stats_exit() - close that file */
void cosy_stats_exit(void);

/**
 * cosy_count() - add to a counter
 * @counts:  the counts, NULL if nobody counts
 * @counter: one of them
 * @n:	     how much
 *
 * A child process counts from 0. Thread-safe, async-signal-safe.
 */
void cosy_count(struct cosy_counts *counts, uint64_t *counter, uint64_t n);

/** cosy_counts_are_current() - test whether this process has counted, and not only its parent */
bool cosy_counts_are_current(const struct cosy_counts *counts);

/**
 * cosy_stats_line() - write a line of text to where COSY_STATS wants it
 * @text: as for cosy_message()
 */
void cosy_stats_line(const char *text, ...) __attribute__((sentinel));

/**
 * cosy_stats_add() - have something printed when the process ends
 * @counted: @print and @data are set; its memory is never used for anything else
 *
 * Thread-safe, async-signal-safe.
 */
void cosy_stats_add(struct cosy_counted *counted);

/** cosy_stats_print_last() - print it now, and not again */
void cosy_stats_print_last(struct cosy_counted *counted);

/**
 * cosy_stats_print_all() - print all counts, for the process ends
 *
 * Nothing is printed in a vfork() child. Async-signal-safe.
 */
void cosy_stats_print_all(void);

#endif /* COSY_FUNCTION_COUNTERS_H */
