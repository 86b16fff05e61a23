/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Each executor gives the same results; COSY_STATS says who ran what.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "region.h"

static void change_r2(uint64_t *frame)
{
	CHECK(errno == EBADF);
	errno = 0;
	frame[2] = frame[2] * 3 + 4;
}

REGION(calls, CALLS, 12)
REGION(mixed, MIXED, 20, change_r2)

static uint64_t sum_of_pids(uint64_t n)
{
	uint64_t frame[4] = { n };
	uint64_t sum = 0;

	if (run(&calls, frame) == 0)
		return frame[1];
	while (n--)
		sum += (uint64_t)getpid();
	return sum;
}

static void run_mixed(uint64_t n, uint64_t start)
{
	uint64_t frame[7] = { n, 0, start };
	int64_t exit;

	memset(frame + 3, 0x55, sizeof(frame) - 24);
	errno = 0;
	exit = run(&mixed, frame);
	if (exit < 0) {
		exit = 0;
		frame[3] = 0;
		for (; frame[0]; frame[0]--) {
			frame[1] += close(-1) < 0;
			change_r2(frame);
			if (frame[2] & 1) {
				exit = 1;
				break;
			}
			frame[3] += frame[2];
			getpid();
		}
	}
	printf("exit %d, left %d, failures %d, r2 %lu, sum %lu, errno %d\n",
	       (int)exit, (int)frame[0], (int)frame[1], frame[2], frame[3],
	       errno);
}

int main(void)
{
	CHECK(sum_of_pids(0) == 0);
	CHECK(sum_of_pids(1) == (uint64_t)getpid());
	CHECK(sum_of_pids(1000) == (uint64_t)getpid() * 1000);
	run_mixed(0, 0);
	run_mixed(4, 2);
	run_mixed(4, 1);
	return 0;
}
