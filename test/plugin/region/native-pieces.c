// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What only the function itself can execute stays native; a compound ends
// before it, and another begins behind it.
// RUN: %clang -O0 -c -o %t.o -Rpass=cosy -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: %clang -O2 -c -o %t.o -Rpass=cosy -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: %cosy-cc -O0 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O1 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O3 -flto -fuse-ld=lld %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 -fno-builtin %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O1 -fsanitize=address,undefined %s -o %t
// RUN: %run-all --only native,user %t | FileCheck --check-prefix=OUT %s
#include <cosy.h>
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf env;
static int fds[2];

__attribute__((noinline)) static void jump(int n) { longjmp(env, n); }

// The second return of setjmp() comes in the middle of the region, from a call
// that a compound makes.
__attribute__((noinline)) static int with_setjmp(void)
{
	volatile int n = 0;
	volatile int sum = 0;
	int r;

	COSY_START;
	sum = getpid() > 0;
	// CHECK: native-pieces.c:[[#@LINE+1]]:{{.*}}remark: leaves the compound for native code: a call that returns twice
	r = setjmp(env);
	sum += r;
	for (int i = 0; i < 4; i++)
		n += getpid() > 0;
	if (r < 3)
		jump(r + 1);
	sum += n * 100;
	COSY_END;
	return sum;
}

static void *builtin_env[5];

__attribute__((noinline)) static void builtin_jump(void)
{
	__builtin_longjmp(builtin_env, 1);
}

__attribute__((noinline)) static int with_builtin_setjmp(void)
{
	volatile int n = 0;
	volatile int jumped = 0;

	COSY_START;
	for (int i = 0; i < 3; i++)
		n += getpid() > 0;
	// CHECK: native-pieces.c:[[#@LINE+1]]:{{.*}}remark: leaves the compound for native code: the address of the function's own stack frame
	if (!__builtin_setjmp(builtin_env)) {
		jumped += 100;
		builtin_jump();
	}
	for (int i = 0; i < 4; i++)
		n += getpid() > 0;
	COSY_END;
	return n + jumped;
}

__attribute__((noinline)) static int with_vfork(void)
{
	int status = 0, pid = 0;

	COSY_START;
	for (int i = 0; i < 3; i++)
		status += getppid() > 0;
	// CHECK: native-pieces.c:[[#@LINE+1]]:{{.*}}remark: leaves the compound for native code: a call that returns twice
	pid = vfork();
	if (pid == 0)
		_exit(7);
	waitpid(pid, &status, 0);
	COSY_END;
	return WEXITSTATUS(status);
}

__attribute__((noinline)) static long with_array(int n)
{
	long sum = 0;

	COSY_START;
	for (int i = 1; i < n; i++) {
		// CHECK: native-pieces.c:[[#@LINE+1]]:{{.*}}remark: leaves the compound for native code: a variable-length array
		char text[i * 10];

		memset(text, 'a' + i, sizeof(text));
		sum += write(fds[1], text, sizeof(text));
		memset(text, 0, sizeof(text));
		sum += read(fds[0], text, sizeof(text));
		sum += text[0] + text[sizeof(text) - 1];
		if (i == 20)
			continue;
	}
	COSY_END;
	return sum;
}

struct node { struct node *next; int value; };
__attribute__((noinline)) static int with_alloca(int n)
{
	struct node *list = NULL;
	int sum = 0;

	COSY_START;
	for (int i = 0; i < n; i++) {
		// CHECK: native-pieces.c:[[#@LINE+1]]:{{.*}}remark: leaves the compound for native code: a variable-length array or alloca
		struct node *one = alloca(sizeof(*one));

		one->next = list;
		one->value = i;
		list = one;
		for (int k = 0; k < 3; k++)
			one->value += getpid() < 0;
	}
	for (struct node *p = list; p; p = p->next)
		sum = sum * 3 + p->value + (getppid() < 0);
	COSY_END;
	return sum;
}

__attribute__((noinline)) static int with_asm_goto(int n)
{
	int r = 0;

	COSY_START;
	for (int i = 0; i < n; i++) {
		// CHECK: native-pieces.c:[[#@LINE+1]]:{{.*}}remark: leaves the compound for native code: an asm goto
		asm goto("testl $1, %0\n\tjnz %l1" : : "r"(i) : "cc" : odd);
		r += getpid() > 0;
		r += getppid() > 0;
		continue;
odd:
		r += 100;
		write(fds[1], "x", 1);
		read(fds[0], &(char){0}, 1);
	}
	COSY_END;
	return r;
}

__attribute__((noinline)) static long with_va_start(int n, ...)
{
	va_list ap, again;
	long sum = 0;

	COSY_START;
	sum += getpid() > 0;
	sum += getpid() > 0;
	// CHECK: native-pieces.c:[[#@LINE+1]]:{{.*}}remark: leaves the compound for native code: va_start
	va_start(ap, n);
	va_copy(again, ap);
	for (int i = 0; i < n; i++)
		sum = sum * 10 + va_arg(ap, int) + (getpid() < 0);
	for (int i = 0; i < n; i++)
		sum = sum * 10 + va_arg(again, int) + (getpid() < 0);
	va_end(again);
	va_end(ap);
	COSY_END;
	return sum;
}

__attribute__((noinline)) static int with_frame_address(void)
{
	void *outside = __builtin_frame_address(0);
	int same = 0;

	COSY_START;
	for (int i = 0; i < 3; i++)
		same += getpid() > 0;
	// CHECK: native-pieces.c:[[#@LINE+1]]:{{.*}}remark: leaves the compound for native code: the address of the function's own stack frame
	same += 10 * (__builtin_frame_address(0) == outside);
	for (int i = 0; i < 3; i++)
		same += 100 * (getpid() > 0);
	COSY_END;
	return same;
}

// Jumps into a region: from there to its end it is native.
__attribute__((noinline)) static int jump_in(int n)
{
	int r = n, k = 5;

	if (n == 2)
		goto inside;
again:
	COSY_START;
	r += 10 * (getpid() > 0);
	k = r * 2;
	if (r > 1000)
		return -1;
inside:
	for (int i = 0; i < 3; i++)
		r += 100 * (getppid() > 0) + k;
	COSY_END;
	if (n == 3) {
		n = 4;
		goto inside;
	}
	COSY_START;
	r += getpid() < 0;
	if (n++ == 4)
		goto again;
	if (n == 8)
		goto inside;
	r += 3;
	COSY_END;
	switch (n) {
	case 1:
		COSY_START;
		r += getpid() > 0;
	case 6:
		r += 7;
		while (getpid() < 0)
	default:
			r += getppid() < 0;
		COSY_END;
	}
	return r * 3 + k;
}

int main(void)
{
	if (pipe(fds))
		return 1;
	// OUT: 1607
	printf("%d\n", with_setjmp());
	// OUT-NEXT: 107
	printf("%d\n", with_builtin_setjmp());
	// OUT-NEXT: 7
	printf("%d\n", with_vfork());
	// OUT-NEXT: 15196
	printf("%ld\n", with_array(30));
	// OUT-NEXT: 73812
	printf("%d\n", with_alloca(9));
	// OUT-NEXT: 408
	printf("%d\n", with_asm_goto(8));
	// OUT-NEXT: 212341234
	printf("%ld\n", with_va_start(4, 1, 2, 3, 4));
	// OUT-NEXT: 313
	printf("%d\n", with_frame_address());
	// OUT-NEXT: 1163 1162 965 18847 10314 1275 1277 2506 1323
	for (int i = 0; i < 9; i++)
		printf("%d ", jump_in(i));
	printf("\n");
	return 0;
}
