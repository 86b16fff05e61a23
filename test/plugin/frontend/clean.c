// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Markers and options cause no warnings of the compiler in code without any, in any C or C++.
// RUN: %clang -std=c99 -Weverything -Werror -Wno-declaration-after-statement -c %s -o %t.o
// RUN: %clang -std=c11 -Weverything -Werror -Wno-declaration-after-statement -c %s -o %t.o
// RUN: %clang -std=gnu2x -Weverything -Werror -Wno-pre-c2x-compat -c %s -o %t.o
// RUN: %clangxx -x c++ -std=c++11 -Weverything -Werror -Wno-c++98-compat -c %s -o %t.o
// RUN: %clangxx -x c++ -std=c++20 -Weverything -Werror -Wno-c++98-compat -c %s -o %t.o
#include <cosy.h>
#include <unistd.h>

int count(int fd, char *buf, unsigned long size);

int count(int fd, char *buf, unsigned long size)
{
	int n = 0;

	COSY_START;
	while (read(fd, buf, size) > 0)
		n++;
	COSY_END;
	COSY_START_STOP_ON_ERROR;
	while (read(fd, buf, size) > 0)
		n++;
	COSY_END;
	COSY_START_WITH(COSY_MAX_OPERATIONS(1000), COSY_MAX_MS(5), COSY_AT_LIMIT(COSY_STOP));
	while (read(fd, buf, size) > 0)
		n++;
	COSY_END;
	return cosy_last_error() ? -n : n;
}
