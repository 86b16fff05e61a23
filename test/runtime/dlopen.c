/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A library with regions is loaded, used and unloaded many times: nothing is
 * left behind, neither memory nor descriptors nor compounds in the module.
 * Its counts are printed when it goes.
 */
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
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
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
			open = descriptors();
		}
	}
	if (rounds > 3 && (lines_in("/proc/self/maps") > maps + 2 ||
			   descriptors() > open)) {
		fprintf(stderr, "left behind: %d mappings, %d descriptors\n",
			lines_in("/proc/self/maps") - maps,
			descriptors() - open);
		return 1;
	}
	printf("done\n");
	return 0;
}
#endif
