// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user function that fails gets the same signal as natively, with the same address. A function
// that has written cannot be repeated, and reports the place of the failure.
// RUN: %cosy-cc -O2 %s -o %t && %t > %t.native
// RUN: %vm env COSY_FUNCTIONS=kernel %t > %t.kernel 2> %t.err
// RUN: diff %t.native %t.kernel
// RUN: FileCheck %s < %t.err
#include <cosy.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node {
	struct node *next;
	long value;
};

COSY_FUNCTION long sum(const struct node *n)
{
	long s = 0;

	for (; n; n = n->next)
		s += n->value;
	return s;
}

/* Writes before it fails. */
COSY_FUNCTION long mark(struct node *n)
{
	long count = 0;

	for (; n; n = n->next, count++)
		// CHECK: fault-has-the-native-signal.c:[[#@LINE+1]]: function mark:
		n->value = 1;
	return count;
}

COSY_FUNCTION int divide(int a, int b)
{
	return a / b;
}

COSY_FUNCTION int store_and_divide(int *p, int a, int b)
{
	*p = a;
	// CHECK: fault-has-the-native-signal.c:[[#@LINE+1]]: function store_and_divide:
	return a % b;
}

static sigjmp_buf back;
static siginfo_t info;

static void handler(int signal, siginfo_t *si, void *context)
{
	(void)context;
	info = *si;
	siglongjmp(back, signal);
}

static struct node *first, *second;
static int *number;

/* Succeeds once, so that the program is loaded, then fails as requested. */
static void try(const char *what, int which, struct node *next, int divisor)
{
	volatile long r = 0;

	for (int i = 0; i < 3; i++) {
		int b = i == 2 ? divisor : 3;
		int caught = sigsetjmp(back, 1);

		if (caught) {
			printf("%s: signal %d at %p\n", what, caught,
			       caught == SIGSEGV ? info.si_addr : NULL);
			return;
		}
		first->value = 5;
		first->next = second;
		second->value = 7;
		second->next = i == 2 ? next : NULL;
		COSY_START;
		getpid();
		if (which == 0)
			r = sum(first);
		else if (which == 1)
			r = mark(first);
		else if (which == 2)
			r = divide(i == 2 ? INT_MIN : 100, b);
		else
			r = store_and_divide(number, 100, b);
		COSY_END;
	}
	printf("%s: %ld\n", what, r);
}

int main(void)
{
	static struct node outside = { NULL, 100 };
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGFPE, &sa, NULL);
	first = cosy_malloc(sizeof(*first));
	second = cosy_malloc(sizeof(*second));
	number = cosy_malloc(sizeof(*number));
	try("right", 0, NULL, 1);
	try("out of the segment", 0, &outside, 1);
	try("low address", 0, (struct node *)16, 1);
	try("low address after writing", 1, (struct node *)16, 1);
	try("by zero", 2, NULL, 0);
	try("overflow", 2, NULL, -1);
	try("by zero after writing", 3, NULL, 0);
	return 0;
}
