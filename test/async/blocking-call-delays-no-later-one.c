/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls that block, possibly without end, do not delay operations that are submitted after them,
 * also if the process has one CPU.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "loop.h"

#define OPS 48

/* Open a new file each time, because locks of one open file do not exclude each other. */
static int open_lock(const char *name)
{
	int fd = open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	return fd;
}

int main(void)
{
	struct cosy_async lock = { 0 }, fifo = { 0 }, ops[OPS] = { 0 };
	char directory[] = "/tmp/async-blocking.XXXXXX";
	int holder, waiter, file, reader;
	struct cosy_loop *loop;
	cpu_set_t set;

	CHECK(mkdtemp(directory));
	EQUAL(chdir(directory), 0);
	EQUAL(mkfifo("fifo", 0600), 0);
	EQUAL(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int i = CPU_SETSIZE - 1; CPU_COUNT(&set) > 1; i--)
		CPU_CLR(i, &set);
	EQUAL(sched_setaffinity(0, sizeof(set), &set), 0);
	holder = open_lock("lock");
	waiter = open_lock("lock");
	file = open_lock("file");
	EQUAL(flock(holder, LOCK_EX), 0);
	loop = make_loop();
	for (int round = 0; round < 20; round++) {
		EQUAL(cosy_async_flock(loop, &lock, waiter, LOCK_EX), 0);
		EQUAL(cosy_async_open(loop, &fifo, "fifo", O_WRONLY | O_CLOEXEC, 0), 0);
		/* Executed by threads that the other two use, and by threads for disks. */
		for (int i = 0; i < OPS; i += 2) {
			EQUAL(cosy_async_open(loop, &ops[i], "file", O_RDONLY | O_CLOEXEC, 0), 0);
			EQUAL(cosy_async_fsync(loop, &ops[i + 1], file), 0);
		}
		for (int i = 0; i < OPS; i += 2) {
			int fd = (int)result_of(loop, &ops[i]);

			CHECK(fd >= 0);
			close(fd);
			EQUAL(result_of(loop, &ops[i + 1]), 0);
		}
		CHECK(cosy_async_pending(&lock));
		CHECK(cosy_async_pending(&fifo));
		reader = open("fifo", O_RDONLY | O_CLOEXEC);
		CHECK(reader >= 0);
		CHECK(result_of(loop, &fifo) >= 0);
		close((int)fifo.result);
		close(reader);
		EQUAL(flock(holder, LOCK_UN), 0);
		EQUAL(result_of(loop, &lock), 0);
		EQUAL(flock(waiter, LOCK_UN), 0);
		EQUAL(flock(holder, LOCK_EX), 0);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(unlink("fifo") | unlink("lock") | unlink("file"), 0);
	EQUAL(rmdir(directory), 0);
	return 0;
}
