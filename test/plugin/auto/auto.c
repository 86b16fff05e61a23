// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// -fcosy-auto: which calls become calls of libcosy's wrappers.
// RUN: %clang -O2 -Wall -Werror -fplugin-arg-cosy-Wno-cosy-few-calls -fplugin-arg-cosy-auto -S -emit-llvm %s -o - | FileCheck %s
// RUN: %clang -O0 -w -fplugin-arg-cosy-auto -S -emit-llvm %s -o - | FileCheck %s
// If the plugin is loaded in both ways, the second one changes nothing.
// RUN: %clang -O2 -fplugin-arg-cosy-auto -fpass-plugin=%lib/cosy-plugin.so -S -emit-llvm %s -o - | FileCheck %s
// Without the option functions without a region are not changed, and with -fno-builtin no
// function is libc's.
// RUN: %clang -O2 -DNO_REGION -S -emit-llvm %s -o - | FileCheck --check-prefix=OFF %s
// RUN: %clang -O2 -fplugin-arg-cosy-auto -fno-builtin -S -emit-llvm %s -o - | FileCheck --check-prefix=OFF %s
// MemorySanitizer would not see what the module writes.
// RUN: %clang -O2 -DNO_REGION -fplugin-arg-cosy-auto -fsanitize=memory -S -emit-llvm %s -o - | FileCheck --check-prefix=OFF %s
// OFF-NOT: cosy_auto
// OFF-NOT: cosy_before

// RUN: %clang -O1 -fplugin-arg-cosy-auto -fplugin-arg-cosy-no-builtin-access -Rpass=cosy -c %s -o %t.o 2>&1 | FileCheck --check-prefix=REMARK %s
// REMARK: auto.c:[[@LINE+32]]:{{[0-9]+}}: remark: the call of 'stat' goes through the module, if that is loaded, and usually saves 1785 instructions [-Rpass=cosy]
// REMARK: the call of 'open' {{.*}} usually saves 1666 instructions
// REMARK: the call of 'open' {{.*}} usually saves 933 instructions
// REMARK: the call of 'open' {{.*}} usually saves 933 instructions
// REMARK: the call of 'open64' {{.*}} usually saves 1299 instructions
// REMARK: the call of 'lstat'
// REMARK-NOT: 'lstat'
// REMARK: the call of 'fstatat' goes through the module, if that is loaded, and usually saves 1870 instructions
// REMARK-NOT: 'access'

// RUN: %clang -O1 -m32 -fplugin-arg-cosy-auto -c -o %t.o -x c - </dev/null 2>&1 | FileCheck --check-prefix=TARGET %s
// TARGET: warning: -fcosy-auto has no effect: the module makes calls for x86-64 with 64-bit pointers only

#define _GNU_SOURCE
#include <cosy.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int statx(int, const char *restrict, int, unsigned int, struct statx *restrict)
	__attribute__((weak));
COSY_OWN int rmdir(const char *name);
char *unlink_other(const char *, int) __asm__("unlink");
int seccomp_load(void *context);
int open_any(const char *name, int flags, ...) __asm__("open");

// CHECK-LABEL: @simple(
// CHECK: call i32 @cosy_auto_stat(ptr
int simple(const char *name, struct stat *st)
{
	return stat(name, st);
}

// A mode is optional, and the call can have another name.
// CHECK-LABEL: @opens(
// CHECK: call i32 (ptr, i32, ...) @cosy_auto_open(ptr {{.*}}, i32 {{.*}}0)
// CHECK: call i32 (ptr, i32, ...) @cosy_auto_open(ptr {{.*}}, i32 {{.*}}, i32 {{.*}}384)
int opens(const char *name)
{
	return open(name, O_RDONLY) + open_any(name, O_RDWR | O_CREAT, 0600);
}

// Opening for writing saves less.
// CHECK-LABEL: @opens_for_writing(
// CHECK: call i32 (ptr, i32, ...) @cosy_auto_open(
int opens_for_writing(const char *name)
{
	return open(name, O_WRONLY);
}

// CHECK-LABEL: @opens_or_creates(
// CHECK: call i32 (ptr, i32, ...) @cosy_auto_open64(
int opens_or_creates(const char *name, int flags)
{
	return open64(name, flags);
}

// Copies of a call have one remark.
// CHECK-LABEL: @repeated(
// CHECK: call i32 @cosy_auto_lstat(
int repeated(const char *name, struct stat *st)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += lstat(name, &st[i]);
	return sum;
}

// A name in an open directory is found faster.
// CHECK-LABEL: @near(
// CHECK: call i32 @cosy_auto_fstatat(
int near(int directory, const char *name, struct stat *st)
{
	return fstatat(directory, name, st, 0);
}

// Calls through pointers, of functions that may be missing, of the program's own, and of
// functions that only resemble libc's do not change.
// CHECK-LABEL: @others(
// CHECK: call i32 %{{.*}}(ptr
// CHECK: call i32 @statx(
// CHECK: call i32 @rmdir(
// CHECK: call ptr @unlink(
// CHECK: call i32 @close(
int others(const char *name, struct stat *st, struct statx *sx,
	   int (*volatile *pointer)(const char *, struct stat *))
{
	int sum = (*pointer)(name, st);

	if (statx)
		sum += statx(AT_FDCWD, name, 0, 0, sx);
	sum += rmdir(name);
	sum += unlink_other(name, 1) != name;
	return sum + close(sum);
}

// CHECK-LABEL: @no_builtin(
// CHECK: call i32 @access(
__attribute__((no_builtin)) int no_builtin(const char *name)
{
	return access(name, F_OK);
}

// CHECK-LABEL: @builtin(
// CHECK: call i32 @cosy_auto_access(
int builtin(const char *name)
{
	return access(name, R_OK);
}

// The wrappers are notified before the process forks,
// CHECK-LABEL: @forks(
// CHECK: call void @cosy_before_fork()
// CHECK-NOT: cosy_before_fork
// CHECK: call i32 @fork()
// CHECK: call void @cosy_before_fork()
// CHECK-NOT: cosy_before_fork
// CHECK: call i32 @vfork()
int forks(void)
{
	int n = fork();

	return n ? n : vfork();
}

// and before it may set a seccomp filter, or a handler of system calls.
// CHECK-LABEL: @filters(
// CHECK-NOT: cosy_before
// CHECK: call i32 (i32, ...) @prctl(i32 {{.*}}38,
// CHECK-NOT: cosy_before
// CHECK: call {{.*}}@syscall(i64 {{.*}}39)
// CHECK: call void @cosy_before_prctl(i64 22)
// CHECK-NEXT: call i32 (i32, ...) @prctl(i32 {{.*}}22,
// CHECK: call void @cosy_before_prctl(i64 59)
// CHECK-NEXT: call i32 (i32, ...) @prctl(i32 {{.*}}59,
// CHECK: call void @cosy_before_syscall(i64 317,
// CHECK-NEXT: call {{.*}}@syscall(i64 {{.*}}317
// CHECK: call void @cosy_before_syscall(i64 %{{.*}}, i64 0)
// CHECK-NEXT: call {{.*}}@syscall(i64 {{.*}}%
// CHECK: call void @cosy_before_filter()
// CHECK-NEXT: call i32 @seccomp_load(
void filters(long nr, void *filter)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_getpid);
	prctl(PR_SET_SECCOMP, 2, filter);
	prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, filter);
	syscall(SYS_seccomp, 1, 0, filter);
	syscall(nr, filter);
	seccomp_load(filter);
}

#ifndef NO_REGION
// The native code of a region.
// CHECK-LABEL: @region(
// CHECK: @cosy_region_run
// CHECK: call i32 @cosy_auto_mkdir(
int region(const char *name)
{
	int result;

	COSY_START;
	result = mkdir(name, 0777);
	COSY_END;
	return result;
}
#endif

// CHECK: declare hidden {{.*}}i32 @cosy_auto_stat(ptr
