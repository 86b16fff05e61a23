/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copy.h - a region that copies a file by a buffer that it does not use otherwise.
 */
#ifndef COPY_H
#define COPY_H

#include <cosy.h>
#include <errno.h>
#include <unistd.h>

#include "ends.h"

/* By positions of the open files; a short write ends it. The pages that are read are passed on. */
static inline struct end copy(int in, int out, size_t size)
{
	static char buffer[65536];
	long total = 0;
	ssize_t n, written = 0;
	int error = 0;

	COSY_START;
	while ((n = read(in, buffer, size)) > 0) {
		written = write(out, buffer, (size_t)n);
		if (written < 0) {
			error = errno;
			break;
		}
		total += written;
		if (written != n)
			break;
	}
	if (n < 0)
		error = errno;
	COSY_END;
	return (struct end){ total, n < 0 ? n : written, error };
}

#endif /* COPY_H */
