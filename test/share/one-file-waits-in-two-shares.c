/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operations of one loop wait for the same socket in two shares, where its descriptors have the same place. Each
 * of them completes.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <sys/socket.h>
#include <time.h>

#include <cosy/async.h>
#include <cosy/share.h>

#include "check.h"

static struct cosy_loop *loop;

static void wait_in_both(int flags)
{
	struct cosy_async receives[2] = { 0 };
	struct cosy_share *shares[2];
	char bytes[2] = "";
	int fds[2];

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM | flags, 0, fds), 0);
	for (int i = 0; i < 2; i++) {
		EQUAL(cosy_share_create(&shares[i], NULL), 0);
		EQUAL(cosy_async_recv(loop, &receives[i], cosy_share_dup(shares[i], fds[0]), &bytes[i], 1, 0),
		      0);
	}
	for (int i = 0; i < 4; i++)
		CHECK(cosy_wait(loop, 0, NULL) == 0);
	for (int i = 0; i < 2; i++)
		EQUAL(send(fds[1], &"ab"[i], 1, 0), 1);
	for (int i = 0; i < 2; i++) {
		EQUAL(cosy_wait_for(loop, &receives[i], NULL), 0);
		EQUAL(receives[i].result, 1);
	}
	EQUAL(bytes[0] + bytes[1], 'a' + 'b');
	for (int i = 0; i < 2; i++) {
		cosy_share_destroy(shares[i]);
		close(fds[i]);
	}
}

int main(void)
{
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	wait_in_both(0);
	wait_in_both(SOCK_NONBLOCK);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
