// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A program with regions also runs them in the kernel under cosy run, because the wrappers that
 * its calls reach represent the C library's functions. With another library after the wrappers
 * that interposes the same function, the regions run natively.
 */

// RUN: %cosy-cc -O2 %s -o %t
// RUN: %cc -O1 -Wall -shared -fPIC -DOTHER %s -o %t.so
// RUN: %vm env COSY_EXECUTOR=kernel COSY_STATS=1 %t 2>&1 | FileCheck %s
// RUN: %vm env COSY_EXECUTOR=kernel COSY_STATS=1 %build/bin/cosy run %t 2>&1 | FileCheck %s
// CHECK-DAG: size 5
// CHECK-DAG: regions-run-in-the-kernel-below-cosy-run.c:[[@LINE+36]]: executor=kernel
// A region without a loop is not loaded for one run.
// RUN: %vm env COSY_STATS=1 %t 2>&1 | FileCheck --check-prefix=ONCE %s
// ONCE-DAG: size 5
// ONCE-DAG: regions-run-in-the-kernel-below-cosy-run.c:[[@LINE+32]]: executor=native runs=1 native=1{{$}}
// RUN: %vm sh -c 'COSY_STATS=1 LD_PRELOAD=$(%build/bin/cosy run --print):%t.so %t 2>&1' | FileCheck --check-prefix=OTHER %s
// OTHER-DAG: size 77
// OTHER-DAG: stat() is not the C library

#include <sys/stat.h>

#ifdef OTHER

int stat(const char *path, struct stat *to)
{
	(void)path;
	to->st_size = 77;
	return 0;
}

#else

#include <cosy.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
	char name[] = "/tmp/compiled-XXXXXX";
	struct stat st;
	int fd = mkstemp(name), result;

	if (fd < 0 || write(fd, "12345", 5) != 5 || close(fd))
		return 1;
	COSY_START;
	/* One call would gain less than a single call of the native code. */
	result = stat(name, &st) | stat(name, &st);
	COSY_END;
	if (result || unlink(name))
		return 1;
	printf("size %ld\n", (long)st.st_size);
	return 0;
}

#endif
