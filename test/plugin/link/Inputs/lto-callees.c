/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions of another file that the regions of lto.c and lto.cpp call. */
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lto.h"

int counter;

long size_of(const char *name)
{
	struct stat st;

	counter++;
	if (stat(name, &st) < 0)
		return -errno;
	return st.st_size;
}

void size_by_pointer(const char *name, long *size, unsigned char *calls, int errors[3])
{
	long n = size_of(name);

	++*calls;
	if (n < 0)
		errors[*calls % 3]++;
	else
		*size += n;
}

int parents(int n)
{
	int i, sum = 0;

	COSY_START;
	for (i = 0; i < n; i++)
		sum += 5 * (getppid() > 0) + 5 * (getpid() > 0);
	COSY_END;
	return sum;
}

int parents_native(int n)
{
	int i, sum = 0;

	COSY_START_NATIVE;
	for (i = 0; i < n; i++)
		sum += 10 * (getppid() > 0);
	COSY_END;
	return sum;
}

unsigned int sum(const unsigned int *p, int n)
{
	unsigned int s = 0;
	int i;

	for (i = 0; i < n; i++)
		s += p[i] * 3;
	return s;
}

__attribute__((weak)) int overridden(void)
{
	return 1;
}

int depth(int n)
{
	return n ? 1 + depth(n - (getpid() > 0)) : 0;
}
