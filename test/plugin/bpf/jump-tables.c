// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A switch of many cases becomes comparisons. LLVM 22 would make a jump table of it, which libbpf 1.1 cannot
// load.
// RUN: %clang -O2 -c %s -o %t.o && llvm-objcopy --dump-section .cosy.functions=%t.elf %t.o /dev/null
// RUN: llvm-readelf -S %t.elf >%t.sections && llvm-objdump -dr %t.elf >%t.code && FileCheck --implicit-check-not=.jumptables %s <%t.sections
// RUN: FileCheck --implicit-check-not=gotox --check-prefix=CODE %s <%t.code
#include <cosy.h>

// CHECK: cosy PROGBITS
// CODE: if {{[rw][0-9]+}} s> 0x
COSY_FUNCTION int kind_of(const unsigned char *s, int *out, int n)
{
	switch (n) {
	case 0: *out += s[0]; return 9;
	case 1: *out -= s[1]; return 2;
	case 2: *out ^= s[2]; return 7;
	case 3: *out |= s[3]; return 1;
	case 4: *out *= s[4]; return 8;
	case 5: *out &= s[5]; return 4;
	case 6: *out += 7 * s[6]; return 3;
	case 7: *out -= 5 * s[7]; return 6;
	case 8: *out ^= 3 * s[8]; return 12;
	case 9: *out |= 9 * s[9]; return 17;
	case 10: *out += s[10] << 3; return 10;
	case 11: *out -= s[11] << 2; return 11;
	case 12: *out ^= s[12] >> 1; return 21;
	case 13: *out |= s[13] << 5; return 19;
	case 14: *out += s[14] ^ 77; return 33;
	case 15: *out += s[15] | 16; return 35;
	}
	return 0;
}
