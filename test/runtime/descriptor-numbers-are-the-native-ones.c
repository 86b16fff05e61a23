/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The program has the same descriptor numbers as natively, its limit does not change, and the
 * table that a fork copies has its native length.
 */
// RUN: %compile %s -o %t -l:libcosy.a
// RUN: for limits in '-S -n 1024' '-S -n 70' '-n 4096'; do \
// RUN:   for by in native kernel; do \
// RUN:     %vm sh -c "ulimit $limits; COSY_EXECUTOR=$by %t 50" > %t.$by </dev/null || exit 1; \
// RUN:   done; \
// RUN:   diff %t.native %t.kernel && grep -q '^opened 50, last 52, table 64$' %t.kernel || exit 1; \
// RUN: done

// A program that uses all its descriptors lacks one: the highest below 64.
// RUN: %vm sh -c 'ulimit -S -n 40; COSY_EXECUTOR=native %t 5000' </dev/null | FileCheck --check-prefix=NATIVE %s
// RUN: %vm sh -c 'ulimit -S -n 40; COSY_EXECUTOR=kernel %t 5000' </dev/null | FileCheck --check-prefix=SMALL %s
// RUN: %vm sh -c 'ulimit -S -n 200; COSY_EXECUTOR=kernel %t 5000' </dev/null | FileCheck --check-prefix=LARGE %s
// NATIVE: limits 40
// NATIVE: opened 37, last 39, table 64, then Too many open files
// SMALL: limits 40
// SMALL-NOT: comes
// SMALL: opened 36, last 38, table 64, then Too many open files
// LARGE: limits 200
// LARGE-NEXT: after 62 comes 64
// LARGE-NEXT: opened 196, last 199, table 256, then Too many open files

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "region.h"

REGION(calls, CALLS, 12)

/* Return the length of the table, from /proc. */
static int table(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[200];
	int size = -1;

	while (status && fgets(line, sizeof(line), status))
		sscanf(line, "FDSize: %d", &size);
	if (status)
		fclose(status);
	return size;
}

int main(int argc, char **argv)
{
	int wanted = argc > 1 ? atoi(argv[1]) : 0;
	uint64_t frame[4] = { 5 };
	struct rlimit limit;
	int fd, last = 2, opened, size;

	run(&calls, frame);
	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	printf("limits %d %d\n", (int)limit.rlim_cur, (int)limit.rlim_max);
	for (opened = 0; opened < wanted; opened++) {
		fd = open("/dev/null", O_RDONLY);
		if (fd < 0)
			break;
		if (fd != last + 1)
			printf("after %d comes %d\n", last, fd);
		last = fd;
	}
	/* A descriptor to read it; the table keeps its length. */
	close(last);
	size = table();
	printf("opened %d, last %d, table %d", opened, last, size);
	printf(opened < wanted ? ", then %s\n" : "\n", strerror(EMFILE));
	for (fd = 3; fd < last; fd++)
		CHECK(!close(fd) || fd == 63);
	frame[0] = 5;
	run(&calls, frame);
	return 0;
}
