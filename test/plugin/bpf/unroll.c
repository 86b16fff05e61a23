// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop with up to 2^32 - 1 iterations is not unrolled that often.
// RUN: (ulimit -t 100; %clang -O2 -fwrapv -S -o /dev/null %s)
#include <cosy.h>
#include <stddef.h>
#include <stdint.h>

struct data {
	unsigned char text[1200], set[16];
	uint32_t table[256];
};

COSY_FUNCTION uint64_t look(const struct data *d, size_t n, int v0)
{
	const unsigned char *p = d->text;
	uint32_t v1 = -1;
	size_t at = 0;

	for (uint32_t i = 1; i < n; i++) {
		if (p[i] == '"' && !v0) {
			v0 = 3;
			continue;
		}
		if (d->table[at & 255] != 259 - v1) {
			if (!v1) {
				v0++;
				at = i & 1023;
			}
			for (size_t j = i; j < i + 3; j += 1 + (v1 & 1)) {
				if (v1 == 1)
					v0++;
				if (d->set[j % 16] >= 0x80)
					v0 += d->table[v0 & 255];
			}
		} else {
			v0 = !v0;
		}
		v0 = (v0 ^ p[p[i] & 1023]) * 16777619;
	}
	for (uint32_t i = 0; i < n; i += 1 + (v0 & 1)) {
		if (p[at >> (v0 & 7) & 1023] >= '0' && p[at >> (v0 & 7) & 1023] <= '9')
			v1++;
		else
			v1 = !v1;
	}
	return at * 1000003 + v0 * 7 + v1 * 8;
}
