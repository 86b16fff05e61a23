// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Without -fcosy-auto, the calls in the native code of regions, and in functions that regions call,
// become calls of libcosy's wrappers. Other calls do not change.
// RUN: %clang -O2 -Wall -Werror -S -emit-llvm %s -o - | FileCheck %s
// RUN: %clang -O0 -w -S -emit-llvm %s -o - | FileCheck %s
// RUN: %clang -O2 -fpass-plugin=%lib/cosy-plugin.so -S -emit-llvm %s -o - | FileCheck %s
// In a file whose regions make no such calls, nothing changes.
// RUN: %clang -O2 -DNO_CALLS -S -emit-llvm %s -o - | FileCheck --check-prefix=NONE %s
// NONE: @cosy_region_run
// NONE-NOT: cosy_auto
// NONE-NOT: cosy_before

// The region has a flag that its native code makes single calls.
// RUN: %clang -O2 -S -emit-llvm %s -o - | FileCheck --check-prefix=FLAG %s
// FLAG: @cosy.regions = internal global {{.*}}, i32 0, i32 2, ptr null, i64 0,
#include <cosy.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef NO_CALLS
#define lstat(name, st)		(close(-1), 0)
#define access(name, mode)	close(mode)
#endif

// Functions that a region calls:
// CHECK-LABEL: @look(
// CHECK: call i32 @cosy_auto_access(
int look(const char *name);
int region(const char *name, int n);
int outside(const char *name);
int forks(void);

__attribute__((noinline)) int look(const char *name)
{
	return access(name, R_OK);
}

// CHECK-LABEL: @region(
// CHECK-NOT: @cosy_auto_stat(
// CHECK: call i32 @stat(
// CHECK: @cosy_region_run
// CHECK: call i32 @cosy_auto_lstat(
int region(const char *name, int n)
{
	struct stat st;
	int sum = stat(name, &st);

	COSY_START;
	for (int i = 0; i < n; i++)
		sum += lstat(name, &st) + look(name);
	COSY_END;
	return sum;
}

// CHECK-LABEL: @outside(
// CHECK: call i32 @lstat(
int outside(const char *name)
{
	struct stat st;

	return lstat(name, &st);
}

// CHECK-LABEL: @forks(
// CHECK: call void @cosy_before_fork()
// CHECK: call i32 @fork()
int forks(void)
{
	return fork();
}

// They may be in libcosy.so.
// CHECK: declare {{(dso_local )?(noundef )?}}i32 @cosy_auto_access(ptr
