// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * output.c - end a program after all of its output was written.
 */
#include "output.h"

#include <errno.h>
#include <error.h>
#include <stdio.h>
#include <stdlib.h>

void output_finish(int status, int trouble)
{
	if (fclose(stdout) != 0)
		error(trouble, errno, "write error");
	exit(status);
}
