/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The files, pipes and sockets that the regions of verdict-regions.c use.
 */
#ifndef VERDICT_TREE_H
#define VERDICT_TREE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define TREE		"/tmp/verdict-regions"

static int record_fd, big_fd, pipes[2], sockets[2];
static char names[100][64], buf[65536];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static const char *name_of(int i)
{
	return names[i % 100];
}

static void write_file(const char *name, size_t size)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, buf, size) != (ssize_t)size || close(fd))
		fail(name);
}

static void prepare(void)
{
	char name[100];

	mkdir(TREE, 0700);
	mkdir(TREE "/dir", 0700);
	for (int i = 0; i < 100; i++) {
		snprintf(names[i], sizeof(names[i]), TREE "/f%d", i);
		if (access(names[i], F_OK))
			write_file(names[i], 1000);
		snprintf(name, sizeof(name), TREE "/dir/f%d", i);
		if (access(name, F_OK))
			write_file(name, 10);
	}
	write_file(TREE "/big", sizeof(buf));
	write_file(TREE "/records", 4096);
	write_file(TREE "/renamed", 1);
	unlink(TREE "/a-link");
	big_fd = open(TREE "/big", O_RDONLY);
	record_fd = open(TREE "/records", O_RDWR);
	if (big_fd < 0 || record_fd < 0 || symlink("somewhere", TREE "/a-link") ||
	    pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		fail(TREE);
	/* Reads of a file that was just written update its access time. */
	usleep(50000);
}

#endif
