// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The data of a region's fault in a handler: signal, si_code and si_addr, for all kinds
 * of invalid addresses and for all widths, and for divisions. The handler may make the memory
 * accessible and return, or jump.
 */
// RUN: %cosy-cc -O1 %s -o %t -Wno-cosy-no-system-call
// RUN: %run-all --vm %t | %FileCheck %s
#include <cosy.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

static sigjmp_buf out;
static volatile int repair;
static char *page;
static volatile long sink;

/* The address of a division error is that of an instruction, which differs. */
static void handler(int sig, siginfo_t *info, void *context)
{
	char *addr = info->si_addr;

	(void)context;
	printf(" signal %d code %d", sig, info->si_code);
	if (sig == SIGFPE)
		;
	else if (addr >= page && addr < page + 2 * PAGE)
		printf(" page+%ld", (long)(addr - page));
	else
		printf(" %p", (void *)addr);
	if (repair) {
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
		return;
	}
	siglongjmp(out, 1);
}

#define ACCESS(type)								\
static __attribute__((noinline)) long load_##type(const volatile type *p)	\
{										\
	long value;								\
										\
	COSY_START;								\
	value = (long)*p;							\
	COSY_END;								\
	return value;								\
}										\
static __attribute__((noinline)) void store_##type(volatile type *p)		\
{										\
	COSY_START;								\
	*p = 7;									\
	COSY_END;								\
}
ACCESS(uint8_t)
ACCESS(uint16_t)
ACCESS(uint32_t)
ACCESS(uint64_t)

static void access_all(const char *what, char *p)
{
	printf("%s:", what);
#define TRY(how, type)								\
	do {									\
		if (!sigsetjmp(out, 1))						\
			how##_##type((void *)p);				\
	} while (0)
	TRY(load, uint8_t);
	TRY(load, uint16_t);
	TRY(load, uint32_t);
	TRY(load, uint64_t);
	TRY(store, uint8_t);
	TRY(store, uint16_t);
	TRY(store, uint32_t);
	TRY(store, uint64_t);
	printf("\n");
}

static __attribute__((noinline)) int divide(int a, int b)
{
	int quotient;

	COSY_START;
	quotient = a / b;
	COSY_END;
	return quotient;
}

static __attribute__((noinline)) long remainder64(long a, long b)
{
	long rest;

	COSY_START;
	rest = a % b;
	COSY_END;
	return rest;
}

/* The fault occurs in the middle. Earlier operations have been executed once. */
static __attribute__((noinline)) long middle(int fd, volatile char *p)
{
	long calls = 0;

	COSY_START;
	calls += lseek(fd, 1, SEEK_CUR);
	*p = 1;
	calls += lseek(fd, 1, SEEK_CUR);
	COSY_END;
	return calls;
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	int fd = fileno(tmpfile());
	char *file;

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
	page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	setvbuf(stdout, NULL, _IONBF, 0);

	// CHECK: NULL: signal 11 code 1 (nil) signal 11
	access_all("NULL", NULL);
	// CHECK: unmapped: signal 11 code 1 0x4321
	access_all("unmapped", (char *)0x4321);
	// CHECK: kernel's: signal 11 code 1 0xffffffff81000000
	access_all("kernel's", (char *)0xffffffff81000000);
	// CHECK: non-canonical: signal 11 code 128 (nil)
	access_all("non-canonical", (char *)0x8000000000000000);
	// CHECK: end of user space: signal 11 code
	access_all("end of user space", (char *)0x7ffffffff000);
	access_all("over the end of user space", (char *)0x7fffffffffff);
	access_all("over the end of the world", (char *)-1);
	mprotect(page, PAGE, PROT_NONE);
	// CHECK: protected: signal 11 code 2 page+16 signal
	access_all("protected", page + 16);
	mprotect(page, PAGE, PROT_READ);
	// CHECK: read-only: signal 11 code 2 page+16
	access_all("read-only", page + 16);
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	mprotect(page + PAGE, PAGE, PROT_NONE);
	// CHECK: across pages: signal 11 code 2 page+4096
	access_all("across pages", page + PAGE - 1);
	file = mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	// CHECK: behind the file: signal 7 code 2 page+0
	access_all("behind the file", file);

	printf("divide:");
	// CHECK: divide: signal 8 code 1 signal 8 code 1 signal 8 code 1 signal 8 code 1
	if (!sigsetjmp(out, 1))
		sink = divide(1, 0);
	if (!sigsetjmp(out, 1))
		sink = divide(INT_MIN, -1);
	if (!sigsetjmp(out, 1))
		sink = remainder64(1, 0);
	if (!sigsetjmp(out, 1))
		sink = remainder64(LONG_MIN, -1);
	printf("\n");

	mmap(page, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	repair = 1;
	printf("repaired:");
	// CHECK: repaired: signal 11 code 2 page+5 calls 3 value 1
	printf(" calls %ld", middle(fd, page + 5));
	printf(" value %d\n", page[5]);
	return 0;
}
