// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Linux limits one call of a BPF function to 8,388,608 loop iterations. A user function
 * has no limit, and keeps all its live values, of which there are more than registers.
 */
// RUN: %clang -O2 -Wall -Werror %s -o %t -L%lib -l:libcosy.a
// RUN: %t > %t.native
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t > %t.out 2> %t.err
// RUN: diff %t.native %t.out && %FileCheck %s < %t.err
// CHECK-NOT: too many
// CHECK-DAG: function count: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function mix: executor=kernel upcalls=1{{$}}
#include <cosy.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct state {
	uint64_t rounds, rare, words[16];
	struct state *self;
};

/* Writes from the first iteration on, so it cannot be restarted natively. */
COSY_FUNCTION
static uint64_t count(struct state *s, uint64_t n)
{
	uint64_t i, c;

	for (i = 1; i <= n; i++) {
		s->rounds++;
		for (c = i; !(c & 0xfff); c >>= 1)
			s->rare += c;
	}
	return i;
}

/* Local variables of all kinds, in memory and in registers, in nested loops. */
COSY_FUNCTION
static uint64_t mix(struct state *s, const struct state *outer, uint32_t n)
{
	uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, sum = 0;
	uint64_t local[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	unsigned char narrow = 9;
	struct state *to = s;

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < 3000; j++) {
			to->words[j % 16] ^= j;
			while ((j & 0xff) == narrow) {
				a += b ^ j;
				b = c << 1 | c >> 63;
				c ^= d + a;
				d += e * 3;
				e ^= f >> 7;
				f += g ^ i;
				g -= h;
				h = a ^ narrow;
				local[a % 8] += d;
				sum += local[b % 8] + outer->words[a % 16];
				narrow = (unsigned char)(narrow * 5 + 1);
			}
			to = to->self;
		}
		to->rounds += i;
	}
	for (int i = 0; i < 8; i++)
		sum += local[i];
	return sum ^ a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}

int main(void)
{
	struct state *s = cosy_malloc(2 * sizeof(*s));
	uint64_t r = 0;

	memset(s, 0, 2 * sizeof(*s));
	s[0].self = &s[1];
	s[1].self = &s[0];
	for (int i = 0; i < 16; i++)
		s[0].words[i] = s[1].words[i] = i * 0x9e3779b97f4a7c15;
	COSY_START;
	getppid();
	r = count(s, 20000000);
	COSY_END;
	printf("%llu rounds, %llu %llu\n", (unsigned long long)r,
	       (unsigned long long)s->rounds, (unsigned long long)s->rare);
	COSY_START;
	getppid();
	r = mix(s, s + 1, 3500);
	COSY_END;
	printf("%llx %llx %llx\n", (unsigned long long)r,
	       (unsigned long long)s[0].words[3], (unsigned long long)s[1].words[5]);
	return 0;
}
