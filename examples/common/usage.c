// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * usage.c - arguments of programs.
 */
#include "usage.h"

#include <errno.h>
#include <error.h>
#include <stdio.h>
#include <stdlib.h>

void fail_usage(void)
{
	fprintf(stderr, "Try '%s --help' for more information.\n",
		program_invocation_name);
	exit(1);
}

unsigned int usage_number(const char *text, const char *option, unsigned int min, unsigned int max)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (end == text || *end || *text == '-' || errno || number < min || number > max) {
		error(0, 0, "invalid argument '%s' for '--%s': use %u to %u", text, option, min, max);
		fail_usage();
	}
	return (unsigned int)number;
}
