/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * library.c - the functions of the C library for user functions.
 *
 * The plugin contains them as bitcode, and links those that a user function calls.
 * The loops are plain, because the plugin adds budget checks and unrolls them.
 * Where that is simple, they process eight bytes at a time.
 */
#include <stddef.h>
#include <stdint.h>

typedef uint64_t __attribute__((may_alias, aligned(1))) word;

/* A word with all bytes 1; a word whose lowest set bit is in the first zero byte. */
#define EACH		0x0101010101010101ull
#define ZEROES(word)	(((word) - EACH) & ~(word) & 0x80 * EACH)
#define FIRST(zeroes)	(__builtin_ctzll(zeroes) / 8)

/* Called where the native function reports "buffer overflow detected". */
_Noreturn void __chk_fail(const void *end);

/* Copies from the lowest address on. @to may overlap @from if it is below it. */
static inline __attribute__((always_inline)) void *copy_up(void *to, const void *from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	for (; n >= 8; n -= 8, t += 8, f += 8)
		*(word *)t = *(const word *)f;
	for (; n; n--)
		*t++ = *f++;
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	return copy_up(to, from, n);
}

void *mempcpy(void *restrict to, const void *restrict from, size_t n)
{
	return (char *)memcpy(to, from, n) + n;
}

void *memmove(void *to, const void *from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if ((uintptr_t)t - (uintptr_t)f >= n)
		return copy_up(to, from, n);
	for (t += n, f += n; n >= 8; n -= 8) {
		t -= 8;
		f -= 8;
		*(word *)t = *(const word *)f;
	}
	for (; n; n--)
		*--t = *--f;
	return to;
}

void *memset(void *to, int c, size_t n)
{
	unsigned char *t = to;
	uint64_t all = (unsigned char)c * EACH;

	for (; n >= 8; n -= 8, t += 8)
		*(word *)t = all;
	for (; n; n--)
		*t++ = (unsigned char)c;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;

	for (; n >= 8 && *(const word *)p == *(const word *)q; n -= 8) {
		p += 8;
		q += 8;
	}
	for (; n; n--, p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}

int bcmp(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n);
}

/* Searches n bytes that are all mapped. */
static void *find(const unsigned char *p, unsigned char c, size_t n)
{
	uint64_t all = c * EACH;

	for (; n >= 8; n -= 8, p += 8) {
		uint64_t found = *(const word *)p ^ all;

		found = ZEROES(found);
		if (found)
			return (void *)(p + FIRST(found));
	}
	for (; n; n--, p++)
		if (*p == c)
			return (void *)p;
	return NULL;
}

void *memchr(const void *s, int c, size_t n)
{
	const unsigned char *p = s;

	/* Memory after the byte may be unmapped, except for the rest of its word. */
	for (; n && (uintptr_t)p % 8; n--, p++)
		if (*p == (unsigned char)c)
			return (void *)p;
	return find(p, (unsigned char)c, n);
}

void *memrchr(const void *s, int c, size_t n)
{
	const unsigned char *p = s;

	while (n--)
		if (p[n] == (unsigned char)c)
			return (void *)(p + n);
	return NULL;
}

void *rawmemchr(const void *s, int c)
{
	const unsigned char *p = s;

	while (*p != (unsigned char)c)
		p++;
	return (void *)p;
}

void *memmem(const void *hay, size_t n, const void *needle, size_t m)
{
	const unsigned char *h = hay, *w = needle, *end = h + n;

	if (!m)
		return (void *)hay;
	for (; (size_t)(end - h) >= m; h++) {
		h = find(h, *w, end - h - m + 1);
		if (!h)
			return NULL;
		if (memcmp(h, w, m) == 0)
			return (void *)h;
	}
	return NULL;
}

size_t strlen(const char *s)
{
	const char *p = s;
	uint64_t end;

	for (; (uintptr_t)p % 8; p++)
		if (!*p)
			return p - s;
	/* As in memchr(). */
	while (!(end = ZEROES(*(const word *)p)))
		p += 8;
	return p + FIRST(end) - s;
}

size_t strnlen(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n && s[i]; i++)
		;
	return i;
}

int strcmp(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return (unsigned char)*a - (unsigned char)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++)
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	return 0;
}

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++)
		if (!*s)
			return NULL;
	return (char *)s;
}

char *strchrnul(const char *s, int c)
{
	for (; *s && *s != (char)c; s++)
		;
	return (char *)s;
}

char *strrchr(const char *s, int c)
{
	const char *last = NULL;

	for (;; s++) {
		if (*s == (char)c)
			last = s;
		if (!*s)
			return (char *)last;
	}
}

char *strstr(const char *hay, const char *needle)
{
	size_t m = strlen(needle);

	if (!m)
		return (char *)hay;
	for (; *hay; hay++)
		if (*hay == *needle && strncmp(hay, needle, m) == 0)
			return (char *)hay;
	return NULL;
}

size_t strspn(const char *s, const char *accept)
{
	size_t n;

	for (n = 0; s[n] && strchr(accept, s[n]); n++)
		;
	return n;
}

size_t strcspn(const char *s, const char *reject)
{
	size_t n;

	for (n = 0; s[n] && !strchr(reject, s[n]); n++)
		;
	return n;
}

char *strpbrk(const char *s, const char *accept)
{
	s += strcspn(s, accept);
	return *s ? (char *)s : NULL;
}

char *stpcpy(char *restrict to, const char *restrict from)
{
	while ((*to = *from++))
		to++;
	return to;
}

char *strcpy(char *restrict to, const char *restrict from)
{
	stpcpy(to, from);
	return to;
}

char *strncpy(char *restrict to, const char *restrict from, size_t n)
{
	size_t i;

	for (i = 0; i < n && from[i]; i++)
		to[i] = from[i];
	for (; i < n; i++)
		to[i] = 0;
	return to;
}

char *strcat(char *restrict to, const char *restrict from)
{
	strcpy(to + strlen(to), from);
	return to;
}

/* The functions that _FORTIFY_SOURCE calls. size is that of the object at to. */

void *__memcpy_chk(void *restrict to, const void *restrict from, size_t n, size_t size)
{
	if (n > size)
		__chk_fail((char *)to + size);
	return memcpy(to, from, n);
}

void *__mempcpy_chk(void *restrict to, const void *restrict from, size_t n, size_t size)
{
	if (n > size)
		__chk_fail((char *)to + size);
	return mempcpy(to, from, n);
}

void *__memmove_chk(void *to, const void *from, size_t n, size_t size)
{
	if (n > size)
		__chk_fail((char *)to + size);
	return memmove(to, from, n);
}

void *__memset_chk(void *to, int c, size_t n, size_t size)
{
	if (n > size)
		__chk_fail((char *)to + size);
	return memset(to, c, n);
}

char *__stpcpy_chk(char *restrict to, const char *restrict from, size_t size)
{
	if (strlen(from) >= size)
		__chk_fail(to + size);
	return stpcpy(to, from);
}

char *__strcpy_chk(char *restrict to, const char *restrict from, size_t size)
{
	if (strlen(from) >= size)
		__chk_fail(to + size);
	return strcpy(to, from);
}

char *__strncpy_chk(char *restrict to, const char *restrict from, size_t n, size_t size)
{
	if (n > size)
		__chk_fail(to + size);
	return strncpy(to, from, n);
}

char *__strcat_chk(char *restrict to, const char *restrict from, size_t size)
{
	if (strlen(to) + strlen(from) >= size)
		__chk_fail(to + size);
	return strcat(to, from);
}
