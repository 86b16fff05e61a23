// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Atomic operations of regions: the results of every operation on every size, with the
 * values at which they overflow; counts that several threads change at the same time are exact;
 * fences order them; an access that faults is the process's own SIGSEGV. None of them is an up-call.
 */
// RUN: %cosy-cc -O2 -Werror -Wno-cosy-no-system-call -pthread %s -o %t
// RUN: %cosy-objdump -d %t | %FileCheck --check-prefix=CODE %s
// RUN: %run-all --vm %t | %FileCheck %s
// RUN: %cosy-cc -O0 -Wno-cosy-no-system-call -pthread %s -o %t.O0
// RUN: %run-all --vm %t.O0 | %FileCheck %s

// CODE-NOT: {{^[^.]*}} upcall
// CODE: cmpxchg.1
// CODE-NOT: {{^[^.]*}} upcall
// CODE: cmpxchg.8
// CODE-NOT: {{^[^.]*}} upcall
#include <cosy.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Values at which one of the types overflows, and others. */
static const uint64_t values[] = {
	0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
	0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0x123456789abcdef0,
};

enum { NVALUES = sizeof(values) / sizeof(*values), NOPERATIONS = 16 };

/* The results of all operations on two values: what they return, and what is there afterwards. */
#define OPERATIONS(type, results, p, x, y) do {						\
	type old = (type)(y);								\
	int n = 0;									\
											\
	*p = (type)(x);									\
	results[n++] = __atomic_fetch_add(p, (type)(y), __ATOMIC_SEQ_CST);		\
	results[n++] = __atomic_sub_fetch(p, (type)(y), __ATOMIC_RELAXED);		\
	results[n++] = __atomic_fetch_and(p, (type)(y), __ATOMIC_ACQUIRE);		\
	results[n++] = __atomic_or_fetch(p, (type)(x), __ATOMIC_RELEASE);		\
	results[n++] = __atomic_fetch_xor(p, (type)(y), __ATOMIC_ACQ_REL);		\
	results[n++] = __atomic_fetch_nand(p, (type)(y), __ATOMIC_SEQ_CST);		\
	results[n++] = __atomic_fetch_max(p, (type)(y), __ATOMIC_SEQ_CST);		\
	results[n++] = __atomic_fetch_min(p, (type)(x), __ATOMIC_SEQ_CST);		\
	results[n++] = __atomic_exchange_n(p, (type)(x), __ATOMIC_SEQ_CST);		\
	results[n++] = __atomic_compare_exchange_n(p, &old, (type)~(y), false,		\
						   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED); \
	results[n++] = old;								\
	results[n++] = __atomic_load_n(p, __ATOMIC_SEQ_CST);				\
	__atomic_store_n(p, (type)(y), __ATOMIC_SEQ_CST);				\
	results[n++] = __atomic_load_n(p, __ATOMIC_ACQUIRE);				\
	__atomic_store_n(p, (type)(x), __ATOMIC_RELEASE);				\
	results[n++] = __sync_val_compare_and_swap(p, (type)(x), (type)(y));		\
	results[n++] = __sync_bool_compare_and_swap(p, (type)(x), (type)0);		\
	results[n++] = *p;								\
} while (0)

#define CHECK(type)									\
static __attribute__((noinline)) int check_##type(uint64_t x, uint64_t y)		\
{											\
	uint64_t native[NOPERATIONS] = { 0 }, region[NOPERATIONS] = { 0 };		\
	type at, *p = &at;								\
											\
	/* Otherwise it would be computed when compiled. */				\
	__asm__("" : "+r"(p));								\
	OPERATIONS(type, native, p, x, y);						\
	COSY_START;									\
	OPERATIONS(type, region, p, x, y);						\
	COSY_END;									\
	return memcmp(native, region, sizeof(native)) != 0;				\
}

CHECK(uint8_t)
CHECK(int8_t)
CHECK(uint16_t)
CHECK(int16_t)
CHECK(uint32_t)
CHECK(int32_t)
CHECK(uint64_t)
CHECK(int64_t)

static void check_values(void)
{
	static int (*const checks[])(uint64_t x, uint64_t y) = {
		check_uint8_t, check_int8_t, check_uint16_t, check_int16_t,
		check_uint32_t, check_int32_t, check_uint64_t, check_int64_t,
	};
	int wrong = 0, tried = 0;

	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		for (int x = 0; x < NVALUES; x++)
			for (int y = 0; y < NVALUES; y++, tried++)
				wrong += checks[i](values[x], values[y]);
	printf("%d pairs of values, %d wrong\n", tried, wrong);
}

/* A pointer, a flag and members of a structure. */
static struct {
	char before;
	atomic_bool flag;
	_Atomic(struct node *) list;
	atomic_uint_fast16_t small;
} shared;

struct node {
	struct node *next;
};

static void check_pointer(void)
{
	static struct node nodes[4];
	int pushed = 0, popped = 0;
	bool first, second;

	COSY_START;
	for (int i = 0; i < 4; i++) {
		nodes[i].next = atomic_load(&shared.list);
		while (!atomic_compare_exchange_weak(&shared.list, &nodes[i].next, &nodes[i]))
			;
		pushed += getppid() > 0;
	}
	first = atomic_exchange(&shared.flag, true);
	second = atomic_exchange(&shared.flag, false);
	atomic_fetch_add(&shared.small, 65537);
	COSY_END;
	for (struct node *n = shared.list; n; n = n->next)
		popped++;
	printf("pushed %d, in the list %d, flag %d then %d, small %d\n", pushed, popped, first,
	       second, (int)shared.small);
}

enum { THREADS = 4, ROUNDS = 2000 };
static atomic_int count32;
static atomic_long count64;
static atomic_uchar count8;
static long last_one;

static void *count(void *unused)
{
	(void)unused;
	COSY_START;
	for (int i = 0; i < ROUNDS; i++) {
		atomic_fetch_add(&count32, 3);
		getppid();
		atomic_fetch_sub(&count64, 5);
		atomic_fetch_add_explicit(&count8, 1, memory_order_relaxed);
		__atomic_store_n(&last_one, i, __ATOMIC_SEQ_CST);
	}
	COSY_END;
	return NULL;
}

static void check_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, count, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("counted %d, %ld, %d, last %ld\n", count32, count64, count8, last_one);
}

static sigjmp_buf jump;
static void *fault_at;

static void on_fault(int nr, siginfo_t *info, void *context)
{
	(void)nr;
	(void)context;
	fault_at = info->si_addr;
	siglongjmp(jump, 1);
}

static void check_fault(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	int *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	sigaction(SIGSEGV, &action, NULL);
	if (!sigsetjmp(jump, 1)) {
		COSY_START;
		__atomic_fetch_add(page + 7, 1, __ATOMIC_SEQ_CST);
		COSY_END;
		printf("no fault\n");
	}
	printf("fault at %d\n", (int)((char *)fault_at - (char *)page));
	sigaction(SIGSEGV, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	munmap(page, 4096);
}

/* Across a cache line, which is never aligned. */
static void check_unaligned(void)
{
	_Alignas(64) static char line[128];
	int *at = (int *)(line + 62), old;

	__asm__("" : "+r"(at));
	COSY_START;
	old = __sync_fetch_and_add(at, 258);
	old += __sync_fetch_and_add(at, 1);
	COSY_END;
	printf("unaligned: %d, bytes %d %d\n", old, line[62], line[63]);
}

enum { NFENCED = 100000 };
static struct { _Alignas(128) _Atomic int last; } written[2];
static int seen[2][NFENCED + 1];

static void *write_and_read(void *thread)
{
	int self = (int)(intptr_t)thread;

	COSY_START;
	for (int i = 1; i <= NFENCED; i++) {
		atomic_store_explicit(&written[self].last, i, memory_order_relaxed);
		atomic_thread_fence(memory_order_seq_cst);
		seen[self][i] = atomic_load_explicit(&written[!self].last, memory_order_relaxed);
	}
	COSY_END;
	return NULL;
}

/*
 * If thread 0 has written i and then not seen what thread 1 writes next, thread 1 has written that
 * after it, and must see i. Without the fences, both may see old values.
 */
static void check_fences(void)
{
	pthread_t threads[2];
	int wrong = 0;

	for (int t = 0; t < 2; t++)
		pthread_create(&threads[t], NULL, write_and_read, (void *)(intptr_t)t);
	for (int t = 0; t < 2; t++)
		pthread_join(threads[t], NULL);
	for (int i = 1; i <= NFENCED; i++)
		wrong += seen[0][i] < NFENCED && seen[1][seen[0][i] + 1] < i;
	printf("fences: %d wrong\n", wrong);
}

int main(void)
{
	check_values();
	check_pointer();
	check_threads();
	check_fences();
	check_fault();
	check_unaligned();
	return 0;
}
// CHECK: 2312 pairs of values, 0 wrong
// CHECK-NEXT: pushed 4, in the list 4, flag 0 then 1, small
// CHECK-NEXT: counted 24000, -40000, 64, last 1999
// CHECK-NEXT: fences: 0 wrong
// CHECK-NEXT: fault at 28
// CHECK-NEXT: unaligned: 258, bytes 3 1
