/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A child of fork() cannot use a share, and has none of its descriptors. exec() closes them.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cosy/share.h>

#include "check.h"

static struct cosy_share *share;
static int ends[2], writes;

/* Make a pipe whose end for writing is only in the share. */
static void make_pipe(void)
{
	EQUAL(pipe2(ends, O_CLOEXEC), 0);
	writes = cosy_share_dup(share, ends[1]);
	CHECK(writes >= 0);
	close(ends[1]);
}

int main(int argc, char **argv)
{
	int status, ready[2];
	pid_t child, parent;
	char c;

	if (argc > 1) {
		/* After exec(), until it is killed. */
		pause();
		return 1;
	}
	EQUAL(cosy_share_create(&share, NULL), 0);
	make_pipe();
	EQUAL(pipe(ready), 0);
	child = fork();
	if (!child) {
		EQUAL(cosy_share_write(share, writes, "x", 1), -EPERM);
		EQUAL(cosy_share_dup(share, 0), -EPERM);
		EQUAL(cosy_share_close(share, writes), -EPERM);
		EQUAL(cosy_share_install(share, writes, 0), -EPERM);
		EQUAL(write(ready[1], "r", 1), 1);
		pause();
		_exit(1);
	}
	EQUAL(read(ready[0], &c, 1), 1);
	EQUAL(cosy_share_write(share, writes, "p", 1), 1);
	EQUAL(cosy_share_close(share, writes), 0);
	EQUAL(read(ends[0], &c, 1), 1);
	EQUAL(c, 'p');
	/* The child is alive, and does not have the other end. */
	EQUAL(read(ends[0], &c, 1), 0);
	close(ends[0]);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);

	/* A child that destroys the share of its parent changes nothing there, and makes its own. */
	make_pipe();
	child = fork();
	if (!child) {
		cosy_share_destroy(share);
		EQUAL(cosy_share_create(&share, NULL), 0);
		CHECK(cosy_share_dup(share, 0) >= 0);
		_exit(0);
	}
	waitpid(child, &status, 0);
	EQUAL(status, 0);
	EQUAL(cosy_share_write(share, writes, "x", 1), 1);
	close(ends[0]);

	/* The parent of this one executes another program. */
	EQUAL(pipe2(ends, O_CLOEXEC), 0);
	parent = fork();
	if (!parent) {
		close(ends[0]);
		EQUAL(cosy_share_create(&share, NULL), 0);
		CHECK(cosy_share_dup(share, ends[1]) >= 0);
		execl("/proc/self/exe", argv[0], "pause", NULL);
		_exit(1);
	}
	close(ends[1]);
	EQUAL(read(ends[0], &c, 1), 0);
	kill(parent, SIGKILL);
	waitpid(parent, &status, 0);
	CHECK(WIFSIGNALED(status));
	return 0;
}
