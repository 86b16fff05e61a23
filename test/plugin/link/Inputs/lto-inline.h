/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Regions in functions that several files of lto.cpp define. */
#include <cosy.h>
#include <unistd.h>

long may_throw(int n);
int also(int n);

inline int twice(int n)
{
	int sum = 0;

	COSY_START;
	for (int i = 0; i < n; i++)
		sum += 2 * (getpid() > 0);
	COSY_END;
	return sum;
}

template <typename T> T minimum(T a, T b)
{
	T result = 0;

	COSY_START;
	for (T i = 0; i < a && i < b; i++)
		result += getppid() > 0;
	COSY_END;
	return result;
}
