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

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #condition, errno); \
			exit(1); \
		} \
	} while (0)

static void use_names(void)
{
	char directory[] = "/tmp/cosy-other-libc-XXXXXX";
	struct stat st;
	char target[8];
	int fd;

	CHECK(mkdtemp(directory) && !chdir(directory));
	fd = open("file", O_CREAT | O_RDWR | O_EXCL, 0640);
	CHECK(fd >= 0 && write(fd, "text", 4) == 4 && !close(fd));
	CHECK(!stat("file", &st) && st.st_size == 4 && (st.st_mode & 0777) == 0640);
	CHECK(!symlink("file", "link") && !lstat("link", &st) && S_ISLNK(st.st_mode));
	CHECK(readlink("link", target, sizeof(target)) == 4 && !memcmp(target, "file", 4));
	CHECK(!rename("file", "other") && access("link", F_OK) == -1 && errno == ENOENT);
	CHECK(!unlink("other") && !unlink("link") && !chdir("/") && !rmdir(directory));
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
	CHECK(!getrlimit(RLIMIT_NOFILE, &limit) && !setrlimit(RLIMIT_NOFILE, &limit));
	pid = fork();
	if (!pid) {
		use_names();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(!posix_spawn(&pid, argv[0], NULL, NULL, child, (char *[]){ NULL }));
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(!system("true"));
	return 0;
}
