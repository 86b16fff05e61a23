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
 * struct cosy_counted - an entry of the list of what has counts
 * @next:  next in the list; entries are never removed
 * @print: prints the counts
 * @data:  for @print; NULL after they have been printed for the last time
 */
struct cosy_counted {
	struct cosy_counted *next;
	void (*print)(const void *data);
	const void *data;
};

/**
 * struct cosy_counts - counts of a region; cosy_count() changes them
 * @counted:  their entry of the list
 * @process:  number of the process to which they belong: 1, and one more after each fork
 * @runs:     runs that began
 * @syscalls: system calls that the compound made
 * @entries:  entries into the kernel
 * @upcalls:  up-calls
 * @steps:    operations that were executed in user mode, because the kernel could not
 * @user:     runs in user mode, from the beginning or to the end
 * @native:   runs of the native code, because the region loses in the kernel
 * @measured: runs in the kernel that were measured; the other counters omit what they did
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
	uint64_t measured;
};

/**
 * cosy_stats_init() - prepare for counting, if COSY_STATS is set
 *
 * Opens the file for the lines. Called before the program's own code runs. Further calls have no
 * effect.
 */
void cosy_stats_init(void);

/** cosy_stats_exit() - print no more lines */
void cosy_stats_exit(void);

/**
 * cosy_count() - add to a counter
 * @counts:  the counts; NULL for no effect
 * @counter: one of them
 * @n:	     the number to add
 *
 * A child process counts from 0. Thread-safe, async-signal-safe.
 */
void cosy_count(struct cosy_counts *counts, uint64_t *counter, uint64_t n);

/** cosy_counts_are_current() - test whether this process has counted, and not only its parent */
bool cosy_counts_are_current(const struct cosy_counts *counts);

/**
 * cosy_stats_line() - write a line of text to the file of COSY_STATS
 * @text: as for cosy_message()
 */
void cosy_stats_line(const char *text, ...) __attribute__((sentinel));

/**
 * cosy_stats_add() - add an entry to the list of what is printed when the process ends
 * @counted: its @print and @data are set; its memory stays part of the list
 *
 * Thread-safe, async-signal-safe.
 */
void cosy_stats_add(struct cosy_counted *counted);

/** cosy_stats_print_last() - print the counts of an entry for the last time */
void cosy_stats_print_last(struct cosy_counted *counted);

/**
 * cosy_stats_print_all() - print all counts, because the process ends
 *
 * Nothing is printed in a vfork() child. Async-signal-safe.
 */
void cosy_stats_print_all(void);

#endif /* COSY_FUNCTION_COUNTERS_H */
