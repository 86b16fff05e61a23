// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sha256sum - checksums of files
// RUN: %cosy-cc -O2 -D_GNU_SOURCE %s -o %t
// RUN: head -c 20000 %S/../../compound-ir/syscalls.def >%t.1 && : >%t.2 && head -c 55 %t.1 >%t.3
// RUN: head -c 64 %t.1 >%t.4
// RUN: %run-all %t %t.1 %t.2 %t.3 %t.4 >%t.out && sha256sum %t.1 %t.2 %t.3 %t.4 | diff - %t.out
#include <cosy.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

struct sha256 {
	uint32_t h[8];
	uint64_t bytes;
	unsigned char block[64];
	unsigned int fill;
};

#define ROTR(x, n) ((x) >> (n) | (x) << (32 - (n)))

static void transform(struct sha256 *s)
{
	uint32_t w[64], v[8];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)s->block[4 * i] << 24 | s->block[4 * i + 1] << 16 |
		       s->block[4 * i + 2] << 8 | s->block[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t s0 = ROTR(w[i - 15], 7) ^ ROTR(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t s1 = ROTR(w[i - 2], 17) ^ ROTR(w[i - 2], 19) ^ w[i - 2] >> 10;

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
	memcpy(v, s->h, sizeof(v));
	for (int i = 0; i < 64; i++) {
		uint32_t s1 = ROTR(v[4], 6) ^ ROTR(v[4], 11) ^ ROTR(v[4], 25);
		uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
		uint32_t s0 = ROTR(v[0], 2) ^ ROTR(v[0], 13) ^ ROTR(v[0], 22);
		uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		s->h[i] += v[i];
	s->fill = 0;
}

static void update(struct sha256 *s, const unsigned char *data, size_t n)
{
	s->bytes += n;
	while (n > 0) {
		size_t part = sizeof(s->block) - s->fill;

		if (part > n)
			part = n;
		memcpy(s->block + s->fill, data, part);
		s->fill += part;
		data += part;
		n -= part;
		if (s->fill == sizeof(s->block))
			transform(s);
	}
}

static void finish(struct sha256 *s)
{
	uint64_t bits = s->bytes * 8;

	s->block[s->fill++] = 0x80;
	if (s->fill > 56) {
		memset(s->block + s->fill, 0, 64 - s->fill);
		transform(s);
	}
	memset(s->block + s->fill, 0, 56 - s->fill);
	for (int i = 0; i < 8; i++)
		s->block[56 + i] = bits >> (56 - 8 * i);
	transform(s);
}

int main(int argc, char *argv[])
{
	static const uint32_t first[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};
	int status = 0;

	for (int i = 1; i < argc; i++) {
		unsigned char buf[4096];
		struct sha256 s = { .bytes = 0 };
		ssize_t n;
		int fd;

		memcpy(s.h, first, sizeof(first));
		COSY_START;
		fd = open(argv[i], O_RDONLY);
		while ((n = read(fd, buf, sizeof(buf))) > 0)
			update(&s, buf, n);
		close(fd);
		COSY_END;
		if (n < 0) {
			perror(argv[i]);
			status = 1;
			continue;
		}
		finish(&s);
		for (int j = 0; j < 8; j++)
			printf("%08x", s.h[j]);
		printf("  %s\n", argv[i]);
	}
	return status;
}
