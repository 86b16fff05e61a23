// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AddressSanitizer does not check what a function with no_sanitize reads, also if a region calls it.
// RUN: %cosy-cc -O1 -fsanitize=address %s -o %t
// RUN: for e in native user; do COSY_EXECUTOR=$e %t || exit 1; done
#include <cosy.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((no_sanitize("address"))) static int sum(const unsigned char *bytes, int n)
{
	int result = 0;

	for (int i = 0; i < n; i++)
		result ^= bytes[i] * 3;
	return result;
}

static volatile int result;

int main(void)
{
	unsigned char *bytes = malloc(10);

	COSY_START;
	for (int i = 0; i < 3; i++) {
		getppid();
		result = sum(bytes, 400);
	}
	COSY_END;
	free(bytes);
	return 0;
}
