// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same program with different options.
// RUN: %cosy-cc -O2 -flto %s -o %t -fuse-ld=lld && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 -flto=thin %s -o %t -fuse-ld=lld && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 -g %s -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -Os -ffunction-sections -fdata-sections -Wl,--gc-sections %s -o %t
// RUN: %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 -static %s -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 -static-pie %s -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 -no-pie %s -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong %s -o %t
// RUN: %run-all %t | FileCheck %s
// RUN: %cosy-cc -O1 -fsanitize=undefined %s -o %t
// RUN: %run-all --only native,user %t | FileCheck %s
//
// DataFlowSanitizer would lose what it follows.
// RUN: not %cosy-cc -O1 -fsanitize=dataflow -c %s -o %t.o 2>&1 | FileCheck --check-prefix=DATAFLOW %s
// DATAFLOW: error: compounds cannot be used with -fsanitize=dataflow
// DATAFLOW-NOT: error:
// AddressSanitizer's own read() replaces libc's, so regions run natively.
// RUN: %cosy-cc -O1 -fsanitize=address %s -o %t
// RUN: COSY_DEBUG=1 COSY_EXECUTOR=user %t 2>&1 | FileCheck --check-prefixes=CHECK,ASAN %s
// ASAN: runs natively: read() is not the C library's
// RUN: mkdir -p %t.dir && cd %t.dir
// RUN: %cosy-cc -O1 -fprofile-instr-generate -fcoverage-mapping %s -o %t
// RUN: %run-all --only native,user %t | FileCheck %s
// RUN: %cosy-cc -O2 -save-temps %s -o %t && %run-all %t | FileCheck %s
//
// The instructions are valid, at each level.
// RUN: %clang -O0 -g -fverify-intermediate-code -c %s -o %t.o
// RUN: %clang -O3 -g -fverify-intermediate-code -c %s -o %t.o
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static __thread long total;
static const char *const names[] = {"/etc/passwd", "/nonexistent", "/etc/group"};

static long size_of(const char *name, char *buf, size_t size)
{
	long sum = 0, n;
	int fd = open(name, O_RDONLY);

	if (fd < 0)
		return -errno;
	while ((n = read(fd, buf, size)) > 0)
		sum += n;
	close(fd);
	return sum;
}

int main(void)
{
	char buf[100], copy[40];
	long missing = 0;

	COSY_START;
	for (unsigned int i = 0; i < 3; i++) {
		long n = size_of(names[i], buf, sizeof(buf));

		if (n < 0) {
			missing += n;
			printf("%s is missing\n", names[i]);
			continue;
		}
		total += n;
		memcpy(copy, names[i], strlen(names[i]) + 1);
	}
	COSY_END;
	// CHECK: /nonexistent is missing
	// CHECK-NEXT: 1 -2 /etc/group
	printf("%d %ld %s\n", total > 100, missing, copy);
	return 0;
}
