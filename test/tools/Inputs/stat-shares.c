// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * stat-shares COSY - run `COSY stat` for this process: with two shares, and with one of them
 */
#include <cosy/share.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void show(const char *cosy)
{
	char command[256];

	snprintf(command, sizeof(command), "%s stat -n 1 -d 0.01 -p %d", cosy, getpid());
	if (system(command))
		exit(1);
}

int main(int argc, char **argv)
{
	const struct cosy_share_options small = { sizeof(small), 8 };
	struct cosy_share *share, *other;

	if (argc != 2 || cosy_share_create(&share, NULL) || cosy_share_create(&other, &small))
		return 1;
	cosy_share_dup(share, 0);
	cosy_share_dup(share, 0);
	cosy_share_close(other, cosy_share_dup(other, 0));
	cosy_share_dup(other, 0);
	show(argv[1]);
	cosy_share_destroy(other);
	puts("one is destroyed");
	fflush(stdout);
	cosy_share_dup(share, 0);
	show(argv[1]);
	return 0;
}
