// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// COSY_STOP_ON_ERROR: a region ends behind the first system call that fails, on
// every executor.
// RUN: %cosy-cc -O0 %s -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 %s -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 -D_FORTIFY_SOURCE=2 %s -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 -D_FORTIFY_SOURCE=3 %s -o %t && %run-all %t | FileCheck %s
// RUN: %clang -O2 -S -emit-llvm -fverify-intermediate-code %s -o %t.ll
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void report(const char *what)
{
	int error = errno;
	const struct cosy_stop *f = cosy_last_error();

	printf("%s: ", what);
	if (!f)
		printf("ended\n");
	else
		printf("%s:%u: %s in %s: %s, errno %s\n", strrchr(f->file, '/') + 1,
		       f->line, f->call, f->function, strerror(f->error),
		       strerror(error));
}

/* Variables keep their values at the call; the variable that is assigned gets -1. */
static void copy(const char *from, const char *to)
{
	char buf[16];
	int in = -2, out = -2, rounds = 0;
	ssize_t n = -2;

	COSY_START_STOP_ON_ERROR;
	in = open(from, O_RDONLY);
	out = open(to, O_WRONLY);
	while ((n = read(in, buf, sizeof(buf))) > 0) {
		rounds++;
		write(out, buf, n);
	}
	close(in);
	in = -3;
	close(out);
	out = -3;
	COSY_END;
	report(from);
	printf("in %d out %d n %zd rounds %d\n", in < 0 ? in : 1,
	       out < 0 ? out : 1, n, rounds > 1 ? 2 : rounds);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
}

/* In an expression, as an argument, by syscall(2), as a pointer. */
static void kinds(int which)
{
	struct { long result; void *p; } s = {1, NULL};
	int calls = 0;

	COSY_START_WITH(COSY_STOP_ON_ERROR);
	calls += 1;
	if (which == 0)
		calls += 10 * (dup(-1) + getppid());
	calls += 1;
	if (which == 1)
		s.result = syscall(SYS_close, -1);
	calls += 1;
	if (which == 2)
		s.p = mmap(NULL, 0, PROT_READ, MAP_PRIVATE, -1, 0);
	calls += 1;
	if (which == 3 && access("/nonexistent", F_OK) == 0)
		printf("not reached\n");
	COSY_END;
	report("kinds");
	printf("%d %ld %d\n", calls, s.result, s.p == MAP_FAILED);
}

/* Not its own: calls in functions, and on paths that do not return. */
static int failing(void)
{
	return close(-1);
}

static int others(int n)
{
	int sum = 0;

	COSY_START_STOP_ON_ERROR;
	sum += failing();
	if (n) {
		sum += close(-1);
		return sum;
	}
	sum += getpid() > 0;
	COSY_END;
	return sum + 100;
}

/* A region that another one calls stops alone. */
static void inner(void)
{
	COSY_START_STOP_ON_ERROR;
	close(-1);
	printf("not reached\n");
	COSY_END;
}

static int outer(void)
{
	int n = 0;

	COSY_START;
	n += getpid() > 0;
	inner();
	n += close(-1);
	n += 10;
	COSY_END;
	return n;
}

/* Consecutive regions; and a region that stops in a loop around it. */
static void series(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		COSY_START_STOP_ON_ERROR;
		getpid();
		if (i == 1)
			chdir("/nonexistent");
		COSY_END;
		report("series");
	}
}

/* Functions of libc that make more than a system call. */
static void wrapper(void)
{
	char *const args[] = { "nobody", NULL };

	COSY_START_STOP_ON_ERROR;
	getpid();
	execv("/nonexistent", args);
	getppid();
	COSY_END;
	report("wrapper");
}

int main(void)
{
	report("first");
	// CHECK: first: ended
	copy("/etc/passwd", "/dev/null");
	// CHECK-NEXT: /etc/passwd: ended
	// CHECK-NEXT: in -3 out -3 n 0 rounds 2
	copy("/nonexistent", "/dev/null");
	// CHECK-NEXT: /nonexistent: region-stops-at-an-error.c:41: open in copy: No such file or directory, errno No such file or directory
	// CHECK-NEXT: in -1 out -2 n -2 rounds 0
	copy("/etc", "/dev/null");
	// CHECK-NEXT: /etc: region-stops-at-an-error.c:43: read in copy: Is a directory, errno Is a directory
	// CHECK-NEXT: in 1 out 1 n -1 rounds 0
	copy("/etc/passwd", "/dev/full");
	// CHECK-NEXT: /etc/passwd: region-stops-at-an-error.c:45: write in copy: No space left on device, errno No space left on device
	// CHECK-NEXT: in 1 out 1 n 16 rounds 1
	for (int i = 0; i < 5; i++)
		kinds(i);
	// CHECK-NEXT: kinds: region-stops-at-an-error.c:70: dup in kinds: Bad file descriptor
	// CHECK-NEXT: 1 1 0
	// CHECK-NEXT: kinds: region-stops-at-an-error.c:73: syscall in kinds: Bad file descriptor
	// CHECK-NEXT: 2 -1 0
	// CHECK-NEXT: kinds: region-stops-at-an-error.c:76: mmap in kinds: Bad file descriptor
	// CHECK-NEXT: 3 1 1
	// CHECK-NEXT: kinds: region-stops-at-an-error.c:78: access in kinds: No such file or directory
	// CHECK-NEXT: 4 1 0
	// CHECK-NEXT: kinds: ended
	// CHECK-NEXT: 4 1 0
	printf("%d %d\n", others(0), others(1));
	// CHECK-NEXT: 100 -2
	report("others");
	// CHECK-NEXT: others: ended
	printf("%d\n", outer());
	// CHECK-NEXT: 10
	report("outer");
	// CHECK-NEXT: outer: region-stops-at-an-error.c:110: close in inner: Bad file descriptor
	series();
	// CHECK-NEXT: series: ended
	// CHECK-NEXT: series: region-stops-at-an-error.c:137: chdir in series: No such file or directory
	// CHECK-NEXT: series: ended
	wrapper();
	// CHECK-NEXT: wrapper: region-stops-at-an-error.c:{{[0-9]+}}: execv in wrapper: No such file or directory, errno No such file or directory
	return 0;
}
