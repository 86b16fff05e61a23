/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A library with regions is loaded, used and unloaded many times. Neither memory nor
 * descriptors nor compounds in the module may remain. Its counts are printed when it is
 * unloaded.
 */
// RUN: %compile %s -o %t
// RUN: %compile -DLIBRARY -shared -fPIC %s -o %t.static.so -l:libcosy.a
// RUN: %compile -DLIBRARY -shared -fPIC %s -o %t.shared.so -lcosy -Wl,-rpath,%lib
// RUN: for library in %t.static.so %t.shared.so; do \
// RUN:   for by in native user; do COSY_EXECUTOR=$by %t $library 300 | FileCheck %s || exit 1; done; \
// RUN:   %vm env COSY_EXECUTOR=kernel %t $library 60 </dev/null | FileCheck %s || exit 1; \
// RUN:   %vm env COSY_EXECUTOR=kernel COSY_STATS=1 %t $library 2 2>&1 </dev/null | FileCheck --check-prefix=STATS %s || exit 1; \
// RUN: done
// CHECK: done
// STATS-COUNT-2: cosy: prog.c:12: executor=kernel runs=1 syscalls=3 entries={{[1-9]}}

// A library with its own libcosy exports no symbol of it.
// RUN: nm -D --defined-only %t.static.so | not grep cosy
#ifdef LIBRARY
#include <unistd.h>

#include "region.h"

REGION(calls, CALLS, 12)

int use_region(void)
{
	uint64_t frame[4] = { 3 };

	if (run(&calls, frame) == 0)
		return frame[1] == 3 * (uint64_t)getpid();
	return 1;
}
#else
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../Inputs/descriptors.h"

static int lines_in(const char *name)
{
	FILE *file = fopen(name, "re");
	int lines = 0;
	int c;

	while ((c = getc(file)) != EOF)
		lines += c == '\n';
	fclose(file);
	return lines;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1;
	int maps = 0, open = 0;

	for (int i = 0; i < rounds; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		int (*use)(void) = library ?
			(int (*)(void))dlsym(library, "use_region") : NULL;

		if (!use || !use()) {
			fprintf(stderr, "round %d failed: %s\n", i, dlerror());
			return 1;
		}
		dlclose(library);
		if (i == 2) {
			maps = lines_in("/proc/self/maps");
			open = count_descriptors("");
		}
	}
	if (rounds > 3 &&
	    (lines_in("/proc/self/maps") > maps + 2 || count_descriptors("") > open)) {
		fprintf(stderr, "left behind: %d mappings, %d descriptors\n",
			lines_in("/proc/self/maps") - maps, count_descriptors("") - open);
		return 1;
	}
	printf("done\n");
	return 0;
}
#endif
