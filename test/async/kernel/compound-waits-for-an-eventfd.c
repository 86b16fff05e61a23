// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Reads of eventfds by compounds wait until the counter is not 0, in their order.
 */
// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

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
		check(go(&loop, 0) == 0 && !readable(loop.fd), "a read of an eventfd waits");
		write(fd, &value, 8);
		check(go(&loop, 1) == 1 && collect(&loop) == 0 && frames[0][GOT] == 8 &&
		      values[0] == 2, "until it is written to");
		write(fd, &value, 8);
		check(at_once(&loop, reading, fd, &values[0], 8) == 8, "or not");
		check(at_once(&loop, reading, fd, &values[0], 4) == -EINVAL, "too little");
		write(fd, &value, 8);
		check(at_once(&loop, reading, fd, (void *)8, 8) == -EFAULT, "no buffer");
		check(is_for_process(&loop, writing, fd, &value, 8), "a write is left to the process");
		start(&loop, 0, reading, frames[0], 0, 0);
		check(go(&loop, 0) == 0, "it waits again");
		close(fd);
		check(go(&loop, 1) == 1 && collect(&loop) == 0 &&
		      (long long)frames[0][GOT] == -ECANCELED, "closing it ends the read");
	}
	fd = eventfd(0, EFD_SEMAPHORE);
	for (uint32_t i = 0; i < 3; i++) {
		prepare(frames[i], fd, &values[i], 8);
		start(&loop, i, reading, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0, "three wait for a semaphore");
	write(fd, &value, 8);
	check(go(&loop, 2) == 2 && collect(&loop) == 0 && collect(&loop) == 1 && values[0] == 1 &&
	      values[1] == 1, "two get it");
	check(go(&loop, 0) == 0, "one waits");
	value = 1;
	write(fd, &value, 8);
	check(go(&loop, 1) == 1 && collect(&loop) == 2, "until it is its turn");
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
