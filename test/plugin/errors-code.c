// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What cannot be in a region, each at its line.
// RUN: %clang -O0 -S -o /dev/null -Xclang -verify -Xclang -verify-ignore-unexpected=note %s
// RUN: %clang -O2 -S -o /dev/null -Xclang -verify -Xclang -verify-ignore-unexpected=note %s
#include <cosy.h>
#include <setjmp.h>
#include <unistd.h>

jmp_buf env;
void use(void *p);

void with_setjmp(void)
{
	COSY_START;
	if (setjmp(env) == 0) // expected-error {{a call that returns twice, such as setjmp or vfork, which is not supported in a region}}
		getpid();
	COSY_END;
}

void with_vfork(void)
{
	COSY_START;
	if (vfork() == 0) // expected-error {{a call that returns twice}}
		_exit(0);
	COSY_END;
}

void with_array(int n)
{
	COSY_START;
	char a[n]; // expected-error {{a variable-length array or alloca}}
	use(a);
	getpid();
	COSY_END;
}

void with_alloca(int n)
{
	COSY_START;
	use(__builtin_alloca(n)); // expected-error {{a variable-length array or alloca}}
	getpid();
	COSY_END;
}

void with_computed_goto(int n)
{
	static void *const labels[] = {&&a, &&b};
	COSY_START; // expected-error {{region contains a label whose address is taken}}
	goto *labels[n & 1];
a:
	getpid();
b:
	getppid();
	COSY_END;
}

void with_asm_goto(void)
{
	COSY_START;
	asm goto("" : : : : out); // expected-error {{an asm goto}}
	getpid();
out:
	COSY_END;
}

void with_frame_address(void)
{
	COSY_START;
	use(__builtin_frame_address(0)); // expected-error {{the address of the function's own stack frame}}
	getpid();
	COSY_END;
}

void with_va_start(int n, ...)
{
	__builtin_va_list ap;
	COSY_START;
	__builtin_va_start(ap, n); // expected-error {{va_start}}
	getpid();
	COSY_END;
	__builtin_va_end(ap);
}
