/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions of another file that the regions of lto.cpp call; and the same inline function. */
#include <stdexcept>
#include <unistd.h>

#include "lto-inline.h"

long may_throw(int n)
{
	if (n == 3)
		throw std::runtime_error("three");
	return getppid() > 0;
}

int also(int n)
{
	return twice(n) + minimum<int>(n, 4);
}
