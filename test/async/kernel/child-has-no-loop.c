// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A child of the process can neither enter nor map the loop, and the parent can still use it.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/entries.h"

#include <sys/prctl.h>
#include <sys/wait.h>

static void children(void)
{
	struct loop loop;
	int sv[2], status;
	char byte;
	pid_t child;

	create(&loop, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	submit_recv(&loop, 0, sv[0], &byte);
	execute(&loop);
	child = fork();
	if (!child) {
		unsigned char resident;
		int bad = 0;

		bad |= (mincore(loop.page, 1, &resident) != -1 || errno != ENOMEM) << 0;
		bad |= (enter_loop(&loop, 1) != -EPERM) << 1;
		bad |= (enter_loop(&loop, COSY_ASYNC_CANCEL | 0) != -EPERM) << 2;
		bad |= (mmap(NULL, loop.size, PROT_READ, MAP_SHARED, loop.fd, 0) != MAP_FAILED ||
			errno != EPERM) << 3;
		bad |= readable(loop.fd) << 4;
		close(loop.fd);
		_exit(bad);
	}
	waitpid(child, &status, 0);
	check(status == 0, "a child can neither enter, cancel, map nor poll the loop: %#x", status);
	check(send(sv[1], "p", 1, 0) == 1 && execute(&loop) == 1 && byte == 'p',
	      "the parent's entry completes after that");
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	children();
	return finish();
}
