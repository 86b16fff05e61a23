// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A call of an entry cannot enter its own loop, but another one. An entry may close its own loop.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/entries.h"

static void recursion(void)
{
	static struct loop loop, outer;
	int fds[2];
	char bytes[4];

	create(&loop, 64);
	check(call_by_entry(&loop, SYS_lseek, loop.fd, COSY_RUN_TAG | 64, COSY_RUN_WHENCE, 0) == -EBUSY,
	      "EBUSY: a call of an entry does not enter its own loop");
	create(&outer, 64);
	submit(&loop, 2, 0, SYS_getpid, 0, 0, 0, 0);
	check(call_by_entry(&outer, SYS_lseek, loop.fd, COSY_RUN_TAG | 64, COSY_RUN_WHENCE, 0) ==
	      (long long)COSY_ASYNC_ENTERED + 1 && collect(&loop) == 2,
	      "a call of an entry enters another loop");

	/*
	 * The loop is destroyed while it is entered. Submitted entries are executed nevertheless.
	 */
	check(!pipe(fds), "a pipe is opened");
	submit(&loop, 0, 0, SYS_close, loop.fd, 0, 0, 0);
	submit(&loop, 1, 0, SYS_munmap, (uintptr_t)loop.page, loop.size, 0, 0);
	submit(&loop, 2, 0, SYS_write, fds[1], (uintptr_t)"x", 1, 0);
	enter_loop(&loop, COSY_ASYNC_MAX_DONE);
	/* It may leave between them, to release the file. Then it cannot be entered any more. */
	check(fcntl(loop.fd, F_GETFD) == -1, "a call of an entry closes its own loop");
	munmap(loop.page, loop.size);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	check(read(fds[0], bytes, sizeof(bytes)) <= 1,
	      "the entry after it is executed at most once");
	close(fds[0]);
	close(fds[1]);
	destroy(&outer);
}

int main(void)
{
	device = open_device();
	recursion();
	return finish();
}
