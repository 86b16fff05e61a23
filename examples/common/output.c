// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * output.c - end a program after all of its output was written.
 */
#include "output.h"

#include <errno.h>
#include <error.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void output_finish(int status, int trouble)
{
	/* After output was lost, fclose() succeeds if there is no more of it. */
	const bool lost = ferror(stdout);

	errno = 0;
	if (fclose(stdout) != 0 || lost)
		error(trouble, errno, "write error");
	exit(status);
}
