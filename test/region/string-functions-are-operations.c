// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Libc's memory and string functions are operations, with the results of libc: for
 * many lengths, places and overlaps, and with strings and blocks that end at the end of a page, or
 * just after it. If a native call dies of SIGSEGV, the operation does so at the same address.
 */
// RUN: %cosy-cc -O2 -Wno-cosy-no-system-call %s -o %t
// RUN: %cosy-objdump -d %t | %FileCheck --check-prefix=CODE %s
// RUN: %run-all --vm %t | %FileCheck %s
// RUN: %cosy-cc -O0 -Wno-cosy-no-system-call %s -o %t.O0
// RUN: %run-all --vm %t.O0 | %FileCheck %s

// For memcmp() only the sign is the same everywhere, so its value is computed natively. So is
// rawmemchr() that finds no byte nearby, in two places.
// CODE-COUNT-3: {{^[^.]*}} upcall {{[0-9]}}
// CODE-NOT: {{^[^.]*}} upcall {{[0-9]}}
#define _GNU_SOURCE
#include <cosy.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ul

struct operands {
	char *a, *b;
	size_t n;
	int c;
};

/*
 * Each applies one function to all operands. The result is a number or the distance from the first
 * operand; NULL becomes 1.
 */
typedef void function(const struct operands *o, long *results, size_t count);

#define FUNCTION(name, expression)						\
static __attribute__((noinline)) void						\
do_##name(const struct operands *o, long *results, size_t count)		\
{										\
	size_t i;								\
										\
	COSY_START;								\
	for (i = 0; i < count; i++)						\
		results[i] = (long)(expression);				\
	COSY_END;								\
}
#define PLACE(name, expression) \
	FUNCTION(name, ((expression) ? (expression) - o[i].a : 1))

FUNCTION(strlen, strlen(o[i].a))
FUNCTION(strnlen, strnlen(o[i].a, o[i].n))
FUNCTION(strcmp, strcmp(o[i].a, o[i].b))
FUNCTION(strncmp, strncmp(o[i].a, o[i].b, o[i].n))
FUNCTION(memcmp, memcmp(o[i].a, o[i].b, o[i].n))
FUNCTION(memcmp_sign, memcmp(o[i].a, o[i].b, o[i].n) < 0)
FUNCTION(bcmp_zero, bcmp(o[i].a, o[i].b, o[i].n) == 0)
PLACE(strchr, strchr(o[i].a, o[i].c))
PLACE(index, index(o[i].a, o[i].c))
PLACE(strrchr, strrchr(o[i].a, o[i].c))
PLACE(rindex, rindex(o[i].a, o[i].c))
PLACE(memchr, (char *)memchr(o[i].a, o[i].c, o[i].n))
FUNCTION(strcpy, strcpy(o[i].a, o[i].b) - o[i].a)
FUNCTION(stpcpy, stpcpy(o[i].a, o[i].b) - o[i].a)
FUNCTION(strcat, strcat(o[i].a, o[i].b) - o[i].a)
FUNCTION(memcpy, (char *)memcpy(o[i].a, o[i].b, o[i].n) - o[i].a)
FUNCTION(memmove, (char *)memmove(o[i].a, o[i].b, o[i].n) - o[i].a)
FUNCTION(memset, (char *)memset(o[i].a, o[i].c, o[i].n) - o[i].a)
PLACE(strchrnul, strchrnul(o[i].a, o[i].c))
PLACE(rawmemchr,
      (char *)rawmemchr(o[i].a, memchr(o[i].a, o[i].c, o[i].n) ? o[i].c : '\0'))
FUNCTION(strcspn, strcspn(o[i].a, "b"))
FUNCTION(strncpy, strncpy(o[i].a, o[i].b, o[i].n) - o[i].a)
FUNCTION(stpncpy, stpncpy(o[i].a, o[i].b, o[i].n) - o[i].a)
/* Of 0 bytes, that of glibc 2.41 does not read the first operand, see docs/limits.md. */
FUNCTION(strncat, strncat(o[i].a, o[i].b, o[i].n + 1) - o[i].a)
FUNCTION(mempcpy, (char *)mempcpy(o[i].a, o[i].b, o[i].n) - o[i].a)
PLACE(memccpy, (char *)memccpy(o[i].a, o[i].b, o[i].c, o[i].n))
FUNCTION(explicit_bzero, (explicit_bzero(o[i].a, o[i].n), 0))

/* Several operations may fault at another place, after writing fewer bytes. */
static const struct {
	const char *name;
	function *function;
	enum { READS, WRITES, OVERLAPS, SEVERAL } kind;
} functions[] = {
#define ENTRY(name, kind) { #name, do_##name, kind }
	ENTRY(strlen, READS), ENTRY(strnlen, READS), ENTRY(strcmp, READS),
	ENTRY(strncmp, READS), ENTRY(memcmp, READS), ENTRY(memcmp_sign, READS),
	ENTRY(bcmp_zero, READS), ENTRY(strchr, READS), ENTRY(index, READS),
	ENTRY(strrchr, READS), ENTRY(rindex, READS), ENTRY(memchr, READS),
	ENTRY(strcpy, WRITES), ENTRY(stpcpy, WRITES), ENTRY(strcat, WRITES),
	ENTRY(memcpy, WRITES), ENTRY(memmove, OVERLAPS), ENTRY(memset, WRITES),
	ENTRY(strchrnul, READS), ENTRY(rawmemchr, READS), ENTRY(strcspn, READS),
	ENTRY(strncpy, SEVERAL), ENTRY(stpncpy, SEVERAL), ENTRY(strncat, SEVERAL),
	ENTRY(mempcpy, WRITES), ENTRY(memccpy, SEVERAL), ENTRY(explicit_bzero, WRITES),
};

/* Two ranges of two pages each, before unmapped pages. */
static char *left, *right;

static unsigned long hash;

static void mix(unsigned long value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ul;
	hash ^= hash >> 29;
}

static void mix_memory(void)
{
	for (size_t i = 0; i < 2 * PAGE; i += 8) {
		unsigned long a, b;

		memcpy(&a, left + i, 8);
		memcpy(&b, right + i, 8);
		mix(a);
		mix(b);
	}
}

static unsigned int random_number(unsigned int n)
{
	static unsigned long state = 1;

	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned int)(state >> 33) % n;
}

/* Usually the same string twice; bytes above 127 are greater, not less. */
static void fill_alike(char *a, char *b, size_t len)
{
	for (size_t i = 0; i < len; i++)
		a[i] = b[i] = (char)(random_number(16) ? 'a' + random_number(4) : 0xe0 + i % 8);
	a[len] = b[len] = '\0';
	if (len && random_number(2))
		b[random_number((unsigned int)len)] ^= random_number(2) ? 0x80 : 1;
	if (len && !random_number(4))
		a[random_number((unsigned int)len)] = '\0';
}

static size_t some_length(void)
{
	unsigned int kind = random_number(16);

	return kind == 0 ? random_number(3000) : kind < 4 ? random_number(300) : random_number(70);
}

/* Without faults: many operands at once. */
static void test_places(size_t which)
{
	enum { COUNT = 8, ROUNDS = 40 };
	struct operands o[COUNT];
	long results[COUNT];

	memset(left, 'a', 2 * PAGE);
	memset(right, 'a', 2 * PAGE);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < COUNT; i++) {
			size_t len = some_length();
			/* Consecutive, with room for strcat; the last one ends with the page. */
			char *a = left + (i < COUNT - 1 ? random_number(64) : 2 * PAGE - 2 * len - 1);
			char *b = right + (i & 1 ? random_number(64) : 2 * PAGE - len - 1);

			if (i)
				functions[which].function(o, results, 0);
			fill_alike(a, b, len);
			o[i] = (struct operands){ a, b, random_number(3) ? len : some_length(),
						  (int)random_number(8) + 'a' - 2 };
			if (o[i].n > len)
				o[i].n = len + random_number(2);
			if (!random_number(8))
				o[i].c = random_number(2) ? 0 : 256 + 'b';
			if (functions[which].kind == OVERLAPS && random_number(4)) {
				o[i].a = left + 64;
				o[i].b = o[i].a + (int)random_number(64) - 32;
			}
			functions[which].function(&o[i], &results[i], 1);
			mix((unsigned long)results[i]);
		}
		if (functions[which].kind == READS) {
			functions[which].function(o, results, COUNT);
			for (int i = 0; i < COUNT; i++)
				mix((unsigned long)results[i]);
		}
		mix_memory();
	}
}

static sigjmp_buf after_fault;
static void *volatile fault_address;
static volatile int faults;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)context;
	fault_address = info->si_addr;
	faults++;
	siglongjmp(after_fault, sig);
}

/* Operands at the ends of their pages, which may be too long for them. */
static void test_page_ends(size_t which)
{
	struct operands o;
	long result;

	for (size_t tail = 0; tail < 80; tail += 1 + tail / 16) {
		for (int variant = 0; variant < 12; variant++) {
			size_t len = variant & 1 ? tail : tail + 40;

			memset(left, 'a', 2 * PAGE);
			memset(right, 'a', 2 * PAGE);
			o.a = left + 2 * PAGE - (variant & 2 ? tail : len);
			o.b = right + 2 * PAGE - len;
			o.n = variant & 4 ? tail : tail + random_number(600);
			o.c = variant & 1 ? 'b' : 'a';
			/* With an end, or a difference, before the end of the page. */
			if (variant & 8 && tail > 1) {
				o.a[random_number((unsigned int)tail - 1)] = variant & 1 ? '\0' : 'b';
				o.b[tail - 1] = '\0';
			}
			if (functions[which].kind == OVERLAPS && variant & 2)
				o.b = o.a - 5;
			result = 0;
			fault_address = NULL;
			if (!sigsetjmp(after_fault, 1))
				functions[which].function(&o, &result, 1);
			mix((unsigned long)result);
			mix(!fault_address		       ? 0 :
			    functions[which].kind == SEVERAL ? 1 :
			    (char *)fault_address >= right && (char *)fault_address < right + 4 * PAGE ?
				    0x10000ul + (unsigned long)((char *)fault_address - right) :
				    0x20000ul + (unsigned long)((char *)fault_address - left));
			/* And the bytes that a call wrote before it died. */
			if (!fault_address || functions[which].kind != SEVERAL)
				mix_memory();
		}
	}
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	char *pages = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	if (pages == MAP_FAILED || mprotect(pages, PAGE, PROT_NONE) ||
	    mprotect(pages + 3 * PAGE, PAGE, PROT_NONE) || mprotect(pages + 6 * PAGE, PAGE, PROT_NONE))
		return 1;
	left = pages + PAGE;
	right = pages + 4 * PAGE;
	sigaction(SIGSEGV, &action, NULL);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		unsigned long places;

		hash = 1;
		faults = 0;
		test_places(i);
		places = hash;
		test_page_ends(i);
		printf("%s: %016lx %016lx, %s\n", functions[i].name, places, hash,
		       faults ? "faults" : "no faults");
	}
	// CHECK: strlen: {{.*}}, faults
	// CHECK: strnlen: {{.*}}, faults
	// CHECK: strcmp: {{.*}}, faults
	// CHECK: strncmp: {{.*}}, faults
	// CHECK: memcmp: {{.*}}, faults
	// CHECK: strrchr: {{.*}}, faults
	// CHECK: stpcpy: {{.*}}, faults
	// CHECK: memmove: {{.*}}, faults
	// CHECK: memset: {{.*}}, faults
	// CHECK: strncpy: {{.*}}, faults
	// CHECK: memccpy: {{.*}}, faults
	return 0;
}
