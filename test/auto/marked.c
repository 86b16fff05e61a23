/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A region in a program built with -fcosy-auto: its native code makes lstat() through the
 * module as well. So a compound that leaves the kernel in each iteration loses, which gains
 * without -fcosy-auto. One that makes calls without a wrapper gains in both.
 */
// RUN: %cosy-cc -O2 -w %s -o %t.marked
// RUN: %cosy-cc -O2 -w -fcosy-auto %s -o %t.both
// RUN: %vm sh -c 'COSY_STATS=1 %t.marked 2>&1' | FileCheck --check-prefixes=CHECK,MARKED %s
// RUN: %vm sh -c 'COSY_STATS=1 %t.both 2>&1' | FileCheck --check-prefixes=CHECK,BOTH %s
// RUN: %vm sh -c 'COSY_STATS=1 COSY_EXECUTOR=kernel %t.both 2>&1' | FileCheck --check-prefixes=CHECK,KERNEL %s

// CHECK: 64000 entries of directories
// MARKED: marked.c:[[@LINE+18]]: executor=kernel runs=1000 {{.*}} verdict=gains
// BOTH: marked.c:[[@LINE+17]]: executor=native runs=1000 {{.*}} native=99{{[0-9]}} verdict=loses gain=-
// KERNEL: marked.c:[[@LINE+16]]: executor=kernel runs=1000 syscalls=64000
// CHECK: marked.c:[[@LINE+28]]: executor=kernel runs=1000
#include <cosy.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static long found, sum;

/* random() has no operation. */
static void look(const char *name)
{
	struct stat status;
	int i;

	COSY_START;
	for (i = 0; i < 64; i++) {
		if (lstat(name, &status) == 0 && S_ISDIR(status.st_mode))
			found++;
		sum += random();
	}
	COSY_END;
}

static void seek(int fd)
{
	int i;

	COSY_START;
	for (i = 0; i < 64; i++)
		sum += lseek(fd, i, SEEK_SET);
	COSY_END;
}

int main(void)
{
	for (int i = 0; i < 1000; i++) {
		look("/tmp");
		seek(0);
	}
	printf("%ld entries of directories\n", found);
	fflush(stdout);
	return 0;
}
