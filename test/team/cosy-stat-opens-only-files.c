// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * `cosy stat` opens nothing but regular files, however a process names what it has open: opening a device may
 * have effects. Here a pipe has the name of a team's file, as it is on a mount that cannot be reached.
 */
// REQUIRES: root, mount-namespace
// RUN: %compile
// RUN: COSY_EXECUTOR=user timeout 100 %t %build/bin/cosy %t.mount
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "team.h"

#define NAME "/memfd:cosy-team (deleted)"

int main(int argc, char **argv)
{
	char path[512], command[512], link[64] = "";
	struct inotify_event event;
	int pipe, events;

	CHECK(argc == 3);
	mkdir(argv[2], 0700);
	EQUAL(unshare(CLONE_NEWNS), 0);
	EQUAL(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	EQUAL(mount("none", argv[2], "tmpfs", 0, NULL), 0);
	snprintf(path, sizeof(path), "%s" NAME, argv[2]);
	EQUAL(mkfifo(path, 0600), 0);
	pipe = open(path, O_PATH);
	events = inotify_init1(IN_NONBLOCK);
	CHECK(pipe >= 0 && events >= 0);
	CHECK(inotify_add_watch(events, path, IN_OPEN) >= 0);
	EQUAL(umount2(argv[2], MNT_DETACH), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pipe);
	EQUAL(readlink(path, link, sizeof(link) - 1), (ssize_t)strlen(NAME));
	EQUAL(strcmp(link, NAME), 0);

	snprintf(command, sizeof(command), "%s stat -n 1 -d 0.01 -p %d >/dev/null 2>&1", argv[1], getpid());
	CHECK(system(command) != -1);
	EQUAL(read(events, &event, sizeof(event)), -1);
	EQUAL(errno, EAGAIN);
	return 0;
}
