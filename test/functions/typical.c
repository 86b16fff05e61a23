// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * typical.c - the kernel's verifier accepts typical functions. They give the same results in the
 * kernel, as up-calls and natively.
 */
// RUN: %clang -O2 -Wall -Werror %s -o %t -L%lib -l:libcosy.a
// RUN: %t > %t.native
// RUN: %vm env COSY_FUNCTIONS=native %t > %t.out
// RUN: diff %t.native %t.out
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t > %t.out 2> %t.err
// RUN: diff %t.native %t.out && %FileCheck %s < %t.err
// CHECK-NOT: runs natively
// CHECK-DAG: function look_up: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function quicksort: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function reverse: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function tree_walk: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function binary_search: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function tokenize: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function encode64: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function decode64: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function utf8: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function multiply: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function unpack: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function json: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function sha256: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function distance: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function matches: executor=kernel upcalls=2{{$}}
// CHECK-DAG: function heap: executor=kernel upcalls=1{{$}}
#include <cosy.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LENGTH(array)	(sizeof(array) / sizeof(*(array)))

/* A hash table of strings, with chaining. */
struct entry {
	struct entry *next;
	char key[24];
	long value;
};

struct table {
	struct entry *bucket[64];
};

static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619;
	return h;
}

COSY_FUNCTION static long look_up(const struct table *t, const char *key)
{
	for (const struct entry *e = t->bucket[hash(key) % 64]; e; e = e->next)
		if (!strcmp(e->key, key))
			return e->value;
	return -1;
}

/* Quicksort with its own stack, and insertion sort for short parts. */
COSY_FUNCTION static long quicksort(int *a, int n)
{
	struct {
		int low, high;
	} stack[32];
	int depth = 0, deepest = 0;

	stack[depth].low = 0;
	stack[depth++].high = n - 1;
	while (depth) {
		int low = stack[--depth].low, high = stack[depth].high;
		int i = low, j = high, pivot = a[low + (high - low) / 2];

		if (high - low < 8) {
			for (i = low + 1; i <= high; i++) {
				int v = a[i];

				for (j = i; j > low && a[j - 1] > v; j--)
					a[j] = a[j - 1];
				a[j] = v;
			}
			continue;
		}
		while (i <= j) {
			while (a[i] < pivot)
				i++;
			while (a[j] > pivot)
				j--;
			if (i <= j) {
				int v = a[i];

				a[i++] = a[j];
				a[j--] = v;
			}
		}
		if (depth + 2 > 32)
			return -1;
		/* The longer part first, so that the stack is sufficient. */
		if (j - low > high - i) {
			stack[depth].low = low;
			stack[depth++].high = j;
			stack[depth].low = i;
			stack[depth++].high = high;
		} else {
			stack[depth].low = i;
			stack[depth++].high = high;
			stack[depth].low = low;
			stack[depth++].high = j;
		}
		if (depth > deepest)
			deepest = depth;
	}
	return deepest;
}

struct node {
	struct node *next, *left, *right;
	long key;
};

COSY_FUNCTION static struct node *reverse(struct node *list)
{
	struct node *done = NULL, *next;

	for (; list; list = next) {
		next = list->next;
		list->next = done;
		done = list;
	}
	return done;
}

/* A tree in order, with an array as the stack. */
COSY_FUNCTION static unsigned long tree_walk(const struct node *n)
{
	const struct node *stack[64];
	unsigned long sum = 0;
	int depth = 0;

	while (n || depth) {
		while (n && depth < 64) {
			stack[depth++] = n;
			n = n->left;
		}
		n = stack[--depth];
		sum = sum * 31 + n->key;
		n = n->right;
	}
	return sum;
}

COSY_FUNCTION static long binary_search(const int *a, long n, int key)
{
	long low = 0, high = n;

	while (low < high) {
		long middle = low + (high - low) / 2;

		if (a[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && a[low] == key ? low : -1;
}

struct token {
	const char *text;
	unsigned int length;
	char kind;
};

/* Words, numbers, strings and the rest, with escapes and comments. */
COSY_FUNCTION static int tokenize(const char *s, struct token *out, int most)
{
	int n = 0;

	while (n < most) {
		const char *begin;
		char kind;

		while (*s == ' ' || *s == '\t' || *s == '\n')
			s++;
		if (s[0] == '/' && s[1] == '/') {
			while (*s && *s != '\n')
				s++;
			continue;
		}
		if (!*s)
			break;
		begin = s;
		if ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == '_') {
			kind = 'w';
			while ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
			       (*s >= '0' && *s <= '9') || *s == '_')
				s++;
		} else if (*s >= '0' && *s <= '9') {
			kind = 'n';
			while (*s >= '0' && *s <= '9')
				s++;
		} else if (*s == '"') {
			kind = 's';
			for (s++; *s && *s != '"'; s++)
				if (*s == '\\' && s[1])
					s++;
			if (!*s)
				return -1;
			s++;
		} else {
			kind = 'p';
			s++;
		}
		out[n].text = begin;
		out[n].length = (unsigned int)(s - begin);
		out[n++].kind = kind;
	}
	return n;
}

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

/* UTF-8 to code points. Invalid bytes become U+FFFD. */
COSY_FUNCTION static size_t utf8(const unsigned char *s, size_t n, uint32_t *out)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	size_t count = 0;

	for (size_t i = 0; i < n;) {
		uint32_t c = s[i++], more;

		if (c < 0x80) {
			out[count++] = c;
			continue;
		}
		if ((c & 0xe0) == 0xc0) {
			more = 1;
			c &= 0x1f;
		} else if ((c & 0xf0) == 0xe0) {
			more = 2;
			c &= 0x0f;
		} else if ((c & 0xf8) == 0xf0) {
			more = 3;
			c &= 0x07;
		} else {
			out[count++] = 0xfffd;
			continue;
		}
		uint32_t j = 0;

		for (; j < more && i < n && (s[i] & 0xc0) == 0x80; j++)
			c = c << 6 | (s[i++] & 0x3f);
		if (j < more || c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			c = 0xfffd;
		out[count++] = c;
	}
	return count;
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

/* The number of values of a JSON text; negative if it is not one. */
COSY_FUNCTION static int json(const char *s)
{
	char open[32];
	int depth = 0, values = 0;
	bool want = true;	/* a value must follow */

	for (;;) {
		while (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r')
			s++;
		if (want) {
			if (*s == '{' || *s == '[') {
				if (depth == 32)
					return -1;
				open[depth++] = *s++;
				while (*s == ' ' || *s == '\n')
					s++;
				if (*s == ']' || *s == '}')
					goto close;
				if (open[depth - 1] == '{')
					goto key;
				continue;
			}
			if (*s == '"') {
				for (s++; *s != '"'; s++) {
					if ((unsigned char)*s < ' ')
						return -2;
					if (*s == '\\' && !*++s)
						return -2;
				}
				s++;
			} else if (*s == '-' || (*s >= '0' && *s <= '9')) {
				for (s++; (*s >= '0' && *s <= '9') || *s == '.' || *s == 'e' ||
				     *s == 'E' || *s == '+' || *s == '-'; s++)
					;
			} else if (!strncmp(s, "true", 4) || !strncmp(s, "null", 4)) {
				s += 4;
			} else if (!strncmp(s, "false", 5)) {
				s += 5;
			} else {
				return -3;
			}
			values++;
			want = false;
			continue;
		}
		if (!depth)
			return *s ? -4 : values;
		if (*s == ',') {
			s++;
			want = true;
			if (open[depth - 1] == '[')
				continue;
key:
			while (*s == ' ' || *s == '\n')
				s++;
			if (*s++ != '"')
				return -5;
			while (*s && *s != '"')
				s += *s == '\\' && s[1] ? 2 : 1;
			if (!*s++)
				return -5;
			while (*s == ' ')
				s++;
			if (*s++ != ':')
				return -5;
			continue;
		}
close:
		if (*s != (open[depth - 1] == '[' ? ']' : '}'))
			return -6;
		s++;
		depth--;
		values++;
		want = false;
	}
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

/* The edit distance of two words. */
COSY_FUNCTION static int distance(const char *a, const char *b)
{
	int row[64], n = 0;

	for (; b[n] && n < 63; n++)
		row[n] = n;
	row[n] = n;
	for (int i = 1; *a; a++, i++) {
		int corner = i - 1;

		row[0] = i;
		for (int j = 1; j <= n; j++) {
			int best = corner + (*a != b[j - 1]);

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			corner = row[j];
			row[j] = best;
		}
	}
	return row[n];
}

/* Return true if the name matches the pattern of a shell. */
COSY_FUNCTION static bool matches(const char *pattern, const char *name)
{
	const char *star = NULL, *retry = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = name;
		} else if (*pattern == '?' || *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* A heap with the smallest element first, as in event queues. */
COSY_FUNCTION static long heap(int *a, int n)
{
	long sum = 0;

	for (int i = n / 2; i-- > 0;)
		for (int at = i, child; (child = 2 * at + 1) < n; at = child) {
			int v = a[at];

			if (child + 1 < n && a[child + 1] < a[child])
				child++;
			if (v <= a[child])
				break;
			a[at] = a[child];
			a[child] = v;
		}
	while (n > 1) {
		int at = 0, child, v = a[0];

		sum = sum * 7 + v;
		a[0] = a[--n];
		while ((child = 2 * at + 1) < n) {
			v = a[at];
			if (child + 1 < n && a[child + 1] < a[child])
				child++;
			if (v <= a[child])
				break;
			a[at] = a[child];
			a[child] = v;
			at = child;
		}
	}
	return sum;
}

/* The data of the functions, all in the segment. */
struct data {
	struct table table;
	struct entry entries[200];
	struct node nodes[100];
	struct token tokens[64];
	uint32_t points[256], state[8];
	int numbers[1000];
	long a[144], b[144], product[144];
	char text[1024], other[1024];
	unsigned char bytes[1024], packed[64];
};

static const char source[] =
	"int main(void) // the beginning\n"
	"{\n\tprintf(\"a \\\"b\\\"\\n\", x1 + 20 * _y); // the end\n}\n";
static const char document[] =
	"{ \"name\": [1, -2.5e3, true, null, \"a\\\"b\", {}, []],\n"
	"  \"more\": { \"x\": false, \"y\": [[[\"deep\"]]] } }";
static const char mixed[] =
	"a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xff\xc0\x80\xed\xa0\x80z\xe2\x82";
/* "abc" repeated, and the data after it. */
static const unsigned char packed[] = {
	0x3f, 'a', 'b', 'c', 3, 0, 255, 20, 0xa0,
	't', 'h', 'e', ' ', 't', 'a', 'i', 'l', ' ', '.',
};

static uint32_t next(void)
{
	static uint32_t random = 1;

	random = random * 1103515245 + 12345;
	return random >> 16;
}

static void prepare(struct data *d)
{
	struct node *root = &d->nodes[0], **at;

	memset(d, 0, sizeof(*d));
	for (size_t i = 0; i < LENGTH(d->entries); i++) {
		struct entry *e = &d->entries[i], **bucket;

		snprintf(e->key, sizeof(e->key), "key number %zu", i);
		e->value = (long)(i * i);
		bucket = &d->table.bucket[hash(e->key) % 64];
		e->next = *bucket;
		*bucket = e;
	}
	for (size_t i = 0; i < LENGTH(d->nodes); i++) {
		struct node *n = &d->nodes[i];

		n->key = next() % 1000;
		n->next = i ? n - 1 : NULL;
		if (!i)
			continue;
		for (at = &root; *at; at = n->key < (*at)->key ? &(*at)->left : &(*at)->right)
			;
		*at = n;
	}
	for (size_t i = 0; i < LENGTH(d->numbers); i++)
		d->numbers[i] = (int)(next() % 5000) - 2500;
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
	const char *list[] = { "key number 0", "key number 137", "key number 200" };
	const char *words[] = { "kernel", "kettle", "segments", "*.[ch]", "s*m?nt*" };
	long found[3], values[5], right = 0;
	struct node *first = &d->nodes[99];
	unsigned long walked;
	bool fits[2];

	prepare(d);
	for (int i = 0; i < 3; i++) {
		strcpy(d->text, list[i]);
		COSY_START;
		getppid();
		found[i] = look_up(&d->table, d->text);
		COSY_END;
	}
	COSY_START;
	getppid();
	walked = tree_walk(&d->nodes[0]);
	first = reverse(first);
	values[0] = quicksort(d->numbers, 1000);
	COSY_END;
	COSY_START;
	getppid();
	for (int i = 0; i < 100; i++)
		right += binary_search(d->numbers, 1000, i * 37 - 1800);
	values[1] = heap(d->numbers, 1000);
	multiply(d->a, d->b, d->product, 12);
	sha256(d->state, d->bytes, 16);
	COSY_END;
	if (print) {
		printf("found %ld %ld %ld\n", found[0], found[1], found[2]);
		printf("walked %lu, first %td, depth %ld, searched %ld, heap %ld\n", walked,
		       first - d->nodes, values[0], right, values[1]);
		printf("product %x, hash %x\n", sum(d->product, sizeof(d->product)),
		       sum(d->state, sizeof(d->state)));
	}

	strcpy(d->text, source);
	COSY_START;
	getppid();
	values[0] = tokenize(d->text, d->tokens, 64);
	COSY_END;
	for (long i = 0; print && i < values[0]; i++)
		printf("%c %.*s\n", d->tokens[i].kind, (int)d->tokens[i].length,
		       d->tokens[i].text);

	strcpy(d->text, document);
	for (int cut = 0; cut < 100; cut += 7) {
		d->text[sizeof(document) - 1 - cut] = '\0';
		COSY_START;
		getppid();
		values[0] = json(d->text);
		COSY_END;
		if (print)
			printf("json %ld\n", values[0]);
	}

	strcpy(d->text, mixed);
	COSY_START;
	getppid();
	values[0] = utf8((unsigned char *)d->text, sizeof(mixed) - 1, d->points);
	values[1] = encode64(d->bytes, 100, d->text);
	values[2] = decode64(d->text, d->bytes + 200);
	values[3] = unpack(d->packed, sizeof(packed), (unsigned char *)d->other, 1000);
	values[4] = unpack(d->packed, sizeof(packed), d->bytes + 400, 50);
	COSY_END;
	if (print) {
		for (long i = 0; i < values[0]; i++)
			printf("%x ", d->points[i]);
		printf("\n%ld %s\n%ld %d\n", values[1], d->text, values[2],
		       memcmp(d->bytes, d->bytes + 200, 100));
		printf("%ld %s\n%ld\n", values[3], d->other, values[4]);
	}

	for (size_t i = 1; i < LENGTH(words); i++) {
		strcpy(d->text, words[i]);
		strcpy(d->other, words[i - 1]);
		COSY_START;
		getppid();
		values[0] = distance(d->text, d->other);
		fits[0] = matches(d->text, d->other);
		COSY_END;
		strcpy(d->other, words[2]);
		COSY_START;
		getppid();
		fits[1] = matches(d->text, d->other);
		COSY_END;
		if (print)
			printf("%s: %ld %d %d\n", words[i], values[0], fits[0], fits[1]);
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
