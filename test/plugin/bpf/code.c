// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program of a user function: its checks, and their cost. Labels are left out, and values that are
// loaded again from the stack: LLVM 21 does that at other places than 19 and 22.
// RUN: %clang -O0 -c %s -o %t.o && llvm-objcopy --dump-section .cosy.functions=%t.elf %t.o /dev/null
// RUN: llvm-objdump -dr --no-show-raw-insn %t.elf | sed '/^<L[0-9]*>:$/d; / = \*(u64 \*)(r10 - 0x/d' >%t.txt && FileCheck %s <%t.txt && FileCheck --check-prefix=LOOP %s <%t.txt
// RUN: llvm-readelf -S -s %t.elf | FileCheck --check-prefix=ELF %s
// RUN: %clang -O2 -c %s -o %t.2.o && llvm-objcopy --dump-section .cosy.functions=%t.2.elf %t.2.o /dev/null
// RUN: llvm-objdump -dr --no-show-raw-insn %t.2.elf | sed '/^<L[0-9]*>:$/d; / = \*(u64 \*)(r10 - 0x/d' >%t.2.txt && FileCheck %s <%t.2.txt && FileCheck --check-prefix=LOOP %s <%t.2.txt
#include <cosy.h>

// It contains the code, the segment and the lines, and no memory of its own.
// ELF: cosy PROGBITS
// ELF-NOT: .rodata
// ELF-NOT: .bss
// ELF-NOT: .data
// ELF-NOT: .debug
// ELF: .BTF.ext
// ELF-DAG: FUNC GLOBAL DEFAULT {{[0-9]+}} cosy_function
// ELF-DAG: OBJECT GLOBAL DEFAULT {{[0-9]+}} segment

static const unsigned char weight[8] = { 1, 2, 3, 5, 7, 11, 13, 17 };

// The program names its segment. It resumes a loop that it has left.
// CHECK: <cosy_function_part>:
// CHECK: R_BPF_64_64 segment
// LLVM writes w, the lower half, for loads of 32 bits since 22.
// CHECK: {{[rw]}}[[R:[0-9]+]] = *(u32 *)(r{{[0-9]+}} + 0x74)
// CHECK: if w[[R]] == 0x0 goto
COSY_FUNCTION unsigned int weigh(const unsigned char *p, size_t n, int *out)
{
	unsigned int sum = 0;
	size_t i;

	// In the unrolled loop one check of the budget and one of the upper half of the
	// address are enough for sixteen iterations. Constants need none, because the
	// index is below eight. Either check may come first in the code.
	// CHECK: r[[B:[0-9]+]] = *(u64 *)(r[[C:[0-9]+]] + 0x38)
	// CHECK-NEXT: r[[B]] += -0x1
	// CHECK-NEXT: *(u64 *)(r[[C]] + 0x38) = r[[B]]
	// CHECK: if r[[B]] s< 0x0 goto
	// CHECK-NEXT: may_goto
	// The upper half of the segment.
	// LOOP: >>= 0x20
	// LOOP: r[[U:[0-9]+]] >>= 0x20
	// LOOP-NEXT: if r[[U]] {{[!=]}}= r{{[0-9]+}} goto
	// LOOP: addr_space_cast(r{{[0-9]+}}, 0x0, 0x1)
	// LOOP-NOT: >>= 0x20
	// LOOP-NOT: may_goto
	// LOOP: *(u8 *)(r{{[0-9]+}} + 0xf)
	// LOOP-NOT: >>= 0x20
	// LOOP: {{if r[0-9]+ != r[0-9]+ goto -|may_goto}}
	for (i = 0; i < n; i++)
		sum += p[i] * weight[p[i] & 7];
	// The module increases the budget.
	// CHECK: call 0x436f7379
	// It records first that it writes.
	// CHECK: *(u32 *)(r{{[0-9]+}} + 0x70) = 0x1
	// CHECK-NEXT: *(u32 *)(r{{[0-9]+}} + 0x0) =
	*out = sum;
	return sum;
}
