// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// User functions give the same results as up-calls and in the kernel.
// RUN: %cosy-cc -O0 %s -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 %s -o %t && %run-all %t | FileCheck %s
// RUN: %vm env COSY_FUNCTIONS=kernel %t | FileCheck %s
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t 2>&1 | FileCheck --check-prefix=STATS %s
#include <cosy.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE 20000

/* One bit at a time, then by a table that is computed this way. */
#define BIT(c)	((c) >> 1 ^ ((c) & 1 ? 0xedb88320u : 0))
#define BITS(c)	BIT(BIT(BIT(BIT(c))))
static const uint32_t nibbles[16] = {
	BITS(0u), BITS(1u), BITS(2u), BITS(3u), BITS(4u), BITS(5u), BITS(6u), BITS(7u),
	BITS(8u), BITS(9u), BITS(10u), BITS(11u), BITS(12u), BITS(13u), BITS(14u), BITS(15u),
};

COSY_FUNCTION uint32_t crc32(const unsigned char *p, size_t n)
{
	uint32_t c = ~0u;

	while (n--) {
		c ^= *p++;
		c = nibbles[c & 15] ^ c >> 4;
		c = nibbles[c & 15] ^ c >> 4;
	}
	return ~c;
}

COSY_FUNCTION uint32_t adler(const unsigned char *p, size_t n)
{
	uint32_t a = 1, b = 0;

	for (size_t i = 0; i < n; i++) {
		a = (a + p[i]) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

COSY_FUNCTION const char *search(const char *hay, const char *needle)
{
	return strstr(hay, needle);
}

struct node {
	struct node *next, *left, *right;
	int key;
};

COSY_FUNCTION long walk(const struct node *n)
{
	unsigned long sum = 0;

	for (; n; n = n->next)
		sum = sum * 3 + n->key;
	return sum;
}

/* Writes pointers that user code follows. */
COSY_FUNCTION int insert(struct node **root, struct node *n)
{
	int depth = 0;

	for (; *root; depth++)
		root = n->key < (*root)->key ? &(*root)->left : &(*root)->right;
	*root = n;
	return depth;
}

static void swap(int *a, int *b)
{
	int t = *a;

	*a = *b;
	*b = t;
}

COSY_FUNCTION void sort(int *a, int n)
{
	for (int gap = n / 2; gap > 0; gap /= 2)
		for (int i = gap; i < n; i++)
			for (int j = i - gap; j >= 0 && a[j] > a[j + gap]; j -= gap)
				swap(&a[j], &a[j + gap]);
}

COSY_FUNCTION int64_t parse(const char *s)
{
	int64_t sum = 0;

	while (*s) {
		bool negative = *s == '-';
		int64_t v = 0;

		for (s += negative; *s >= '0' && *s <= '9'; s++)
			v = v * 10 + (*s - '0');
		sum += negative ? -v : v;
		s += strspn(s, ", ");
	}
	return sum;
}

COSY_FUNCTION bool utf8(const unsigned char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		unsigned int c = s[i];
		unsigned int k = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;

		if (!k || i + k > n)
			return false;
		for (unsigned int j = 1; j < k; j++)
			if ((s[i + j] & 0xc0) != 0x80)
				return false;
		i += k;
	}
	return true;
}

/* An array on the stack, and the code for memset() and memcpy(). */
COSY_FUNCTION unsigned int most(const unsigned char *p, size_t n)
{
	unsigned int count[256], best = 0;

	memset(count, 0, sizeof(count));
	for (size_t i = 0; i < n; i++)
		count[p[i]]++;
	for (unsigned int i = 1; i < 256; i++)
		if (count[i] > count[best])
			best = i;
	return best;
}

static const char *const months[] = { "jan", "feb", "mar", "apr", "may", "jun", NULL };

COSY_FUNCTION int month(const char *s)
{
	for (int i = 0; months[i]; i++)
		if (!strncmp(s, months[i], 3))
			return i;
	return -1;
}

/* Narrow and signed arguments and results, six of them. */
COSY_FUNCTION short narrow(signed char a, unsigned char b, short c, unsigned short d, int e,
			   bool f)
{
	return (short)(a * 3 + b / 7 - c % 11 + d + (e >> 3) - f);
}

COSY_FUNCTION uint64_t bits(uint64_t a, int64_t b)
{
	uint64_t r = 0, product;
	int64_t signed_product;

	for (int i = 0; i < 64; i++) {
		r += __builtin_popcountll(a) * 3 + __builtin_ctzll(a | 1ull << 63) * 5;
		r ^= __builtin_bswap64(a) + (a << (i & 63) | a >> (-i & 63));
		r += __builtin_mul_overflow(a, (uint64_t)b, &product);
		r += __builtin_mul_overflow((int64_t)a >> 30, b, &signed_product) * 2;
		r += product ^ signed_product;
		r += b / (i - 70) + b % (i - 90);
		a = a * 6364136223846793005ull + b;
		b ^= a >> 20;
	}
	return r;
}

COSY_FUNCTION long atomics(long *p, int *q)
{
	long r = __atomic_fetch_add(p, 5, __ATOMIC_SEQ_CST);
	int expected = 7;

	r += __atomic_compare_exchange_n(q, &expected, 9, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	r += __atomic_exchange_n(q, 11, __ATOMIC_ACQ_REL);
	__atomic_store_n(p, r + __atomic_load_n(q, __ATOMIC_ACQUIRE), __ATOMIC_SEQ_CST);
	return r * 100 + expected;
}

COSY_FUNCTION long pointers(struct node **list, struct node *a, struct node *b)
{
	struct node *expected = b;
	long r = __atomic_compare_exchange_n(list, &expected, b, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);

	r = r * 1000 + expected->key;
	r = r * 1000 + __atomic_exchange_n(list, b, __ATOMIC_SEQ_CST)->key;
	expected = b;
	r += __atomic_compare_exchange_n(list, &expected, a, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	__atomic_store_n(list, b, __ATOMIC_SEQ_CST);
	return r * 1000 + __atomic_load_n(list, __ATOMIC_SEQ_CST)->key;
}

/* The first call of a function is an up-call, because its program is loaded then. */
static void run(bool last)
{
	unsigned char *data = cosy_malloc(SIZE + 1);
	char *text = cosy_malloc(100), *needle = cosy_malloc(10);
	struct node *nodes = cosy_calloc(100, sizeof(*nodes)), *n;
	struct node **root = cosy_calloc(1, sizeof(*root));
	int *numbers = cosy_malloc(1000 * sizeof(*numbers)), *q = cosy_malloc(sizeof(*q));
	long *p = cosy_malloc(sizeof(*p));
	unsigned int seed = 1, sum[6], depth = 0;
	const char *found;
	int64_t values[4];
	bool valid[2];
	int months_found[2];

	for (int i = 0; i < SIZE; i++) {
		seed = seed * 1103515245 + 12345;
		data[i] = 'a' + (seed >> 16) % 26;
	}
	data[SIZE] = 0;
	memcpy(data + 15000, "12345", 5);
	strcpy(needle, "2345");
	strcpy(text, "12, -7 1000000000000,,-3");
	for (int i = 0; i < 100; i++) {
		nodes[i].key = (i * 37 + 11) % 101;
		nodes[i].next = i ? &nodes[i - 1] : NULL;
	}
	for (int i = 0; i < 1000; i++)
		numbers[i] = (i * 7919 + 13) % 1009 - 500;
	*p = 3;
	*q = 7;

	COSY_START;
	getpid();
	sum[0] = crc32(data, SIZE);
	sum[1] = adler(data, SIZE);
	found = search((char *)data, needle);
	values[0] = walk(&nodes[99]);
	for (int i = 0; i < 100; i++)
		depth += insert(root, &nodes[i]);
	sort(numbers, 1000);
	values[1] = parse(text);
	valid[0] = utf8(data, SIZE);
	data[100] = 0xc3;
	valid[1] = utf8(data, SIZE);
	sum[2] = most(data, SIZE);
	memcpy(text, "may", 4);
	months_found[0] = month(text);
	text[0] = 'x';
	months_found[1] = month(text);
	sum[3] = narrow(-100, 250, -32000, 65000, -123456, true);
	values[2] = bits(12345678901234567, -987654321987654321);
	values[3] = atomics(p, q);
	COSY_END;
	if (!last)
		return;

	// CHECK: crc32 a28addcf adler 3ad965cd
	printf("crc32 %x adler %x\n", sum[0], sum[1]);
	// CHECK-NEXT: found at 15001
	printf("found at %ld\n", (long)(found - (char *)data));
	// CHECK-NEXT: walk -3707768678905510589 parse 1000000000002
	printf("walk %ld parse %ld\n", (long)values[0], (long)values[1]);
	// CHECK-NEXT: depth 568
	printf("depth %u\n", depth);
	for (n = *root; n->left; n = n->left)
		;
	// CHECK-NEXT: least 0
	printf("least %d\n", n->key);
	for (int i = 1; i < 1000; i++)
		if (numbers[i - 1] > numbers[i])
			printf("not sorted at %d\n", i);
	// CHECK-NEXT: valid 1 0
	printf("valid %d %d\n", valid[0], valid[1]);
	// CHECK-NEXT: most d
	printf("most %c\n", sum[2]);
	// CHECK-NEXT: months 4 -1
	printf("months %d %d\n", months_found[0], months_found[1]);
	// CHECK-NEXT: narrow -16233 bits f37aa30eb77bd09e
	printf("narrow %d bits %lx\n", (int)sum[3], (long)values[2]);
	// CHECK-NEXT: atomics 1307 24
	printf("atomics %ld %ld\n", (long)values[3], *p);
}

static void run_pointers(bool last)
{
	struct node *nodes = cosy_calloc(2, sizeof(*nodes));
	struct node **list = cosy_malloc(sizeof(*list));
	long r;

	nodes[0].key = 95;
	nodes[1].key = 31;
	*list = nodes;
	COSY_START;
	getpid();
	r = pointers(list, &nodes[0], &nodes[1]);
	COSY_END;
	// CHECK-NEXT: pointers 95096031
	if (last)
		printf("pointers %ld\n", r);
}

int main(void)
{
	for (int i = 0; i < 3; i++) {
		run(i == 2);
		run_pointers(i == 2);
	}
	return 0;
}

// STATS-DAG: function crc32: executor=kernel upcalls=1{{$}}
// STATS-DAG: function adler: executor=kernel upcalls=1{{$}}
// STATS-DAG: function search: executor=kernel upcalls=1{{$}}
// STATS-DAG: function walk: executor=kernel upcalls=1{{$}}
// STATS-DAG: function insert: executor=kernel upcalls=1{{$}}
// STATS-DAG: function sort: executor=kernel upcalls=1{{$}}
// STATS-DAG: function parse: executor=kernel upcalls=1{{$}}
// STATS-DAG: function utf8: executor=kernel upcalls=1{{$}}
// STATS-DAG: function most: executor=kernel upcalls=1{{$}}
// STATS-DAG: function month: executor=kernel upcalls=1{{$}}
// STATS-DAG: function narrow: executor=kernel upcalls=1{{$}}
// STATS-DAG: function bits: executor=kernel upcalls=1{{$}}
// STATS-DAG: function atomics: executor=kernel upcalls=1{{$}}
// STATS-DAG: function pointers: executor=kernel upcalls=1{{$}}
