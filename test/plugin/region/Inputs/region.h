/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <cosy.h>
#include <unistd.h>

static inline int in_header(int n)
{
	COSY_START;
	n -= getpid() < 0;
	COSY_END;
	return n;
}
