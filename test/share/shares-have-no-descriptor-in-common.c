/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Two shares of a process have no descriptor in common, however many shares were made and ended since the
 * first one. Numbers of shares have ten bits: the 1025th share had that of the first.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>

#include <cosy/share.h>

#include "check.h"

/* Make a share, and return its first descriptor. */
static int make(struct cosy_share **share)
{
	const struct cosy_share_options options = { sizeof(options), 1 };

	EQUAL(cosy_share_create(share, &options), 0);
	return cosy_share_open(*share, AT_FDCWD, "/dev/null", O_RDONLY, 0);
}

int main(void)
{
	struct cosy_share *first, *other;
	int fd = make(&first);

	CHECK(fd >= 0);
	for (int i = 0; i < 1100; i++) {
		CHECK(make(&other) != fd);
		EQUAL(cosy_share_close(other, fd), -EBADF);
		cosy_share_destroy(other);
	}
	EQUAL(cosy_share_close(first, fd), 0);
	cosy_share_destroy(first);
	return 0;
}
