// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A part of a register is compared only if the rest may have other contents.
// RUN: %clang -O2 -c -o %t.o -fplugin-arg-cosy-dump %s 2>&1 | FileCheck %s
// RUN: %cosy-cc -O0 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
#include <cosy.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static char high = (char)0x80;
static unsigned short full = 0xffff;

// The upper bits of a loaded value are zero.
// CHECK-LABEL: .compound "loaded"
// CHECK-DAG: {{(br.8.(eq|ne)|set.8.eq r[0-9]+,)}} r{{[0-9]+}}, 128
// CHECK-DAG: {{(br.8.(eq|ne)|set.8.eq r[0-9]+,)}} r{{[0-9]+}}, 65535
__attribute__((noinline)) int loaded(const char *a, const unsigned short *b)
{
	int found = 0;

	COSY_START;
	for (int i = 0; i < 2; i++) {
		if (getpid() > 0 && *a == (char)0x80)
			found += 1;
		if (getpid() > 0 && *b == 0xffff)
			found += 10;
	}
	COSY_END;
	return found;
}

// The sign is in the narrow value.
// CHECK-LABEL: .compound "is_signed"
// CHECK: {{(br.1.s(lt|ge|gt|le)|lshr.1)}} r{{[0-9]+}}
__attribute__((noinline)) int is_signed(const char *a)
{
	int found = 0;

	COSY_START;
	for (int i = 0; i < 2; i++) {
		getpid();
		if (*a < 0)
			found++;
	}
	COSY_END;
	return found;
}

// A computed value may be wider.
__attribute__((noinline)) int computed(long sum)
{
	int found = 0;

	COSY_START;
	for (int i = 0; i < 2; i++) {
		sum += getpid() > 0 ? 0x100 : 1;
		if ((unsigned char)sum == 0)
			found++;
	}
	COSY_END;
	return found;
}

// CHECK-LABEL: .compound "flag"
// CHECK: br.8.{{eq|ne}} r{{[0-9]+}}, 0
__attribute__((noinline)) int flag(bool on)
{
	int found = 0;

	COSY_START;
	for (int i = 0; i < 2; i++) {
		getpid();
		if (on)
			found += getppid() >= 0;
	}
	COSY_END;
	return found;
}

int main(void)
{
	// OUT: 22 2 2 2 0
	printf("%d %d %d %d %d\n", loaded(&high, &full), is_signed(&high), computed(0),
	       flag(true), flag(false));
	return 0;
}
