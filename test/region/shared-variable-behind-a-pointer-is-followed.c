// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop is not split into a batch if its iterations share a variable that only a pointer names, or if
// errno is copied by its address.
// RUN: %cosy-cc -O2 %s -o %t
// RUN: for e in native user; do COSY_EXECUTOR=$e %t || exit 1; done
#include <cosy.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../Inputs/check.h"

#define COUNT 12

static const char *const names[COUNT] = { "/", "/none", "/tmp", "/none", "/", "/", "/none", "/none", "/",
					  "/none", "/", "/tmp" };

static long by_pointer(const char *const *restrict of, int n)
{
	int shared = 0, *pointer = &shared;
	long sum = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;
		int result;

		*pointer = i;
		COSY_START;
		result = stat(of[i], &st);
		COSY_END;
		sum = sum * 3 + *pointer + result;
	}
	return sum;
}

static int copied(const char *const *restrict of, int n)
{
	char name[64], *pointer = name;
	int found = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;
		int result;

		strcpy(pointer, of[i]);
		COSY_START;
		result = stat(pointer, &st);
		COSY_END;
		found = found * 2 + !result;
	}
	return found;
}

int main(void)
{
	long sum = 0;
	int found = 0;

	for (int i = 0; i < COUNT; i++) {
		const int result = strcmp(names[i], "/none") ? 0 : -1;

		sum = sum * 3 + i + result;
		found = found * 2 + !result;
	}
	EQUAL(by_pointer(names, COUNT), sum);
	EQUAL(copied(names, COUNT), found);
	return 0;
}
