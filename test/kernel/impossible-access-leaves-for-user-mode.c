// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Loads, stores and bulk operations at valid and invalid addresses. An operation that
 * cannot be done leaves for user mode without an effect, or with an effect that can be repeated.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#define PAGE	4096ul

static char *page, *hole;

/* Addresses that must not be accessed through the kernel. */
static const __u64 bad[] = {
	0, 8, 4095, 1ull << 47, (1ull << 47) - 1, (1ull << 47) - 4096, 1ull << 55,
	1ull << 63, 0x7fffffffffffffff, 0xffff800000000000, 0xffff888000000000,
	0xffffc90000000000, 0xffffffff81000000, 0xfffffffffffffff8, ~0ull,
	0xffffffffff600000,
};
#define NBAD	(sizeof(bad) / sizeof(*bad))

/*
 * Pending work and the end of a time slice also make a bulk operation leave, on a busy machine
 * several times. They do not at each of many entries; what is left to user mode always leaves.
 */
static long run_bulk(int dev, __u64 handle, __u64 *frame, struct cosy_run *run)
{
	long ret = run_frame(dev, handle, frame, run);

	for (unsigned int again = 0;
	     again < 100 && ret == COSY_RUN_LEFT && run->status == COSY_STEP &&
	     run->value == COSY_STEP_BULK;
	     again++) {
		run->status = COSY_AGAIN;
		ret = run_on(dev, run);
	}
	return ret;
}

static bool faults(int dev, __u64 handle, __u64 *frame)
{
	struct cosy_run run;

	return run_bulk(dev, handle, frame, &run) == COSY_RUN_LEFT &&
	       run.status == COSY_STEP && run.value == COSY_STEP_FAULT && run.pc == 1;
}

static void test_bad(int dev)
{
	static const unsigned int widths[] = { 1, 2, 4, 8 };
	__u64 frame[5];
	unsigned int wrong, i, w;

	for (w = 0; w < 4; w++) {
		unsigned int width = widths[w];
		__u64 load = must_load(dev, 5, CONST(3, 1), LOAD(width, 0, 1), EXIT(0));
		__u64 store = must_load(dev, 5, CONST(3, 1), STORE(width, 1, 0), EXIT(0));
		struct cosy_run run;

		wrong = 0;
		for (i = 0; i < NBAD; i++) {
			memset(frame, 0x55, sizeof(frame));
			frame[1] = bad[i];
			wrong += !faults(dev, load, frame) || frame[0] != 0x5555555555555555;
			wrong += !faults(dev, store, frame);
		}
		/* Across the end of a page: no part of it is stored. */
		memset(page, 1, PAGE);
		for (i = 1; i < width; i++) {
			frame[0] = 0;
			frame[1] = (__u64)(uintptr_t)hole - i;
			wrong += !faults(dev, load, frame) || frame[0];
			wrong += !faults(dev, store, frame) || page[PAGE - 1] != 1;
		}
		frame[0] = 0x8899aabbccddeeff;
		frame[1] = (__u64)(uintptr_t)hole - width;
		wrong += run_frame(dev, store, frame, &run) != done(0);
		wrong += memcmp(hole - width, frame, width) || page[PAGE - width - 1] != 1;
		frame[0] = ~0ull;
		wrong += run_frame(dev, load, frame, &run) != done(0);
		wrong += frame[0] != (width == 8 ? 0x8899aabbccddeeff :
				      0x8899aabbccddeeff & ((1ull << width * 8) - 1));
		mprotect(page, PAGE, PROT_READ);
		wrong += !faults(dev, store, frame);
		wrong += run_frame(dev, load, frame, &run) != done(0);
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
		check(!wrong, "load and store of %u bytes", width);
	}
}

static void test_bad_bulk(int dev)
{
	__u64 copy = must_load(dev, 5, CONST(4, 0), COPY(1, 2, 3), EXIT(0));
	__u64 fill = must_load(dev, 5, CONST(4, 0), FILL(1, 2, 3), EXIT(0));
	__u64 cmp = must_load(dev, 5, CONST(4, 0), COMPARE(0, 1, 2, 3), EXIT(0));
	__u64 find = must_load(dev, 5, CONST(4, 0), FIND(0, 1, 2, 3), EXIT(0));
	__u64 len = must_load(dev, 5, CONST(4, 0), STRLEN(0, 1), EXIT(0));
	__u64 frame[5];
	unsigned int wrong = 0, i;
	struct cosy_run run;

	for (i = 0; i < NBAD; i++) {
		__u64 good = (__u64)(uintptr_t)page;

		memset(frame, 0, sizeof(frame));
		frame[1] = bad[i], frame[2] = good, frame[3] = 16;
		wrong += !faults(dev, copy, frame);
		wrong += !faults(dev, cmp, frame);
		wrong += !faults(dev, find, frame);
		wrong += !faults(dev, len, frame);
		wrong += !faults(dev, fill, frame);
		frame[1] = good, frame[2] = bad[i];
		wrong += !faults(dev, copy, frame);
		wrong += !faults(dev, cmp, frame);
		/* A length of 0 makes no access. */
		frame[1] = bad[i], frame[3] = 0;
		wrong += run_frame(dev, copy, frame, &run) != done(0);
		wrong += run_frame(dev, fill, frame, &run) != done(0);
		wrong += run_frame(dev, cmp, frame, &run) != done(0) || frame[0];
		wrong += run_frame(dev, find, frame, &run) != done(0) || frame[0];
		/* Huge lengths. */
		frame[1] = good, frame[2] = good + 64, frame[3] = ~0ull;
		wrong += run_frame(dev, copy, frame, &run) != COSY_RUN_LEFT;
		wrong += run_frame(dev, fill, frame, &run) != COSY_RUN_LEFT;
		frame[3] = 1ull << 63;
		wrong += run_frame(dev, copy, frame, &run) != COSY_RUN_LEFT;
	}
	check(!wrong, "bulk operations at bad addresses");
}

/* Compared with libc, at all alignments and up to the end of the page. */
static void test_bulk(int dev)
{
	__u64 copy = must_load(dev, 5, COPY(1, 2, 3), EXIT(0));
	__u64 fill = must_load(dev, 5, FILL(1, 2, 3), EXIT(0));
	__u64 cmp = must_load(dev, 5, COMPARE(0, 1, 2, 3), EXIT(0));
	__u64 find = must_load(dev, 5, FIND(0, 1, 2, 3), EXIT(0));
	__u64 len = must_load(dev, 5, STRLEN(0, 1), EXIT(0));
	static char theirs[PAGE];
	unsigned int seed = 1, wrong[5] = { 0 }, left = 0, i;
	struct cosy_run run;
	__u64 frame[5];

	for (i = 0; i < 20000; i++) {
		unsigned int n = rand_r(&seed) % (i % 8 ? 40 : 1500), from, to;
		char *p, *q;
		int sign;

		for (unsigned int j = 0; j < 64; j++)
			page[rand_r(&seed) % PAGE] = rand_r(&seed) % 4;
		from = PAGE - n - rand_r(&seed) % (i % 3 ? 1 : 30);
		to = rand_r(&seed) % (PAGE - n);
		p = page + from;
		q = page + to;
		frame[0] = ~0ull;
		frame[1] = (__u64)(uintptr_t)p;
		frame[2] = (__u64)(uintptr_t)q;
		frame[3] = n;

		run_bulk(dev, cmp, frame, &run);
		sign = memcmp(p, q, n);
		wrong[0] += frame[0] != (__u32)((sign > 0) - (sign < 0));

		frame[2] = rand_r(&seed) % 5;
		run_bulk(dev, find, frame, &run);
		wrong[1] += frame[0] != (__u64)(uintptr_t)memchr(p, frame[2], n);

		if (memchr(p, 0, hole - p)) {
			wrong[2] += run_bulk(dev, len, frame, &run) != done(0) ||
				    frame[0] != strlen(p);
		} else {
			wrong[2] += run_bulk(dev, len, frame, &run) != COSY_RUN_LEFT ||
				    run.value != COSY_STEP_FAULT;
		}

		memcpy(theirs, page, PAGE);
		memset(theirs + from, frame[2], n);
		run_bulk(dev, fill, frame, &run);
		wrong[3] += memcmp(theirs, page, PAGE) != 0;

		memmove(theirs + to, theirs + from, n);
		frame[1] = (__u64)(uintptr_t)q;
		frame[2] = (__u64)(uintptr_t)p;
		if (run_bulk(dev, copy, frame, &run) == COSY_RUN_LEFT) {
			/* Only overlapping operands. */
			left++;
			wrong[4] += run.value != COSY_STEP_BULK ||
				    (p + n <= q || q + n <= p);
		} else {
			wrong[4] += memcmp(theirs, page, PAGE) != 0;
		}
	}
	check(!wrong[0], "compares give the results of memcmp()");
	check(!wrong[1], "searches give the results of memchr()");
	check(!wrong[2], "lengths are those of strlen()");
	check(!wrong[3], "fills write what memset() writes");
	check(!wrong[4] && left, "copy; %u overlaps are left to user mode", left);
}

static void test_long(int dev)
{
	__u64 copy = must_load(dev, 5, COPY(1, 2, 3), EXIT(0));
	__u64 find = must_load(dev, 5, FIND(0, 1, 2, 3), EXIT(0));
	__u64 len = must_load(dev, 5, STRLEN(0, 1), EXIT(0));
	size_t size = 8ul << 20, mib = 1ul << 20;
	char *big = must_map(size);
	__u64 frame[5] = { 0 };
	struct cosy_run run;

	memset(big, 'a', size);
	frame[1] = (__u64)(uintptr_t)big;
	frame[2] = (__u64)(uintptr_t)big + 4 * mib;
	frame[3] = mib;
	big[5 * mib - 1] = 'z';
	check(run_bulk(dev, copy, frame, &run) == done(0) && big[mib - 1] == 'z' &&
	      big[mib] == 'a', "a copy of 1 MiB is made");
	frame[3]++;
	check(run_bulk(dev, copy, frame, &run) == COSY_RUN_LEFT &&
	      run.value == COSY_STEP_BULK, "copy of 1 MiB + 1 is left to user mode");
	frame[2] = 'z';
	frame[3] = ~0ull;
	check(run_bulk(dev, find, frame, &run) == done(0) &&
	      frame[0] == (__u64)(uintptr_t)big + mib - 1,
	      "a search with the largest size ends at the byte");
	frame[2] = 'y';
	check(run_bulk(dev, find, frame, &run) == COSY_RUN_LEFT &&
	      run.value == COSY_STEP_BULK, "memchr over 1 MiB is left to user mode");
	check(run_bulk(dev, len, frame, &run) == COSY_RUN_LEFT &&
	      run.value == COSY_STEP_BULK, "strlen over 1 MiB is left to user mode");
	big[mib - 1] = 0;
	check(run_bulk(dev, len, frame, &run) == done(0) && frame[0] == mib - 1,
	      "a length of 1 MiB less a byte is found");
	munmap(big, size);
}

/* Calls check their own pointers. */
static void test_call_args(int dev)
{
	__u64 getcwd_handle = must_load(dev, 3, SYS(0, SYS_getcwd, 2), ARG(1),
					ARGI(100), EXIT(0));
	__u64 open_handle = must_load(dev, 3, SYS(0, SYS_openat, 4), ARGI(AT_FDCWD),
				      ARG(1), ARGI(0), ARGI(0), EXIT(0));
	__u64 write_handle = must_load(dev, 3, SYS(0, SYS_write, 3), ARG(2), ARG(1),
				       ARGI(16), EXIT(0));
	__u64 none = must_load(dev, 3, SYS(0, SYS_write, 0), EXIT(0));
	__u64 libc = must_load(dev, 3, LIBC(0, SYS_close, 1), ARGI(-1), EXIT(0));
	unsigned int wrong = 0, i;
	struct cosy_run run;
	__u64 frame[3];
	int pipes[2];

	if (pipe(pipes))
		die("pipe");
	for (i = 0; i < NBAD; i++) {
		frame[1] = bad[i];
		frame[2] = pipes[1];
		wrong += run_frame(dev, getcwd_handle, frame, &run) != done(0) ||
			 frame[0] != (__u64)-EFAULT;
		wrong += run_frame(dev, open_handle, frame, &run) != done(0) ||
			 frame[0] != (__u64)-EFAULT;
		wrong += run_frame(dev, write_handle, frame, &run) != done(0) ||
			 frame[0] != (__u64)-EFAULT;
	}
	check(!wrong, "calls with bad addresses: EFAULT");
	check(run_frame(dev, none, frame, &run) == done(0),
	      "a call whose arguments are missing is made");

	errno = 0;
	check(run_frame(dev, libc, frame, &run) == done(0) && frame[0] == ~0ull &&
	      errno == EBADF, "a failing libc call sets errno");
	memset(&run, 0, sizeof(run));
	run.handle = libc;
	run.frame = (__u64)(uintptr_t)frame;
	run.errno_addr = 0xffffffff81000000;
	frame[0] = 5;
	check(enter(dev, &run) == -EBADF && run.status == COSY_RESULT && run.pc == 0 &&
	      frame[0] == 5, "errno at a bad address: the result is handed over");
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
	int dev = open_device();

	page = must_map(2 * PAGE);
	hole = page + PAGE;
	munmap(hole, PAGE);
	test_bad(dev);
	test_bad_bulk(dev);
	test_bulk(dev);
	test_long(dev);
	test_call_args(dev);
	return finish();
}
