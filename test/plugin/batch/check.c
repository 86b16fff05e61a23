// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// -fcosy-batch-check: the program finds loops that break the promise of COSY_BATCH.
// Each function except those in fine() breaks it in a different way.
// RUN: rm -rf %t.dir && mkdir %t.dir && ulimit -c 0
// RUN: %cosy-cc -O1 -fcosy-batch-check -DOTHER -c %s -o %t.o
// RUN: for level in 0 2; do \
// RUN:   %cosy-cc -O$level -fcosy-batch-check %s %t.o -o %t && (cd %t.dir && \
// RUN:     for n in 0 1 2 3 4 5 6 7 8 9 10 11 12 13; do %t $n 2>&1 && echo "exit 0"; done) | \
// RUN:   FileCheck %s || exit 1; \
// RUN: done
// The program continues after a report, and each pair of places is reported once.
// RUN: %cosy-cc -O1 -fcosy-batch-check %s %t.o -o %t && env COSY_BATCH_CHECK=report %t 0 2>&1 | FileCheck --check-prefix=REPORT %s
// REPORT-COUNT-1: are not independent
// REPORT-NOT: are not independent
// REPORT: end of 0
// Without the option nothing is checked, and no part of the check is linked.
// RUN: %cosy-cc -O1 -DOTHER -c %s -o %t.o && %cosy-cc -O1 %s %t.o -o %t && (cd %t.dir && %t 0 2>&1) | FileCheck --check-prefix=OFF --allow-empty %s
// RUN: nm %t | FileCheck --check-prefix=OFF %s
// OFF-NOT: cosy_batch
// OFF-NOT: iterations
#include <cosy.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int look(const int *numbers, int i);

#ifdef OTHER
/* A file without a region, whose functions the loops call. */
int look(const int *numbers, int i)
{
	return numbers[i];
}
#else
static int calls;

/* The code after the region writes memory that the code before it reads. */
static void memory(void)
{
	static int last;

	for (int i = 0; i < 9; i++) {
		int r = last;

		// CHECK: cosy: {{.*}}check.c:[[@LINE+1]]:3: COSY_BATCH: iterations 1 and 4 of this loop are not independent
		COSY_BATCH(4);
		COSY_START;
		r += access("/", F_OK);
		COSY_END;
		// CHECK-NEXT: cosy: {{.*}}check.c:[[@LINE+1]]:8: iteration 1, after its region, writes 4 bytes at 0x
		last = r + i;
		// CHECK-NEXT: cosy: {{.*}}check.c:[[@LINE-9]]:11: iteration 4, before its region, has read it already; the loop as written does that later
		// CHECK-NEXT: cosy: use a variable of the loop's body, or do both on the same side of the region; see COSY_BATCH(3)
	}
}

/* Iterations share the buffer of the path. */
static void path(void)
{
	static char name[64];

	for (int i = 0; i < 3; i++) {
		// CHECK: [[@LINE+1]]:3: COSY_BATCH: iterations 1 and 3 of
		COSY_BATCH(64);
		// CHECK: [[@LINE+4]]:12: iteration 1, in its region, reads 8 bytes at
		// CHECK-NEXT: [[@LINE+1]]:3: iteration 3, before its region, has written it already
		snprintf(name, sizeof(name), "/proc/%d", i);
		COSY_START;
		calls += access(name, F_OK);
		COSY_END;
	}
}

/* A result of the region is stored where all iterations read it. */
static void result(struct stat *st)
{
	off_t sum = 0;

	for (int i = 0; i < 3; i++) {
		// CHECK: [[@LINE+1]]:3: COSY_BATCH: iterations 1 and 3 of
		COSY_BATCH(64);
		COSY_START;
		// CHECK: [[@LINE+4]]:14: iteration 1, after its region, reads 8 bytes at
		// CHECK-NEXT: [[@LINE+1]]:12: iteration 3, in its region, has written it already
		calls += lstat("/", st);
		COSY_END;
		sum += st->st_size;
	}
	calls += sum > 0;
}

/* The code after the region frees memory that later iterations use. */
static int *table;
static void block(void)
{
	table = calloc(3, sizeof(*table));
	for (int i = 0; i < 3; i++) {
		// CHECK: [[@LINE+1]]:3: COSY_BATCH: iterations 1 and 2 of
		COSY_BATCH(2);
		int n = look(table, i);

		COSY_START;
		n += access("/", F_OK);
		COSY_END;
		// CHECK: [[@LINE+2]]:3: iteration 1, after its region, frees 24 bytes at
		// CHECK-NEXT: [[@LINE-74]]:9: iteration 2, before its region, has read it already
		free(table);
		table = calloc(3 + n, sizeof(*table));
	}
}

/* The code after the region closes a descriptor that the region uses. */
static void descriptor(void)
{
	int fd = open("/", O_RDONLY);

	for (int i = 0; i < 3; i++) {
		struct stat st;

		// CHECK: [[@LINE+1]]:3: COSY_BATCH: iterations 2 and 3 of
		COSY_BATCH(64);
		COSY_START;
		calls += fstat(fd, &st);
		COSY_END;
		// CHECK: [[@LINE+3]]:4: iteration 2, after its region, closes file descriptor
		// CHECK-NEXT: [[@LINE-3]]:12: iteration 3, in its region, has used it already
		if (i == 1)
			close(fd);
	}
}

static void directory(void)
{
	for (int i = 0; i < 3; i++) {
		// CHECK: [[@LINE+1]]:3: COSY_BATCH: iterations 1 and 3 of
		COSY_BATCH(64);
		COSY_START;
		calls += access("name", F_OK);
		COSY_END;
		// CHECK: [[@LINE+3]]:12: iteration 1, after its region, changes the working directory
		// CHECK-NEXT: [[@LINE-3]]:12: iteration 3, in its region, has used it already
		// CHECK-NEXT: do both on the same side of the region, or remove COSY_BATCH; see
		calls += chdir(".");
	}
}

static void file(void)
{
	static const char *const names[] = { "a", "b", "a" };

	for (int i = 0; i < 3; i++) {
		// CHECK: [[@LINE+1]]:3: COSY_BATCH: iterations 1 and 3 of
		COSY_BATCH(64);
		COSY_START;
		calls += access(names[i], F_OK);
		COSY_END;
		// CHECK: [[@LINE+2]]:12: iteration 1, after its region, changes the file "a"
		// CHECK-NEXT: [[@LINE-3]]:12: iteration 3, in its region, has used it already
		calls += unlink(names[i]);
	}
}

static void output(void)
{
	for (int i = 0; i < 3; i++) {
		// CHECK: [[@LINE+1]]:3: COSY_BATCH: iterations 1 and 3 of
		COSY_BATCH(64);
		printf("%d:", i);
		COSY_START;
		calls += access("/", F_OK);
		COSY_END;
		// CHECK: [[@LINE+1]]:3: iteration 1, after its region, uses the stream
		printf(" %d\n", i);
	}
}

/* readdir() may overwrite its previous result. */
static void entries(void)
{
	DIR *dir = opendir("/");
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		const char *name = entry->d_name;

		// CHECK: [[@LINE+1]]:3: COSY_BATCH: iterations 1 and 2 of
		COSY_BATCH(64);
		COSY_START;
		// CHECK: [[@LINE+2]]:12: iteration 1, in its region, reads {{[0-9]+}} bytes at
		// CHECK-NEXT: [[@LINE-7]]:18: iteration 2, before its region, has written it already
		calls += access(name, F_OK);
		COSY_END;
	}
	closedir(dir);
}

/* Later iterations have taken items, but the loop is left. */
static int taken;
static int leave(void)
{
	while (taken < 9) {
		int item = taken++, r;

		// CHECK: [[@LINE+1]]:3: COSY_BATCH: iteration 2 has left this loop, and a change by iteration 4 makes a difference
		COSY_BATCH(4);
		COSY_START;
		r = access("/", F_OK);
		COSY_END;
		if (!r && item == 1)
			break;
	}
	return 0;
}

static int rest(void)
{
	leave();
	// CHECK-NEXT: [[@LINE+2]]:9: then the program reads 4 bytes
	// CHECK-NEXT: [[@LINE-17]]:19: iteration 4, before its region, has written it; the loop as written does not run
	return taken;
}

/* A function leaves the loop by exit() or longjmp(), before collected iterations are finished. */
static jmp_buf env;
static __attribute__((noinline)) void stop(int jumps)
{
	if (jumps)
		longjmp(env, 1);
	exit(0);
}

static void quit(void)
{
	for (int i = 0; i < 9; i++) {
		// CHECK: [[@LINE+1]]:3: COSY_BATCH: iteration 3 of this loop leaves it by exit(), and 2 collected before it cannot be finished
		COSY_BATCH(4);
		if (i == 2)
			stop(0);
		COSY_START;
		calls += access("/", F_OK);
		COSY_END;
	}
}

static void jump(int at)
{
	for (int i = 0; i < 9; i++) {
		// CHECK: [[@LINE+3]]:3: COSY_BATCH: iteration 6 of this loop leaves it by longjmp() or an exception, and 1 collected before it cannot be finished
		// CHECK-NEXT: cosy: return from the function, or leave the loop by break or goto; see COSY_BATCH(3)
		// CHECK-NOT: cosy:
		COSY_BATCH(4);
		if (i == at)
			stop(1);
		COSY_START;
		calls += access("/", F_OK);
		COSY_END;
	}
}

/* None of this is a violation. */
struct item {
	struct item *next;
	char name[24];
	int result;
	struct stat st;
};
static int looked_up;
static __attribute__((disable_sanitizer_instrumentation)) void count(void)
{
	looked_up++;
}

static struct item *fine(int stop)
{
	static int collected, finished, both, added;
	struct item *list = NULL, *p;
	int sum = 0, *total = &sum, fd = -1;

	for (int i = 0; i < 20; i++) {
		p = malloc(sizeof(*p));
		p->next = list;
		snprintf(p->name, sizeof(p->name), "/proc/%d", i);
		list = p;
	}
	for (p = list; p; p = p->next) {
		char *copy, local[32];

		COSY_BATCH(3);
		collected++;
		added += 2;
		__atomic_fetch_add(&both, 1, __ATOMIC_RELAXED);
		count();
		copy = strdup(p->name);
		strcpy(local, p->name);
		errno = 0;
		COSY_START;
		p->result = lstat(copy, &p->st);
		fd = open(local, O_RDONLY);
		COSY_END;
		free(copy);
		if (fd >= 0)
			close(fd);
		copy = malloc(24);
		strcpy(copy, p->name);
		free(copy);
		finished++;
		added--;
		__atomic_fetch_add(&both, 1, __ATOMIC_RELAXED);
		count();
		*total += p->result + errno;
		if (finished == stop)
			break;
	}
	calls += sum + both;
	return list;
}

int main(int argc, char *argv[])
{
	static struct stat st;
	int n = argc > 1 ? atoi(argv[1]) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	switch (n) {
	case 0: memory(); break;
	case 1: path(); break;
	case 2: result(&st); break;
	case 3: block(); break;
	case 4: descriptor(); break;
	case 5: directory(); break;
	case 6: file(); break;
	case 7: output(); break;
	case 8: entries(); break;
	case 9: printf("%d\n", rest()); break;
	case 10: quit(); break;
	case 11:
		if (!setjmp(env))
			jump(5);
		jump(10);
		break;
	case 12: fine(0); break;
	case 13: fine(7); break;
	}
	// CHECK: end of 12
	// CHECK-NEXT: exit 0
	// CHECK-NEXT: end of 13
	// CHECK-NEXT: exit 0
	printf("end of %d\n", n);
	return 0;
}
#endif
