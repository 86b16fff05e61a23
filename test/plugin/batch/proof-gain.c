// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * proof-gain.c - what the split of a loop without COSY_BATCH gains: on one CPU that counts instructions, for each
 * iteration natively, with the calls as single calls of the module, and with a compound for each iteration and
 * for each batch.
 */
// RUN: rm -rf %t && mkdir %t
// RUN: %cosy-cc -O2 -Wall -Rpass=cosy %s -o %t/split 2>&1 | FileCheck --check-prefix=REMARK %s
// REMARK: loop is split into batches of up to 16 iterations
// RUN: %cosy-cc -O2 -Wall -Wno-cosy-few-calls -DUNSPLIT='asm volatile("")' %s -o %t/unsplit
// RUN: %root/scripts/vm/run --icount -- sh -c 'COSY_EXECUTOR=native %t/unsplit native; COSY_EXECUTOR=auto %t/unsplit single; COSY_EXECUTOR=kernel %t/unsplit unsplit; COSY_EXECUTOR=native %t/split written; COSY_EXECUTOR=auto %t/split split' >%t/figures
// RUN: cat %t/figures
// RUN: awk '{ f[$1] = $2 } END { exit !(f["split"] < f["single"] - 150 && f["split"] < f["unsplit"] - 300 && f["split"] < f["native"] - 1200 && f["written"] < f["native"] + 20) }' %t/figures
#include <cosy.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#ifndef UNSPLIT
#define UNSPLIT ((void)0)
#endif

enum { FILES = 64, ROUNDS = 100 };

__attribute__((noinline)) static long scan(const char *const *paths, int n, long *restrict sizes)
{
	long newest = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;
		int err;

		COSY_START;
		err = stat(paths[i], &st);
		COSY_END;
		if (!err && st.st_mtime > newest)
			newest = st.st_mtime;
		sizes[i] = err ? -1 : st.st_size;
		UNSPLIT;
	}
	return newest;
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
	static char names[FILES][40];
	static const char *paths[FILES];
	static long sizes[FILES];
	long long start = 0;

	if (argc < 2)
		return 1;
	mkdir("/tmp/gain", 0700);
	mkdir("/tmp/gain/sub", 0700);
	for (int i = 0; i < FILES; i++) {
		snprintf(names[i], sizeof(names[i]), "/tmp/gain/sub/%d", i);
		paths[i] = names[i];
		mkdir(names[i], 0700);
	}
	for (int i = 0; i < ROUNDS; i++) {
		if (i == ROUNDS / 2)
			start = now();
		if (!scan(paths, FILES, sizes))
			return 1;
	}
	printf("%s %lld\n", argv[1], (now() - start) / (ROUNDS - ROUNDS / 2) / FILES);
	return 0;
}
