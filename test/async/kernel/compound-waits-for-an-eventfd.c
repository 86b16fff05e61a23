// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Reads of eventfds by compounds wait until the counter is not 0, in their order.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/pipes.h"

#include <sys/eventfd.h>

static void counters(void)
{
	static __u64 frames[3][NREGS + 1];
	uint64_t values[3], value = 2;
	struct loop loop;
	int fd;

	create(&loop, 64);
	for (int flags = 0; flags <= EFD_NONBLOCK; flags += EFD_NONBLOCK) {
		fd = eventfd(0, flags);
		prepare(frames[0], fd, &values[0], 8);
		start(&loop, 0, reading, frames[0], 0, 0);
		check(go(&loop, 0) == 0 && !readable(loop.fd),
		      "a read of an eventfd waits while its counter is 0");
		write(fd, &value, 8);
		check(go(&loop, 1) == 1 && collect(&loop) == 0 && frames[0][GOT] == 8 &&
		      values[0] == 2, "the read returns the counter when it is written");
		write(fd, &value, 8);
		check(at_once(&loop, reading, fd, &values[0], 8) == 8,
		      "a read of a counter that is not 0 does not wait");
		check(at_once(&loop, reading, fd, &values[0], 4) == -EINVAL,
		      "EINVAL: the buffer is smaller than a counter");
		write(fd, &value, 8);
		check(at_once(&loop, reading, fd, (void *)8, 8) == -EFAULT,
		      "EFAULT: the buffer is unmapped");
		check(is_for_process(&loop, writing, fd, &value, 8), "a write is left to the process");
		start(&loop, 0, reading, frames[0], 0, 0);
		check(go(&loop, 0) == 0, "the compound waits again");
		close(fd);
		check(go(&loop, 1) == 1 && collect(&loop) == 0 &&
		      (long long)frames[0][GOT] == -ECANCELED, "ECANCELED: the eventfd was closed");
	}
	fd = eventfd(0, EFD_SEMAPHORE);
	for (uint32_t i = 0; i < 3; i++) {
		prepare(frames[i], fd, &values[i], 8);
		start(&loop, i, reading, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0, "three compounds wait for a semaphore");
	write(fd, &value, 8);
	check(go(&loop, 2) == 2 && collect(&loop) == 0 && collect(&loop) == 1 && values[0] == 1 &&
	      values[1] == 1, "a value of two completes the two reads that waited first");
	check(go(&loop, 0) == 0, "the third compound still waits");
	value = 1;
	write(fd, &value, 8);
	check(go(&loop, 1) == 1 && collect(&loop) == 2,
	      "the third read completes with the next value");
	close(fd);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	load_all();
	counters();
	return finish();
}
