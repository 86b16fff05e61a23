/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* batch.c - a program with a batch function and no region of its own. */
#include <cosy/batch.h>
#include <fcntl.h>
#include <stdio.h>

int main(void)
{
	const char *paths[] = { "/", "/nonexistent" };
	struct stat status[2];
	int results[2];

	printf("%zd of 2\n", cosy_stat_many(AT_FDCWD, paths, 2, 0, status, results));
	return 0;
}
