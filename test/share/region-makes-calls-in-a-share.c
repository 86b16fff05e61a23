/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A region makes calls in a share by up-calls, among calls that it makes itself.
 */
// RUN: %cosy-cc %flags -O2 -Wno-cosy-up-call-in-loop %s -o %t -L%lib -l:libcosy.a
// RUN: %everywhere
#include <fcntl.h>

#include <cosy.h>
#include <cosy/share.h>

#include "check.h"

#define ROUNDS	200

int main(void)
{
	COSY_SHARE_SCOPE share = NULL;
	long sent = 0, copied = 0;
	int ends[2], fd, i;
	char c = 'r';

	EQUAL(cosy_share_create(&share, NULL), 0);
	EQUAL(pipe2(ends, O_CLOEXEC), 0);
	fd = cosy_share_dup(share, ends[1]);
	CHECK(fd >= 0);
	COSY_START;
	for (i = 0; i < ROUNDS; i++) {
		int copy = cosy_share_dup(share, fd);

		sent += cosy_share_write(share, copy, &c, 1);
		cosy_share_close(share, copy);
		copied += read(ends[0], &c, 1);
		/* The region's own calls do not find descriptors of the share. */
		if (write(copy, &c, 1) >= 0)
			break;
	}
	COSY_END;
	EQUAL(i, ROUNDS);
	EQUAL(sent, ROUNDS);
	EQUAL(copied, ROUNDS);
	EQUAL(errno, EBADF);
	return 0;
}
