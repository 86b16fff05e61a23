// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The kernel's verifier accepts functions that read source code, JSON, UTF-8 and patterns. They
 * give the same results in the kernel, as up-calls and natively.
 */
// RUN: %clang -O2 -Wall -Werror %s -o %t -L%lib -l:libcosy.a
// RUN: %t > %t.native
// RUN: %vm env COSY_FUNCTIONS=native %t > %t.out
// RUN: diff %t.native %t.out
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t > %t.out 2> %t.err
// RUN: diff %t.native %t.out && %FileCheck %s < %t.err
// CHECK-NOT: runs natively
// CHECK-DAG: function tokenize: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function utf8: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function json: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function distance: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function matches: executor=kernel upcalls=2{{$}}
#include <cosy.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "Inputs/typical.h"

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

/* The data of the functions, all in the segment. */
struct data {
	struct token tokens[64];
	uint32_t points[256];
	char text[1024], other[1024];
};

static const char source[] =
	"int main(void) // the beginning\n"
	"{\n\tprintf(\"a \\\"b\\\"\\n\", x1 + 20 * _y); // the end\n}\n";
static const char document[] =
	"{ \"name\": [1, -2.5e3, true, null, \"a\\\"b\", {}, []],\n"
	"  \"more\": { \"x\": false, \"y\": [[[\"deep\"]]] } }";
static const char mixed[] =
	"a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xff\xc0\x80\xed\xa0\x80z\xe2\x82";

static void run(struct data *d, bool print)
{
	const char *words[] = { "kernel", "kettle", "segments", "*.[ch]", "s*m?nt*" };
	long count;
	bool fits[2];

	memset(d, 0, sizeof(*d));
	strcpy(d->text, source);
	COSY_START;
	getppid();
	count = tokenize(d->text, d->tokens, 64);
	COSY_END;
	for (long i = 0; print && i < count; i++)
		printf("%c %.*s\n", d->tokens[i].kind, (int)d->tokens[i].length,
		       d->tokens[i].text);

	strcpy(d->text, document);
	for (int cut = 0; cut < 100; cut += 7) {
		d->text[sizeof(document) - 1 - cut] = '\0';
		COSY_START;
		getppid();
		count = json(d->text);
		COSY_END;
		if (print)
			printf("json %ld\n", count);
	}

	strcpy(d->text, mixed);
	COSY_START;
	getppid();
	count = utf8((unsigned char *)d->text, sizeof(mixed) - 1, d->points);
	COSY_END;
	for (long i = 0; print && i < count; i++)
		printf("%x%c", d->points[i], i + 1 < count ? ' ' : '\n');

	for (size_t i = 1; i < LENGTH(words); i++) {
		strcpy(d->text, words[i]);
		strcpy(d->other, words[i - 1]);
		COSY_START;
		getppid();
		count = distance(d->text, d->other);
		fits[0] = matches(d->text, d->other);
		COSY_END;
		strcpy(d->other, words[2]);
		COSY_START;
		getppid();
		fits[1] = matches(d->text, d->other);
		COSY_END;
		if (print)
			printf("%s: %ld %d %d\n", words[i], count, fits[0], fits[1]);
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
