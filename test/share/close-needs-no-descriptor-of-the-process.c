// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A descriptor of a share is closed although the process has no room for another descriptor. The same if a filter
// has to see the call, and one that lets it fail is obeyed, with room or without.
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cosy/share.h>

#include "check.h"
#include "filter-call.h"

static int is_open(struct cosy_share *share, int fd)
{
	return cosy_share_write(share, fd, "x", 1) == 1;
}

static void check_close(bool room)
{
	struct cosy_share *share;
	struct rlimit none = { 0, 0 };
	int fds[3];

	EQUAL(cosy_share_create(&share, NULL), 0);
	for (int i = 0; i < 3; i++) {
		fds[i] = cosy_share_open(share, AT_FDCWD, "/dev/null", O_WRONLY, 0);
		CHECK(fds[i] >= 0);
	}
	if (!room)
		EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
	EQUAL(cosy_share_close(share, fds[0]), 0);
	EQUAL(cosy_share_close(share, fds[0]), -EBADF);
	/* Logging changes nothing. */
	filter_call(SYS_close, SECCOMP_RET_LOG);
	EQUAL(cosy_share_close(share, fds[1]), 0);
	EQUAL(cosy_share_close(share, fds[1]), -EBADF);
	CHECK(is_open(share, fds[2]));
	filter_call(SYS_close, SECCOMP_RET_ERRNO | EACCES);
	EQUAL(cosy_share_close(share, fds[2]), -EACCES);
	CHECK(is_open(share, fds[2]));
}

int main(void)
{
	const pid_t child = fork();
	int status;

	check_close(!child);
	if (!child)
		return 0;
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	return 0;
}
