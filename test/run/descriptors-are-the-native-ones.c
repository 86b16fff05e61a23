// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A program under cosy run gets the same descriptors as natively, may close and replace all of
 * them, and programs that it executes inherit none.
 */

// RUN: %cc -O1 -Wall %s -o %t
// RUN: for part in lowest full closed replaced limit raised invalid exec; do \
// RUN:   %vm %build/bin/cosy run %t $part || exit 1; %vm %t $part native || exit 1; done

#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "Inputs/device.h"

static bool native;

static int limit(void)
{
	struct rlimit r;

	EQUAL(getrlimit(RLIMIT_NOFILE, &r), 0);
	return r.rlim_cur;
}

/* Check that the device has the first number that is meant for it. */
static void expect_device(void)
{
	warm_up();
	EQUAL(device(), (native ? -1 : limit() + HIDDEN));
}

/* The lowest free number is next, before and after. */
static void lowest(void)
{
	int fd = open("/", O_RDONLY);

	expect_device();
	EQUAL(fd, 3);
	EQUAL(dup(0), 4);
	EQUAL(open("/dev/null", O_RDWR), 5);
	EQUAL(close(4), 0);
	EQUAL(openat(fd, "tmp", O_RDONLY), 4);
	EQUAL(fcntl(0, F_DUPFD, 1000), 1000);
}

/* The same number as natively, by every call; the last number is at the limit. */
static void full(void)
{
	int fd, pipes[2], end = limit();

	expect_device();
	for (fd = 3; fd < end; fd++)
		EQUAL((fd % 2 ? open("/dev/null", O_RDONLY) : dup(0)), fd);
	EQUAL(open("/dev/null", O_RDONLY), -1);
	EQUAL(errno, EMFILE);
	EQUAL(dup(0), -1);
	EQUAL(errno, EMFILE);
	EQUAL(pipe(pipes), -1);
	EQUAL(errno, EMFILE);
	expect_device();
	EQUAL(close(500), 0);
	EQUAL(open("/dev/null", O_RDONLY), 500);
}

/* All are closed, as daemons do. */
static void closed(void)
{
	struct stat st;

	for (int i = 0; i < 10; i++) {
		warm_up();
		/* Natively there is none, and after some attempts the wrappers stop. */
		if (!native && i < 3)
			EQUAL(device(), limit() + HIDDEN);
		EQUAL(syscall(SYS_close_range, 3, ~0u, 0), 0);
		EQUAL(device(), -1);
		EQUAL(stat("/", &st), 0);
		CHECK(S_ISDIR(st.st_mode));
		EQUAL(open("/", O_RDONLY), 3);
		EQUAL(close(3), 0);
	}
	EQUAL(device(), -1);
}

/* Other files get its number. They are neither used nor moved nor closed. */
static void replaced(void)
{
	struct rlimit r = { 4096, 4096 };
	char name[] = "/tmp/replaced-XXXXXX";
	int fd = mkstemp(name), place = limit() + HIDDEN;
	struct stat st;

	EQUAL(fd, 3);
	EQUAL(write(fd, "0123456789", 10), 10);
	EQUAL(lseek(fd, 4, SEEK_SET), 4);
	expect_device();
	/* setrlimit() would tell the library, which would close the device. */
	EQUAL(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &r, NULL), 0);
	EQUAL(dup2(fd, place), place);
	for (int i = 0; i < 300; i++)
		CHECK(!stat("/tmp", &st) && S_ISDIR(st.st_mode) &&
		      lstat("/missing", &st) == -1 && errno == ENOENT);
	EQUAL(lseek(place, 0, SEEK_CUR), 4);
	EQUAL(dup2(0, place), place);
	EQUAL(close(place), 0);
	EQUAL(dup2(fd, place), place);
	CHECK(fork() || (warm_up(), _exit(lseek(place, 0, SEEK_CUR) != 4), 0));
	EQUAL(lseek(place, 0, SEEK_CUR), 4);
	EQUAL(unlink(name), 0);
	warm_up();
	CHECK(native || device() == 4096 + HIDDEN);
}

/* With any limit. */
static void limits(void)
{
	static const int all[] = { 5, 64, 100, 1023, 4096, 20000 };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct rlimit r = { all[i], all[i] };
		pid_t child = fork();
		int status;

		if (child) {
			EQUAL(waitpid(child, &status, 0), child);
			EQUAL(status, 0);
			continue;
		}
		EQUAL(setrlimit(RLIMIT_NOFILE, &r), 0);
		warm_up();
		/* A number that is too high would make each fork slower. */
		CHECK(native || is_device(all[i] > 4096 ? 4096 : all[i] + HIDDEN));
		EQUAL(open("/", O_RDONLY), 3);
		EQUAL(open("/", O_RDONLY), 4);
		CHECK(all[i] > 5 || (open("/", O_RDONLY) == -1 && errno == EMFILE));
		exit(0);
	}
}

/* A program that has raised the limit gets the numbers above the old limit. */
static void raised(void)
{
	struct rlimit r = { 200, 4096 };
	struct stat st;

	EQUAL(setrlimit(RLIMIT_NOFILE, &r), 0);
	expect_device();
	r.rlim_cur = 300;
	EQUAL(setrlimit(RLIMIT_NOFILE, &r), 0);
	for (int fd = 3; fd < 300; fd++)
		CHECK(open("/dev/null", O_RDONLY) == fd && !stat("/", &st));
	expect_device();
	r.rlim_cur = 400;
	EQUAL(prlimit(0, RLIMIT_NOFILE, &r, NULL), 0);
	for (int fd = 300; fd < 400; fd++)
		CHECK(open("/dev/null", O_RDONLY) == fd && !stat("/", &st));
	expect_device();
	r.rlim_cur = 500;
	EQUAL(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &r, NULL), 0);
	for (int fd = 400; fd < 500; fd++)
		CHECK(open("/dev/null", O_RDONLY) == fd && !stat("/", &st));
	expect_device();
	r.rlim_cur = 600;
	EQUAL(syscall(SYS_setrlimit, RLIMIT_NOFILE, &r), 0);
	for (int fd = 500; fd < 600; fd++)
		CHECK(open("/dev/null", O_RDONLY) == fd && !stat("/", &st));
	expect_device();
}

/* Programs use the limit, and numbers next to it, as descriptors that are certainly not open. */
static void invalid(void)
{
	struct stat st;

	expect_device();
	for (int fd = limit(); fd < limit() + HIDDEN; fd++) {
		EQUAL(fcntl(fd, F_GETFD), -1);
		EQUAL(errno, EBADF);
		EQUAL(fstat(fd, &st), -1);
		EQUAL(errno, EBADF);
		EQUAL(dup(fd), -1);
		EQUAL(errno, EBADF);
		EQUAL(dup2(fd, 5), -1);
		EQUAL(errno, EBADF);
		EQUAL(close(fd), -1);
		EQUAL(errno, EBADF);
	}
	expect_device();
}

/* An executed program and a child begin without it. */
static void execute(char *self)
{
	pid_t child;
	int status;

	expect_device();
	child = fork();
	if (!child) {
		EQUAL(device(), -1);
		expect_device();
		execl(self, self, "inherited", NULL);
		_exit(1);
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	child = vfork();
	if (!child) {
		execl(self, self, "inherited", NULL);
		_exit(1);
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	warm_up();
	/* Without the library, so that it opens none: coreutils 9.7 makes many calls for names first. */
	EQUAL(system("LD_PRELOAD= ls -l /proc/self/fd | grep -c cosy | grep -qx 0"), 0);
}

int main(int argc, char **argv)
{
	const char *part = argv[1];

	native = argc > 2;
	if (!strcmp(part, "lowest"))
		lowest();
	else if (!strcmp(part, "full"))
		full();
	else if (!strcmp(part, "closed"))
		closed();
	else if (!strcmp(part, "replaced"))
		replaced();
	else if (!strcmp(part, "limit"))
		limits();
	else if (!strcmp(part, "raised"))
		raised();
	else if (!strcmp(part, "invalid"))
		invalid();
	else if (!strcmp(part, "exec"))
		execute(argv[0]);
	else
		CHECK(!strcmp(part, "inherited") && device() == -1 && open("/", O_RDONLY) == 3);
	return 0;
}
