// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Cosy_malloc() and the similar functions, on ordinary memory and on arenas, in many
 * threads and in child processes.
 *
 *	memory [SEGMENTS]	on arenas, so many of them one after the other
 */
// RUN: %compile %s -o %t -l:libcosy.a
// RUN: %t
// With KASAN each arena needs half a GiB of shadow memory, and about ten seconds.
// RUN: %vm %t $(test "$COSY_KERNEL" = debug && echo 3 || echo 100)
#include <cosy.h>
#include <cosy/region.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../Inputs/check.h"

#define MIB	((size_t)1 << 20)
#define GIB	((size_t)1 << 30)
#define MAX	(4 * GIB - 128 * 1024)

static uint64_t base_of(const void *p)
{
	return (uintptr_t)p >> 32;
}

static void test_family(void)
{
	char *p, *q;

	p = cosy_malloc(100);
	CHECK(p);
	EQUAL((uintptr_t)p % 16, 0);
	CHECK(cosy_usable_size(p) >= 100);
	CHECK((uint32_t)(uintptr_t)p >= 65536);
	memset(p, 7, cosy_usable_size(p));
	q = cosy_realloc(p, 100000);
	CHECK(q && cosy_usable_size(q) >= 100000);
	EQUAL(q[0], 7);
	EQUAL(q[99], 7);
	memset(q, 8, 100000);
	p = cosy_realloc(q, 10);
	CHECK(p);
	EQUAL(p[9], 8);
	cosy_free(p);
	cosy_free(NULL);

	p = cosy_calloc(1000, 1000);
	CHECK(p);
	for (size_t i = 0; i < 1000000; i++)
		EQUAL(p[i], 0);
	memset(p, 1, 1000000);
	cosy_free(p);
	p = cosy_calloc(1000, 1000);
	CHECK(p);
	CHECK(!memchr(p, 1, 1000000));
	cosy_free(p);

	p = cosy_malloc(0);
	q = cosy_malloc(0);
	CHECK(p && q && p != q);
	cosy_free(p);
	cosy_free(q);
	EQUAL(cosy_usable_size(NULL), 0);
	p = cosy_realloc(NULL, 5);
	CHECK(p);
	cosy_free(p);
}

static void test_wrong_sizes(void)
{
	errno = 0;
	CHECK(!cosy_calloc((size_t)1 << 33, (size_t)1 << 33));
	EQUAL(errno, ENOMEM);
	errno = 0;
	CHECK(!cosy_malloc(SIZE_MAX));
	EQUAL(errno, ENOMEM);
	errno = 0;
	CHECK(!cosy_malloc(SIZE_MAX - 100));
	EQUAL(errno, ENOMEM);
	errno = 0;
	CHECK(!cosy_malloc(4 * GIB));
	EQUAL(errno, ENOMEM);
	errno = 0;
	CHECK(!cosy_aligned_alloc(48, 5));
	EQUAL(errno, EINVAL);
	CHECK(!cosy_aligned_alloc(0, 5));
	EQUAL(errno, EINVAL);
	errno = 0;
	CHECK(!cosy_realloc(&errno, 5));
	EQUAL(errno, EINVAL);
}

static void test_reuse(void)
{
	void *blocks[100];
	char *p;

	for (size_t a = 1; a <= 4 * MIB; a *= 2) {
		p = cosy_aligned_alloc(a, a / 2 + 3);
		CHECK(p);
		EQUAL((uintptr_t)p % a, 0);
		memset(p, 3, a / 2 + 3);
		cosy_free(p);
	}

	/* Freed memory is allocated again. */
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 100; i++) {
			blocks[i] = cosy_malloc(100000);
			CHECK(blocks[i]);
		}
		for (int i = 0; i < 100; i++)
			cosy_free(blocks[i]);
	}
	CHECK((uint32_t)(uintptr_t)blocks[99] < 64 * MIB);
}

static void test_segments(int segments)
{
	struct cosy_segment *a = cosy_segment_create(0);
	struct cosy_segment *b = cosy_segment_create(10 * MIB);
	char *p, *q, *r;

	CHECK(a && b);
	CHECK(cosy_segment_use(a) == NULL);
	p = cosy_malloc(10);
	EQUAL(cosy_segment_use(b), a);
	q = cosy_malloc(10);
	EQUAL(cosy_segment_use(NULL), b);
	r = cosy_malloc(10);
	CHECK(p && q && r && base_of(p) != base_of(q) &&
	      base_of(p) != base_of(r) && base_of(q) != base_of(r));
	/* Memory stays at its address, and is freed there. */
	p = cosy_realloc(p, 100000);
	CHECK(p && base_of(p) != base_of(r));
	cosy_free(p);

	cosy_segment_use(b);
	CHECK(!cosy_malloc(11 * MIB));
	EQUAL(errno, ENOMEM);
	p = cosy_malloc(9 * MIB);
	CHECK(p);
	CHECK(!cosy_malloc(2 * MIB));
	cosy_segment_use(NULL);
	cosy_free(r);
	cosy_segment_destroy(a);
	cosy_segment_destroy(b);
	cosy_segment_destroy(NULL);
	CHECK(!cosy_segment_create(MAX + 1));
	EQUAL(errno, EINVAL);
	CHECK(!cosy_segment_create(SIZE_MAX));
	EQUAL(errno, EINVAL);

	/* The maximum number at a time, and more one after the other. */
	for (int i = 0; i < segments; i++) {
		a = cosy_segment_create(0);
		cosy_segment_use(a);
		p = cosy_malloc(5000);
		CHECK(p);
		if (p)
			memset(p, i, 5000);
		cosy_segment_destroy(a);
	}
	CHECK(cosy_segment_use(NULL) == NULL);
}

/* The largest possible block. On arenas all of it would be populated. */
static void test_large(bool arena)
{
	size_t size = arena ? 64 * MIB : MAX - MIB;
	struct cosy_segment *a = cosy_segment_create(0);
	char *p;

	cosy_segment_use(a);
	p = cosy_malloc(size);
	CHECK(p);
	if (p) {
		p[0] = 1;
		p[size - 1] = 2;
		p[size / 2] = 3;
		EQUAL(base_of(p), base_of(p + size - 1));
	}
	cosy_free(p);
	cosy_segment_use(NULL);
	cosy_segment_destroy(a);
}

static void *allocate(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;
	unsigned char *blocks[64] = { 0 };
	size_t sizes[64] = { 0 };
	struct cosy_segment *own = NULL;

	if (seed % 2) {
		own = cosy_segment_create(0);
		cosy_segment_use(own);
	}
	for (int i = 0; i < 5000; i++) {
		int k = rand_r(&seed) % 64;

		if (blocks[k] && (blocks[k][0] != k || blocks[k][sizes[k] - 1] != k))
			return "a block has changed";
		cosy_free(blocks[k]);
		sizes[k] = 1 + rand_r(&seed) % (i % 100 ? 500 : 50000);
		blocks[k] = cosy_malloc(sizes[k]);
		if (!blocks[k])
			return "no memory";
		memset(blocks[k], k, sizes[k]);
	}
	for (int k = 0; k < 64; k++)
		cosy_free(blocks[k]);
	cosy_segment_destroy(own);
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[8];
	void *what;

	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, allocate, (void *)(uintptr_t)i);
	for (int i = 0; i < 8; i++) {
		pthread_join(threads[i], &what);
		EQUAL(what, 0);
	}
}

static bool stop;

static void *keep_allocating(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		void *p = cosy_malloc(100), *q = cosy_malloc(30000);

		cosy_free(p);
		cosy_free(q);
	}
	return arg;
}

/* A child has the memory of its parent. Both continue without seeing changes of the other. */
static void test_fork(void)
{
	enum { N = 1000 };
	int *numbers[N];
	pthread_t thread;
	int status;

	for (int i = 0; i < N; i++) {
		numbers[i] = cosy_malloc(sizeof(int) + i * 10);
		*numbers[i] = i;
	}
	pthread_create(&thread, NULL, keep_allocating, NULL);
	for (int round = 0; round < 5; round++) {
		pid_t pid = fork();

		if (!pid) {
			for (int i = 0; i < N; i++)
				if (*numbers[i] != i)
					_exit(1);
			for (int i = 0; i < N; i++) {
				*numbers[i] = -1;
				numbers[i] = cosy_realloc(numbers[i], i * 20 + 4);
				if (!numbers[i] || *numbers[i] != -1)
					_exit(2);
			}
			/* And alternately. */
			pid = fork();
			if (!pid)
				_exit(*numbers[N - 1] != -1 || !cosy_malloc(3 * MIB));
			waitpid(pid, &status, 0);
			_exit(status ? 3 : 0);
		}
		waitpid(pid, &status, 0);
		EQUAL(status, 0);
		for (int i = 0; i < N; i++)
			EQUAL(*numbers[i], i);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	for (int i = 0; i < N; i++)
		cosy_free(numbers[i]);
}

/* NULL of the segment, its beginning and its end are not mapped. */
static void test_guards(void)
{
	char *p = cosy_malloc(1), *base = (char *)((uintptr_t)p >> 32 << 32);
	char *bad[] = { base, base + 65535, base + 4 * GIB - 1,
			base + 4 * GIB - 65536, base + 2 * GIB };
	int status;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		pid_t pid = fork();

		if (!pid) {
			signal(SIGSEGV, SIG_DFL);
			*(volatile char *)bad[i] = 1;
			_exit(0);
		}
		waitpid(pid, &status, 0);
		CHECK(WIFSIGNALED(status));
		EQUAL(WTERMSIG(status), SIGSEGV);
	}
	cosy_free(p);
}

int main(int argc, char **argv)
{
	static struct cosy_function none = { .abi = COSY_REGION_ABI };
	bool arena = argc > 1;

	/* A program with functions has its segments on arenas. */
	if (arena)
		cosy_functions_add(&none, 1);
	test_family();
	test_wrong_sizes();
	test_reuse();
	test_segments(arena ? atoi(argv[1]) : 100);
	test_large(arena);
	test_threads();
	test_fork();
	test_guards();
	if (arena)
		cosy_functions_remove(&none, 1);
	return 0;
}
