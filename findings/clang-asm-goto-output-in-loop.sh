#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# clang 19.1.7 and `asm goto` with an output that is used where the label is: of two functions with such a
# loop, one without and one with an output, that are inlined into one caller, the second adds a wrong number
# with -O2, if the first iteration jumps. With -O1 the sums are right, and with -O2, too, if only the second one is there.
# The output is spilled after the assembler code, where no jump arrives, and is then read on both paths. clang has
# outputs on all paths since version 17. A similar fault of -O0 was repaired in LLVM 21; clang 22.1.8 compiles this
# program as wrongly.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

version=1:19.1.7-3~deb12u1
unpack clang-19=$version libclang-cpp19=$version libllvm19=$version libclang-common-19-dev=$version

cat >sums.c <<'END'
#include <stdio.h>
#include <unistd.h>

/* 1 for each number below 4 that is not @n, and 100 for that which is. */
static int without_output(int n)
{
	int sum = 0;

	for (int i = 0; i < 4; i++) {
		getppid();
		asm goto("cmp %0, %1; je %l2" : : "r"(n), "r"(i) : "cc" : equal);
		sum += 1;
		continue;
equal:
		sum += 100;
	}
	getppid();
	return sum;
}

/* 5 for each, which is the output, and 100 more for @n. */
static int with_output(int n)
{
	int sum = 0, five;

	for (int i = 0; i < 4; i++) {
		getppid();
		asm goto("mov $5, %0; cmp %1, %2; je %l3" : "=&r"(five) : "r"(n), "r"(i) : "cc" : equal);
		sum += five;
		continue;
equal:
		sum += 100 + five;
	}
	getppid();
	return sum;
}

int main(void)
{
	for (int n = 0; n < 4; n++)
		printf("%d %d\n", without_output(n), with_output(n));
}
END

# results OPTION - compile, run, and print whether the two sums are right, for each n.
results() {
	clang-19 "$1" -fno-omit-frame-pointer -Wall sums.c -o sums
	./sums | awk -v OFS=, '{ print ($1 == 103 ? "right" : "wrong"), ($2 == 120 ? "right" : "wrong") }' | paste -sd " "
}

expect "sums with -O1" "right,right right,right right,right right,right" "$(results -O1)"
expect "sums with -O2" "right,wrong right,right right,right right,right" "$(results -O2)"
