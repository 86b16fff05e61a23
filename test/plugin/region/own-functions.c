// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the program that are called as libc's: the function that the linker has
// resolved counts, for all kinds of linking. The region whose functions are not libc's
// runs natively; the other one does not.
// RUN: %cc -O2 -DOTHER -c %s -o %t.other.o
// RUN: %cosy-cc -w -O0 -c %s -o %t.0.o && %cosy-cc -w -O2 -c %s -o %t.2.o
// RUN: %cosy-cc -w -O2 -fno-pie -c %s -o %t.no-pie.o
// RUN: %cosy-cc %t.0.o %t.other.o -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc %t.2.o %t.other.o -o %t && %run-all %t | FileCheck %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | FileCheck --check-prefix=STATS %s
// RUN: %cosy-cc -Wl,-z,now -Wl,--exclude-libs,ALL %t.2.o %t.other.o -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -no-pie %t.no-pie.o %t.other.o -o %t && %run-all %t | FileCheck %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | FileCheck --check-prefix=STATS %s
// RUN: %cosy-cc -static %t.2.o %t.other.o -o %t && %run-all %t | FileCheck %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | FileCheck --check-prefix=STATS %s
// RUN: %cosy-cc -static-pie %t.2.o %t.other.o -o %t && %run-all %t | FileCheck %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | FileCheck --check-prefix=STATS %s
// RUN: %cc -shared -fPIC -DOTHER %s -o %t.so
// RUN: %cosy-cc %t.2.o %t.so -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -w -O2 -flto -fuse-ld=lld %s -DOTHER -c -o %t.lto-other.o
// RUN: %cosy-cc -w -O2 -flto -fuse-ld=lld %s -c -o %t.lto.o
// RUN: %cosy-cc -flto -fuse-ld=lld %t.lto.o %t.lto-other.o -o %t && %run-all %t | FileCheck %s
//
// A library that is loaded before libc.
// RUN: %cc -shared -fPIC -DPRELOADED %s -o %t.pre.so
// RUN: %cosy-cc -w -O2 -DNO_LINK %s -o %t
// RUN: env COSY_EXECUTOR=user LD_PRELOAD=%t.pre.so %t | FileCheck --check-prefix=PRELOADED %s
// PRELOADED: 4711
struct node {
	int value;
};

// STATS: own-functions.c:[[#@LINE+31]]: runs natively: link() is not the C library's
// STATS: own-functions.c:[[#@LINE+37]]:{{.*}} executor=user {{.*}}syscalls=1
#if defined(OTHER)

int link(struct node *a, struct node *b)
{
	return a->value + b->value;
}

#elif defined(PRELOADED)

int getppid(void)
{
	return 4711;
}

#else

#include <cosy.h>
#include <stdio.h>

int link(struct node *, struct node *);
int getppid(void);

int main(void)
{
	int sum = 12, parent;

#ifndef NO_LINK
	struct node a = {5}, b = {7};

	COSY_START;
	sum = link(&a, &b);
	COSY_END;
#endif
	// CHECK: 12
	printf("%d\n", sum);

	COSY_START;
	parent = getppid();
	COSY_END;
	// CHECK-NEXT: 1
	printf("%d\n", parent == 4711 ? parent : parent > 0);
	return 0;
}

#endif
