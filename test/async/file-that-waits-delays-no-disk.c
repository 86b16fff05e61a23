/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads of files in /proc that may wait for ever are no reads of a disk: they keep no call from the disk waiting,
 * wait with O_NONBLOCK, too, and can be cancelled.
 */
// REQUIRES: root
// RUN: %compile
// RUN: %everywhere
#include "loop.h"

#define READS	8

int main(void)
{
	static char bytes[READS][8192];
	struct iovec piece = { bytes[1], sizeof(bytes[1]) };
	struct cosy_async reads[READS] = { 0 }, status = { 0 };
	struct cosy_loop *loop = make_loop();
	int fds[READS], kmsg = open("/proc/kmsg", O_RDONLY | O_NONBLOCK);
	struct stat st;

	/* Not in a container. */
	if (kmsg < 0)
		return 0;
	while (read(kmsg, bytes[0], sizeof(bytes[0])) > 0)
		;
	for (int i = 0; i < READS; i++) {
		fds[i] = open("/proc/kmsg", O_RDONLY | (i % 2 ? O_NONBLOCK : 0));
		if (i == 1)
			EQUAL(cosy_async_readv(loop, &reads[i], fds[i], &piece, 1), 0);
		else
			EQUAL(cosy_async_read(loop, &reads[i], fds[i], bytes[i], sizeof(bytes[i])), 0);
	}
	cosy_wait(loop, 0, NULL);
	EQUAL(cosy_async_stat(loop, &status, "/", &st), 0);
	EQUAL(result_of(loop, &status), 0);
	for (int i = 0; i < READS; i++) {
		/* The kernel may have written a message. */
		if (cosy_async_pending(&reads[i]))
			EQUAL(cosy_cancel(loop, &reads[i]), 0);
		EQUAL(cosy_wait_for(loop, &reads[i], NULL), 0);
		CHECK(reads[i].result == -ECANCELED || reads[i].result > 0);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
