// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// COSY_BATCH: a loop is split, and does what it did.
// RUN: %clang -O2 -c -o %t.o -Rpass=cosy %s 2>&1 | FileCheck --check-prefix=REMARK %s
// RUN: %clang -O2 -c -o %t.o -Rpass=cosy -fdiagnostics-show-hotness %s 2>&1 | FileCheck --check-prefix=REMARK %s
// RUN: %clang -O2 -c -o %t.o -Rpass-missed=cosy %s 2>&1 | FileCheck --check-prefix=MISSED %s
// RUN: %cc -O1 -I%include %s -o %t.plain && %t.plain | FileCheck %s
// RUN: for level in 0 2; do \
// RUN:   %cosy-cc -O$level -g %s -o %t && %run-all %t | FileCheck %s || exit 1; \
// RUN: done
// RUN: %cosy-cc -O1 -save-temps=obj -fsanitize=undefined %s -o %t && %run-all %t | FileCheck %s
// RUN: for level in 0 2; do \
// RUN:   %cosy-cc -O$level -fcosy-batch-check %s -o %t && %t 2>&1 | FileCheck %s || exit 1; \
// RUN: done
// RUN: %cosy-cc -O2 -flto -fuse-ld=lld %s -o %t && %run-all %t | FileCheck %s
#include <cosy.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = { "/", "/none", "/dev/null", "/dev/null/x", "skip", "/proc" };
enum { SKIP = 4, NAMES = 6 };

static void print(int i, const char *path, const struct stat *st)
{
	printf("%d:%s:%o ", i, path, (unsigned int)st->st_mode & S_IFMT);
}

/* All paths through an iteration, and out of the loop. */
static int walk(int count, int stop, int how)
{
	int i, skipped = 0, found = 0, r = -2;

	for (i = 0; i < count; i++) {
		struct stat st;
		char path[16];

		// REMARK: batch.c:[[@LINE+1]]:{{.*}}remark: loop is split into batches of up to 4 iterations
		COSY_BATCH(4);
		if (i % NAMES == SKIP) {
			skipped++;
			continue;
		}
		if (i == stop && how == 1) {
			printf("break ");
			break;
		}
		if (i == stop && how == 2) {
			printf("return ");
			return i;
		}
		strcpy(path, names[i % NAMES]);
		COSY_START;
		r = lstat(path, &st);
		if (i == stop && how == 3)
			goto out;
		COSY_END;
		if (r) {
			printf("%d:%s:%s ", i, path, strerror(errno));
			continue;
		}
		print(i, path, &st);
		if (i == stop && how == 4)
			break;
		if (i == stop && how == 5)
			return -i;
		found++;
	}
	printf("end ");
out:
	printf("i=%d r=%d skipped=%d found=%d ", i, r, skipped, found);
	return i;
}

/* One variable is declared outside the loop, and has a value in each iteration. */
static int countdown(unsigned int n, unsigned long long *sum)
{
	unsigned int total = 0;
	int r;

	do {
		volatile int seen = 0;

		COSY_BATCH(3);
		COSY_START;
		r = getpid() > 0 ? (int)n : 0;
		total += r;
		COSY_END;
		seen = r;
		*sum = *sum * 10 + seen;
	} while (--n > 0);
	return total;
}

/* A volatile variable has the value of the iteration that leaves the loop, not of later ones. */
static int begun_until(int last)
{
	volatile int begun = 0;

	for (int i = 0;; i++) {
		int pid;

		COSY_BATCH(4);
		begun++;
		COSY_START;
		pid = getpid();
		COSY_END;
		if (pid <= 0 || i == last)
			break;
	}
	return begun;
}

/* Pointers to variables of the body, and two loops in a function. */
struct item {
	struct item *next;
	const char *name;
	double weight;
};

static void swap(int **a, int **b)
{
	int *was = *a;

	*a = *b;
	*b = was;
}

static double list(struct item *first)
{
	struct item *p;
	double all = 0;
	int n = 0;

	for (p = first; p; p = p->next) {
		int low = n, high = -n, *a = &low, *b = &high;
		double weight = p->weight;

		COSY_BATCH(2);
		swap(&a, &b);
		n++;
		COSY_START;
		*a += access(p->name, F_OK);
		COSY_END;
		all += weight * (*a * 10 + *b);
	}
	while (n) {
		struct item *q = first;
		long number;

		COSY_BATCH(0);
		n--;
		for (int k = 0; k < n; k++)
			q = q->next;
		COSY_START;
		number = lseek(-1, 0, SEEK_SET);
		if (q == first)
			continue;
		COSY_END;
		printf("%s%ld ", q->name, number);
	}
	return all;
}

/* A region that is not always entered; a nested loop; a switch that is left. */
static int sometimes(int n)
{
	int entered = 0, all = 0;

	for (int outer = 0; outer < 3; outer++) {
		for (;;) {
			int r = 5;

			COSY_BATCH(64);
			if (n-- <= outer)
				break;
			switch (n % 4) {
			case 3:
				continue;
			case 2:
				break;
			default:
				COSY_START;
				r = getppid() >= 0;
				entered++;
				COSY_END;
				all += n;
			}
			/* Before the regions of other iterations, or after them. */
			if (r == 5)
				printf(".");
		}
		n = 9 + outer;
	}
	return all * 100 + entered;
}

/* Code before a jump out of two scopes runs after the iterations before it are finished. */
static int scopes(int n, int stop)
{
	while (1) {
		int i = n++;

		if (i > 20)
			break;
		int copy = i, r;

		COSY_BATCH(4);
		if (i == stop) {
			printf("leave ");
			return copy;
		}
		COSY_START;
		r = getpid() > 0;
		COSY_END;
		printf("%d ", copy * r);
	}
	return n;
}

struct list {
	long first, more[3];
};

/* The function's result is in the memory of the caller, who reads it when a part leaves the loop. */
static struct list result(int n, int stop)
{
	struct list l = { -1 };

	for (int i = 0; i < n; i++) {
		COSY_BATCH(4);
		l.first = i;
		COSY_START;
		if (getpid() > 0 && i == stop)
			return l;
		COSY_END;
	}
	return l;
}

/* The same for a variable of the body. */
static struct list result_of_body(int stop)
{
	for (int i = 0;; i++) {
		struct list l = { i };

		COSY_BATCH(4);
		COSY_START;
		int r = getpid() > 0;
		COSY_END;
		if (r && i == stop)
			return l;
	}
}

/* The region is native: the loop does not change, so its iterations may depend on each other. */
static int native(int n)
{
	int r = 1;

	while (n-- && r) {
		// MISSED: [[@LINE+1]]:{{.*}}remark: loop is not split: its region begins with COSY_START_NATIVE
		COSY_BATCH(8);
		COSY_START_NATIVE;
		r = getpid() > 0 && n != 3;
		COSY_END;
	}
	if (0)
		while (n)
			COSY_BATCH(8);
	return n;
}

/* errno is that of the last function that failed, in the loop and after it. */
static int errors(int n, int how)
{
	int sum = 0;

	errno = 0;
	for (int i = 0; i < n; i++) {
		struct stat st;
		int r;

		COSY_BATCH(4);
		if (how == 1 && i == 2)
			access("", F_OK);
		if (how == 2 && i == 2)
			getpriority(-1, 0);
		COSY_START;
		r = stat(names[i], &st);
		COSY_END;
		if (how == 3 && i == 3)
			close(-1);
		if (how == 4 && r)
			break;
		sum = sum * 3 + errno;
	}
	return sum * 100 + errno;
}

/* The code before the region sets errno to 0. */
static int cleared(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;

		COSY_BATCH(4);
		errno = 0;
		COSY_START;
		stat(names[i], &st);
		COSY_END;
		sum = sum * 3 + errno;
	}
	return sum;
}

/* Regions, and code before them, that name errno. */
static int named(int n, int how)
{
	int sum = 0;

	errno = ERANGE;
	for (int i = 0; i < n; i++) {
		struct stat st;
		int seen;

		COSY_BATCH(4);
		if (how == 1 && i == 2)
			errno = ENOENT;
		if (how == 4)
			access("", 99);
		COSY_START;
		if (how < 2)
			stat(names[i], &st);
		else if (i == 3)
			errno = 0;
		seen = errno;
		if (how == 3 && seen == ENOENT)
			errno = ENXIO;
		if (how == 3 && i == 1)
			access(names[1], F_OK);
		COSY_END;
		if (i == 2)
			close(-1);
		sum += seen * (i + 1);
		sum = sum * 3 + errno;
		if (how == 4)
			access("", F_OK);
	}
	return sum * 100 + errno;
}

static __attribute__((noinline)) int status(const char *name)
{
	struct stat st;

	errno = 0;
	return stat(name, &st);
}

/* A region that calls a function which names errno. */
static int hidden(int n, int always)
{
	int sum = 0;

	errno = ERANGE;
	for (int i = 0; i < n; i++) {
		COSY_BATCH(4);
		COSY_START;
		if (always || i == 1)
			status(names[i]);
		COSY_END;
		sum = sum * 3 + errno;
	}
	return sum * 100 + errno;
}

/* The address of errno is not its name. */
static int pointed(int n)
{
	int *e = &errno, sum = 0;

	for (int i = 0; i < n; i++) {
		COSY_BATCH(4);
		*e = i % 2;
		COSY_START;
		access(names[i], F_OK);
		COSY_END;
		sum = sum * 3 + errno;
	}
	return sum;
}

/* A list of arguments is a variable, and va_copy() writes it. */
static long arguments(int n, ...)
{
	va_list all, copy;
	long sum = 0;

	va_start(all, n);
	for (int k = 0; k < 2; k++) {
		va_list some;

		va_copy(some, all);
		for (int i = 0; i < n; i++) {
			int v = va_arg(some, int), r;

			COSY_BATCH(4);
			COSY_START;
			r = getppid() > 0;
			COSY_END;
			if (v == 3)
				break;
			sum = sum * 10 + r * v;
		}
		sum = sum * 10 + va_arg(some, int);
		va_end(some);
	}
	for (int i = 0; i < n; i++) {
		int r;

		COSY_BATCH(4);
		va_copy(copy, all);
		COSY_START;
		r = getppid() > 0;
		COSY_END;
		sum += r * va_arg(copy, int) * va_arg(copy, int);
		va_end(copy);
	}
	va_copy(copy, all);
	sum = sum * 10 + va_arg(copy, int);
	va_end(copy);
	va_end(all);
	return sum;
}

int main(void)
{
	struct item c = { 0, "/none", 4 }, b = { &c, "/", 2.5 }, a = { &b, "/proc", 0.5 };
	unsigned long long sum = 0;

	// CHECK: 0: end i=0 r=-2 skipped=0 found=0 = 0
	// CHECK-NEXT: 1: 0:/:40000 end i=1 r=0 skipped=0 found=1 = 1
	for (int n = 0; n < 2; n++) {
		printf("%d: ", n);
		printf("= %d\n", walk(n, -1, 0));
	}
	// CHECK-NEXT: 0: 0:/:40000 1:/none:No such file or directory 2:/dev/null:20000 3:/dev/null/x:Not a directory 5:/proc:40000 6:/:40000 7:/none:No such file or directory end i=8 r=-1 skipped=1 found=4 = 8
	// CHECK-NEXT: 1: 0:/:40000 1:/none:No such file or directory 2:/dev/null:20000 3:/dev/null/x:Not a directory 5:/proc:40000 break end i=6 r=0 skipped=1 found=3 = 6
	// CHECK-NEXT: 2: 0:/:40000 1:/none:No such file or directory 2:/dev/null:20000 3:/dev/null/x:Not a directory 5:/proc:40000 return = 6
	// CHECK-NEXT: 3: 0:/:40000 1:/none:No such file or directory 2:/dev/null:20000 3:/dev/null/x:Not a directory 5:/proc:40000 i=6 r=0 skipped=1 found=3 = 6
	// CHECK-NEXT: 4: 0:/:40000 1:/none:No such file or directory 2:/dev/null:20000 3:/dev/null/x:Not a directory 5:/proc:40000 6:/:40000 end i=6 r=0 skipped=1 found=3 = 6
	// CHECK-NEXT: 5: 0:/:40000 1:/none:No such file or directory 2:/dev/null:20000 3:/dev/null/x:Not a directory 5:/proc:40000 6:/:40000 = -6
	for (int how = 0; how < 6; how++) {
		printf("%d: ", how);
		printf("= %d\n", walk(8, 6, how));
	}
	// CHECK-NEXT: 28 7654321
	printf("%d", countdown(7, &sum));
	printf(" %llu\n", sum);
	// CHECK-NEXT: 6
	printf("%d\n", begun_until(5));
	// CHECK-NEXT: /none-1 /-1 -134.5
	printf("%g\n", list(&a));
	// CHECK-NEXT: .........12918
	printf("%d\n", sometimes(20));
	// CHECK-NEXT: 1 2 3 4 5 6 leave = 7
	printf("= %d\n", scopes(1, 7));
	// CHECK-NEXT: 2 5 3
	struct list l = result(6, 2), m = result(6, 9), o = result_of_body(3);
	printf("%ld %ld %ld\n", l.first, m.first, o.first);
	// CHECK-NEXT: 2
	printf("%d\n", native(9));
	// CHECK-NEXT: 0 202 4420 40402
	// CHECK-NEXT: 0 202 4420 40402
	// CHECK-NEXT: 0 202 10420 94402
	// CHECK-NEXT: 0 202 3309 30502
	// CHECK-NEXT: 0 2 2 2
	for (int how = 0; how < 5; how++)
		printf("%d %d %d %d\n", errors(1, how), errors(2, how), errors(4, how), errors(6, how));
	// CHECK-NEXT: 38 348
	printf("%d %d\n", cleared(4), cleared(6));
	// CHECK-NEXT: 13634 42202 413920 3738502
	// CHECK-NEXT: 13634 42202 413920 3738502
	// CHECK-NEXT: 13634 64634 675900 6083100
	// CHECK-NEXT: 13634 61402 560700 5046300
	// CHECK-NEXT: 8802 41802 438302 4092102
	for (int how = 0; how < 5; how++)
		printf("%d %d %d %d\n", named(1, how), named(2, how), named(4, how), named(6, how));
	// CHECK-NEXT: 3434 10402 94402 850402
	// CHECK-NEXT: 0 202 3820 34800
	for (int always = 0; always < 2; always++)
		printf("%d %d %d %d\n", hidden(1, always), hidden(2, always), hidden(4, always), hidden(6, always));
	// CHECK-NEXT: 38 349
	printf("%d %d\n", pointed(4), pointed(6));
	// CHECK-NEXT: 1241321
	printf("%ld\n", arguments(4, 1, 2, 3, 4));
	return 0;
}
