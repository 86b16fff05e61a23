// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A process may have very many copies of the descriptor of a share, and very many shares that have
 * ended: the first must not cost time when they are closed, as they are by a process that ends and
 * that no signal can kill any more; the second must not cost memory for which no user is charged.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"
#include "table.h"

#include <sys/resource.h>
#include <time.h>

#define DESCRIPTORS	16000
#define COPIES		4000

static int device;

static double cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Return the CPU time of closing many copies of a share. */
static double close_copies(struct table table)
{
	static int copies[COPIES];
	double begin;

	for (int i = 0; i < COPIES; i++) {
		copies[i] = dup(table.fd);
		if (copies[i] < 0)
			die("dup");
	}
	begin = cpu_time();
	for (int i = 0; i < COPIES; i++)
		close(copies[i]);
	return cpu_time() - begin;
}

static void test_time(void)
{
	struct table small = must_make_table(device, 8), large = must_make_table(device, DESCRIPTORS);
	int fd = open("/dev/null", O_RDONLY);
	double before, after;
	long made = 0;

	for (int i = 0; i < DESCRIPTORS; i++)
		made += call_in(large, SYS_dup, fd) >= 0;
	check(made == DESCRIPTORS, "%ld descriptors", made);
	before = close_copies(small);
	after = close_copies(large);
	/* With a look at each descriptor, it takes 170 times as long. */
	check(after < 20 * before + 0.1,
	      "the closes of %d copies take as long with %d descriptors: %g s, %g s", COPIES,
	      DESCRIPTORS, after, before);
	check(call_in(large, SYS_dup, fd) < 0, "the share has ended");
	close(large.fd);
	close(small.fd);
	close(fd);
}

static void test_memory(void)
{
	struct table table;
	int n, err = 0;

	for (n = 0; n < 400 && !err; n++) {
		err = make_table(device, 1 << 17, &table);
		if (!err)
			table_ioctl(table.fd, COSY_SHARE_END, NULL);
	}
	check(n > 10 && err == -EDQUOT,
	      "the memory of shares that have ended is charged: %d shares, %d", n, err);
}

int main(void)
{
	const struct rlimit limit = { 1 << 18, 1 << 18 };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit");
	device = open_device();
	/* One that no other test has, because this reaches its quota. */
	become_user(61005);
	test_time();
	test_memory();
	return finish();
}
