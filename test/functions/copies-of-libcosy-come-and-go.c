// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two libraries with functions, each with a copy of libcosy or both with the shared one: the functions of both run
// in the kernel, also those of the second after the first was unloaded. After many loads and unloads no descriptor
// and no mapping is left.
// RUN: for name in one two; do \
// RUN:   o="-O2 -Wall -Wextra -Werror -DLIBRARY -DNAME=$name -shared -fPIC %s"; \
// RUN:   %cosy-cc $o -o %t.$name.static.so && \
// RUN:   %clang $o -o %t.$name.shared.so -L%lib -lcosy -Wl,-rpath,%lib || exit 1; \
// RUN: done
// RUN: %cc -O2 -Wall -Wextra -Werror %s -o %t
// RUN: for kind in static shared; do \
// RUN:   l="%t.one.$kind.so %t.two.$kind.so"; \
// RUN:   %vm env COSY_EXECUTOR=kernel COSY_FUNCTIONS=kernel %t 12 $l || exit 1; \
// RUN:   %vm env COSY_EXECUTOR=kernel COSY_FUNCTIONS=kernel COSY_STATS=1 %t 2 $l 2>&1 | FileCheck %s || exit 1; \
// RUN: done
// CHECK-COUNT-4: function {{one|two}}: executor=kernel
#ifdef LIBRARY
#include <cosy.h>
#include <unistd.h>

COSY_FUNCTION void NAME(unsigned int *to)
{
	++*to;
}

unsigned int use(void)
{
	unsigned int *count = cosy_calloc(1, sizeof(*count)), result;

	if (!count)
		return 0;
	for (int i = 0; i < 3; i++) {
		COSY_START;
		getppid();
		NAME(count);
		COSY_END;
	}
	result = *count;
	cosy_free(count);
	return result;
}
#else
#include <dlfcn.h>
#include <stdlib.h>

#include "../Inputs/check.h"
#include "../Inputs/descriptors.h"

static int lines_in(const char *name)
{
	FILE *file = fopen(name, "re");
	int lines = 0, c;

	while ((c = getc(file)) != EOF)
		lines += c == '\n';
	fclose(file);
	return lines;
}

int main(int argc, char **argv)
{
	const int rounds = argc > 3 ? atoi(argv[1]) : 0;
	int maps = 0, open = 0;

	CHECK(rounds);
	for (int i = 0; i < rounds; i++) {
		void *libraries[2];

		for (int j = 0; j < 2; j++) {
			libraries[j] = dlopen(argv[2 + j], RTLD_NOW | RTLD_LOCAL);
			CHECK(libraries[j]);
		}
		for (int j = 0; j < 2; j++) {
			unsigned int (*use)(void) = (unsigned int (*)(void))dlsym(libraries[j], "use");

			CHECK(use);
			EQUAL(use(), 3);
			if (i % 2)
				dlclose(libraries[j]);
		}
		for (int j = 0; j < 2 && i % 2 == 0; j++)
			dlclose(libraries[j]);
		if (i != 2)
			continue;
		maps = lines_in("/proc/self/maps");
		open = count_descriptors("");
	}
	if (rounds > 3) {
		EQUAL(count_descriptors(""), open);
		/* The heap may grow, and be split. */
		CHECK(lines_in("/proc/self/maps") <= maps + 2);
	}
	return 0;
}
#endif
