/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * COSY_EXECUTOR=auto: a region that loses in the kernel runs natively, and is measured
 * again from time to time. Its results are the same on every executor. COSY_STATS
 * prints the verdict. On a CPU that counts instructions, so that the times are exact.
 */
// RUN: %compile %s -o %t -l:libcosy.a
// RUN: %cosy-cc -O2 -w %S/Inputs/verdict-regions.c -o %t.regions
// RUN: %cosy-cc -O2 -w -DPLAIN -fcosy-auto %S/Inputs/verdict-regions.c -o %t.plain
// RUN: %cosy-cc -O2 -w %S/Inputs/verdict-further-regions.c -o %t.further
// RUN: %cosy-cc -O2 -w -DPLAIN -fcosy-auto %S/Inputs/verdict-further-regions.c -o %t.further.plain
// RUN: %root/scripts/vm/run --icount -- sh -c 'for part in few gains single back one; do COSY_EXECUTOR=auto COSY_STATS=1 %t $part 2>&1 || exit 1; done; %t.regions %t.plain hashed_file record_locks record_update locked_record_update small_file readdir_and_status one_getpid sixteen_stats && %t.further %t.further.plain seldom_many callbacks' >%t.out || { cat %t.out; exit 1; }
// RUN: FileCheck %s <%t.out
// If a timer tick comes in one of the runs that are measured, the gain is not known. Most are known.
// RUN: test $(grep -Ec 'gain[= ]-?[0-9]' %t.out) -ge 4

// Three runs are watched and three measured, and two after 256 more entries, and after 512 more.
// CHECK: few
// CHECK-NEXT: cosy: prog.c:12: executor=native runs=2000 syscalls=3 entries=3 measured=7 native=1990 verdict=loses{{( gain=-3[0-9][0-9])?$}}
// CHECK-NEXT: gains
// CHECK-NEXT: cosy: prog.c:12: executor=kernel runs=100 syscalls=9300 entries={{[0-9]+}} measured=3 native=4 verdict=gains{{( gain=18[0-9][0-9][0-9])?$}}

// It cannot gain on any path, so it is not even loaded.
// CHECK-NEXT: single
// CHECK-NEXT: cosy: prog.c:40: executor=native runs=100 native=100 verdict=loses{{$}}

// It loses for 500 entries, and is back within 1000 after that.
// CHECK-NEXT: back
// CHECK-NEXT: cosy: prog.c:30: executor=kernel runs=2000 {{.*}} native={{[0-9][0-9][0-9]}} verdict=gains{{( gain=[0-9]+)?$}}

// One run that loses continues in user mode, and in the kernel from time to time.
// CHECK-NEXT: one
// CHECK-NEXT: cosy: prog.c:30: executor=kernel runs=1 syscalls=10 entries={{[0-9]?[0-9]?[0-9]}} upcalls=100000{{$}}

// Regions of programs: the verdict is that of the measurement, and the gain is within a quarter of it. Entries
// of the last two differ: one of four does most of the work, or one of three calls another function.
// CHECK-COUNT-10: {{[a-z_]+ +native .* kernel .* saved .*: right$}}

// With the kernel executor there is no verdict.
// RUN: %vm sh -c 'COSY_EXECUTOR=kernel COSY_STATS=1 %t few 2>&1' | FileCheck --check-prefix=KERNEL %s
// KERNEL: cosy: prog.c:12: executor=kernel runs=2000 syscalls=2000 entries={{[0-9]+$}}

// Without counting, in threads, and in the child of a process with a verdict.
// RUN: %vm sh -c 'for part in few gains single back one threads fork; do COSY_EXECUTOR=auto %t $part || exit 1; done' | FileCheck --check-prefix=ALL %s
// ALL: few
// ALL-NEXT: gains
// ALL-NEXT: single
// ALL-NEXT: back
// ALL-NEXT: one
// ALL-NEXT: threads
// ALL-NEXT: fork
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "region.h"

static void change_r2(uint64_t *frame)
{
	EQUAL(errno, EBADF);
	errno = 0;
	frame[2] += 2;
}

static void add_one(uint64_t *frame)
{
	frame[2]++;
}

REGION(calls, CALLS, 12)
REGION(mixed, MIXED, 20, change_r2)
REGION(parts, PARTS, 30, add_one)
REGION(single, SINGLE, 40)

/* Each does the same as its region: this is the native code if that must run. */
static void make_calls(uint64_t n)
{
	uint64_t frame[4] = { n };
	uint64_t sum = 0;

	if (run(&calls, frame) == 0) {
		sum = frame[1];
	} else {
		for (uint64_t i = 0; i < n; i++)
			sum += (uint64_t)getpid();
		left(&calls);
	}
	EQUAL(sum, n * (uint64_t)getpid());
}

static void make_parts(uint64_t n, uint64_t ups)
{
	uint64_t frame[5] = { n, ups, 0 };

	if (run(&parts, frame) != 0) {
		for (uint64_t i = 0; i < n; i++)
			frame[2] += (uint64_t)getpid();
		for (uint64_t i = 0; i < ups; i++)
			add_one(frame);
		left(&parts);
	}
	EQUAL(frame[2], n * (uint64_t)getpid() + ups);
}

static void make_mixed(uint64_t n)
{
	uint64_t frame[7] = { n, 0, 0 };

	if (run(&mixed, frame) != 0) {
		frame[3] = 0;
		for (; frame[0]; frame[0]--) {
			frame[1] += close(-1) < 0;
			change_r2(frame);
			frame[3] += frame[2];
			getpid();
		}
		left(&mixed);
	}
	EQUAL(frame[0], 0);
	EQUAL(frame[1], n);
	EQUAL(frame[2], 2 * n);
	EQUAL(frame[3], n * (n + 1));
}

static void make_single(void)
{
	uint64_t frame[2];

	if (run(&single, frame) != 0) {
		frame[0] = (uint64_t)getpid();
		left(&single);
	}
	EQUAL(frame[0], (uint64_t)getpid());
}

static void few(void)
{
	for (int i = 0; i < 2000; i++)
		make_calls(1);
}

static void gains(void)
{
	for (int i = 0; i < 100; i++)
		make_calls(100);
}

static void singles(void)
{
	for (int i = 0; i < 100; i++)
		make_single();
}

static void back(void)
{
	for (int i = 0; i < 500; i++)
		make_parts(10, 10);
	for (int i = 0; i < 1500; i++)
		make_parts(50, 0);
}

static void one(void)
{
	make_parts(10, 100000);
}

static void *worker(void *number)
{
	for (long i = 0; i < 3000; i++) {
		make_calls(i < 1000 ? 1 : 20);
		make_parts(3, (i >> 9) % 2 ? 5 : 0);
		make_mixed(3);
		make_single();
	}
	make_mixed(5000 + (uint64_t)(long)number);
	return NULL;
}

static void threads(void)
{
	pthread_t all[8];

	for (long i = 0; i < 8; i++)
		EQUAL(pthread_create(&all[i], NULL, worker, (void *)i), 0);
	for (int i = 0; i < 8; i++)
		EQUAL(pthread_join(all[i], NULL), 0);
}

/* Some of the children begin while the region runs natively, some while it does not. */
static void forks(void)
{
	int status;

	for (int i = 0; i < 40; i++) {
		for (int j = 0; j < 50; j++)
			make_parts(10, 10);
		if (!fork()) {
			for (int j = 0; j < 400; j++)
				make_parts(10, j < 200 ? 10 : 0);
			_exit(0);
		}
		CHECK(wait(&status) > 0);
		EQUAL(status, 0);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} test[] = {
		{ "few", few }, { "gains", gains }, { "single", singles },
		{ "back", back }, { "one", one }, { "threads", threads },
		{ "fork", forks },
	};

	EQUAL(argc, 2);
	printf("%s\n", argv[1]);
	fflush(stdout);
	for (size_t i = 0; i < sizeof(test) / sizeof(*test); i++)
		if (!strcmp(argv[1], test[i].name))
			test[i].function();
	return 0;
}
