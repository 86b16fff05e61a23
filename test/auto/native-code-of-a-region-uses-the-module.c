/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The native code of a region makes lstat() through the module. So a compound that leaves the
 * kernel in each iteration loses, with and without -fcosy-auto. One that makes calls without
 * a wrapper gains in both.
 */
// RUN: %cosy-cc -O2 -w %s -o %t.marked
// RUN: %cosy-cc -O2 -w -fcosy-auto %s -o %t.both
// On a CPU that counts instructions, because the verdict measures.
// RUN: %root/scripts/vm/run --icount -- sh -c 'for p in %t.marked %t.both; do COSY_STATS=1 $p 2>&1; done' | FileCheck %s
// RUN: %vm sh -c 'COSY_STATS=1 COSY_EXECUTOR=kernel %t.both 2>&1' | FileCheck --check-prefix=KERNEL %s

// CHECK-COUNT-2: {{64000 entries of directories[[:space:]].*native-code-of-a-region-uses-the-module.c:[0-9]+: executor=native runs=1000 .* native=99[0-9] verdict=loses.*[[:space:]].*native-code-of-a-region-uses-the-module.c:[0-9]+: executor=kernel runs=1000}}
// KERNEL: 64000 entries of directories
// KERNEL: native-code-of-a-region-uses-the-module.c:[[#]]: executor=kernel runs=1000 syscalls=64000
// KERNEL: native-code-of-a-region-uses-the-module.c:[[#]]: executor=kernel runs=1000
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
