/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A descriptor is closed while a thread makes a call on it, and its number is used again. The call uses
 * the file that was open when the operation was submitted, or is cancelled. It does not use the next
 * file of that number, and does not fail with EBADF.
 */
// RUN: %compile
// RUN: %everywhere
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "loop.h"

#define TIMES 200

static struct cosy_loop *loop;

/* Open a FIFO that contains a byte. A thread reads it, because FIFOs do not support RWF_NOWAIT. */
static int open_with(const char *name, char byte)
{
	int fd = open(name, O_RDWR);

	CHECK(fd >= 0);
	EQUAL(write(fd, &byte, 1), 1);
	return fd;
}

/* Cancel by a close of the loop, or before a close of the program. */
static void close_it(int fd, bool by_loop)
{
	struct cosy_async closes = { 0 };

	if (by_loop) {
		EQUAL(cosy_async_close(loop, &closes, fd), 0);
		EQUAL(result_of(loop, &closes), 0);
	} else {
		CHECK(cosy_cancel_fd(loop, fd) >= 0);
		EQUAL(close(fd), 0);
	}
}

static uint64_t calls_of_threads(void)
{
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	return info.handed_over;
}

/* @by_thread: close when a thread is about to make the call. Otherwise it may be cancelled before. */
static void read_and_close(const char *names[2], bool by_thread, bool by_loop)
{
	uint64_t before = calls_of_threads();
	struct cosy_async reads = { 0 };
	int fd = open_with(names[0], 'a');
	char byte = 0;

	EQUAL(cosy_async_read(loop, &reads, fd, &byte, 1), 0);
	/* The FIFO is ready, so the call is given to a thread. */
	do
		CHECK(cosy_wait(loop, 0, NULL) >= 0);
	while (by_thread && calls_of_threads() == before);
	close_it(fd, by_loop);
	EQUAL(open_with(names[1], 'b'), fd);
	if (result_of(loop, &reads) == -ECANCELED && !by_thread) {
		EQUAL(byte, 0);
	} else {
		EQUAL(reads.result, 1);
		EQUAL(byte, 'a');
	}
	EQUAL(read(fd, &byte, 1), 1);
	EQUAL(byte, 'b');
	EQUAL(close(fd), 0);
}

/* Keep a processor busy, so that a thread is often interrupted just before its call. */
static pid_t keep_busy(void)
{
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		/* Also if this program fails. It holds no pipe of the test open. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close_range(0, UINT_MAX, 0);
		for (;;)
			;
	}
	return child;
}

int main(void)
{
	const char *names[2] = { "/tmp/async-closed", "/tmp/async-later" };
	pid_t busy[2] = { keep_busy(), keep_busy() };

	for (int i = 0; i < 2; i++) {
		unlink(names[i]);
		EQUAL(mkfifo(names[i], 0600), 0);
	}
	loop = make_loop();
	for (int i = 0; i < TIMES; i++)
		read_and_close(names, i & 1, i & 2);
	EQUAL(cosy_loop_destroy(loop), 0);
	for (int i = 0; i < 2; i++) {
		EQUAL(kill(busy[i], SIGKILL), 0);
		EQUAL(waitpid(busy[i], NULL, 0), busy[i]);
		unlink(names[i]);
	}
	return 0;
}
