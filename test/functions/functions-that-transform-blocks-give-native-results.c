// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The kernel's verifier accepts functions that encode, unpack, hash and multiply blocks of data.
 * They give the same results in the kernel, as up-calls and natively.
 */
// RUN: %clang -O2 -Wall -Werror %s -o %t -L%lib -l:libcosy.a
// RUN: %t > %t.native
// RUN: %vm env COSY_FUNCTIONS=native %t > %t.out
// RUN: diff %t.native %t.out
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t > %t.out 2> %t.err
// RUN: diff %t.native %t.out && %FileCheck %s < %t.err
// CHECK-NOT: runs natively
// CHECK-DAG: function encode64: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function decode64: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function multiply: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function unpack: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function sha256: executor=kernel upcalls=1{{$}}
#include <cosy.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "Inputs/typical.h"

static const char base64[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

COSY_FUNCTION static size_t encode64(const unsigned char *in, size_t n, char *out)
{
	char *o = out;

	for (; n >= 3; n -= 3, in += 3) {
		*o++ = base64[in[0] >> 2];
		*o++ = base64[(in[0] & 3) << 4 | in[1] >> 4];
		*o++ = base64[(in[1] & 15) << 2 | in[2] >> 6];
		*o++ = base64[in[2] & 63];
	}
	if (n) {
		*o++ = base64[in[0] >> 2];
		*o++ = base64[(in[0] & 3) << 4 | (n == 2 ? in[1] >> 4 : 0)];
		*o++ = n == 2 ? base64[(in[1] & 15) << 2] : '=';
		*o++ = '=';
	}
	*o = '\0';
	return o - out;
}

COSY_FUNCTION static long decode64(const char *in, unsigned char *out)
{
	uint32_t bits = 0;
	int have = 0;
	long n = 0;

	for (; *in && *in != '='; in++) {
		int v;

		if (*in >= 'A' && *in <= 'Z')
			v = *in - 'A';
		else if (*in >= 'a' && *in <= 'z')
			v = *in - 'a' + 26;
		else if (*in >= '0' && *in <= '9')
			v = *in - '0' + 52;
		else if (*in == '+')
			v = 62;
		else if (*in == '/')
			v = 63;
		else
			return -1;
		bits = bits << 6 | v;
		have += 6;
		if (have >= 8) {
			have -= 8;
			out[n++] = (unsigned char)(bits >> have);
		}
	}
	return n;
}

COSY_FUNCTION static void multiply(const long *a, const long *b, long *to, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			long sum = 0;

			for (int k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			to[i * n + j] = sum;
		}
}

/* A block of LZ4. */
COSY_FUNCTION static long unpack(const unsigned char *in, size_t n, unsigned char *out, size_t room)
{
	const unsigned char *end = in + n;
	unsigned char *o = out, *limit = out + room;

	while (in < end) {
		unsigned int token = *in++, more;
		size_t length = token >> 4, back;

		if (length == 15) {
			do {
				if (in == end)
					return -1;
				more = *in++;
				length += more;
			} while (more == 255);
		}
		if (length > (size_t)(end - in) || length > (size_t)(limit - o))
			return -1;
		memcpy(o, in, length);
		in += length;
		o += length;
		if (in == end)
			return o - out;
		if (end - in < 2)
			return -1;
		back = in[0] | in[1] << 8;
		in += 2;
		if (!back || back > (size_t)(o - out))
			return -1;
		length = token & 15;
		if (length == 15) {
			do {
				if (in == end)
					return -1;
				more = *in++;
				length += more;
			} while (more == 255);
		}
		length += 4;
		if (length > (size_t)(limit - o))
			return -1;
		for (; length; length--, o++)
			*o = *(o - back);
	}
	return -1;
}

/* SHA-256 of a text that is already padded. */
static const uint32_t k256[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate(uint32_t v, int by)
{
	return v >> by | v << (32 - by);
}

COSY_FUNCTION static void sha256(uint32_t *state, const unsigned char *p, size_t blocks)
{
	while (blocks--) {
		uint32_t w[64], v[8];

		for (int i = 0; i < 16; i++, p += 4)
			w[i] = (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
		for (int i = 16; i < 64; i++)
			w[i] = w[i - 16] + w[i - 7] +
			       (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
			       (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
		memcpy(v, state, sizeof(v));
		for (int i = 0; i < 64; i++) {
			uint32_t e = v[4], a = v[0];
			uint32_t x = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
				     ((e & v[5]) ^ (~e & v[6])) + k256[i] + w[i];
			uint32_t y = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
				     ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

			memmove(v + 1, v, 7 * sizeof(*v));
			v[4] += x;
			v[0] = x + y;
		}
		for (int i = 0; i < 8; i++)
			state[i] += v[i];
	}
}

/* The data of the functions, all in the segment. */
struct data {
	uint32_t state[8];
	long a[144], b[144], product[144];
	char text[1024], other[1024];
	unsigned char bytes[1024], packed[64];
};

/* "abc" repeated, and the data after it. */
static const unsigned char packed[] = {
	0x3f, 'a', 'b', 'c', 3, 0, 255, 20, 0xa0,
	't', 'h', 'e', ' ', 't', 'a', 'i', 'l', ' ', '.',
};

static void prepare(struct data *d)
{
	memset(d, 0, sizeof(*d));
	for (size_t i = 0; i < LENGTH(d->a); i++) {
		d->a[i] = next();
		d->b[i] = next();
	}
	for (size_t i = 0; i < LENGTH(d->state); i++)
		d->state[i] = 0x6a09e667 * (uint32_t)(i + 1);
	for (size_t i = 0; i < LENGTH(d->bytes); i++)
		d->bytes[i] = (unsigned char)next();
	memcpy(d->packed, packed, sizeof(packed));
}

static uint32_t sum(const void *p, size_t n)
{
	uint32_t s = 0;

	for (size_t i = 0; i < n; i++)
		s = s * 31 + ((const unsigned char *)p)[i];
	return s;
}

static void run(struct data *d, bool print)
{
	long values[4];

	prepare(d);
	COSY_START;
	getppid();
	multiply(d->a, d->b, d->product, 12);
	sha256(d->state, d->bytes, 16);
	COSY_END;
	COSY_START;
	getppid();
	values[0] = encode64(d->bytes, 100, d->text);
	values[1] = decode64(d->text, d->bytes + 200);
	values[2] = unpack(d->packed, sizeof(packed), (unsigned char *)d->other, 1000);
	values[3] = unpack(d->packed, sizeof(packed), d->bytes + 400, 50);
	COSY_END;
	if (print) {
		printf("product %x, hash %x\n", sum(d->product, sizeof(d->product)),
		       sum(d->state, sizeof(d->state)));
		printf("%ld %s\n%ld %d\n", values[0], d->text, values[1],
		       memcmp(d->bytes, d->bytes + 200, 100));
		printf("%ld %s\n%ld\n", values[2], d->other, values[3]);
	}
}

int main(void)
{
	struct data *d = cosy_malloc(sizeof(*d));

	/* The first call of a function is an up-call, because its program is loaded then. */
	run(d, false);
	run(d, true);
	return 0;
}
