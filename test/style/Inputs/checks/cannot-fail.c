// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Checks of which some cannot fail. check(true, "a comment") is no check. */
#include "check.h"

void checks(int n)
{
	for (int i = 0; i < n; i++)
		if (i > 10)
			check(false, "i is at most 10, not %d", i);
	check(true, "all are at most 10");
	check((1), "a text with a \" and check(true, \"in it\")");
	check(n == 3 ||
	      true, "n is 3");
	CHECK(!0);
	CHECK(n);
	EQUAL(f(n, 3), f(n,
			 3));
	EQUAL(f(n, 3), f(n, 4));
	EQUAL(1, n);
}
