// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call is a call of the C library only if its function is declared like in glibc and
// is not marked as the program's own. Every other call is an up-call, whatever its
// name is. No declaration crashes the compiler.
// RUN: %clang -O0 -std=c17 -w -Wno-implicit-function-declaration -c -o %t.o -fplugin-arg-cosy-dump %s 2>&1 | FileCheck %s
// RUN: %clang -O2 -std=c17 -w -Wno-implicit-function-declaration -c -o %t.o -fplugin-arg-cosy-dump %s 2>&1 | FileCheck %s
// RUN: %clang -O2 -std=c17 -w -Wno-implicit-function-declaration -c -o %t.o -fplugin-arg-cosy-dump -fno-builtin %s 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: %clang -O2 -std=c17 -w -Wno-implicit-function-declaration -c -o %t.o -fplugin-arg-cosy-dump -ffreestanding %s 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: %clang -O2 -std=c17 -w -Wno-implicit-function-declaration -c -o %t.o -fplugin-arg-cosy-dump -fplugin-arg-cosy-no-builtin-getppid %s 2>&1 | FileCheck --check-prefix=NAME %s
#include <cosy.h>

// NONE-NOT: {{^ *(libc|sys)}}
// NONE: upcall
// NONE-NOT: {{^ *(libc|sys)}}

int getppid(void);
// CHECK-LABEL: .compound "as_declared"
// CHECK: libc r{{[0-9]+}}, getppid
// NAME-LABEL: .compound "as_declared"
// NAME-NOT: libc
// NAME: upcall
// NAME-LABEL: .compound "no_arguments"
int as_declared(void)
{
	int n;

	COSY_START;
	n = getppid();
	COSY_END;
	return n;
}

// CHECK-LABEL: .compound "no_arguments"
// CHECK-NOT: libc
// CHECK: upcall
int pread(void);
int no_arguments(void)
{
	int n;

	COSY_START;
	n = pread();
	COSY_END;
	return n;
}

// CHECK-LABEL: .compound "implicit"
// CHECK-NOT: libc
// CHECK: upcall
int implicit(char *p)
{
	int n;

	COSY_START;
	n = write(1, p, 4) + sendto(3);
	COSY_END;
	return n;
}

// CHECK-LABEL: .compound "old_style"
// CHECK-NOT: libc
// CHECK: upcall
int close();
int lseek();
int old_style(int fd)
{
	int n;

	COSY_START;
	n = close(fd) + lseek() + lseek(fd, 0, 0);
	COSY_END;
	return n;
}

// CHECK-LABEL: .compound "other_types"
// CHECK-NOT: libc
// CHECK: upcall
struct pair { long a, b; };
struct pair dup(struct pair);
double fsync(double);
void *unlink(int);
char strlen(struct pair *, int);
void memcmp(void);
long other_types(struct pair p)
{
	COSY_START;
	p = dup(p);
	p.a += fsync(3.0) + strlen(&p, 1) + !unlink(4);
	memcmp();
	COSY_END;
	return p.a;
}

// CHECK-LABEL: .compound "caller_says"
// CHECK-NOT: libc
// CHECK: upcall
int dup2(int, int);
__attribute__((no_builtin)) int caller_says(void)
{
	int n;

	COSY_START;
	n = dup2(0, 1);
	COSY_END;
	return n;
}

// CHECK-LABEL: .compound "declaration_says"
// CHECK-NOT: libc
// CHECK: upcall
COSY_OWN int rmdir(const char *);
int declaration_says(void)
{
	int n;

	COSY_START;
	n = rmdir("x");
	COSY_END;
	return n;
}

// CHECK-LABEL: .compound "of_the_caller"
// CHECK-NOT: libc
// CHECK: upcall
__attribute__((no_builtin)) static inline int helper(void)
{
	return dup2(0, 1);
}
int of_the_caller(void)
{
	int n;

	COSY_START;
	n = helper();
	COSY_END;
	return n;
}
