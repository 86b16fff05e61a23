/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The program sees the descriptor numbers and the EMFILE it sees natively:
 * prints what it sees; the test compares the executors.
 */
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
