/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs a region 25 times, with an up-call and a call that has a fast path in it. */
#include <unistd.h>

#include <cosy.h>

static int count;

static void up(void)
{
	count++;
}

static void (*volatile call)(void) = up;

int main(void)
{
	int result = 0;

	for (int i = 0; i < 25; i++) {
		COSY_START;
		result |= access("/", F_OK);
		call();
		result |= getppid() < 0;
		COSY_END;
	}
	return result || count != 25;
}
