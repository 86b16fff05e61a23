// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>

int open_null(void);

int open_null(void)
{
	return open("/dev/null", O_RDONLY);
}
