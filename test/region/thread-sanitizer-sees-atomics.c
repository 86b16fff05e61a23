// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * With -fsanitize=thread, the atomic operations of a region are up-calls, so that the
 * sanitizer sees them. It would report a race at `shared` if it did not.
 */
// RUN: %cosy-cc -O2 -Werror -Wno-cosy-few-calls -pthread -fsanitize=thread -c %s -o %t.o
// RUN: %cosy-objdump -d %t.o | %FileCheck --check-prefix=CODE %s
// RUN: llvm-nm -u %t.o | %FileCheck --check-prefix=CALLS %s

// CODE-NOT: cmpxchg
// CODE: upcall 0
// CODE-NOT: cmpxchg
// CODE: upcall 1
// CODE-NOT: cmpxchg

// CALLS-DAG: U __tsan_atomic32_fetch_add
// CALLS-DAG: U __tsan_atomic32_load
// CALLS-DAG: U __tsan_atomic32_store
#include <cosy.h>
#include <stdatomic.h>
#include <unistd.h>

_Atomic int locked;
_Atomic int count;
int shared;

int main(void)
{
	COSY_START;
	if (!atomic_load_explicit(&locked, memory_order_acquire))
		shared = getpid();
	atomic_fetch_add(&count, 1);
	atomic_store_explicit(&locked, 0, memory_order_release);
	COSY_END;
	return shared == 0;
}
