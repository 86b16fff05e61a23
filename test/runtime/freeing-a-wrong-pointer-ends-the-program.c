/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cosy_free() of an invalid pointer ends the program with a message, like free(). Before that,
 * memory and compounds can be used as usual.
 */
// RUN: %compile %s -o %t -l:libcosy.a
// RUN: for what in twice inside compound malloc stack realloc image; do \
// RUN:   (ulimit -c 0; %t $what >%t.out 2>&1; test $? = 134) && FileCheck %s <%t.out || exit 1; \
// RUN: done
// CHECK: {{^}}cosy: cosy_{{free|realloc}}(): invalid pointer 0x{{[0-9a-f]+}}: not allocated by libcosy, or freed before{{$}}
// CHECK-NOT: survived
// RUN: %t many | grep -qx done
#include <cosy.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char image[65536];
static size_t size;

static struct cosy *compound(void)
{
	struct cosy *compound = cosy_init(image, size);

	if (!compound)
		exit(1);
	return compound;
}

/* Blocks of all sizes, freed in another order than that of their allocation. */
static void many(void)
{
	static char *blocks[1000];
	unsigned int seed = 1;

	for (int i = 0; i < 200000; i++) {
		char **block = &blocks[rand_r(&seed) % 1000];

		if (*block && **block != (char)(block - blocks))
			exit(1);
		cosy_free(*block);
		*block = rand_r(&seed) % 8 ?
				 cosy_malloc(1 + rand_r(&seed) % 3000) :
				 cosy_aligned_alloc(256, 1 + rand_r(&seed) % 300);
		if (!*block)
			exit(1);
		**block = (char)(block - blocks);
	}
	printf("done\n");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	FILE *file = fopen(CALLS, "re");
	char *p = cosy_malloc(100);
	struct cosy *c;

	if (!file || !p)
		return 1;
	size = fread(image, 1, sizeof(image), file);
	fclose(file);
	setvbuf(stdout, NULL, _IONBF, 0);
	cosy_free(cosy_malloc(5));
	c = compound();
	if (!strcmp(what, "twice")) {
		cosy_free(p);
		cosy_free(p);
	} else if (!strcmp(what, "inside")) {
		cosy_free(p + 16);
	} else if (!strcmp(what, "compound")) {
		cosy_free(c);
		cosy_free(c);
	} else if (!strcmp(what, "malloc")) {
		cosy_free(malloc(100));
	} else if (!strcmp(what, "stack")) {
		cosy_free(&size);
	} else if (!strcmp(what, "realloc")) {
		cosy_free(p);
		p = cosy_realloc(p, 200);
	} else if (!strcmp(what, "image")) {
		cosy_free((char *)c + 16);
	} else {
		many();
		cosy_free(c);
		cosy_free(p);
		return 0;
	}
	printf("survived\n");
	return 0;
}
