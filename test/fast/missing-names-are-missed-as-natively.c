// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Names that do not exist, on file systems that have all their entries in the dentry cache: the same
 * errors as natively. A name that always exists is found while other processes rename, and exchange, what
 * it denotes.
 */
// REQUIRES: root
// RUN: %cosy-cc -O2 -Wall -Wextra -Werror -Wno-cosy-few-calls -D_GNU_SOURCE %s -o %t
// RUN: %vm sh -c 'for fast in 1 0; do COSY_FAST=$fast COSY_EXECUTOR=kernel %t || exit; done' | FileCheck %s
// CHECK: root: {{[1-9][0-9][0-9][0-9]+}} tried, 0 differ
// CHECK-NEXT: user: {{[1-9][0-9][0-9][0-9]+}} tried, 0 differ
// CHECK-NEXT: exchanged: 0 of 30000 looks failed
// CHECK-NEXT: replaced: 0 of 30000 looks failed
// CHECK-NEXT: unmounted: {{[1-9][0-9]*}} found, {{[1-9][0-9]*}} missing, 0 wrong
// CHECK-NEXT: root: {{[1-9][0-9][0-9][0-9]+}} tried, 0 differ
#include <cosy.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LOOKS	30000
#define NOBODY	65534

enum { CALLS = 10 };

static unsigned int tried, differing;

static void must(bool good, const char *what)
{
	if (!good)
		err(2, "%s", what);
}

static void make_file(const char *name, long size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	must(fd >= 0 && !ftruncate(fd, size), name);
	close(fd);
}

#define EACH(X)										\
	X(stat(name, &st))								\
	X(lstat(name, &st))								\
	X(statx(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &stx))		\
	X(access(name, R_OK))								\
	X(readlink(name, text, sizeof(text)))						\
	X(chmod(name, 0700))								\
	X(truncate(name, 1))								\
	X(utimensat(AT_FDCWD, name, NULL, AT_SYMLINK_NOFOLLOW))				\
	X(getxattr(name, "user.mime", text, sizeof(text)))				\
	X(open(name, O_RDONLY | O_NONBLOCK | (i & 1 ? O_DIRECTORY : 0)))

/* Make each call as an operation of a region, and natively: the errors, or 0. */
static void compare(const char *directory, const char *name)
{
	static int found[CALLS], native[CALLS];
	static char text[300];
	struct statx stx;
	struct stat st;
	long ret;
	int n;

	for (int i = 0; i < 2; i++) {
		n = 0;
		COSY_START;
#define CALL(call) ret = call; found[n++] = ret < 0 ? errno : 0;
		EACH(CALL)
#undef CALL
		COSY_END;
		n = 0;
#define CALL(call) ret = call; native[n++] = ret < 0 ? errno : 0;
		EACH(CALL)
#undef CALL
		for (n = 0; n < CALLS; n++) {
			/* lstat() of a link succeeds. */
			tried += native[n] != 0;
			if (found[n] == native[n])
				continue;
			differing++;
			fprintf(stderr, "%s: %.40s: call %d: %s, natively %s\n", directory, name, n,
				strerrorname_np(found[n]), strerrorname_np(native[n]));
		}
	}
}

static void compare_below(const char *directory)
{
	static const char *const names[] = {
		"missing", "missing/", "missing/inside", "./missing", "../missing", "missing//inside/",
		"missing/../there", "closed/missing", "closed/missing/inside", "directory/missing",
		"directory/missing/inside", "link/missing", "there/missing", "dangling",
		"mount/missing", "mount/missing/inside", "mount/directory/missing",
	};
	static const int lengths[] = { 1, 63, 64, 65, 254, 255, 256 };
	char name[400];

	if (chdir(directory))
		return;		/* Not in this kernel. */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		compare(directory, names[i]);
		snprintf(name, sizeof(name), "%s/%s", directory, names[i]);
		compare(directory, name);
	}
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		memset(name, 'n', sizeof(name));
		name[lengths[i]] = '\0';
		compare(directory, name);
		strcpy(name + lengths[i], "/inside");
		compare(directory, name);
	}
	must(!chdir("/"), "/");
}

/* No descriptor is left: open() fails for that before it looks for the name. */
static void compare_at_the_limit(void)
{
	struct rlimit old, none;
	int found, native;

	getrlimit(RLIMIT_NOFILE, &old);
	none = old;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	COSY_START;
	found = open("/tmp/missing-at-the-limit", O_RDONLY) < 0 ? errno : 0;
	COSY_END;
	native = open("/tmp/missing-at-the-limit", O_RDONLY) < 0 ? errno : 0;
	setrlimit(RLIMIT_NOFILE, &old);
	tried++;
	differing += found != native || native != EMFILE;
}

/* A working directory that was removed. */
static void compare_removed(const char *tmp)
{
	must(!chdir(tmp) && !mkdir("removed", 0777) && !chdir("removed"), "removed");
	must(!rmdir("../removed"), "rmdir");
	compare("a removed directory", "missing");
	compare("a removed directory", "missing/inside");
	must(!chdir("/"), "/");
}

static void compare_all(const char *tmp, const char *who)
{
	static const char *const directories[] = {
		"/dev", "/dev/shm", "/dev/pts", "/dev/mqueue", "/dev/hugepages", "/run", "/proc",
		"/proc/self", "/proc/sys/fs", "/sys", "/sys/fs/cgroup", "/sys/kernel/debug",
		"/sys/kernel/tracing", "/sys/kernel/tracing/events", "/sys/kernel/security",
		"/sys/kernel/config", "/sys/fs/bpf",
	};

	tried = differing = 0;
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		compare_below(directories[i]);
	compare_below(tmp);
	compare_removed(tmp);
	compare_at_the_limit();
	printf("%s: %u tried, %u differ\n", who, tried, differing);
	fflush(stdout);
}

static void exchange(void)
{
	renameat2(AT_FDCWD, "a", AT_FDCWD, "directory/b", RENAME_EXCHANGE);
}

static void replace(void)
{
	make_file("new", 1);
	rename("new", "a");
	make_file("new", 1);
	rename("new", "directory/b");
}

/* Look for two names that exist all the time while two children change what they denote. */
static void look(const char *what, void (*change)(void))
{
	unsigned int failed = 0;
	pid_t children[2];
	struct stat st;

	for (int i = 0; i < 2; i++) {
		children[i] = fork();
		must(children[i] >= 0, "fork");
		while (!children[i])
			change();
	}
	for (int i = 0; i < LOOKS; i++) {
		int a, b, fd;

		COSY_START;
		a = stat("a", &st);
		b = access("directory/b", F_OK);
		fd = open("a", O_RDONLY);
		close(fd);
		COSY_END;
		failed += a || b || fd < 0;
	}
	for (int i = 0; i < 2; i++) {
		kill(children[i], SIGKILL);
		must(waitpid(children[i], NULL, 0) == children[i], "waitpid");
	}
	printf("%s: %u of %d looks failed\n", what, failed, LOOKS);
	fflush(stdout);
}

/* A file that exists in a mount only, and one that exists below it, too, while it is mounted and unmounted. */
static void look_while_mounts_change(const char *tmp)
{
	unsigned int found = 0, missing = 0, wrong = 0;
	struct stat st;
	pid_t child;

	must(!chdir(tmp) && !mkdir("point", 0755), "point");
	make_file("point/both", 1);
	child = fork();
	must(child >= 0, "fork");
	while (!child) {
		/* Prepared elsewhere, and moved: the name never leads to a mount without it. */
		mkdir("prepared", 0755);
		mount("mounts", "prepared", "tmpfs", 0, "");
		make_file("prepared/both", 2);
		make_file("prepared/over", 2);
		mount("prepared", "point", NULL, MS_MOVE, NULL);
		usleep(50);
		umount2("point", MNT_DETACH);
	}
	for (int i = 0; i < LOOKS || found < 100 || missing < 100; i++) {
		int over, both, error;

		COSY_START;
		over = stat("point/over", &st);
		error = errno;
		both = stat("point/both", &st);
		COSY_END;
		found += !over;
		missing += over && error == ENOENT;
		wrong += both || (over && error != ENOENT);
	}
	kill(child, SIGKILL);
	must(waitpid(child, NULL, 0) == child, "waitpid");
	while (!umount2("point", MNT_DETACH) || !umount2("prepared", MNT_DETACH))
		;
	printf("unmounted: %u found, %u missing, %u wrong\n", found, missing, wrong);
	fflush(stdout);
	must(!chdir("/"), "/");
}

/* For fast-paths-are-taken.test: calls of which each is a path walk without fast paths. */
static void look_in_vain(void)
{
	struct stat st;
	int fd;

	COSY_START;
	stat("missing", &st);
	stat("directory/missing", &st);
	lstat("missing/inside", &st);
	access("mount/missing", F_OK);
	chmod("missing", 0644);
	fd = open("directory/missing", O_RDONLY);
	COSY_END;
	must(fd < 0, "missing");
}

int main(int argc, char **argv)
{
	char tmp[] = "/tmp/missing.XXXXXX";

	/* Nothing of this is seen outside. */
	must(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "unshare");
	must(mkdtemp(tmp) && !mount("missing", tmp, "tmpfs", 0, "mode=0777") && !chdir(tmp), tmp);
	must(!mkdir("directory", 0777) && !mkdir("mount", 0755) && !mkdir("closed", 0700) &&
	     !symlink("directory", "link") && !symlink("missing", "dangling"), "entries");
	must(!mount("mounts", "mount", "ramfs", 0, "") && !mkdir("mount/directory", 0755), "ramfs");
	make_file("there", 1);
	make_file("a", 1);
	make_file("directory/b", 1);
	if (argc > 1 && !strcmp(argv[1], "walks")) {
		look_in_vain();
	} else {
		compare_all(tmp, "root");
		must(!setfsuid(NOBODY) && setfsuid(-1) == NOBODY, "setfsuid");
		compare_all(tmp, "user");
		setfsuid(0);
		must(!chdir(tmp), tmp);
		look("exchanged", exchange);
		look("replaced", replace);
		look_while_mounts_change(tmp);
	}
	must(!chdir("/") && !umount2(tmp, MNT_DETACH) && !rmdir(tmp), tmp);
	return 0;
}
