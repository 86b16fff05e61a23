// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C constructs other than integers and loops, each in a region: volatile and atomic
// objects, thread-local and static ones, vectors, complex and wide numbers, odd
// bit-fields, flexible arrays, compound literals, statement expressions,
// _Generic, function pointers, recursion, regions in callees of regions.
// RUN: %cosy-cc -O0 %s -o %t -lm && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O1 %s -o %t -lm && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 -g %s -o %t -lm && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O3 -march=x86-64-v3 -flto=thin -fuse-ld=lld %s -o %t -lm
// RUN: %run-all --only native,user %t | FileCheck %s
// RUN: %cosy-cc -Os %s -o %t -lm && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O1 -fsanitize=address,undefined %s -o %t -lm
// RUN: %run-all --only native,user %t | FileCheck %s
#include <cosy.h>
#include <complex.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

typedef int v4si __attribute__((vector_size(16)));
typedef char v8qi __attribute__((vector_size(8)));

struct odd {
	unsigned long a : 33;
	long b : 31;
	_Bool c : 1;
	signed char d : 3;
	unsigned : 0;
	volatile unsigned e : 17;
	unsigned __int128 f : 70;
} __attribute__((packed));

struct flexible {
	size_t n;
	struct { short x; char y; } items[];
};

union pun { double d; uint64_t u; float f[2]; unsigned char c[8]; };

static _Thread_local struct { int n; char text[12]; } local = {3, "tls"};
static volatile sig_atomic_t seen;
static _Atomic long shared = 5;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static _Atomic(struct { int a, b; }) pair;

NOINLINE static long numbers(int n)
{
	unsigned __int128 w = 1;
	long double ld = 1.5L;
	double complex z = 1 + 2 * I;
	float f = 0;
	_Bool b = 0;
	long r = 0;

	COSY_START;
	for (int i = 1; i <= n; i++) {
		w = (w << 7 | w >> 121) * (unsigned)(i + (getpid() < 0)) + 1;
		if (w % 3 == 1)
			w -= (__int128)i * -i;
		ld = ld * i - (ld > 100 ? 50 : -1);
		z *= 1 + I * i;
		f += sqrtf(i) + (float)(i % 3) / 2;
		b ^= i & 2;
		r += (int)f + (b ? 1L << 40 : -1) + (long)creal(z) % 1000;
	}
	r += (long)(w >> 64) ^ (long)w;
	r += (long)fmodl(ld, 1e9L) + isnan(f) + (f > 1e3f);
	COSY_END;
	return r;
}

/* A value that fits no register, changes in a loop and is used after the region. */
NOINLINE static long wide(int n)
{
	unsigned __int128 w = 5;
	long double ld = 2;
	v4si a = {1, 2, 3, 4};

	COSY_START;
	for (int i = 0; i < n; i++) {
		w = w * 0x123456789abcdef1 + i;
		ld = ld * 3 + (getpid() < 0);
		a = a * 5 + i;
	}
	COSY_END;
	return (long)(w >> 60 ^ w) + (long)ld + a[0] + a[3];
}

/* What fits no register, and is another value at each exit to one label. */
NOINLINE static long wide_exits(int n, long double parameter)
{
	__int128 w = 3;
	long double ld = 1;
	long r = 0;

	if (n < 0)
		goto out;
	COSY_START;
	for (int i = 0; i < 10; i++) {
		r += getpid() > 0;
		if (i == n) {
			w = (__int128)7 << 70;
			ld = parameter;
			goto out;
		}
		if (i == n - 10) {
			w = (__int128)9 << 80;
			ld = i;
			goto out;
		}
	}
	COSY_END;
	w = r;
out:
	return r + (long)(w >> 60) + (long)(ld * 4);
}

/* Switches on what fits no register: written, and made of comparisons by LLVM. */
NOINLINE static long wide_switches(int n)
{
	__int128 w = 1;
	long r = 0;

	COSY_START;
	for (int i = 0; i < n; i++) {
		r = r * 3 + (getpid() > 0);
		switch (w) {
		case 1:
			r += 1;
			break;
		case (__int128)1 << 64:
			r += 2;
			break;
		case (__int128)1 << 100:
			r += 3;
			/* fall through */
		case (__int128)1 << 104:
			r += 4;
			break;
		default:
			r += 5;
		}
		if (w == 16 || w == 256 || w == (__int128)1 << 96 || w == 4096)
			r ^= 7;
		w <<= 4;
	}
	COSY_END;
	return r;
}

NOINLINE static long vectors(int n)
{
	v4si a = {1, 2, 3, 4}, b = {n, n, n, n};
	v8qi q = {0};
	long r = 0;

	COSY_START;
	for (int i = 0; i < n; i++) {
		a += b * i;
		q[i & 7] += a[i & 3];
		r += (a > b)[2] + getpid() * 0;
	}
	a = __builtin_shufflevector(a, b, 3, 2, 5, 0);
	r += a[0] + 10 * a[1] + 100 * a[2] + 1000 * a[3] + q[3];
	COSY_END;
	return r;
}

NOINLINE static long objects(int n)
{
	struct odd o = {.a = 5}, *p = &o;
	struct flexible *flex = malloc(sizeof(*flex) + n * sizeof(flex->items[0]));
	union pun u;
	volatile int v = n;
	static int calls;
	long r = 0;

	COSY_START;
	p->a = p->a * 0x1fffffffful + n;
	o.b = -n;
	o.c = n > 3;
	o.d = n;
	o.e = 0x1ffff - n;
	o.f = ((unsigned __int128)n << 66) | n;
	p->b++, --o.d, o.e += 5, o.f >>= 2;
	flex->n = n;
	for (size_t i = 0; i < flex->n; i++)
		flex->items[i] = (typeof(flex->items[0])){i * 3, getpid() < 0 ? 'a' : 'b'};
	r += flex->items[n - 1].x + flex->items[0].y;
	u.d = n;
	u.c[3] = 7;
	r += u.u >> 40;
	v += 2;
	v++;
	calls += v;
	r += v * 3 + calls;
	r += ((int[]){1, n, 3})[n % 3] + (&(struct odd){.a = 9 + n})->a;
	r += ({ int t = n; t *= t; getpid() > 0 ? t : 0; });
	r += _Generic(n, int: 1000, long: 2000);
	r += offsetof(struct flexible, items) + sizeof(o) + _Alignof(long double);
	local.n += n;
	strcpy(local.text + 3, "!");
	r += local.n + strlen(local.text);
	seen = seen + 1;
	r += seen;
	COSY_END;
	free(flex);
	return r + o.a + o.b + o.c + o.d + o.e + (long)o.f;
}

NOINLINE static long atomics(int n)
{
	long r = 0, expected = 8;
	typeof(pair) *pp = &pair;

	COSY_START;
	r += atomic_fetch_add(&shared, 3);
	r += atomic_compare_exchange_strong(&shared, &expected, n);
	r += expected * 10;
	r += atomic_exchange_explicit(&shared, 2, memory_order_acq_rel) * 100;
	r += atomic_flag_test_and_set(&flag) + 2 * atomic_flag_test_and_set(&flag);
	atomic_thread_fence(memory_order_seq_cst);
	shared |= 8;
	__atomic_store_n((char *)&shared, n, __ATOMIC_SEQ_CST);
	r += shared + (getpid() < 0) + sizeof(*pp);
	COSY_END;
	atomic_flag_clear(&flag);
	shared = 5;
	return r;
}

static int twice(int x) { return 2 * x; }
static int square(int x) { return x * x; }
static int ack(int m, int n) { return m ? ack(m - 1, n ? ack(m, n - 1) : 1) : n + 1; }
static int even(int n);
static int odd(int n) { return n ? even(n - 1) : 0; }
static int even(int n) { return n ? odd(n - 1) : 1; }
static int compare(const void *a, const void *b) { return *(int *)a - *(int *)b; }
NOINLINE static int sum(int n, ...)
{
	va_list ap;
	int s = 0;

	va_start(ap, n);
	while (n--)
		s += va_arg(ap, int) + (int)va_arg(ap, double);
	va_end(ap);
	return s;
}

// A region that is called from another one, and that calls the same function.
static int inner(int n)
{
	int r = 0;

	COSY_START;
	for (int i = 0; i < n; i++)
		r += getpid() > 0;
	if (n > 2)
		r += inner(n - 2);
	COSY_END;
	return r;
}

NOINLINE static long calls(int n)
{
	static int (*const table[])(int) = {twice, square, abs, inner};
	int list[] = {5, n, 3, -n, 8};
	long r = 0;

	COSY_START;
	for (int i = 0; i < n; i++)
		r = r * 3 + table[i & 3](i - (getpid() < 0));
	r += ack(2, 3) + even(n) * 5 + inner(6);
	qsort(list, 5, sizeof(list[0]), compare);
	r += list[0] + list[4] * 10;
	r += sum(3, 1, 1.5, 2, 2.5, n, 3.5);
	errno = 0;
	if (close(-1) < 0)
		r += errno * 1000;
	if (strtol("99999999999999999999", NULL, 10) == LONG_MAX)
		r += errno * 10000;
	COSY_END;
	return r;
}

#define REPEAT(what, n)				\
	({					\
		int count = 0;			\
		COSY_START;			\
		for (int i = 0; i < (n); i++)	\
			count += (what) > 0;	\
		COSY_END;			\
		count;				\
	})

NOINLINE static int macros(int n)
{
	return REPEAT(getpid(), n) + 100 * REPEAT(getppid() + 1, 2 * n);
}

NOINLINE static int control(int n, const char *text)
{
	int r = 0, i = 0;
	const char *p = text;

outer:
	for (;; i++) {
		COSY_START;
		switch (*p++) {
		case '0' ... '9':
			r = r * 10 + p[-1] - '0';
			break;
		case 'a' ... 'f':
		case 'A' ... 'F':
			r += getpid() > 0;
			/* fall through */
		case ' ':
			continue;
		case '!':
			if (i > n)
				goto outer_end;
			goto outer;
		case '\0':
			return -r;
		default:
			do {
				if (*p == '-')
					break;
			} while (*p++ != '.' && getppid() >= 0);
		}
		COSY_END;
		r += !r ? 3 : r > 5 && r < 40 ? 1 : 0;
	}
outer_end:
	return r;
}

int main(void)
{
	// CHECK: 6083223706633718766 2199035938707
	printf("%ld %ld\n", numbers(9), numbers(3));
	// CHECK-NEXT: 2121489382223565317 12
	printf("%ld %ld\n", wide(9), wide(0));
	// CHECK-NEXT: 4 7182 9437205 14
	printf("%ld %ld %ld %ld\n", wide_exits(-1, 2.5L), wide_exits(3, 2.5L),
	       wide_exits(14, 2.5L), wide_exits(30, 2.5L));
	// CHECK-NEXT: 254186578048848 11
	printf("%ld %ld\n", wide_switches(30), wide_switches(2));
	// CHECK-NEXT: 329548 3254
	printf("%ld %ld\n", vectors(9), vectors(2));
	// CHECK-NEXT: 4333827 8594130109
	printf("%ld %ld\n", objects(7), objects(2));
	// CHECK-NEXT: 4136 4237
	printf("%ld %ld\n", atomics(40), atomics(41));
	// CHECK-NEXT: 351129 349115
	printf("%ld %ld\n", calls(8), calls(3));
	// CHECK-NEXT: 1005
	printf("%d\n", macros(5));
	// CHECK-NEXT: 15345 -1069
	printf("%d %d\n", control(3, "12 ab3xyz.45!6!"), control(99, "7;-8.5 f!9"));
	return 0;
}
