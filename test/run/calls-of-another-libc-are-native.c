/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A program of another C library, which loads libcosy-preload.so if its path is given: its calls are
 * native. The library finds the functions although there is no list of glibc's dynamic linker.
 */
// RUN: musl-gcc -O1 -Wall -Wextra -Werror %s -o %t
// RUN: env LD_PRELOAD=%build/lib/cosy-preload/lib/x86_64-linux-gnu/libcosy-preload.so %t
// RUN: %vm env COSY_EXECUTOR=kernel LD_PRELOAD=%build/lib/cosy-preload/lib/x86_64-linux-gnu/libcosy-preload.so %t
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../Inputs/check.h"

static void use_names(void)
{
	char directory[] = "/tmp/cosy-other-libc-XXXXXX";
	struct stat st;
	char target[8];
	int fd;

	CHECK(mkdtemp(directory));
	EQUAL(chdir(directory), 0);
	fd = open("file", O_CREAT | O_RDWR | O_EXCL, 0640);
	CHECK(fd >= 0);
	EQUAL(write(fd, "text", 4), 4);
	EQUAL(close(fd), 0);
	EQUAL(stat("file", &st), 0);
	EQUAL(st.st_size, 4);
	EQUAL((st.st_mode & 0777), 0640);
	EQUAL(symlink("file", "link"), 0);
	EQUAL(lstat("link", &st), 0);
	CHECK(S_ISLNK(st.st_mode));
	EQUAL(readlink("link", target, sizeof(target)), 4);
	EQUAL_BYTES(target, "file", 4);
	EQUAL(rename("file", "other"), 0);
	EQUAL(access("link", F_OK), -1);
	EQUAL(errno, ENOENT);
	EQUAL(unlink("other"), 0);
	EQUAL(unlink("link"), 0);
	EQUAL(chdir("/"), 0);
	EQUAL(rmdir(directory), 0);
}

int main(int argc, char **argv)
{
	char *child[] = { argv[0], "child", NULL };
	struct rlimit limit;
	int status;
	pid_t pid;

	/* More than the library makes natively in any case. */
	for (int i = 0; i < 10; i++)
		use_names();
	if (argc > 1)
		return 0;
	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	pid = fork();
	if (!pid) {
		use_names();
		_exit(0);
	}
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
	EQUAL(posix_spawn(&pid, argv[0], NULL, NULL, child, (char *[]){ NULL }), 0);
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
	EQUAL(system("true"), 0);
	return 0;
}
