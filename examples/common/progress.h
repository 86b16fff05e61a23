/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * progress.h - a line on standard error that says how far long work is.
 *
 * Not thread-safe.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

/**
 * progress_show() - show how far it is, at most once a second and not at once
 * @files: done so far
 * @bytes: done so far
 */
void progress_show(uint64_t files, uint64_t bytes);

/** progress_clear() - take the line away, before anything else is printed */
void progress_clear(void);

#endif /* PROGRESS_H */
