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

	CHECK(!getrlimit(RLIMIT_NOFILE, &r));
	return r.rlim_cur;
}

/* Check that the device has the first number that is meant for it. */
static void expect_device(void)
{
	warm_up();
	CHECK(device() == (native ? -1 : limit() + HIDDEN));
}

/* The lowest free number is next, before and after. */
static void lowest(void)
{
	int fd = open("/", O_RDONLY);

	expect_device();
	CHECK(fd == 3 && dup(0) == 4 && open("/dev/null", O_RDWR) == 5);
	CHECK(!close(4) && openat(fd, "tmp", O_RDONLY) == 4);
	CHECK(fcntl(0, F_DUPFD, 1000) == 1000);
}

/* The same number as natively, by every call; the last number is at the limit. */
static void full(void)
{
	int fd, pipes[2], end = limit();

	expect_device();
	for (fd = 3; fd < end; fd++)
		CHECK((fd % 2 ? open("/dev/null", O_RDONLY) : dup(0)) == fd);
	CHECK(open("/dev/null", O_RDONLY) == -1 && errno == EMFILE);
	CHECK(dup(0) == -1 && errno == EMFILE);
	CHECK(pipe(pipes) == -1 && errno == EMFILE);
	expect_device();
	CHECK(!close(500) && open("/dev/null", O_RDONLY) == 500);
}

/* All are closed, as daemons do. */
static void closed(void)
{
	struct stat st;

	for (int i = 0; i < 10; i++) {
		warm_up();
		/* Natively there is none, and after some attempts the wrappers stop. */
		if (!native && i < 3)
			CHECK(device() == limit() + HIDDEN);
		CHECK(!syscall(SYS_close_range, 3, ~0u, 0));
		CHECK(device() == -1);
		CHECK(!stat("/", &st) && S_ISDIR(st.st_mode));
		CHECK(open("/", O_RDONLY) == 3 && !close(3));
	}
	CHECK(device() == -1);
}

/* Other files get its number. They are neither used nor moved nor closed. */
static void replaced(void)
{
	struct rlimit r = { 4096, 4096 };
	char name[] = "/tmp/replaced-XXXXXX";
	int fd = mkstemp(name), place = limit() + HIDDEN;
	struct stat st;

	CHECK(fd == 3 && write(fd, "0123456789", 10) == 10 && lseek(fd, 4, SEEK_SET) == 4);
	expect_device();
	/* setrlimit() would tell the library, which would close the device. */
	CHECK(!syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &r, NULL) && dup2(fd, place) == place);
	for (int i = 0; i < 300; i++)
		CHECK(!stat("/tmp", &st) && S_ISDIR(st.st_mode) &&
		      lstat("/missing", &st) == -1 && errno == ENOENT);
	CHECK(lseek(place, 0, SEEK_CUR) == 4);
	CHECK(dup2(0, place) == place && !close(place) && dup2(fd, place) == place);
	CHECK(fork() || (warm_up(), _exit(lseek(place, 0, SEEK_CUR) != 4), 0));
	CHECK(lseek(place, 0, SEEK_CUR) == 4 && !unlink(name));
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
			CHECK(waitpid(child, &status, 0) == child && !status);
			continue;
		}
		CHECK(!setrlimit(RLIMIT_NOFILE, &r));
		warm_up();
		/* A number that is too high would make each fork slower. */
		CHECK(native || is_device(all[i] > 4096 ? 4096 : all[i] + HIDDEN));
		CHECK(open("/", O_RDONLY) == 3 && open("/", O_RDONLY) == 4);
		CHECK(all[i] > 5 || (open("/", O_RDONLY) == -1 && errno == EMFILE));
		exit(0);
	}
}

/* A program that has raised the limit gets the numbers above the old limit. */
static void raised(void)
{
	struct rlimit r = { 200, 4096 };
	struct stat st;

	CHECK(!setrlimit(RLIMIT_NOFILE, &r));
	expect_device();
	r.rlim_cur = 300;
	CHECK(!setrlimit(RLIMIT_NOFILE, &r));
	for (int fd = 3; fd < 300; fd++)
		CHECK(open("/dev/null", O_RDONLY) == fd && !stat("/", &st));
	expect_device();
	r.rlim_cur = 400;
	CHECK(!prlimit(0, RLIMIT_NOFILE, &r, NULL));
	for (int fd = 300; fd < 400; fd++)
		CHECK(open("/dev/null", O_RDONLY) == fd && !stat("/", &st));
	expect_device();
	r.rlim_cur = 500;
	CHECK(!syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &r, NULL));
	for (int fd = 400; fd < 500; fd++)
		CHECK(open("/dev/null", O_RDONLY) == fd && !stat("/", &st));
	expect_device();
	r.rlim_cur = 600;
	CHECK(!syscall(SYS_setrlimit, RLIMIT_NOFILE, &r));
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
		CHECK(fcntl(fd, F_GETFD) == -1 && errno == EBADF);
		CHECK(fstat(fd, &st) == -1 && errno == EBADF);
		CHECK(dup(fd) == -1 && errno == EBADF);
		CHECK(dup2(fd, 5) == -1 && errno == EBADF);
		CHECK(close(fd) == -1 && errno == EBADF);
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
		CHECK(device() == -1);
		expect_device();
		execl(self, self, "inherited", NULL);
		_exit(1);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	child = vfork();
	if (!child) {
		execl(self, self, "inherited", NULL);
		_exit(1);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	warm_up();
	CHECK(!system("ls -l /proc/self/fd | grep -c cosy | grep -qx 0"));
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
