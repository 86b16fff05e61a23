// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A page is borrowed from a read to a write only if nothing between them can make
// another thread change the file. A plain store cannot. A thread can wait for a volatile
// or atomic store, or a volatile load.
// RUN: %clang -O2 -c -o %t.o -fplugin-arg-cosy-dump -Rpass-missed=cosy %s 2>&1 | FileCheck %s
#include <cosy.h>
#include <unistd.h>

static int plain_flag;
static volatile int flag;
static _Atomic int shared;

#define COPY(name, between) \
	void name(int from, int to) \
	{ \
		long n; \
		COSY_START; \
		while ((n = read(from, buf, sizeof(buf))) > 0) { \
			between; \
			write(to, buf, n); \
		} \
		COSY_END; \
	}
#define BUFFER(name) static char name[4096]

// CHECK-LABEL: .compound "plain"
// CHECK: libc.borrow r{{[0-9]+}}, read
BUFFER(plain_buf);
#define buf plain_buf
COPY(plain, plain_flag = n)
#undef buf

// CHECK: remark: what is read and then written is copied twice: something between the read and the write may change the file
// CHECK-LABEL: .compound "volatile_store"
// CHECK: libc r{{[0-9]+}}, read
BUFFER(volatile_buf);
#define buf volatile_buf
COPY(volatile_store, flag = 1)
#undef buf

// CHECK-LABEL: .compound "atomic_store"
// CHECK: libc r{{[0-9]+}}, read
BUFFER(atomic_buf);
#define buf atomic_buf
COPY(atomic_store, __c11_atomic_store(&shared, 1, __ATOMIC_RELEASE))
#undef buf

// CHECK-LABEL: .compound "volatile_load"
// CHECK: libc r{{[0-9]+}}, read
BUFFER(waiting_buf);
#define buf waiting_buf
COPY(volatile_load, while (!flag) ;)
#undef buf
