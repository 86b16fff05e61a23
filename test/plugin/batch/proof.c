// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * proof.c - loops without COSY_BATCH that are split, because their iterations are provably independent. All
 * have the results of the loops as written, on all executors, and errno, too. Natively they run as written.
 */
// RUN: %clang -O2 -Rpass=cosy -Rpass-missed=cosy -c %s -o %t.o 2>&1 | FileCheck --check-prefix=REMARK --implicit-check-not="not split" %s
// RUN: %clang -O2 -Rpass=cosy -Rpass-missed=cosy -fplugin-arg-cosy-batch-check -c %s -o %t.o 2>&1 | FileCheck --check-prefix=NONE --allow-empty %s
// RUN: %clang -O0 -Rpass=cosy -Rpass-missed=cosy -c %s -o %t.o 2>&1 | FileCheck --check-prefix=NONE --allow-empty %s
// NONE-NOT: loop is
// RUN: %cc -O1 -I%include %s -o %t.plain && %t.plain >%t.expected
// RUN: %cosy-cc -O2 %s -o %t && %run-all %t >%t.out && diff %t.expected %t.out
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | FileCheck --check-prefix=STATS %s
// RUN: %cosy-cc -O1 -g -fcosy-auto %s -o %t && %run-all %t >%t.out && diff %t.expected %t.out
// RUN: %cosy-cc -O2 -save-temps=obj %s -o %t && env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | FileCheck --check-prefix=STATS %s
// RUN: %cosy-cc -O2 -flto %s -o %t && %run-all %t >%t.out && diff %t.expected %t.out
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | FileCheck --check-prefix=STATS %s

// With a stat() of the program, the loops run as written: it sees the value of each iteration before.
// RUN: %cosy-cc -O2 -DOWN_STAT -c %s -o %t.own.o
// RUN: %cc -O1 -I%include -DUSES_OWN %s %t.own.o -o %t.plain && %t.plain >%t.expected
// RUN: %cosy-cc -O2 -DUSES_OWN %s %t.own.o -o %t
// RUN: env COSY_EXECUTOR=user %t >%t.out && diff %t.expected %t.out
#define _GNU_SOURCE
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

long look(void);

#ifdef OWN_STAT
int stat(const char *restrict name, struct stat *restrict st)
{
	memset(st, 0, sizeof(*st));
	st->st_size = look() * 7 + name[0];
	return 0;
}
#else

enum { MAX = 200 };
static const char *const names[] = { "/", "/none", "/dev/null", "/dev/null/x", "/proc", "" };
static const char *paths[MAX];

struct item {
	const char *name;
	long size;
	int skip, error;
};

static long sizes[MAX];
static long watched;

long look(void)
{
	return watched;
}
static struct item items[MAX];

/* The sum of what all iterations find; errno is that of the last failure. */
// REMARK: proof.c:[[@LINE+9]]:{{.*}} loop is split into batches of up to 16 iterations, {{.*}}; its iterations are independent
// STATS-DAG: proof.c:[[@LINE+8]]: executor=user runs=22 syscalls=290
static __attribute__((noinline)) void sums(const char *const *list, int n, long *restrict result)
{
	long total = 0, modes = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;
		int err;
		COSY_START;
		err = stat(list[i], &st);
		COSY_END;
		if (!err) {
			total += st.st_mode / 8;
			modes ^= st.st_mode;
		}
		result[i] = err ? -1 : (long)(st.st_mode & S_IFMT);
		watched = i;
	}
	result[n] = total + modes;
}

/* Continues before the region, in it and after it; the collecting code leaves the loop. */
// REMARK: loop is split
static __attribute__((noinline)) int jumps(int n, int stop)
{
	int i = 0, found = 0, failed = 0;

	while (1) {
		struct stat st;

		if (i >= n || i == stop)
			break;
		if (i++ % 7 == 3)
			continue;
		COSY_START;
		if (lstat(paths[i - 1], &st)) {
			failed++;
			continue;
		}
		COSY_END;
		if (S_ISDIR(st.st_mode))
			continue;
		found++;
	}
	return i * 10000 + found * 100 + failed;
}

/* An array whose address is not used, strings, errno after the region, and a call that depends on a condition. */
// REMARK: loop is split
static __attribute__((noinline)) void strings(const char *const *list, int n)
{
	for (int i = 0; i < n; i++) {
		char path[32];
		int err = 0, why = 0;

		if (strlen(list[i]) > 20)
			continue;
		strcpy(path, list[i]);
		strcat(path, "/.");
		COSY_START;
		if (i & 1)
			err = access(path, R_OK);
		COSY_END;
		why = errno;
		sizes[i] = err ? -why : (long)strlen(path) + why;
	}
}

static int wanted(const struct item *item)
{
	return !item->skip;
}

static void finish(struct item *item, const struct stat *st, int error)
{
	item->error = error;
	item->size = error ? 0 : (long)st->st_mode;
}

/* Different members of one array; functions of the same file. */
// REMARK: loop is split
static __attribute__((noinline)) void members(struct item *restrict list, int n)
{
	int i = 0;

	do {
		struct stat st;
		int err;

		if (!wanted(&list[i]))
			continue;
		COSY_START;
		err = fstatat(AT_FDCWD, list[i].name, &st, AT_SYMLINK_NOFOLLOW) ? errno : 0;
		COSY_END;
		finish(&list[i], &st, err);
	} while (++i < n);
}

/* A region in an inner loop; the outer loop prints. */
// REMARK: loop is split
static __attribute__((noinline)) void nested(int n)
{
	for (int k = 1; k < 4; k++) {
		long sum = 0;

		for (int i = 0; i < n; i += k) {
			struct stat st;
			int err;

			COSY_START;
			err = stat(paths[i], &st);
			COSY_END;
			for (int j = 0; j < k; j++)
				sum = sum * 3 + (err ? j : (long)(st.st_mode & S_IFMT));
		}
		printf("%lx ", sum);
	}
}

/* Two calls in a region, and no code after it. */
// REMARK: loop is split
static __attribute__((noinline)) int two(int n)
{
	int result = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;
		char link[16];

		COSY_START;
		result += !stat(paths[i], &st);
		result += readlink(paths[i], link, sizeof(link)) > 0;
		COSY_END;
	}
	return result;
}

/* errno stays set when a later call succeeds. */
// REMARK: loop is split
static __attribute__((noinline)) long sticky(int n)
{
	long sum = 0;

	errno = 0;
	for (int i = 0; i < n; i++) {
		struct stat st;

		COSY_START;
		stat(paths[i], &st);
		COSY_END;
		if (errno)
			sum = sum * 3 + errno;
	}
	return sum * 100 + errno;
}

/* The region sets errno, and reads it. */
// REMARK: loop is split
static __attribute__((noinline)) long sets_errno(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;
		int before = 0;

		COSY_START;
		before = errno;
		errno = i;
		if (!stat(paths[i], &st))
			errno += 3;
		COSY_END;
		sum = sum * 5 + before * 2 + errno;
	}
	return sum * 100 + errno;
}

/* A variable outside the loop whose address only the region uses. */
// REMARK: loop is split
static __attribute__((noinline)) long shared(int n)
{
	struct stat st = { 0 };
	long sum = 0, rounds = 0;

	for (int i = 0; i < n; i++) {
		COSY_START;
		if (!stat(paths[i], &st))
			sum += st.st_mode;
		COSY_END;
		rounds++;
	}
	return sum + rounds + st.st_mode;
}

struct node {
	const struct node *next;
	const char *name;
};

/* A list; the code before the region ends the program. */
// REMARK: loop is split
static __attribute__((noinline)) void list(const struct node *p, long *restrict total)
{
	for (; p; p = p->next) {
		struct stat st;
		int err;

		if (!p->name) {
			printf("list %lx\n", *total);
			fflush(stdout);
			_exit(0);
		}
		COSY_START;
		err = stat(p->name, &st);
		COSY_END;
		*total = *total * 5 + (err ? 1 : st.st_mode);
	}
}

int main(void)
{
	static const int counts[] = { 0, 1, 2, 15, 16, 17, 39, 200 };
	static long result[MAX + 1];

	for (int i = 0; i < MAX; i++)
		paths[i] = names[i * 7 % 6];
	for (int k = 0; k < 8; k++) {
		int n = counts[k];

		errno = 0;
		sums(paths, n, result);
		printf("sums %d:", errno);
		for (int i = 0; i <= n; i++)
			printf(" %lx", result[i]);
		errno = 7;
		printf("\njumps %d", jumps(n, 1000));
		printf(" %d", errno);
		printf(" %d %d\nstrings", jumps(n, 20), errno);
		errno = 9;
		strings(paths, n);
		for (int i = 0; i < n; i++)
			printf(" %ld", sizes[i]);
		printf(" %d\nmembers", errno);
		for (int i = 0; i < n; i++)
			items[i] = (struct item){ paths[i], i, i % 5 == 2, 1 };
		if (n)
			members(items, n);
		for (int i = 0; i < n; i++)
			printf(" %lx.%d", items[i].size, items[i].error);
		printf(" %d\n", errno);
		nested(n);
		printf("%d two %d\n", errno, two(n));
		printf("%lx %lx", sticky(n), sets_errno(n));
		printf(" %lx %d\n", shared(n), errno);
	}
	struct node nodes[41];
	long total = 0;

	for (int i = 0; i < 41; i++)
		nodes[i] = (struct node){ &nodes[i + 1], i < 40 ? paths[i] : NULL };
	list(nodes, &total);
	return 1;
}
#endif
