// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code that the executor cannot run is native in the middle of the compound.
// RUN: %clang -O1 -c -o %t.o -fplugin-arg-cosy-dump -Rpass=cosy -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: %cosy-cc -O0 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O3 -march=x86-64-v2 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
#include <cosy.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// CHECK: upcalls.c:[[#@LINE+6]]:{{.*}}remark: region became a compound: {{.*}} 1 system call, {{.*}}, 1 up-call
// CHECK: upcalls.c:[[#@LINE+8]]:{{.*}}remark: leaves the kernel for an up-call: call of printf
// CHECK-LABEL: .compound "messages"
// CHECK: upcall 0
static void messages(int n)
{
	COSY_START;
	for (int i = 0; i < n; i++)
		if (getpid() > 0)
			printf("message %d\n", i);
	COSY_END;
}

// Adjacent ones are one up-call.
// CHECK: remark: region became a compound: {{.*}}, 1 up-call
// CHECK: remark: leaves the kernel for an up-call: floating point
static double floats(int n, float f)
{
	double d = 1;

	COSY_START;
	for (int i = 0; i < n; i++) {
		d = d * 1.5 + i;
		f += (float)d / 3;
		n -= getpid() < 0;
	}
	COSY_END;
	return d + f;
}

static unsigned __int128 wide(long n)
{
	unsigned __int128 w = 1;
	long double l = 1;

	COSY_START;
	while (n-- > 0) {
		w = w * 1000003 + n;
		l = l / 2 + n;
		n -= getpid() < 0;
	}
	w += (long)l;
	COSY_END;
	return w;
}

struct pair { long a, b; };
struct big { long v[6]; };
__attribute__((noinline)) static struct pair make_pair(long a) { return (struct pair){a, a * 2}; }
__attribute__((noinline)) static struct big make_big(struct big b, int n) { b.v[n] += n; return b; }
static long apply(int (*f)(int), int n)
{
	struct pair p;
	struct big b = {{1, 2, 3, 4, 5, 6}};
	char *s;
	long r;

	COSY_START;
	r = f(n) + getpid() * 0;
	p = make_pair(r);
	b = make_big(b, n);
	s = malloc(10);
	strcpy(s, "abc");
	r = r * 1000 + p.b + b.v[n] + strlen(s);
	free(s);
	COSY_END;
	return r;
}

static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int square(int n) { return n * n; }

static long atomics(long *p)
{
	long r;

	COSY_START;
	r = __atomic_fetch_add(p, 3, __ATOMIC_SEQ_CST);
	r += __sync_val_compare_and_swap(p, 4, 40);
	__atomic_store_n(p + 1, r, __ATOMIC_SEQ_CST);
	__atomic_store_n(p + 2, __atomic_load_n(p + 1, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
	asm("addq $1, %0" : "+r"(r));
	r += getpid() < 0;
	COSY_END;
	return r;
}

static jmp_buf env;
static void jumper(int n) { if (n == 3) longjmp(env, 7); }
static int jumps(void)
{
	volatile int i = 0;
	int r = setjmp(env);

	if (r)
		return r * 10 + i;
	COSY_START;
	for (i = 0; i < 10; i++)
		jumper(i + (getpid() < 0));
	COSY_END;
	return 0;
}

int main(void)
{
	// OUT: message 0
	// OUT-NEXT: message 1
	messages(2);
	// OUT-NEXT: 71.4062
	printf("%.4f\n", floats(6, 0.5f));
	unsigned __int128 w = wide(12);
	// OUT-NEXT: 7feb16ae2bb442dc 212af05f6d950624
	printf("%lx %lx\n", (long)(w >> 64), (long)w);
	// OUT-NEXT: 16044 8017
	printf("%ld %d\n", apply(square, 4), (int)apply(fib, 5) + 2993);
	long v[3] = {1, 0, 0};
	long r = atomics(v);
	// OUT-NEXT: 6 40 5 5
	printf("%ld %ld %ld %ld\n", r, v[0], v[1], v[2]);
	// OUT-NEXT: 73
	printf("%d\n", jumps());
	return 0;
}
