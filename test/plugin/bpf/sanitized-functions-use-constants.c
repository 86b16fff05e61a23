// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks of UndefinedBehaviorSanitizer are no dependence of a user function on the addresses of its constants.
// RUN: for o in -O0 -O2; do %clang $o -fsanitize=undefined -c -o %t.o -Xclang -verify %s || exit 1; done
// expected-no-diagnostics
#include <cosy.h>

static const long numbers[] = { 10, 20, 30 };
static const union {
	char text[16];
	short shorts[8];
} both = { "hello" };

COSY_FUNCTION long sum(long i)
{
	return numbers[i % 3] + both.text[i & 15] + both.shorts[i & 7];
}
