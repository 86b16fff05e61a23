// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * steps DIRECTORY [NAME...] - make calls that take names, and print their results
 *
 * Works in DIRECTORY, which it creates and removes, and then checks each NAME. It does the same
 * again in a child of fork(), and after exec() in a child of vfork(). Standard error shows whether
 * the device was open at the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "device.h"

#define OLD	1000	/* a time for a file */

static void say(const char *what, long result)
{
	printf("%s: %ld%s%s\n", what, result, result < 0 ? " " : "",
	       result < 0 ? strerrorname_np(errno) : "");
}

static void say_status(const char *what, int result, const struct stat *st)
{
	say(what, result);
	if (!result)
		printf("  %o %u %u %ld %s\n", st->st_mode, st->st_uid, st->st_gid,
		       S_ISREG(st->st_mode) ? (long)st->st_size : 0,
		       st->st_mtime == OLD ? "old" : "new");
}

static void say_file(const char *name)
{
	char text[100];
	int fd = open(name, O_RDONLY);
	ssize_t n;

	say("open", fd < 0 ? fd : 0);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text));
	say("read", n);
	say("close", close(fd));
}

static void change(void)
{
	static const struct timespec times[2] = { { 1, 0 }, { OLD, 0 } };
	struct stat st;
	char text[100];
	int fd;

	say("mkdir", mkdir("d", 0750));
	fd = open("d/f", O_RDWR | O_CREAT | O_EXCL, 0640);
	say("create", fd < 0 ? fd : 0);
	say("write", write(fd, "1234567", 7));
	say("close", close(fd));
	say("create again", open("d/f", O_RDWR | O_CREAT | O_EXCL, 0640));
	say("chmod", chmod("d/f", 0604));
	say("chown", chown("d/f", 12345, 23456));
	say("utimensat", utimensat(AT_FDCWD, "d/f", times, 0));
	say_status("stat", stat("d/f", &st), &st);
	say("truncate", truncate("d/f", 3));
	say("link", link("d/f", "d/g"));
	say("symlink", symlink("d/g", "l"));
	say_status("lstat", lstat("l", &st), &st);
	say_status("fstatat", fstatat(AT_FDCWD, "l", &st, 0), &st);
	say("readlink", readlink("l", text, sizeof(text)));
	say_file("l");
	say("rename", rename("d/g", "d/h"));
	say_file("l");
	say("access", access("d/h", W_OK));
	say("access", access("d/h", X_OK));
	say("unlink", unlink("d"));
	say("unlink", unlink("d/f"));
	say("unlink", unlink("d/h"));
	say("unlink", unlink("l"));
	say("rmdir", rmdir("d"));
	say("rmdir", rmdir("d"));
}

static void look(char **names)
{
	struct stat st;

	for (; *names; names++) {
		printf("%s\n", *names);
		say_status("stat", stat(*names, &st), &st);
		say("access", access(*names, W_OK));
		say_file(*names);
	}
}

static void change_and_look(char **names)
{
	change();
	look(names);
	fflush(stdout);
}

static void wait_for(pid_t child)
{
	int status;

	CHECK(child > 0);
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
}

int main(int argc, char **argv)
{
	const char *again = getenv("STEPS_AGAIN");
	pid_t child;

	CHECK(argc > 1);
	EQUAL(mkdir(argv[1], 0700), 0);
	EQUAL(chdir(argv[1]), 0);
	change_and_look(argv + 2);
	child = fork();
	if (!child) {
		change_and_look(argv + 2);
		_exit(0);
	}
	wait_for(child);
	change_and_look(argv + 2);
	EQUAL(chdir("/"), 0);
	EQUAL(rmdir(argv[1]), 0);
	fprintf(stderr, "device: %s\n", has_device() ? "open" : "closed");
	if (again)
		return 0;
	EQUAL(setenv("STEPS_AGAIN", "yes", 1), 0);
	child = vfork();
	if (!child) {
		execvp(argv[0], argv);
		_exit(1);
	}
	wait_for(child);
	return 0;
}
