// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* one NAME - load a compound, and make single calls: print how many directories NAME is. */
#include <cosy.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
	struct stat st = { 0 };
	int i, n = 0;

	COSY_START;
	for (i = 0; i < 100; i++)
		n += !fstatat(AT_FDCWD, argv[argc - 1], &st, 0) && S_ISDIR(st.st_mode);
	COSY_END;
	for (i = 0; i < 5; i++)
		n += !stat(argv[argc - 1], &st) && S_ISDIR(st.st_mode);
	printf("%d\n", n);
	return 0;
}
