// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A computed goto is a switch of the compound.
// RUN: %clang -O0 -c -o %t.o -fplugin-arg-cosy-dump -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: %clang -O2 -c -o %t.o -fplugin-arg-cosy-dump -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: %cosy-cc -O0 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O1 -fsanitize=undefined -fPIE -pie %s -o %t
// RUN: %run-all --only native,user %t | FileCheck --check-prefix=OUT %s
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

// CHECK-NOT: leaves
// CHECK-LABEL: .compound "interpret"
// CHECK: .upcalls 0
// CHECK: switch
// CHECK-NOT: leaves
__attribute__((noinline)) static long interpret(const unsigned char *code, long x)
{
	static const void *const table[] = {&&add, &&mul, &&call, &&loop, &&leave, &&done};
	long count = 3;
	const unsigned char *p = code;

	COSY_START;
	goto *table[*p++];
add:
	x += *p++;
	goto *table[*p++];
mul:
	x *= 3;
	goto *table[*p++];
call:
	x += getpid() > 0;
	goto *table[*p++];
loop:
	if (--count)
		p = code;
	goto *table[*p++];
done:
	COSY_END;
	return x;
leave:
	return -x;
}

// Offsets from a label, and a jump from outside into the region.
__attribute__((noinline)) static int offsets(int n)
{
	static const int at[] = {&&zero - &&zero, &&one - &&zero, &&two - &&zero};
	int r = 0;

	if (n > 2)
		goto *(&&zero + at[n - 2]);
	COSY_START;
	goto *(&&zero + at[n]);
zero:
	r += getppid() > 0;
one:
	r += 10 * (getppid() > 0);
two:
	r += 100 * (getppid() > 0);
	COSY_END;
	return r + (&&one != &&two) * 1000 + (&&zero != 0) * 1000;
}

int main(void)
{
	// OUT: 262 -15
	printf("%ld %ld\n", interpret((unsigned char[]){0, 5, 1, 2, 3, 5}, 2),
	       interpret((unsigned char[]){0, 3, 1, 4}, 2));
	// OUT-NEXT: 2111 2110 2100 2110 2100
	for (int i = 0; i < 5; i++)
		printf("%d ", offsets(i));
	printf("\n");
	return 0;
}
