// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Names of several components while another process moves and removes the directories of
 * their paths. Each call finds a file that the name has denoted, or returns that there is none.
 */
// RUN: %cosy-cc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE %s -o %t
// RUN: %vm env COSY_EXECUTOR=kernel %t | FileCheck %s
// CHECK: moved: {{[1-9][0-9]*}} found, 0 wrong
// CHECK-NEXT: removed: {{[1-9][0-9]*}} found, 0 wrong
#include <cosy.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOKS	20000

static void must(bool good, const char *what)
{
	if (!good)
		err(1, "%s", what);
}

static void make(const char *name, long size)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);

	must(fd >= 0 && !ftruncate(fd, size), name);
	close(fd);
}

/* A file of size 1 is below a, one of size 2 below b. Their parent directories are exchanged. */
static void move(void)
{
	renameat2(AT_FDCWD, "a/x", AT_FDCWD, "b/x", RENAME_EXCHANGE);
	rename("a/x/y", "a/x/z");
	rename("a/x/z", "a/x/y");
}

static void remove_all(void)
{
	unlink("a/x/y/file");
	rmdir("a/x/y");
	mkdir("a/x/y", 0755);
	make("a/x/y/file", 1);
}

/* Look up the file while a child changes its parents. */
static void look(const char *what, void (*change)(void))
{
	unsigned int found = 0, wrong = 0;
	pid_t child = fork();
	struct stat st;
	char byte;

	must(child >= 0, "fork");
	if (!child) {
		for (;;)
			change();
	}
	for (int i = 0; i < LOOKS; i++) {
		int ret, error, fd, fd_error;
		long n = -1;

		COSY_START;
		ret = fstatat(AT_FDCWD, "a/x/y/file", &st, 0);
		error = errno;
		fd = open("a/x/y/file", O_RDONLY);
		fd_error = errno;
		if (fd >= 0)
			n = read(fd, &byte, 1);
		close(fd);
		COSY_END;
		found += !ret;
		found += fd >= 0;
		/* The file that is created again is empty at first. */
		if (ret ? error != ENOENT : st.st_size < 0 || st.st_size > 2)
			wrong++;
		if (fd < 0 ? fd_error != ENOENT : n < 0)
			wrong++;
	}
	kill(child, SIGKILL);
	must(waitpid(child, NULL, 0) == child, "waitpid");
	printf("%s: %u found, %u wrong\n", what, found, wrong);
	fflush(stdout);
}

static void make_tree(void)
{
	char name[] = "/tmp/moved.XXXXXX";

	must(mkdtemp(name) && !chmod(name, 0755) && !chdir(name), name);
	must(!mkdir("a", 0755) && !mkdir("b", 0755) && !mkdir("a/x", 0755) &&
	     !mkdir("b/x", 0755) && !mkdir("a/x/y", 0755) && !mkdir("b/x/y", 0755), "mkdir");
	make("a/x/y/file", 1);
	make("b/x/y/file", 2);
}

int main(void)
{
	make_tree();
	look("moved", move);
	make_tree();
	look("removed", remove_all);
	return 0;
}
