// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inline assembly that must exist once in the program, because it defines a symbol or has data in
// another section, stays in its function, however it says so.
// RUN: for o in -O0 -O2; do \
// RUN:   %cosy-cc $o %s -o %t && %run-all --only native,user %t | FileCheck %s || exit 1; \
// RUN: done
#include <cosy.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

// Instructions that the program changes: mov $1, %eax.
#define NUMBER "\n.byte 0xb8, 1, 0, 0, 0"
// The number of times that a function has been called.
#define COUNT "\nincq 661b(%%rip); movq 661b(%%rip), %0"
#define VARIABLE "\n.balign 8; 661: .quad 0\n"

extern char by_equals[], by_set[], by_equ[], by_quotes[], after_comment[], after_character[];
extern char by_alternative[], by_macro1[], by_directive[];
extern char by_operand[] __attribute__((visibility("hidden")));

static int numbers(void)
{
	int sum = 0, n;

	COSY_START;
	close(-1);
	asm volatile("by_equals = ." NUMBER : "=a"(n));
	sum += n;
	close(-1);
	asm volatile("1: .set by_set, ." NUMBER : "=a"(n));
	sum += n;
	close(-1);
	asm volatile(".equ by_equ, ." NUMBER : "=a"(n));
	sum += n;
	close(-1);
	asm volatile("%c1:" NUMBER : "=a"(n) : "i"(by_operand));
	sum += n;
	close(-1);
	asm volatile("\"by_quotes\":" NUMBER : "=a"(n));
	sum += n;
	close(-1);
	asm volatile("/* the next: */ after_comment:" NUMBER : "=a"(n));
	sum += n;
	close(-1);
	asm volatile("movb $'#', %%al; after_character:" NUMBER : "=a"(n));
	sum += n;
	close(-1);
	asm volatile("{by_alternative|by_alternative}:" NUMBER : "=a"(n));
	sum += n;
	close(-1);
	asm volatile(".irp x, 1\nby_macro\\x:\n.endr" NUMBER : "=a"(n));
	sum += n;
	close(-1);
	asm volatile(".s{et by_directive, .|et by_directive, .}" NUMBER : "=a"(n));
	sum += n;
	close(-1);
	asm volatile(".macro set_number\nmov $2, %0\n.endm\nset_number" : "=r"(n));
	sum += n;
	close(-1);
	COSY_END;
	return sum;
}

#define COUNTER(NAME, BEGIN, END) \
	__attribute__((noinline)) static long NAME(void) \
	{ \
		long n; \
\
		asm volatile(BEGIN VARIABLE END COUNT : "=r"(n) : : "cc"); \
		close(-1); \
		return n; \
	}

COUNTER(data, ".data", ".text")
COUNTER(bss, "nop; .bss; .skip 8", ".text")
COUNTER(after_label, "1: .pushsection .data", ".popsection")
COUNTER(after_unique, "unique%=: .pushsection .data", ".popsection")
COUNTER(behind_comment, "/* ; */ .pushsection .data", ".popsection")
COUNTER(of_dialect, "{.pushsection .data|.pushsection .data}", ".popsection")

static void change(char *number)
{
	char *page = (char *)((unsigned long)number & ~4095UL);

	if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC))
		_exit(2);
	number[1] = 2;
}

int main(void)
{
	long counts[6] = { 0 };

	change(by_equals);
	change(by_set);
	change(by_equ);
	change(by_operand);
	change(by_quotes);
	change(after_comment);
	change(after_character);
	change(by_alternative);
	change(by_macro1);
	change(by_directive);
	for (int i = 0; i < 3; i++) {
		data();
		bss();
		after_label();
		after_unique();
		behind_comment();
		of_dialect();
	}
	COSY_START;
	for (int i = 0; i < 3; i++) {
		close(-1);
		counts[0] = data();
		counts[1] = bss();
		counts[2] = after_label();
		counts[3] = after_unique();
		counts[4] = behind_comment();
		counts[5] = of_dialect();
	}
	COSY_END;
	// CHECK: {{^}}22; 6 6 6 6 6 6{{$}}
	printf("%d; %ld %ld %ld %ld %ld %ld\n", numbers(), counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]);
	return 0;
}
