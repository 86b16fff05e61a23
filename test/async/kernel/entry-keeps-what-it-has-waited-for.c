// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * What an entry has waited for is kept for the next entry with its index, and has no other effect.
 */
// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

#include "Inputs/entries.h"

/* Return the number of entries that the loop holds, as /proc tells. */
static int held(const struct loop *loop)
{
	char path[64], line[64];
	int n = -1;
	FILE *info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", loop->fd);
	info = fopen(path, "r");
	while (info && fgets(line, sizeof(line), info))
		sscanf(line, "held: %d", &n);
	if (info)
		fclose(info);
	return n;
}

static bool receives(struct loop *loop, int from, char expected, char *byte)
{
	return send(from, &expected, 1, 0) == 1 && readable(loop->fd) && execute(loop) == 1 &&
	       collect(loop) == 3 && entry_result(loop, 3) == 1 && *byte == expected &&
	       !readable(loop->fd);
}

/* Such addresses are refused before a call looks at its socket. */
#define KERNEL_ADDRESS 0xffff888000000000ul

/* What an entry has waited for is kept for the next entry with its index, and has no other effect. */
static void idle(void)
{
	struct loop loop;
	int sv[2], other[2], last[2];
	char byte = 0;

	create(&loop, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	socketpair(AF_UNIX, SOCK_STREAM, 0, other);
	for (int round = 0; round < 3; round++) {
		submit_recv(&loop, 3, sv[0], &byte);
		check(execute(&loop) == 0 && held(&loop) == 1 && receives(&loop, sv[1], 'a', &byte) &&
		      held(&loop) == 0, "it waits again: %d", round);
	}
	check(send(sv[1], "b", 1, 0) == 1 && !readable(loop.fd) && execute(&loop) == 0 &&
	      enter_loop(&loop, COSY_ASYNC_CANCEL | 3) == -ENOENT, "no entry waits");
	submit_recv(&loop, 3, sv[0], &byte);
	check(execute(&loop) == 1 && collect(&loop) == 3 && byte == 'b', "it receives at once");
	submit_recv(&loop, 3, sv[0], (char *)KERNEL_ADDRESS);
	check(execute(&loop) == 1 && collect(&loop) == 3 && entry_result(&loop, 3) == -EFAULT,
	      "a call that natively fails does not wait");
	submit_recv(&loop, 3, other[0], &byte);
	check(execute(&loop) == 0 && send(sv[1], "c", 1, 0) == 1 && !readable(loop.fd) &&
	      receives(&loop, other[1], 'd', &byte), "it waits for another socket");
	submit_recv(&loop, 3, other[0], &byte);
	check(execute(&loop) == 0 &&
	      enter_loop(&loop, COSY_ASYNC_CANCEL | 3) == (long long)COSY_ASYNC_ENTERED &&
	      enter_loop(&loop, COSY_ASYNC_CANCEL | 3) == -ENOENT && held(&loop) == 0 &&
	      send(other[1], "e", 1, 0) == 1 && !readable(loop.fd), "it is cancelled");
	submit(&loop, 3, 0, SYS_getpid, 0, 0, 0, 0);
	check(execute(&loop) == 1 && collect(&loop) == 3 && entry_result(&loop, 3) == getpid(),
	      "another call");
	submit(&loop, 3, 0, COSY_ENTRY_COMPOUND, (uint64_t)device, 1000, 0, 0);
	loop.entries[3].args[5] = COSY_COMPOUND_RESUMED;
	check(execute(&loop) == 1 && collect(&loop) == 3 && entry_result(&loop, 3) < 0,
	      "no compound is resumed");
	submit_recv(&loop, 3, sv[0], &byte);
	check(execute(&loop) == 1 && collect(&loop) == 3 && byte == 'c', "what was sent meanwhile");
	submit_recv(&loop, 3, sv[0], &byte);
	check(execute(&loop) == 0 && receives(&loop, sv[1], 'f', &byte), "it waits");
	close(sv[0]);
	check(recv(sv[1], &byte, 1, 0) == 0, "it does not hold the file");
	dup2(other[0], sv[0]);
	recv(other[0], &byte, 1, 0);
	submit_recv(&loop, 3, sv[0], &byte);
	check(execute(&loop) == 0 && receives(&loop, other[1], 'g', &byte),
	      "the number refers to another socket");
	/* Two entries on one socket. */
	submit_recv(&loop, 3, sv[0], &byte);
	submit_recv(&loop, 4, other[0], &byte);
	check(execute(&loop) == 0 && send(other[1], "h", 1, 0) == 1 && execute(&loop) == 1 &&
	      held(&loop) == 1, "one of two receives");
	check(send(other[1], "i", 1, 0) == 1 && execute(&loop) == 1 && held(&loop) == 0 &&
	      collect(&loop) + collect(&loop) == 7, "then the other one");
	/* Many without a wait: from some time on nothing is kept. */
	for (int i = 0; i < 10; i++) {
		byte = 0;
		send(other[1], "j", 1, 0);
		submit_recv(&loop, 3, sv[0], &byte);
		check(execute(&loop) == 1 && collect(&loop) == 3 && byte == 'j', "at once: %d", i);
	}
	/* The end of a connection wakes all waiters, whatever their events. */
	socketpair(AF_UNIX, SOCK_STREAM, 0, last);
	submit_recv(&loop, 3, last[0], &byte);
	check(execute(&loop) == 0 && receives(&loop, last[1], 'k', &byte), "it waits again");
	close(last[1]);
	check(!readable(loop.fd), "there is nothing to execute");
	submit_recv(&loop, 3, last[0], &byte);
	check(execute(&loop) == 1 && collect(&loop) == 3 && entry_result(&loop, 3) == 0, "the end");
	close(last[0]);
	close(sv[0]);
	close(sv[1]);
	close(other[0]);
	close(other[1]);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	idle();
	return finish();
}
