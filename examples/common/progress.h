/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * progress.h - a line on standard error that says how far long work is.
 *
 * The lines are shown at most once a second, and not at once. Not thread-safe.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

/**
 * progress_show() - show progress where the total is not known
 * @files: done so far
 * @bytes: done so far
 */
void progress_show(uint64_t files, uint64_t bytes);

/**
 * progress_show_part() - show how much of it is done
 * @what: that is done
 * @done: so far
 * @all:  when it is through; not 0
 */
void progress_show_part(const char *what, uint64_t done, uint64_t all);

/** progress_clear() - take the line away, before anything else is printed */
void progress_clear(void);

#endif /* PROGRESS_H */
