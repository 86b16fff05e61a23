// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The limit of descriptors counts what shares may hold. Without the module, their files are also in the
// process's table: they do not count twice.
// RUN: %compile
// RUN: %everywhere
#include <sys/resource.h>
#include <sys/socket.h>

#include <cosy/share.h>

#include "check.h"

int main(void)
{
	const struct rlimit limit = { 256, 256 };
	struct cosy_share_options options = { sizeof(options), 120 };
	struct cosy_share *first, *second, *third;

	EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	EQUAL(cosy_share_create(&first, &options), 0);
	for (int i = 0; i < 100; i++)
		CHECK(cosy_share_socket(first, AF_UNIX, SOCK_STREAM, 0) >= 0);
	options.max = 60;
	EQUAL(cosy_share_create(&second, &options), 0);
	/* With these, the shares could hold more than the limit. */
	options.max = 80;
	EQUAL(cosy_share_create(&third, &options), -EMFILE);
	cosy_share_destroy(second);
	cosy_share_destroy(first);
	EQUAL(cosy_share_create(&third, &options), 0);
	cosy_share_destroy(third);
	return 0;
}
