// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Processes that confine themselves while they use the module. From then on its calls see and may
 * do the same as the system calls.
 */

// RUN: %cc -O1 -Wall -Wextra %s -o %t
// RUN: for part in chroot mounts users landlock rights umask size vfork directory; do \
// RUN:   %vm %S/Inputs/compare %build/bin/cosy open open "%t $part" -- env || exit 1; done
// The results of the confined part are compared.
// RUN: %vm %t chroot 2>&1 | FileCheck --check-prefix=CHROOT %s
// CHROOT: stat /etc: ENOENT
// RUN: %vm %t landlock 2>&1 | FileCheck --check-prefix=LANDLOCK %s
// LANDLOCK: open /etc/passwd: EACCES
// RUN: %vm %t users 2>&1 | FileCheck --check-prefix=USERS %s
// USERS: of 65534 65534

#define _GNU_SOURCE
#include <errno.h>
#include <linux/landlock.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "Inputs/device.h"

static int signals;

static void say(const char *what, const char *name, long result)
{
	printf("%s %s: %s\n", what, name, result < 0 ? strerrorname_np(errno) : "done");
}

/* All operations that confinement could restrict. */
static void look(const char *name)
{
	struct statx x;
	struct stat st;
	char text[100];
	int fd;

	say("stat", name, stat(name, &st));
	if (!stat(name, &st))
		printf("  %o of %u %u\n", st.st_mode, st.st_uid, st.st_gid);
	say("fstatat", name, fstatat(AT_FDCWD, name, &st, AT_SYMLINK_NOFOLLOW));
	if (!statx(AT_FDCWD, name, 0, STATX_BASIC_STATS, &x))
		printf("  %o of %u %u\n", x.stx_mode, x.stx_uid, x.stx_gid);
	say("access", name, access(name, R_OK | W_OK));
	say("readlink", name, readlink(name, text, sizeof(text)));
	fd = open(name, O_RDONLY);
	say("open", name, fd);
	close(fd);
	say("chmod", name, chmod(name, 0755));
	say("chown", name, chown(name, 0, 0));
	say("truncate", name, truncate(name, 100));
	say("mkdir", name, mkdir(name, 0777));
	say("rename", name, rename(name, "renamed"));
	say("rename", "renamed", rename("renamed", name));
	say("link", name, link(name, "linked"));
	say("unlink", "linked", unlink("linked"));
}

static void make(const char *name, mode_t mode)
{
	int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, mode);

	CHECK(fd >= 0);
	EQUAL(close(fd), 0);
}

static void test_chroot(void)
{
	EQUAL(mkdir("root", 0755), 0);
	make("root/file", 0644);
	EQUAL(chroot("root"), 0);
	look("/file");
	look("/etc");
	look("root/file");
	EQUAL(chdir("/"), 0);
	look("../../etc/passwd");
}

static void test_mounts(void)
{
	EQUAL(mkdir("below", 0755), 0);
	make("below/hidden", 0644);
	look("below/hidden");
	EQUAL(unshare(CLONE_NEWNS), 0);
	EQUAL(mount("", "/", "", MS_REC | MS_PRIVATE, ""), 0);
	EQUAL(mount("none", "below", "tmpfs", 0, ""), 0);
	look("below/hidden");
	make("below/file", 0600);
	EQUAL(mount("none", "below", "", MS_REMOUNT | MS_RDONLY, ""), 0);
	look("below/file");
	EQUAL(umount2("below", MNT_DETACH), 0);
	look("below/file");
	look("below/hidden");
}

static void test_users(void)
{
	make("file", 0666);
	look("file");
	EQUAL(unshare(CLONE_NEWUSER), 0);
	look("file");
	look("/etc/passwd");
	make("new", 0644);
	look("new");
}

static void test_landlock(void)
{
	struct landlock_ruleset_attr all = { .handled_access_fs = (1ull << 13) - 1 };
	struct landlock_path_beneath_attr below = {
		.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
	};
	int rules = syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);

	CHECK(rules >= 0);
	make("file", 0644);
	below.parent_fd = open(".", O_PATH);
	EQUAL(syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0), 0);
	EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	EQUAL(syscall(SYS_landlock_restrict_self, rules, 0), 0);
	look("file");
	look("new");
	look("/etc/passwd");
	say("create", "new", open("new", O_CREAT | O_WRONLY, 0644));
}

static void test_rights(void)
{
	make("file", 0600);
	EQUAL(mkdir("private", 0700), 0);
	make("private/file", 0666);
	EQUAL(setresgid(1000, 1000, 1000), 0);
	EQUAL(setresuid(1000, 1000, 1000), 0);
	look("file");
	look("private/file");
	look("/etc/passwd");
}

static void test_umask(void)
{
	umask(077);
	make("file", 0666);
	look("file");
	EQUAL(mkdir("directory", 0777), 0);
	look("directory");
}

static void on_signal(int signal)
{
	(void)signal;
	signals++;
}

static void test_size(void)
{
	struct rlimit limit = { 50, 50 };

	make("file", 0644);
	EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
	CHECK(signal(SIGXFSZ, on_signal) != SIG_ERR);
	look("file");
	EQUAL(signals, 1);
}

/*
 * A child that shares the memory, but not the descriptors, makes calls, and closes all
 * descriptors.
 */
static void test_vfork(void)
{
	pid_t child;
	int status;

	make("file", 0644);
	for (int i = 0; i < 10; i++) {
		child = vfork();
		if (!child) {
			struct stat st;

			for (int j = 0; j < 200; j++) {
				if (stat("file", &st) || open("missing", O_RDONLY) >= 0)
					_exit(1);
			}
			if (i % 2 && syscall(SYS_close_range, 3, ~0u, 0))
				_exit(2);
			if (i % 3 && (open("file", O_RDONLY) < 3 || chdir("/")))
				_exit(3);
			for (int j = 0; j < 200; j++) {
				if (stat("/tmp", &st) || !stat("/missing", &st))
					_exit(4);
			}
			_exit(0);
		}
		EQUAL(waitpid(child, &status, 0), child);
		EQUAL(status, 0);
		look("file");
		EQUAL(open("file", O_RDONLY), 3);
		EQUAL(close(3), 0);
	}
}

/* The working directory: another one, by its descriptor, and one that was removed. */
static void test_directory(void)
{
	int here = open(".", O_RDONLY);

	EQUAL(mkdir("other", 0755), 0);
	make("file", 0644);
	make("other/file", 0600);
	EQUAL(chdir("other"), 0);
	look("file");
	EQUAL(fchdir(here), 0);
	EQUAL(unlink("other/file"), 0);
	look("file");
	EQUAL(chdir("other"), 0);
	EQUAL(rmdir("../other"), 0);
	look("file");
	look("../file");
	look(".");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{ "chroot", test_chroot }, { "mounts", test_mounts }, { "users", test_users },
		{ "landlock", test_landlock }, { "rights", test_rights }, { "umask", test_umask },
		{ "size", test_size }, { "vfork", test_vfork }, { "directory", test_directory },
	};
	char scratch[] = "/tmp/confined-XXXXXX";

	EQUAL(argc, 2);
	CHECK(mkdtemp(scratch));
	EQUAL(chdir(scratch), 0);
	EQUAL(chmod(".", 0755), 0);
	warm_up();
	fprintf(stderr, "device: %s\n", has_device() ? "open" : "closed");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!strcmp(argv[1], parts[i].name)) {
			parts[i].run();
			return 0;
		}
	}
	return 1;
}
