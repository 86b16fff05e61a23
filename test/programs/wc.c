// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wc - count lines, words and bytes
// RUN: %cosy-cc -O2 -D_GNU_SOURCE %s -o %t
// RUN: head -c 100000 %S/../../compound-ir/syscalls.def >%t.1 && printf ' two  words' >%t.2
// RUN: %run-all %t %t.1 %t.2 | awk '{ print $1, $2, $3 }' >%t.out
// RUN: cat %t.1 %t.2 >%t.3 && wc %t.1 %t.2 | awk '{ print $1, $2, $3 }' | diff - %t.out
// RUN: %run-all --status 1 %t %t.missing %t.2 2>&1 | FileCheck %s
// CHECK: 0       2      11 {{.*}}.2
// CHECK: wc: {{.*}}.missing: No such file or directory
#include <cosy.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

struct counts {
	unsigned long lines, words, bytes;
};

static int count(const char *name, struct counts *total)
{
	struct counts c = { 0 };
	bool in_word = false;
	char buf[16384];
	ssize_t n;
	int fd;

	COSY_START;
	fd = open(name, O_RDONLY);
	if (fd < 0)
		goto fail;
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		c.bytes += n;
		for (char *p = buf; p < buf + n; p++) {
			switch (*p) {
			case '\n':
				c.lines++;
				/* fallthrough */
			case ' ': case '\t': case '\r': case '\f': case '\v':
				in_word = false;
				break;
			default:
				c.words += !in_word;
				in_word = true;
			}
		}
	}
	if (n < 0)
		goto fail;
	close(fd);
	COSY_END;

	printf("%7lu %7lu %7lu %s\n", c.lines, c.words, c.bytes, name);
	total->lines += c.lines;
	total->words += c.words;
	total->bytes += c.bytes;
	return 0;

fail:
	fprintf(stderr, "wc: ");
	perror(name);
	return 1;
}

int main(int argc, char *argv[])
{
	struct counts total = { 0 };
	int status = 0;

	for (int i = 1; i < argc; i++)
		status |= count(argv[i], &total);
	if (argc > 2)
		printf("%7lu %7lu %7lu total\n", total.lines, total.words, total.bytes);
	return status;
}
