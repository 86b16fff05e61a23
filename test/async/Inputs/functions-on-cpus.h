/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * functions-on-cpus.h - common code of the tests of COSY_ASYNC functions that processors run.
 */
#ifndef FUNCTIONS_ON_CPUS_H
#define FUNCTIONS_ON_CPUS_H

#include "cpus.h"
#include "functions.h"

static inline void new_loop(void)
{
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	EQUAL(cosy_loop_cpus(loop, cpus, ncpus), 0);
}

/* Return the errors of two receives: that of the first one times 1000, and that of the second. */
COSY_ASYNC static int receive_twice(int fd)
{
	char byte;
	int first = recv(fd, &byte, 1, 0) < 0 ? errno : 0;

	return first * 1000 + (recv(fd, &byte, 1, 0) < 0 ? errno : 0);
}

#endif /* FUNCTIONS_ON_CPUS_H */
