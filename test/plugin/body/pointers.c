// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * pointers.c - calls through pointers: of the only function of a type, of one of three, of one whose
 * type more functions have, of a function of another file, with and without link-time optimisation,
 * and of one that changes the pointer. The results are those of the native code; functions that can be
 * guessed take no up-call.
 */
// RUN: %cosy-cc -O2 -DOTHER_FILE -c %s -o %t.other.o
// RUN: %cosy-cc -O2 -Wno-cosy-up-call-in-loop %s %t.other.o -o %t
// RUN: %run-all --vm %t | %FileCheck %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | %FileCheck --check-prefix=STATS %s
// RUN: %cosy-cc -O0 -Wno-cosy-up-call-in-loop %s %t.other.o -o %t.O0
// RUN: %run-all --vm %t.O0 | %FileCheck %s
// RUN: %cosy-cc -O2 -flto -DOTHER_FILE -c %s -o %t.other.bc
// RUN: %cosy-cc -O2 -flto -Wno-cosy-up-call-in-loop %s %t.other.bc -o %t.lto
// RUN: %run-all --vm %t.lto | %FileCheck %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t.lto 2>&1 | %FileCheck --check-prefix=LTO %s

#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

long (*from_other_file(void))(long);

#ifdef OTHER_FILE
static long elsewhere(long v)
{
	return v * 5 + 2;
}

long (*from_other_file(void))(long)
{
	return elsewhere;
}
#else

static int next(int v)
{
	return v + 1;
}

static unsigned short half(unsigned short v)
{
	return v / 2;
}

static unsigned short inverse(unsigned short v)
{
	return (unsigned short)~v;
}

static unsigned short square(unsigned short v)
{
	return (unsigned short)(v * v);
}

static char c1(char v) { return v + 1; }
static char c2(char v) { return v + 2; }
static char c3(char v) { return v + 3; }
static char c4(char v) { return v + 4; }

static long here(long v)
{
	return v * 3 + 1;
}

struct operations {
	int (*next)(int);
};

static struct operations operations = { .next = next };
static unsigned short (*volatile three[])(unsigned short) = { half, inverse, square };
static char (*volatile four[])(char) = { c1, c2, c3, c4 };
static void (*changing)(int);
static int changed;

static void second(int v)
{
	changed += 100 * v;
}

static void first(int v)
{
	changed += v;
	changing = second;
}

int main(void)
{
	unsigned short u = 40000;
	long l = 0, m = 0;
	int n = 0;
	char c = 0;
	struct operations *volatile unknown = &operations;
	const struct operations *o = unknown;
	long (*other)(long) = from_other_file();
	long (*volatile ours)(long) = here;

	// STATS: pointers.c:[[#@LINE+2]]: executor=user runs=1 syscalls=50 entries=0{{$}}
	// LTO: pointers.c:[[#@LINE+1]]: executor=user runs=1 syscalls=50 entries=0{{$}}
	COSY_START;
	for (int i = 0; i < 50; i++) {
		n = o->next(n);
		getppid();
	}
	COSY_END;
	// STATS: pointers.c:[[#@LINE+2]]: executor=user runs=1 syscalls=30 entries=0{{$}}
	// LTO: pointers.c:[[#@LINE+1]]: executor=user runs=1 syscalls=30 entries=0{{$}}
	COSY_START;
	for (int i = 0; i < 30; i++) {
		u = three[i % 3](u);
		getppid();
	}
	COSY_END;
	// STATS: pointers.c:[[#@LINE+2]]: executor=user runs=1 syscalls=8 entries=0 upcalls=8{{$}}
	// LTO: pointers.c:[[#@LINE+1]]: executor=user runs=1 syscalls=8 entries=0 upcalls=8{{$}}
	COSY_START;
	for (int i = 0; i < 8; i++) {
		c = four[i % 4](c);
		getppid();
	}
	COSY_END;
	// STATS: pointers.c:[[#@LINE+2]]: executor=user runs=1 syscalls=10 entries=0 upcalls=10{{$}}
	// LTO: pointers.c:[[#@LINE+1]]: executor=user runs=1 syscalls=10 entries=0{{$}}
	COSY_START;
	for (int i = 0; i < 10; i++) {
		l = ours(l);
		m = other(m);
		getppid();
	}
	COSY_END;
	changing = first;
	COSY_START;
	for (int i = 1; i < 4; i++) {
		changing(i);
		getppid();
	}
	COSY_END;
	printf("%d %d %d %ld %ld %d\n", n, u, c, l, m, changed);
	return 0;
}
#endif
// CHECK: 50 17473 20 29524 4882812 501
