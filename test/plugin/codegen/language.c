// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C language in a region: integers of all widths, structs, bit-fields,
// arrays, unions, switch, calls of functions of the same file, thread-local
// variables.
// RUN: %clang -O2 -c -o %t.o -Rpass=cosy -fplugin-arg-cosy-no-outline %s 2>&1 | FileCheck %s
// RUN: %cosy-cc -O0 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O1 -fplugin-arg-cosy-no-outline %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O3 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
#include <cosy.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct bits { unsigned a : 3; int b : 5; unsigned long c : 40; _Bool d; };
struct point { short x, y; };
union word { unsigned u; unsigned char c[4]; };
enum color { RED, GREEN = 5, BLUE };

static __thread int counter = 5;
static int table[8];
static struct bits bits;

static void bump(int *p, int by) { *p += by; }
static int sum_of(const struct point *p, int n)
{
	int s = 0;

	while (n--)
		s += p[n].x * p[n].y;
	return s;
}

// No part of it leaves the kernel.
// CHECK-NOT: up-call
static int64_t mix(int8_t c, uint8_t uc, int16_t s, uint16_t us, int32_t i, uint32_t u, int64_t l,
		   uint64_t ul)
{
	int64_t r = getpid() > 0;

	COSY_START;
	c += uc;
	uc = uc * 3 + us;
	s = s / (c ? c : 1) - us;
	us = (us << 3) ^ s;
	i = i % 1000 + s * us;
	u = u / 7 + (u >> 3) + (uint32_t)i;
	l = (l >> 5) + (int64_t)u * i;
	ul = ul / 11 % 1000003 + (ul << 7);
	r += c + uc * 3 + s * 5 + us * 7 + (int64_t)i * 11 + u + l + ul;
	r += (c < uc) + 2 * (s >= us) + 4 * (i < (int)u) + 8 * ((uint64_t)l > ul);
	r ^= ~l & (ul | -r);
	r += getpid() < 0;
	COSY_END;
	return r;
}

static long data(int n)
{
	struct point p[4] = {{1, 2}, {3, 4}, {5, 6}}, q;
	union word w;
	enum color col = n & 1 ? GREEN : BLUE;
	char text[32] = "hello";
	long r = 0;
	int k = 7;

	COSY_START;
	q = p[n & 1];
	p[3] = (struct point){.x = q.y, .y = (short)-n};
	w.u = 0x01020304u * n;
	bits.a = n;
	bits.b = -n;
	bits.c = n * 123456789012;
	bits.d = n > 2;
	bits.c++;
	switch (col) {
	case RED: r = 1; break;
	case GREEN: r = 10;
	/* fall through */
	case BLUE: r += 100; break;
	}
	switch (n) {
	case 0: r += 1; break;
	case 1 ... 2: r += 2; break;
	case 7: r += 70;
	/* fall through */
	case 9: r += 90; break;
	case 1000000: r += 3; break;
	case -5: r += 5; break;
	default: r += 4;
	}
	bump(&k, n);
	bump(&table[k & 7], k);
	counter += k, table[counter & 7]++;
	memcpy(text + 8, text, 6);
	memmove(text + 1, text, 12);
	memset(text, 'x', n & 15);
	r += strlen(text) * 1000 + text[3];
	r += (memcmp(text, "xxhello", 4) > 0) * 7;
	r += memchr(text, 'o', 20) ? (char *)memchr(text, 'o', 20) - text : -1;
	r += sum_of(p, 4) * 10000L + w.c[n & 3] + bits.a + bits.b + bits.c + bits.d;
	r += getpid() < 0;
	COSY_END;
	for (int i = 0; i < 8; i++)
		r = r * 31 + table[i];
	return r * 31 + counter;
}

int main(void)
{
	// OUT: {{^}}621484248162545209{{$}}
	// OUT-NEXT: done
	int64_t h = 0;

	for (int i = -20; i < 20; i++) {
		h = h * 31 + mix(i * 7, i * 13, i * 1777, i * 3001, i * 1234567, i * 7654321, i * 99887766554433, i);
		h = h * 31 + data(i);
	}
	printf("%lu\ndone\n", (unsigned long)h);
	return 0;
}
