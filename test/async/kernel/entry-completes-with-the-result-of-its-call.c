// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Submitted entries complete once and in their order, with the calls' own results.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/entries.h"

#include <signal.h>

static void calls(void)
{
	static char st[256];
	struct loop loop;
	unsigned int good = 0;
	int fds[2];

	create(&loop, 128);
	check(execute(&loop) == 0, "a new loop has nothing to execute");
	for (uint32_t i = 0; i < 100; i++)
		submit(&loop, i, 0, SYS_getpid, 0, 0, 0, 0);
	check(execute(&loop) == 64, "64 of 100 entries complete at a time");
	check(execute(&loop) == 36, "the other 36 complete");
	check(execute(&loop) == 0, "no entry completes twice");
	for (int i = 0; i < 100; i++)
		good += collect(&loop) == i && entry_result(&loop, i) == getpid() &&
			loop.entries[i].status == COSY_ENTRY_DONE &&
			loop.entries[i].user_data == (uint64_t)i;
	check(good == 100 && collect(&loop) == -1,
	      "each of 100 entries has the result of its call, in order");
	check(call_by_entry(&loop, SYS_statx, AT_FDCWD, (uintptr_t)"/nonexistent", 0, 0x7ff) < 0,
	      "a statx() by its fast path fails");
	check(call_by_entry(&loop, SYS_newfstatat, AT_FDCWD, (uintptr_t)"/", (uintptr_t)st, 0) == 0,
	      "a newfstatat() by its fast path succeeds");
	check(call_by_entry(&loop, SYS_newfstatat, AT_FDCWD, (uintptr_t)"/", 8, 0) == -EFAULT,
	      "EFAULT: the buffer of a fast path is unmapped");
	check(call_by_entry(&loop, SYS_pipe2, (uintptr_t)fds, O_NONBLOCK, 0, 0) == 0,
	      "pipe2(), which has no fast path, succeeds");
	check(call_by_entry(&loop, SYS_write, fds[1], (uintptr_t)"x", 1, 0) == 1,
	      "write() returns 1");
	check(call_by_entry(&loop, SYS_close, fds[0], 0, 0, 0) == 0, "close() succeeds");
	signal(SIGPIPE, SIG_IGN);
	check(call_by_entry(&loop, SYS_write, fds[1], (uintptr_t)"x", 1, 0) == -EPIPE,
	      "EPIPE: the pipe has no reader");
	close(fds[1]);

	submit(&loop, 3, COSY_ENTRY_SILENT, SYS_getpid, 0, 0, 0, 0);
	check(execute(&loop) == 1 && collect(&loop) == -1 &&
	      loop.entries[3].status == COSY_ENTRY_FREE,
	      "a silent entry is executed without a completion");
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	calls();
	return finish();
}
