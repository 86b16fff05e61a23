// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options of a region hold, too, if it is in a function that the compiler always inlines, or
// calls such a function with a region of its own.
// RUN: for o in -O0 -O2; do \
// RUN:   %cosy-cc $o -w %s -o %t && %run-all --only native,user %t | FileCheck %s || exit 1; \
// RUN: done
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS int stops(int n)
{
	int k = 0;

	COSY_START_STOP_ON_ERROR;
	for (int i = 0; i < n; i++) {
		k++;
		close(-1);
	}
	COSY_END;
	return k;
}

ALWAYS int has_limit(void)
{
	volatile int k = 0;

	COSY_START_WITH(COSY_MAX_OPERATIONS(100000), COSY_AT_LIMIT(COSY_STOP));
	while (k >= 0) {
		k++;
		if (k == 300000)
			k = -5;
		else if (!(k & 255))
			close(-1);
	}
	COSY_END;
	return k;
}

ALWAYS int plain(int n)
{
	int k;

	COSY_START;
	close(-1);
	k = n + (getppid() > 0);
	close(-1);
	COSY_END;
	return k;
}

static int calls_plain(void)
{
	volatile int k = 0;

	COSY_START_WITH(COSY_MAX_OPERATIONS(100000), COSY_AT_LIMIT(COSY_STOP));
	while (k < 3000000)
		k += plain(1) - 1;
	COSY_END;
	return k;
}

int main(void)
{
	int r = stops(5);

	// CHECK: {{^}}1 close{{$}}
	printf("%d %s\n", r, cosy_last_error() ? cosy_last_error()->call : "none");
	r = has_limit();
	// CHECK: {{^}}stopped, error{{$}}
	printf("%s, %s\n", r == -5 ? "ran to its end" : "stopped",
	       cosy_last_error() ? "error" : "none");
	r = calls_plain();
	// CHECK: {{^}}stopped, error{{$}}
	printf("%s, %s\n", r == 3000000 ? "ran to its end" : "stopped",
	       cosy_last_error() ? "error" : "none");
	// The plugin prepares functions with regions.
	COSY_START;
	close(-1);
	close(-1);
	COSY_END;
	return 0;
}
