/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The program sees the descriptor numbers and the EMFILE it sees natively:
 * prints what it sees; the test compares the executors.
 */
// RUN: %compile %s -o %t -l:libcosy.a
// RUN: for limits in '-S -n 40' '-S -n 1024' '-n 4096'; do \
// RUN:   for by in native kernel; do \
// RUN:     %vm sh -c "ulimit $limits; COSY_EXECUTOR=$by %t" > %t.$by </dev/null || exit 1; \
// RUN:   done; \
// RUN:   diff %t.native %t.kernel && grep -q 'then Too many' %t.kernel || exit 1; \
// RUN: done

// Without privilege the limit can be raised only up to the hard one. (The user
// need not be able to reach the build directory.)
// RUN: for by in native kernel; do \
// RUN:   %vm sh -c "cp %t /tmp/descriptors; ulimit -S -n 40; COSY_EXECUTOR=$by setpriv --reuid=65534 --clear-groups /tmp/descriptors" > %t.$by </dev/null || exit 1; \
// RUN: done; diff %t.native %t.kernel

// Where it cannot be raised at all, the program misses the highest number.
// RUN: %vm sh -c "ulimit -n 40; COSY_STATS=1 COSY_EXECUTOR=kernel setpriv --reuid=65534 --clear-groups /tmp/descriptors" 2>%t.err >%t.out </dev/null
// RUN: cat %t.err %t.out | FileCheck %s
// CHECK: executor=kernel
// CHECK: limits 40 40
// CHECK-NOT: comes {{[4-9]}}
// CHECK: opened {{[0-9]+}}, last 38, then Too many open files

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "region.h"

REGION(calls, CALLS, 12)

int main(void)
{
	uint64_t frame[4] = { 5 };
	struct rlimit limit;
	int opened = 0;
	int fd, last = -1;

	run(&calls, frame);
	CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
	printf("limits %d %d\n", (int)limit.rlim_cur, (int)limit.rlim_max);
	while ((fd = open("/dev/null", O_RDONLY)) >= 0) {
		if (fd != last + 1)
			printf("after %d comes %d\n", last, fd);
		last = fd;
		opened++;
	}
	printf("opened %d, last %d, then %s\n", opened, last, strerror(errno));
	for (fd = 3; fd <= last; fd++)
		CHECK(!close(fd));
	printf("dup to the last %d\n", dup2(1, last));
	frame[0] = 5;
	run(&calls, frame);
	return 0;
}
