/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * open() of a FIFO waits until there is a writer. Meanwhile calls that use a disk are made, however many
 * opens wait.
 */
// RUN: %compile
// RUN: %everywhere
#include <sys/stat.h>

#include "loop.h"

#define OPENS 6 /* more than there are threads for disks */

int main(void)
{
	struct cosy_async opens[OPENS] = { 0 }, syncs = { 0 }, asks = { 0 };
	struct cosy_loop *loop = make_loop();
	const char *name = "/tmp/async-waits";
	struct stat st;
	int fd;

	unlink(name);
	EQUAL(mkfifo(name, 0600), 0);
	for (int i = 0; i < OPENS; i++)
		EQUAL(cosy_async_open(loop, &opens[i], name, O_RDONLY, 0), 0);
	for (int i = 0; i < 20; i++) {
		CHECK(cosy_wait(loop, 0, NULL) >= 0);
		usleep(1000);
	}
	fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	CHECK(fd >= 0);
	EQUAL(cosy_async_fsync(loop, &syncs, fd), 0);
	EQUAL(result_of(loop, &syncs), 0);
	EQUAL(cosy_async_stat(loop, &asks, "/tmp", &st), 0);
	EQUAL(result_of(loop, &asks), 0);
	for (int i = 0; i < OPENS; i++)
		CHECK(cosy_async_pending(&opens[i]));
	close(fd);
	/* A writer ends them. */
	fd = open(name, O_WRONLY);
	CHECK(fd >= 0);
	for (int i = 0; i < OPENS; i++)
		CHECK(result_of(loop, &opens[i]) >= 0);
	unlink(name);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
