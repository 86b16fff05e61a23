// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * proof-not.c - loops without COSY_BATCH that are not split, because a split could be seen, or because it is not
 * known that it could not. Each function violates one condition of batch/Proof.cpp; the remark names it at
 * its line. All behave as without the plugin.
 */
// RUN: %clang -O2 -w -Rpass=cosy -Rpass-missed=cosy -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not="loop is" %s
// RUN: %clang -O2 -w -fPIC -DSHARED -Rpass-missed=cosy -c %s -o %t.o 2>&1 | FileCheck --check-prefix=SHARED %s
// RUN: %clang -O2 -w -DERRNO_ADDRESS -Rpass=cosy -Rpass-missed=cosy -c %s -o %t.o 2>&1 \
// RUN:   | FileCheck --check-prefix=ADDRESS --implicit-check-not="loop is split" %s
// RUN: %clang -O2 -w -DOWN_ERRNO -Rpass-missed=cosy -c %s -o %t.o 2>&1 | FileCheck --check-prefix=OWN %s
#define _GNU_SOURCE
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct item {
	const char *name;
	long size;
	int skip;
};

static long shared;
static long flags[8];
static const char *table[8];
static _Atomic long atomic;
static volatile long seen;
static int (*check)(long);
long elsewhere(long v);
void may_jump(void);

/* The simplest loop that is split. */
#define LOOP(before, after)                                                    \
	for (int i = 0; i < n; i++) {                                          \
		struct stat st;                                                \
		int err;                                                       \
		before;                                                        \
		COSY_START;                                                    \
		err = stat(paths[i], &st);                                     \
		COSY_END;                                                      \
		after;                                                         \
	}
#define CONSTANT const char *const *paths, int n

// CHECK: proof-not.c:[[@LINE+4]]:{{.*}} loop is split {{.*}}; its iterations are independent
long good(CONSTANT)
{
	long sum = 0;
	LOOP(, sum += err)
	return sum;
}

//
// Exits
//

// CHECK: proof-not.c:[[@LINE+4]]:{{.*}} loop is not split: the region or the code after it may leave the loop
long breaks(CONSTANT)
{
	long sum = 0;
	LOOP(, if (err) break)
	return sum;
}

// CHECK: loop is not split: the region or the code after it may leave the loop
long leaves_region(CONSTANT)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;

		COSY_START;
		if (stat(paths[i], &st))
			return -1;
		COSY_END;
		sum += st.st_size;
	}
	return sum;
}

// CHECK: loop is not split: the region or the code after it may leave the loop
long aborts(CONSTANT)
{
	long sum = 0;
	LOOP(, if (err) abort(); sum += st.st_size)
	return sum;
}

// CHECK: proof-not.c:[[@LINE+4]]:{{.*}} loop is not split: the effects of 'may_jump' are not known
long jumps(CONSTANT)
{
	long sum = 0;
	LOOP(, may_jump())
	return sum;
}

static void ends(int err)
{
	if (err > 5)
		exit(1);
}

// CHECK: loop is not split: the effects of 'exit' are not known
long exits(CONSTANT)
{
	LOOP(, ends(err))
	return 0;
}

// CHECK: proof-not.c:[[@LINE+4]]:{{.*}} loop is not split: it is not known whether this inner loop ends
long hangs(CONSTANT)
{
	long sum = 0;
	LOOP(, for (;;) { if (sum++ > 9) break; })
	return sum;
}

// CHECK: proof-not.c:[[@LINE+4]]:{{.*}} loop is not split: a division that may trap
long divides(CONSTANT, long by)
{
	long sum = 0;
	LOOP(, sum += st.st_size / by)
	return sum;
}

//
// Calls
//

// CHECK: proof-not.c:[[@LINE+3]]:{{.*}} loop is not split: the effects of 'printf' are not known
long prints(CONSTANT)
{
	LOOP(, printf("%d\n", err))
	return 0;
}

// CHECK: proof-not.c:[[@LINE+3]]:{{.*}} loop is not split: the effects of 'elsewhere' are not known
long unknown(CONSTANT)
{
	LOOP(if (elsewhere(i)) continue, )
	return 0;
}

// CHECK: proof-not.c:[[@LINE+3]]:{{.*}} loop is not split: a call through a pointer
long pointer(CONSTANT)
{
	LOOP(, check(err))
	return 0;
}

static long recursive(long v)
{
	return v > 2 ? recursive(v - 2) + 1 : v;
}

// CHECK: loop is not split: the effects of 'recursive' are not known
long recursion(CONSTANT)
{
	long sum = 0;
	LOOP(, sum += recursive(err))
	return sum;
}

// CHECK: proof-not.c:[[@LINE+4]]:{{.*}} loop is not split: the call of 'getppid' may not be exchanged
long calls_after(CONSTANT)
{
	long sum = 0;
	LOOP(, sum += getppid())
	return sum;
}

// CHECK: loop is not split: the call of 'access' may not be exchanged
long calls_before(CONSTANT)
{
	LOOP(if (access(paths[i], R_OK)) continue, )
	return 0;
}

// CHECK: proof-not.c:[[@LINE+9]]:{{.*}} loop is not split: the call of 'unlink' may not be exchanged
long changes(CONSTANT)
{
	for (int i = 0; i < n; i++) {
		struct stat st;
		int err;

		COSY_START;
		if (!stat(paths[i], &st))
			err = unlink(paths[i]);
		COSY_END;
	}
	return 0;
}

// CHECK: proof-not.c:[[@LINE+10]]:{{.*}} loop is not split: the call of 'read' may not be exchanged
long reads(CONSTANT, int fd)
{
	for (int i = 0; i < n; i++) {
		struct stat st;
		char c;
		int err;

		COSY_START;
		err = fstat(fd, &st);
		err += read(fd, &c, 1);
		COSY_END;
	}
	return 0;
}

// A loop whose only call writes data back is no candidate.
long synchronizes(CONSTANT)
{
	for (int i = 0; i < n; i++) {
		struct statx st;

		COSY_START;
		statx(AT_FDCWD, paths[i], AT_STATX_FORCE_SYNC, STATX_SIZE, &st);
		COSY_END;
	}
	return 0;
}

//
// Accesses that others may see
//

// CHECK: proof-not.c:[[@LINE+3]]:{{.*}} loop is not split: a volatile access
long is_volatile(CONSTANT)
{
	LOOP(, seen++)
	return 0;
}

// CHECK: proof-not.c:[[@LINE+3]]:{{.*}} loop is not split: an atomic access
long is_atomic(CONSTANT)
{
	LOOP(, atomic++)
	return 0;
}

// CHECK: proof-not.c:[[@LINE+3]]:{{.*}} loop is not split: an atomic access or a fence
long has_fence(CONSTANT)
{
	LOOP(, atomic_signal_fence(memory_order_seq_cst))
	return 0;
}

// CHECK: proof-not.c:[[@LINE+3]]:{{.*}} loop is not split: inline assembly
long has_asm(CONSTANT)
{
	LOOP(, asm volatile("" ::: "memory"))
	return 0;
}

#ifdef SHARED
/* Another object may define it, too. */
long add(long a, long b)
{
	return a + b;
}

// SHARED: loop is not split: the effects of 'add' are not known
long of_library(CONSTANT)
{
	long sum = 0;
	LOOP(, sum = add(sum, err))
	return sum;
}
#endif

//
// Memory
//

// CHECK: proof-not.c:[[@LINE+3]]:{{.*}} loop is not split: memory that is written here, after the region, may be accessed by another iteration in the region, in line [[@LINE+3]]; pointers declared with restrict
long may_alias(CONSTANT, long *sizes)
{
	LOOP(, sizes[i] = st.st_size)
	return 0;
}

// CHECK: proof-not.c:[[@LINE+3]]:{{.*}} loop is not split: memory that is written here, after the region, may be accessed by another iteration in the region
long changes_name(char **paths, int n)
{
	LOOP(, paths[i][0] = 'x')
	return 0;
}

// CHECK: proof-not.c:[[@LINE+3]]:{{.*}} loop is not split: memory that is written here, after the region, may be accessed by another iteration before the region
long prefix(CONSTANT, long *restrict sizes)
{
	LOOP(if (sizes[i] == 9) continue, sizes[i + 1] = st.st_size)
	return 0;
}

static void count(long *restrict counts, int n)
{
	counts[n]++;
}

// CHECK: loop is not split: memory that is written here, {{.*}} may be accessed by another iteration
long in_callee(CONSTANT)
{
	LOOP(if (flags[n & 7]) continue, count(flags, i & 7))
	return 0;
}

// CHECK: proof-not.c:[[@LINE+4]]:{{.*}} loop is not split: memory that is written here, after the region, may be accessed by another iteration in the region
long changes_table(int n)
{
	const char **paths = table;
	LOOP(, table[(i + 1) & 7] = "/")
	return 0;
}

// CHECK: proof-not.c:[[@LINE+9]]:{{.*}} loop is not split: memory that is written here, after the region, may be accessed by another iteration before the region
long condition(CONSTANT)
{
	for (int i = 0; i < n && !shared; i++) {
		struct stat st;

		COSY_START;
		stat(paths[i], &st);
		COSY_END;
		shared += st.st_size;
	}
	return 0;
}

// CHECK: proof-not.c:[[@LINE+10]]:{{.*}} loop is not split: 'st' is declared outside the loop, and its address is used
long outside(CONSTANT)
{
	struct stat st;
	long sum = 0;

	for (int i = 0; i < n; i++) {
		int err;

		COSY_START;
		err = stat(paths[i], &st);
		COSY_END;
		sum += err ? 0 : st.st_size;
	}
	return sum;
}

// CHECK: loop is not split: memory that is written here, in the region, may be accessed by another iteration after the region
long is_static(CONSTANT)
{
	static struct stat st;
	long sum = 0;

	for (int i = 0; i < n; i++) {
		int err;

		COSY_START;
		err = stat(paths[i], &st);
		COSY_END;
		sum += err ? 0 : st.st_size;
	}
	return sum;
}

// CHECK: loop is not split: 'path' is declared outside the loop, and its address is used
long builds_path(CONSTANT)
{
	char path[64];
	long sum = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;
		int err;

		strcpy(path, paths[i]);
		COSY_START;
		err = stat(path, &st);
		COSY_END;
		sum += err;
	}
	return sum;
}

// CHECK: proof-not.c:[[@LINE+5]]:{{.*}} loop is not split: memory that is written here, after the region, may be accessed by another iteration before the region
long through_pointer(CONSTANT)
{
	long total = 0;
	long *p = &total;
	LOOP(if (*p > 100) continue, total += st.st_size)
	return total;
}

// CHECK: loop is not split: 'total' is read before the region, but an earlier iteration of the batch writes it later
long carried(CONSTANT)
{
	long total = 0;
	LOOP(if (total > 100) continue, total += err ? 0 : st.st_size)
	return total;
}

//
// errno
//

// CHECK: proof-not.c:[[@LINE+3]]:{{.*}} loop is not split: errno is used before the region
long errno_before(CONSTANT)
{
	LOOP(if (errno == ENOENT) continue, )
	return 0;
}

// CHECK: proof-not.c:[[@LINE+3]]:{{.*}} loop is not split: errno is used before the region
long errno_reset(CONSTANT)
{
	LOOP(errno = 0, )
	return 0;
}

// CHECK: proof-not.c:[[@LINE+3]]:{{.*}} loop is not split: errno is set after the region
long errno_after(CONSTANT)
{
	LOOP(, if (err) errno = EIO)
	return 0;
}

// CHECK: proof-not.c:[[@LINE+3]]:{{.*}} loop is not split: an access through a pointer that may be the address of errno
long errno_pointer(CONSTANT, const int *skip)
{
	LOOP(if (skip[i]) continue, )
	return 0;
}

#ifdef ERRNO_ADDRESS
int *errno_address(void)
{
	return &errno;
}
#endif

#ifdef OWN_ERRNO
/* Another object may define it, too. */
__attribute__((weak)) int *__errno_location(void)
{
	static int own;

	return &own;
}

// OWN: proof-not.c:[[@LINE+4]]:{{.*}} loop is not split: an access through a pointer that may be the address of errno
long own_errno(CONSTANT)
{
	long sum = 0;
	LOOP(, sum += errno)
	return sum;
}
#endif
// RUN: %clang -O2 -w -finstrument-functions -Rpass=cosy -Rpass-missed=cosy -c %s -o %t.o 2>&1 \
// RUN:   | FileCheck --check-prefix=INSTRUMENT %s
// INSTRUMENT: loop is not split: the effects of 'count' are not known
// ADDRESS: loop is not split: this file uses the address of errno

//
// Other limits
//

// Recursive functions, those with setjmp() and those with computed gotos are not split; there is no remark, because
// no change of the loop helps.
long recursive_function(CONSTANT)
{
	long sum = n > 3 ? recursive_function(paths + 1, n - 1) : 0;
	LOOP(, sum += err)
	return sum;
}

jmp_buf environment;
long has_setjmp(CONSTANT)
{
	long sum = 0;
	if (setjmp(environment))
		return 1;
	LOOP(, sum += err)
	return sum;
}

long has_labels(CONSTANT)
{
	static void *labels[] = { &&one, &&two };
	long sum = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;
		int err;

		COSY_START;
		err = stat(paths[i], &st);
		COSY_END;
		goto *labels[!err];
	one:
		sum++;
	two:
		sum += 2;
	}
	return sum;
}

__attribute__((optnone)) long not_optimized(CONSTANT)
{
	long sum = 0;
	LOOP(, sum += err)
	return sum;
}

// CHECK: loop is not split: the variables of an iteration take {{.*}} bytes of stack
long large(CONSTANT)
{
	for (int i = 0; i < n; i++) {
		char path[600];
		struct stat st;

		strcpy(path, paths[i]);
		COSY_START;
		stat(path, &st);
		COSY_END;
		shared += path[3];
	}
	return 0;
}
