// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In the program of a user function, an exchange orders a sequentially consistent store or fence before later
// loads, as natively. Other stores and fences need none.
// RUN: %clang -O0 -w -c %s -o %t.o && llvm-objcopy --dump-section .cosy.functions=%t.elf %t.o /dev/null
// RUN: llvm-objdump -d --mcpu=v4 --no-show-raw-insn %t.elf | FileCheck %s
// RUN: %clang -O2 -w -c %s -o %t.o && llvm-objcopy --dump-section .cosy.functions=%t.elf %t.o /dev/null
// RUN: llvm-objdump -d --mcpu=v4 --no-show-raw-insn %t.elf | FileCheck %s
#include <cosy.h>
#include <stdatomic.h>

struct state {
	_Atomic int word;
	_Atomic char byte;
	_Atomic short half;
	void *_Atomic pointer;
	_Atomic int other;
};

// CHECK: 0x11
// CHECK-NOT: xchg
// CHECK: xchg_64(r10
// CHECK-NOT: xchg
// CHECK: 0x12
// CHECK-NOT: xchg
// CHECK: xchg_64(r10
// CHECK-NOT: xchg
// CHECK: 0x13
// CHECK-NOT: xchg
// CHECK: xchg_64(r10
// CHECK-NOT: xchg
// CHECK: 0x14
// CHECK-NOT: xchg
// CHECK: xchg_64(r10
// CHECK-NOT: xchg
// CHECK: 0x15
// CHECK-NOT: xchg
// CHECK: xchg32_32(
// CHECK-NOT: xchg
// CHECK: 0x16
// CHECK-NOT: xchg
COSY_FUNCTION int f(struct state *s)
{
	int r;

	atomic_store_explicit(&s->word, 0x11, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	r = s->other;
	s->byte = 0x12;
	r += s->other;
	s->half = 0x13;
	r += s->other;
	s->pointer = (void *)0x14;
	r += s->other;
	s->word = 0x15;
	r += s->other;
	atomic_store_explicit(&s->word, 0x16, memory_order_release);
	atomic_thread_fence(memory_order_acq_rel);
	atomic_signal_fence(memory_order_seq_cst);
	return r + s->other;
}
