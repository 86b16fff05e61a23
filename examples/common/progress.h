/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * progress.h - a line on standard error that shows the progress of long work.
 *
 * A line is shown at most once a second, and not in the first second. Not thread-safe.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

/**
 * progress_show() - show progress if the total is not known
 * @files: number of files done
 * @bytes: number of bytes done
 */
void progress_show(uint64_t files, uint64_t bytes);

/**
 * progress_show_part() - show progress if the total is known
 * @what: the work
 * @done: the part that is done
 * @all:  the total; not 0
 */
void progress_show_part(const char *what, uint64_t done, uint64_t all);

/** progress_clear() - erase the line; call it before anything else is printed */
void progress_clear(void);

#endif /* PROGRESS_H */
