// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A call that a compound waits for is cancelled by its entry or its descriptor, and fails once.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/compounds.h"

static void cancelling(void)
{
	static __u64 frames[3][NREGS + 1];
	static char buffers[3][8];
	struct loop loop;
	int sv[2], other[2];
	__u64 twice;

	create(&loop, 64);
	pair(sv);
	pair(other);
	twice = receive_twice();
	for (uint32_t i = 0; i < 3; i++) {
		frames[i][FD] = (__u64)sv[0];
		frames[i][BUF] = (uintptr_t)buffers[i];
		frames[i][SIZE] = 1;
		if (i)
			start(&loop, i, twice, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0, "two compounds wait for a socket");
	send(sv[1], "ab", 2, 0);
	check(go(&loop, 0) == 0 && buffers[1][0] && buffers[2][0],
	      "each one receives once, and waits again");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 1) == (long long)COSY_ASYNC_ENTERED &&
	      go(&loop, 1) == 1 && collect(&loop) == 1 && (long long)frames[1][SENT] == -ECANCELED,
	      "ECANCELED: the call of a cancelled compound fails");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 1) == -ENOENT,
	      "ENOENT: the compound has ended");
	start(&loop, 1, twice, frames[1], 0, COSY_COMPOUND_CANCELLED);
	check(go(&loop, 1) == 1 && collect(&loop) == 1 && (long long)frames[1][GOT] == -ECANCELED &&
	      (long long)frames[1][SENT] == -ECANCELED,
	      "ECANCELED: each call of a compound fails that was cancelled before it began");
	start(&loop, 1, twice, frames[1], 0, 0);
	check(go(&loop, 0) == 0, "the compound waits again");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)other[0]) ==
	      (long long)COSY_ASYNC_ENTERED &&
	      enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)device) ==
	      (long long)COSY_ASYNC_ENTERED &&
	      enter_loop(&loop, COSY_ASYNC_CANCEL_FD | 0xffffffffu) == (long long)COSY_ASYNC_ENTERED,
	      "no compound waits for other descriptors");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
	      (long long)(COSY_ASYNC_ENTERED | 2), "two compounds wait for this descriptor");
	check(go(&loop, 1) == 1 && collect(&loop) == 2 && (long long)frames[2][SENT] == -ECANCELED,
	      "ECANCELED: the call that waited first fails, and its compound ends");
	frames[1][SENT] = 0;
	send(sv[1], "z", 1, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 1 && (long long)frames[1][GOT] == -ECANCELED &&
	      frames[1][SENT] == 1,
	      "ECANCELED: only the interrupted call of the other compound fails");

	/* The socket's number belongs to another file. */
	start(&loop, 0, twice, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "the compound waits");
	send(sv[1], "!", 1, 0);
	dup2(other[0], sv[0]);
	check(go(&loop, 0) == 0 && (long long)*(volatile __u64 *)&loop.entries[0].args[0] == device,
	      "the wait for the old file ends; the next call waits for the new one");
	send(other[1], "?", 1, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && (long long)frames[0][GOT] == -ECANCELED &&
	      frames[0][SENT] == 1 && buffers[0][0] == '?',
	      "ECANCELED for the old file, and data from the new one");
	close(sv[0]);
	close(sv[1]);
	close(other[0]);
	close(other[1]);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	load_all();
	cancelling();
	return finish();
}
