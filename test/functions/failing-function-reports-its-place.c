// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A function that fails in the kernel ends its program like the native function, and
 * reports the place and the reason.
 */
// RUN: %clang -O1 -Wall -Werror -Wno-unused %s -o %t -L%lib -l:libcosy.a
// RUN: for what in null wild late far divide late-divide; do \
// RUN:   %t $what > %t.native 2>/dev/null; echo "status $?" >> %t.native; \
// RUN:   %vm env COSY_FUNCTIONS=kernel %t $what > %t.out 2> %t.err; echo "status $?" >> %t.out; \
// RUN:   diff %t.native %t.out || exit 1; echo "$what:"; cat %t.err; done | %FileCheck %s
#include <cosy.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sigjmp_buf out;
static volatile int caught;
static uint32_t *volatile changed;

static void on_signal(int signal, siginfo_t *info, void *context)
{
	caught = signal;
	printf("signal %d code %d address %#x changed %u\n", signal,
	       info->si_code > 0, signal == SIGSEGV ?
	       (unsigned int)(uintptr_t)info->si_addr : 0, *changed);
	siglongjmp(out, 1);
}

COSY_FUNCTION
static int poke(uint32_t *p)
{
	p[2] = 5;
	// CHECK: null:
	// CHECK: cosy: {{.*}}failing-function-reports-its-place.c:[[#@LINE-2]]: function poke: wild access at 0x8{{$}}
	// CHECK: wild:
	// CHECK: cosy: {{.*}}failing-function-reports-its-place.c:[[#@LINE-4]]: function poke: wild access at 0x{{[0-9a-f]+}}ffff8{{$}}
	return 1;
}

COSY_FUNCTION
static int late(uint32_t *good, uint32_t *bad)
{
	*good = 7;
	return bad[2];
	// CHECK: late:
	// CHECK: cosy: {{.*}}failing-function-reports-its-place.c:[[#@LINE-2]]: function late: wild access at 0x{{[0-9a-f]+}}ffff8{{$}}
	// CHECK: far:
}

COSY_FUNCTION
static int divide(int a, int b, uint32_t *p)
{
	if (p)
		*p = 9;
	return a / b;
	// CHECK: divide:
	// CHECK: cosy: {{.*}}failing-function-reports-its-place.c:[[#@LINE-2]]: function divide: division by zero, or overflow{{$}}
	// CHECK: late-divide:
	// CHECK: cosy: {{.*}}failing-function-reports-its-place.c:[[#@LINE-4]]: function divide: division by zero, or overflow{{$}}
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_SIGINFO };
	uint32_t *good = cosy_malloc(100);
	uint32_t *bad = (uint32_t *)(((uintptr_t)good | 0xffffffff) - 15);
	const char *what = argv[1];
	uint32_t own[8] = { 0 };
	int r = 0, zero = argc - 2;

	*good = 1;
	changed = good;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
	if (sigsetjmp(out, 1))
		return caught;
	if (!strcmp(what, "null")) {
		uint32_t *nothing = (uint32_t *)(uintptr_t)zero;

		COSY_START;
		getppid();
		r = poke(nothing);
		COSY_END;
	} else if (!strcmp(what, "wild")) {
		COSY_START;
		getppid();
		r = poke(bad);
		COSY_END;
	} else if (!strcmp(what, "late")) {
		COSY_START;
		getppid();
		r = late(good, bad);
		COSY_END;
	} else if (!strcmp(what, "far")) {
		/* Not a failure: natively this is like any other memory. */
		COSY_START;
		getppid();
		r = poke(own);
		COSY_END;
		r += own[2];
	} else {
		uint32_t *p = strcmp(what, "divide") ? good : NULL;

		COSY_START;
		getppid();
		r = divide(argc, zero, p);
		COSY_END;
	}
	printf("%d\n", r);
	return 0;
}
