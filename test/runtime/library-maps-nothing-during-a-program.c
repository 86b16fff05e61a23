/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A program may unmap memory and map the same range again, so libcosy must map nothing while a
 * program runs, on any executor and with every variable set. The same applies to a child process.
 */
// RUN: %compile %s -o %t -l:libcosy.a
// RUN: for by in native user; do \
// RUN:   COSY_EXECUTOR=$by %t | FileCheck %s || exit 1; \
// RUN:   COSY_EXECUTOR=$by COSY_STATS=1 COSY_DEBUG=1 COSY_FAST=0 %t 2>&1 | FileCheck %s || exit 1; \
// RUN:   COSY_EXECUTOR=$by COSY_STATS=%t.stats %t | FileCheck %s || exit 1; \
// RUN: done
// RUN: %vm sh -c 'COSY_EXECUTOR=kernel %t' | FileCheck %s
// RUN: %vm sh -c 'COSY_EXECUTOR=kernel COSY_STATS=1 COSY_DEBUG=1 COSY_FAST=0 %t' 2>&1 | FileCheck %s
// CHECK: child: same mappings, range mapped again, attached, sealed
// CHECK: parent: same mappings, range mapped again, attached, sealed
// The same with the regions in a library that is loaded later.
// RUN: %compile -DLIBRARY -shared -fPIC %s -o %t.so -l:libcosy.a
// RUN: %compile -DPROGRAM='"%t.so"' %s -o %t.lazy
// RUN: for by in native user; do COSY_EXECUTOR=$by %t.lazy | FileCheck %s || exit 1; done
// RUN: COSY_EXECUTOR=user COSY_STATS=1 %t.lazy 2>&1 | FileCheck %s
#include <unistd.h>

#include "region.h"

#ifndef PROGRAM
static void touch(uint64_t *frame)
{
	frame[2] += 2;
}

REGION(calls, CALLS, 12)
REGION(mixed, MIXED, 20, touch)

/* The code that runs between, and must give the right results. */
int run_regions(void)
{
	uint64_t a[4] = { 3 };
	uint64_t b[7] = { 5, 0, 0 };

	if (run(&calls, a) == 0 && a[1] != 3 * (uint64_t)getpid())
		return 0;
	return run(&mixed, b) != 0 || (b[1] == 5 && b[2] == 10 && b[3] == 30);
}
#endif

#ifndef LIBRARY
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SYS_MSEAL 462
#define SIZE	8192

/* Static, so that reading them maps nothing. */
static char before[1 << 16], after[1 << 16];
static int (*regions)(void);

static void read_maps(char *text, size_t size)
{
	int fd = open("/proc/self/maps", O_RDONLY);
	ssize_t n;

	CHECK(fd >= 0);
	memset(text, 0, size);
	while ((n = read(fd, text, size - 1)) > 0) {
		/* The stack may grow at any time. */
		char *stack;

		text[n] = 0;
		stack = strstr(text, "[stack]");
		if (stack) {
			while (stack > text && stack[-1] != '\n')
				*--stack = 's';
			if (strchr(stack, '-'))
				memset(stack, 's', 25);
		}
		text += n;
		size -= (size_t)n;
	}
	close(fd);
}

/* Memory that the program unmaps for a moment. */
static char *unmap_some(void)
{
	char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	EQUAL(munmap(p, SIZE), 0);
	return p;
}

/* In both processes the regions have not run before. */
static void check(const char *who)
{
	int id = shmget(IPC_PRIVATE, SIZE, IPC_CREAT | 0600);
	const char *shared = "not", *sealed = "not", *same = "other";
	char *p;

	CHECK(id >= 0);
	p = unmap_some();
	read_maps(before, sizeof(before));
	CHECK(regions());
	read_maps(after, sizeof(after));
	if (!strcmp(before, after))
		same = "same";

	/* Nothing is mapped there, so nothing is lost. */
	EQUAL(mmap(p, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
	      p);
	memset(p, 0xa5, SIZE);
	CHECK(regions());
	EQUAL(munmap(p, SIZE), 0);

	/* shmat() fails where memory is mapped. */
	if (shmat(id, p, 0) == p)
		shared = "";
	CHECK(!*shared);
	EQUAL(shmdt(p), 0);
	EQUAL(shmctl(id, IPC_RMID, NULL), 0);

	/* mseal() fails where nothing is mapped. */
	if (syscall(SYS_MSEAL, p, SIZE, 0) == -1 &&
	    (errno == ENOMEM || errno == ENOSYS || errno == EPERM))
		sealed = "";
	CHECK(regions());
	printf("%s: %s mappings, range mapped again,%s attached,%s sealed\n",
	       who, same, shared, sealed);
	fflush(stdout);
}

int main(void)
{
	pid_t pid;
	int status;

#ifdef PROGRAM
	void *library = dlopen(PROGRAM, RTLD_NOW);

	CHECK(library);
	regions = (int (*)(void))dlsym(library, "run_regions");
	CHECK(regions);
#else
	regions = run_regions;
#endif
	/* Whatever the C library needs to read a file and print. */
	read_maps(before, sizeof(before));
	printf("\n");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		check("child");
		_exit(0);
	}
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
	check("parent");
	return 0;
}
#endif
