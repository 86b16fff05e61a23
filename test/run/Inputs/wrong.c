// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* wrong - make stat() write after the end of memory from malloc(), for sanitizers. */
#include <stdlib.h>
#include <sys/stat.h>

int main(void)
{
	struct stat *st = malloc(sizeof(*st)), *end = (void *)((char *)st + 16);

	for (int i = 0; i < 100; i++)
		stat("/", st);
	if (stat("/", end))
		return 1;
	return 0;
}
