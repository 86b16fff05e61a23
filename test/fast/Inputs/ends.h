/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ends.h - the ends of regions that move data, for the tests of fast paths.
 */
#ifndef ENDS_H
#define ENDS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct end {
	long total, last;
	int error;
};

static void say(const char *what, struct end e)
{
	printf("%s: %ld, last %ld, error %d\n", what, e.total, e.last, e.error);
}

static int must_open(const char *name, int flags)
{
	int fd = open(name, flags, 0600);

	if (fd < 0) {
		printf("%s: %s\n", name, strerror(errno));
		exit(1);
	}
	return fd;
}

#endif /* ENDS_H */
