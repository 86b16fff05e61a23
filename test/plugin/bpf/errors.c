// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code that a user function cannot contain, each at its line, with a remedy.
// RUN: %clang -O0 -S -o /dev/null -ferror-limit=0 -Xclang -verify %s
// RUN: %clang -O2 -S -o /dev/null -ferror-limit=0 -Xclang -verify %s
// RUN: %clang -O2 -D_FORTIFY_SOURCE=2 -S -o /dev/null -ferror-limit=0 -Xclang -verify %s
#include <cosy.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

int foreign(int n);

COSY_FUNCTION int computes_float(int n)
{
	return n * 1.5; // expected-error {{floating point; compute with integers, or outside the function}}
}

COSY_FUNCTION int calls_pointer(int (**f)(int))
{
	return (*f)(1); // expected-error {{call through a pointer; choose by a switch and call by name}}
}

static int sum(int n, ...)
{
	va_list ap;
	va_start(ap, n);
	va_end(ap);
	return n;
}
COSY_FUNCTION int calls_variadic(int n)
{
	return sum(n, 1, 2); // expected-error {{call of 'sum' with variable arguments; pass an array and its length}}
}

COSY_FUNCTION int calls_foreign(int n)
{
	return foreign(n); // expected-error {{call of 'foreign', which is not defined in this file; define it here, or call it outside the function}}
}

static int through_helper(int n)
{
	return foreign(n) + 1; // expected-error {{call of 'foreign'}}
}
static int through_two(int n)
{
	return through_helper(n); // expected-note {{called by 'through_two'}}
}
COSY_FUNCTION int calls_helper(int n)
{
	return through_two(n); // expected-note {{called by the COSY_FUNCTION 'calls_helper'}}
}

COSY_FUNCTION int factorial(int n)
{
	return n < 2 ? 1 : n * factorial(n - 1); // expected-error {{'factorial' calls itself; make it a loop}}
}

COSY_FUNCTION int recurses(int n);
static int other(int n)
{
	return recurses(n - 1); // expected-error {{'recurses' calls itself}}
}
COSY_FUNCTION int recurses(int n)
{
	return n ? other(n) : 0; // expected-note {{called by the COSY_FUNCTION 'recurses'}}
}

static int counter;
COSY_FUNCTION int writes_global(void)
{
	return ++counter; // expected-error {{variable 'counter' is outside the segment; make it const, or pass a pointer to memory from cosy_malloc() as an argument}}
}

COSY_FUNCTION int keeps_static(void)
{
	static int calls;
	return ++calls; // expected-error {{variable 'keeps_static.calls' is outside the segment}}
}

extern const int elsewhere;
COSY_FUNCTION int reads_elsewhere(void)
{
	return elsewhere; // expected-error {{the value of 'elsewhere' is not known here; define it in this file, static const}}
}

static __thread int own;
COSY_FUNCTION int reads_own(void)
{
	return own; // expected-error {{thread-local variable 'own'; pass its value as an argument}}
}

COSY_FUNCTION int takes_address(void)
{
	int (*volatile f)(int) = through_helper; // expected-error {{address of the function 'through_helper'; choose by a switch}}
	return f != 0;
}

COSY_FUNCTION int with_array(int n)
{
	char a[n]; // expected-error {{variable-length array or alloca; give it a constant size}}
	memset(a, 1, n);
	return a[n / 2];
}

COSY_FUNCTION int with_asm(int n)
{
	asm("" : "+r"(n)); // expected-error {{inline assembly; write it in C}}
	return n;
}

static jmp_buf env;
COSY_FUNCTION int with_setjmp(void)
{
	return setjmp(env); // expected-error {{variable 'env' is outside the segment}}
}

COSY_FUNCTION int with_setjmp_argument(jmp_buf *to)
{
	return setjmp(*to); // expected-error {{which returns twice; return a value instead}}
}

COSY_FUNCTION long with_int128(long a, long b)
{
	return (long)((__int128)a * b >> 64); // expected-error {{integer of more than 64 bits; use two of 64 bits}}
}

COSY_FUNCTION int with_goto(int n) // expected-error {{computed or asm goto; use a switch}}
{
	static void *const to[] = { &&a, &&b };
	goto *to[n & 1]; // expected-error {{address of a label; use a switch}}
a:
	return 1;
b:
	return 2;
}

COSY_FUNCTION void with_narrow_atomic(char *p)
{
	__atomic_fetch_add(p, 1, __ATOMIC_RELAXED); // expected-error {{atomic operation on other than 32 or 64 bits; use int or long}}
}

COSY_FUNCTION void with_nand(int *p)
{
	__atomic_fetch_nand(p, 1, __ATOMIC_RELAXED); // expected-error {{this atomic operation has no counterpart in BPF}}
}

COSY_FUNCTION int with_trap(int n)
{
	if (n)
		__builtin_trap(); // expected-error {{a trap; return a value that says what is wrong}}
	return 0;
}

COSY_FUNCTION void *with_frame(void)
{
	return __builtin_frame_address(0); // expected-error {{address of the stack frame}}
}

COSY_FUNCTION void with_region(void)
{
	COSY_START; // expected-error {{a region; put it into the caller}} expected-note {{region starts here}} expected-warning {{at most 1 system call}}
	getpid(); // expected-error {{call of 'getpid', which is not defined in this file}}
	COSY_END; // expected-error {{a region; put it into the caller}}
}
