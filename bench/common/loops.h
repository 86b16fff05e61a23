/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loops.h - functions that read every byte. They are compiled to user functions in the
 * kernel, and by gcc, to compare both.
 *
 * A file that includes this one defines LOOP(name, arguments) to declare the functions.
 */
#ifndef BENCH_LOOPS_H
#define BENCH_LOOPS_H

#include <stddef.h>
#include <stdint.h>

/** struct loops_table - the table of CRC-32, which is data of a user function */
struct loops_table {
	uint32_t of[256];
};

LOOP(crc32, const unsigned char *p, size_t n, const struct loops_table *table)
{
	uint32_t crc = ~(uint32_t)0;

	for (size_t i = 0; i < n; i++)
		crc = table->of[(crc ^ p[i]) & 0xff] ^ crc >> 8;
	return ~crc;
}

LOOP(adler32, const unsigned char *p, size_t n)
{
	uint32_t a = 1, b = 0;

	while (n) {
		/* The sums of this many bytes cannot overflow. */
		size_t some = n < 5552 ? n : 5552;

		n -= some;
		while (some--) {
			a += *p++;
			b += a;
		}
		a %= 65521;
		b %= 65521;
	}
	return b << 16 | a;
}

/* Return the index of a byte. */
LOOP(byte, const unsigned char *p, size_t n, int c)
{
	size_t i;

	for (i = 0; i < n && p[i] != c; i++)
		;
	return i;
}

/* Return the index of a word. */
LOOP(word, const unsigned char *p, size_t n, const unsigned char *word, size_t length)
{
	for (size_t i = 0; i + length <= n; i++) {
		size_t j = 0;

		while (j < length && p[i + j] == word[j])
			j++;
		if (j == length)
			return i;
	}
	return n;
}

/* Return the length of the valid UTF-8 at the beginning. */
LOOP(utf8, const unsigned char *p, size_t n)
{
	size_t i = 0, more;

	for (; i < n; i += more + 1) {
		unsigned char c = p[i];

		if (c < 0x80)
			more = 0;
		else if (c >= 0xc2 && c < 0xe0)
			more = 1;
		else if (c >= 0xe0 && c < 0xf0)
			more = 2;
		else if (c >= 0xf0 && c < 0xf5)
			more = 3;
		else
			return i;
		if (more >= n - i)
			return i;
		for (size_t j = 1; j <= more; j++)
			if ((p[i + j] & 0xc0) != 0x80)
				return i;
		if ((c == 0xe0 && p[i + 1] < 0xa0) || (c == 0xed && p[i + 1] >= 0xa0) ||
		    (c == 0xf0 && p[i + 1] < 0x90) || (c == 0xf4 && p[i + 1] >= 0x90))
			return i;
	}
	return n;
}

/* Return the number of lines, and the length of the longest in the upper half. */
LOOP(lines, const unsigned char *p, size_t n)
{
	size_t begin = 0, longest = 0, lines = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] != '\n')
			continue;
		if (i - begin > longest)
			longest = i - begin;
		begin = i + 1;
		lines++;
	}
	return longest << 32 | lines;
}

/* Return the index of the first byte that is in a set. */
LOOP(set, const unsigned char *p, size_t n, const unsigned char *set)
{
	for (size_t i = 0; i < n; i++)
		for (const unsigned char *s = set; *s; s++)
			if (p[i] == *s)
				return i;
	return n;
}

/* Return the number of fields that end at blanks outside of quotes. */
LOOP(fields, const unsigned char *p, size_t n)
{
	size_t fields = 0;
	int quoted = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '"')
			quoted = !quoted;
		else if (!quoted && (p[i] == ' ' || p[i] == '\n'))
			fields++;
	}
	return fields;
}

/* Return the sum of the hashes of all words. */
LOOP(hash, const unsigned char *p, size_t n)
{
	uint64_t sum = 0;
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == ' ' || p[i] == '\n') {
			sum += h;
			h = 2166136261u;
		} else {
			h = (h ^ p[i]) * 16777619;
		}
	}
	return sum + h;
}

#endif /* BENCH_LOOPS_H */
