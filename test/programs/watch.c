// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Watch a directory with inotify and print its events
// (in a directory that it creates itself, because network file systems do not report all changes)
// RUN: %cosy-cc -O2 -D_GNU_SOURCE -Wno-cosy-end-not-reached %s -o %t && %run-all %t | FileCheck %s
// CHECK: create one
// CHECK-NEXT: modify one
// CHECK-NEXT: close one
// CHECK-NEXT: moved one
// CHECK-NEXT: moved two
// CHECK-NEXT: create directory sub
// CHECK-NEXT: delete two
// CHECK-NEXT: delete directory sub
// CHECK-NEXT: create stop
// CHECK-NOT: {{.}}
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *kind(uint32_t mask)
{
	if (mask & IN_CREATE)
		return "create";
	if (mask & IN_DELETE)
		return "delete";
	if (mask & (IN_MOVED_FROM | IN_MOVED_TO))
		return "moved";
	return mask & IN_CLOSE_WRITE ? "close" : "modify";
}

/* The changes in the directory. */
static void play(const char *dir)
{
	int fd;

	if (chdir(dir))
		_exit(1);
	fd = open("one", O_WRONLY | O_CREAT, 0644);
	if (write(fd, "x", 1) != 1)
		_exit(1);
	close(fd);
	rename("one", "two");
	mkdir("sub", 0755);
	unlink("two");
	rmdir("sub");
	mkdir("stop", 0755);
	rmdir("stop");
	_exit(0);
}

static int watch(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	_Alignas(struct inotify_event) char buf[4096];
	ssize_t n;

	COSY_START;
	for (;;) {
		if (poll(&pfd, 1, -1) < 0) {
			if (errno == EINTR)
				continue;
			return 1;
		}
		n = read(fd, buf, sizeof(buf));
		if (n <= 0)
			return 1;
		for (char *p = buf; p < buf + n;) {
			struct inotify_event *event = (struct inotify_event *)p;

			printf("%s %s%s\n", kind(event->mask),
			       event->mask & IN_ISDIR && strcmp(event->name, "stop") ? "directory " : "",
			       event->name);
			if (!strcmp(event->name, "stop"))
				goto stop;
			p += sizeof(*event) + event->len;
		}
	}
	COSY_END;
stop:
	return 0;
}

int main(void)
{
	char dir[] = "/tmp/cosy-watch-XXXXXX";
	int fd = inotify_init1(IN_CLOEXEC), status;
	pid_t player;

	if (fd < 0 || !mkdtemp(dir) ||
	    inotify_add_watch(fd, dir, IN_CREATE | IN_DELETE | IN_MOVE | IN_MODIFY | IN_CLOSE_WRITE) < 0) {
		perror("watch");
		return 1;
	}
	player = fork();
	if (!player)
		play(dir);
	if (watch(fd))
		return 1;
	if (waitpid(player, &status, 0) != player || status)
		return 1;
	return rmdir(dir);
}
