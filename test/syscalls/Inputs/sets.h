/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sets.h - arguments for tests of system calls.
 *
 * Each set is a situation: descriptors of a kind, a name, memory that is mapped or not. set_up()
 * creates it in the current (child) process and directory. choose() selects the arguments of one
 * call by their kinds, the letters of syscalls.def.
 */
#ifndef SETS_H
#define SETS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))

enum set {
	SET_GARBAGE,	/* unusual numbers, addresses that are valid */
	SET_UNMAPPED,	/* the same with addresses that are not mapped */
	SET_KERNEL,	/* the same with addresses of the kernel */
	SET_FILE,	/* a regular file and its name */
	SET_NEW,	/* a directory and the name of a file that does not exist */
	SET_DIRECTORY,	/* a directory and its name */
	SET_LINK,	/* a regular file and the name of a symbolic link to it */
	SET_SOCKET,	/* a connected socket with data to read */
	SET_PIPE,	/* the ends of a pipe with data to read */
	SET_CLOSED,	/* no descriptor */
	SET_ONES,	/* all bits of every argument set */
	NR_SETS
};

static const char *const set_names[] = {
	"garbage", "unmapped", "kernel", "file", "new", "directory", "link",
	"socket", "pipe", "closed", "ones",
};

/* The report of a child; shared between it and its parent. */
struct report {
	long ret;
	int err;
	bool returned;
	int status;
	unsigned char memory[6][4096] __attribute__((aligned(4096)));
};

/* The descriptors of SET_FILE after set_up(), and of set_up_all(). */
enum { FD_FILE = 100, FD_FILE2, FD_SOCKET, FD_SOCKET2, FD_PIPE, FD_PIPE2, FD_DIR };

static bool in(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

static void must(bool held, const char *what)
{
	if (held)
		return;
	perror(what);
	_exit(3);
}

/* Two reports that children can write to. */
static struct report *map_reports(void)
{
	void *p = mmap(NULL, 2 * sizeof(struct report), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	must(p != MAP_FAILED, "mmap");
	return p;
}

/* Return false if the arguments are the same in another set. @kinds as for choose(). */
static bool set_applies(enum set set, const char *kinds)
{
	switch (set) {
	case SET_UNMAPPED:
	case SET_KERNEL:
		return strpbrk(kinds, "srwx");
	case SET_NEW:
		return strpbrk(kinds, "sd");
	case SET_DIRECTORY:
	case SET_LINK:
		return strchr(kinds, 's');
	case SET_SOCKET:
	case SET_PIPE:
	case SET_CLOSED:
		return strchr(kinds, 'd');
	default:
		return true;
	}
}

/* The state of the directory before every call. */
static void set_up_directory(const char *dir)
{
	static const char *const made[] = {
		"new", "file", "link", "directory", "created", "renamed",
		"linked", NULL,
	};
	int fd;

	must(!chdir(dir), dir);
	for (int i = 0; made[i]; i++) {
		unlink(made[i]);
		rmdir(made[i]);
	}
	must(!mkdir("directory", 0700), "mkdir");
	must(!symlink("file", "link"), "symlink");
	fd = open("file", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	must(fd >= 0 && write(fd, "some contents of a file\n", 24) == 24, "file");
	close(fd);
}

/* Opens the descriptors of the set. */
static void set_up(enum set set, const char *dir, int fds[2])
{
	int fd[2] = { -1, -1 };

	set_up_directory(dir);
	switch (set) {
	case SET_GARBAGE:
	case SET_UNMAPPED:
	case SET_KERNEL:
		fds[0] = 0x7e000001;
		fds[1] = 0x7e000011;
		return;
	case SET_CLOSED:
	case SET_ONES:
		fds[0] = -1;
		fds[1] = -100;
		return;
	case SET_NEW:
	case SET_DIRECTORY:
		fd[0] = fd[1] = open(".", O_RDONLY | O_DIRECTORY);
		break;
	case SET_SOCKET:
		must(!socketpair(AF_UNIX, SOCK_STREAM, 0, fd) &&
		     write(fd[1], "message", 7) == 7, "socket");
		break;
	case SET_PIPE:
		must(!pipe(fd) && write(fd[1], "message", 7) == 7, "pipe");
		break;
	default:
		fd[0] = open("file", O_RDWR);
		fd[1] = open("file", O_RDWR);
		break;
	}
	fds[0] = dup2(fd[0], FD_FILE);
	fds[1] = dup2(fd[1], FD_FILE2);
	must(fds[0] >= 0 && fds[1] >= 0, "dup2");
}

static const char *set_string(enum set set)
{
	switch (set) {
	case SET_FILE:
		return "file";
	case SET_DIRECTORY:
		return "directory";
	case SET_LINK:
		return "link";
	default:
		return "new";
	}
}

/* An argument of kind s, r, w or x. */
static long set_address(enum set set, char kind, int n, struct report *r)
{
	if (set == SET_UNMAPPED)
		return 0x10000 * (n + 1);
	if (set == SET_KERNEL)
		return 0xffff888000000000ul + 0x1000 * n;
	if (kind == 's')
		return (long)set_string(set);
	return (long)r->memory[n];
}

/**
 * choose() - choose the arguments of a call
 * @set:   the set
 * @kinds: a letter for each
 * @fds:   from set_up()
 * @r:	   has the memory, all zero
 * @args:  out
 */
static void choose(enum set set, const char *kinds, const int *fds,
		   struct report *r, long *args)
{
	bool garbage = set <= SET_KERNEL;
	int nd = 0;

	for (int n = 0; kinds[n]; n++) {
		switch (set == SET_ONES ? '1' : kinds[n]) {
		case '1':
			args[n] = -1;
			break;
		case 'd':
			args[n] = fds[nd++ & 1];
			break;
		case 's':
		case 'r':
		case 'w':
		case 'x':
			args[n] = set_address(set, kinds[n], n, r);
			break;
		case 'n':
			/* 8 is the size of a signal set. */
			args[n] = garbage ? 0x7e000020 + n :
				  set == SET_FILE ? 8 : 16;
			break;
		case 'o':
			/* At a page, otherwise mmap() fails without a call. */
			args[n] = garbage ? 0x7e000000 + 0x10000 * n : 0;
			break;
		default:
			args[n] = garbage ? 0x7e000040 + n : 0;
			break;
		}
	}
}

#endif /* SETS_H */
