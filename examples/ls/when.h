/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * when.h - the time of a file, as `ls -l` writes it. Not thread-safe.
 */
#ifndef WHEN_H
#define WHEN_H

#include <time.h>

/* Room for any time. */
enum { WHEN_SIZE = 32 };

/** put_when() - write a time at @p, without a NUL; return the end */
char *put_when(char *p, const struct timespec *when);

#endif /* WHEN_H */
