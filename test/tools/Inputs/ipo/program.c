// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

int open_null(void);

int main(void)
{
	int opened = 0;

	COSY_START;
	for (int i = 0; i < 10; i++) {
		int fd = open_null();

		opened += fd >= 0 && close(fd) == 0;
	}
	COSY_END;
	printf("%d\n", opened);
	return 0;
}
