// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * usage.c - end a program that was called with wrong arguments.
 */
#include "usage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void fail_usage(void)
{
	fprintf(stderr, "Try '%s --help' for more information.\n",
		program_invocation_name);
	exit(1);
}
