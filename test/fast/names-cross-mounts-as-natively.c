// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Absolute names, and names that cross mounts, lead to the same files as natively: below a changed
 * root, over mounts of every kind, with directories that may not be searched, and while other
 * threads mount, unmount and rename.
 */
// REQUIRES: root
// RUN: %cosy-cc -O2 -Wall -Wextra -Werror -Wno-cosy-few-calls -D_GNU_SOURCE -pthread %s -o %t
// RUN: %vm sh -c 'for fast in 1 0; do COSY_FAST=$fast COSY_EXECUTOR=kernel %t || exit; done' | FileCheck %s
// CHECK: root: {{[1-9][0-9][0-9][0-9]}} tried, 0 differ
// CHECK-NEXT: user: {{[1-9][0-9][0-9][0-9]}} tried, 0 differ
// CHECK-NEXT: races: {{[1-9][0-9]*}} entered a mount, {{[1-9][0-9]*}} did not, 0 wrong
// CHECK-NEXT: root: {{[1-9][0-9][0-9][0-9]}} tried, 0 differ
#include <cosy.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS_NOSYMFOLLOW_	256
#define NOBODY		65534

struct result {
	long ret;
	int error;
	union {
		struct stat st;
		struct statx stx;
		char text[300];
	};
};

static unsigned int tried, differing;

static void must(bool good, const char *what)
{
	if (!good)
		err(2, "%s", what);
}

static void make_file(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0755);

	must(fd >= 0 && write(fd, name, strlen(name)) > 0, name);
	close(fd);
}

static void make_dir(const char *name, mode_t mode)
{
	must(!mkdir(name, 0755) && !chmod(name, mode), name);
}

static void make_mount(const char *name, unsigned long flags, mode_t mode)
{
	must(!mount("mounts", name, "tmpfs", flags, "") && !chmod(name, mode), name);
}

/* A mount of another mount namespace, which ends when the pipe's last writer does. */
static void mount_elsewhere(const char *name)
{
	int ready[2], end[2];
	char c;

	must(!pipe(ready) && !pipe(end), "pipe");
	if (!fork()) {
		close(end[1]);
		must(!unshare(CLONE_NEWNS), "unshare");
		make_mount(name, 0, 0700);
		must(write(ready[1], "", 1) == 1, "ready");
		_exit(read(end[0], &c, 1) != 0);
	}
	must(read(ready[0], &c, 1) == 1, "ready");
	close(ready[0]);
	close(ready[1]);
	close(end[0]);
}

/* @root: the directory that becomes the root, the root of a mount; NULL for a new tmpfs. */
static void make_tree(const char *root)
{
	char top[] = "/tmp/mounts-XXXXXX", deep[100] = "a";

	must(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "unshare");
	must(mkdtemp(top) &&
	     !(root ? mount(root, top, NULL, MS_BIND, NULL) : mount("mounts", top, "tmpfs", 0, "")) &&
	     !chdir(top) && !chmod(".", 0755), top);
	make_dir("dir", 0755);
	make_dir("dir/sub", 0755);
	make_file("dir/inner");
	make_file("dir/sub/inner");
	make_file("file");
	for (char c = 'a'; c <= 'j'; c++) {
		if (c > 'a')
			sprintf(deep + strlen(deep), "/%c", c);
		make_dir(deep, 0711);
	}
	make_file("a/b/c/d/e/f/g/h/inner");
	make_file("a/b/c/d/e/f/g/h/i/inner");
	must(!symlink("file", "link") && !symlink("/dir", "dirlink") && !symlink("loop", "loop"), "links");

	make_dir("mnt", 0700);
	make_mount("mnt", 0, 0755);
	make_dir("mnt/dir", 0755);
	make_file("mnt/dir/inner");
	must(!symlink("dir", "mnt/link"), "mnt/link");
	make_dir("mnt/bind", 0755);
	must(!mount("dir", "mnt/bind", NULL, MS_BIND, NULL), "mnt/bind");
	make_mount("mnt/bind/sub", 0, 0755);
	make_file("mnt/bind/sub/third");
	make_dir("stack", 0755);
	make_mount("stack", 0, 0755);
	make_file("stack/lower");
	make_mount("stack", 0, 0755);
	make_file("stack/upper");
	make_file("covered");
	must(!mount("file", "covered", NULL, MS_BIND, NULL), "covered");
	make_dir("closed", 0700);
	make_file("closed/inner");
	make_dir("closed-mount", 0755);
	make_mount("closed-mount", 0, 0700);
	make_file("closed-mount/inner");
	make_dir("elsewhere", 0755);
	make_file("elsewhere/inner");
	mount_elsewhere("elsewhere");
	make_dir("read-only", 0755);
	must(!mount("dir", "read-only", NULL, MS_BIND, NULL) &&
	     !mount(NULL, "read-only", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL), "read-only");
	make_dir("noexec", 0755);
	must(!mount("dir", "noexec", NULL, MS_BIND, NULL) &&
	     !mount(NULL, "noexec", NULL, MS_REMOUNT | MS_BIND | MS_NOEXEC, NULL), "noexec");
	make_dir("no-links", 0755);
	make_mount("no-links", MS_NOSYMFOLLOW_, 0755);
	must(!symlink("/file", "no-links/link"), "no-links/link");
	make_dir("proc", 0755);
	must(!mount("proc", "proc", "proc", 0, NULL), "proc");
	must(!chroot(".") && !chdir("/dir"), "chroot");
}

static const char *const names[] = {
	"/", "//", "/.", "/..", "/../dir/inner", "//dir/inner", "///dir//inner", "/dir", "/dir/",
	"/dir/inner", "/dir/inner/", "/dir/./inner", "/dir/../file", "/dir/sub/../inner",
	"/missing", "/missing/x", "/dir/missing", "/file/x", "/link", "/link/", "/dirlink",
	"/dirlink/inner", "/loop/x", "/a/b/c/d/e/f/g/h/inner", "/a/b/c/d/e/f/g/h/i/inner",
	"/mnt", "/mnt/", "/mnt/.", "/mnt/..", "/mnt/../file", "/mnt/dir", "/mnt/dir/inner",
	"/mnt/link", "/mnt/link/inner", "/mnt/missing", "/mnt/bind", "/mnt/bind/inner",
	"/mnt/bind/sub", "/mnt/bind/sub/third", "/mnt/bind/sub/inner", "/stack", "/stack/lower",
	"/stack/upper", "/covered", "/covered/x", "/closed", "/closed/inner", "/closed/missing",
	"/closed-mount", "/closed-mount/inner", "/closed-mount/missing", "/elsewhere",
	"/elsewhere/inner", "/read-only", "/read-only/inner", "/noexec/inner", "/no-links/link",
	"/proc", "/proc/version", "/proc/self", "/proc/self/status", "/proc/self/exe", "/proc/1",
};

/* Call number @n, natively or in a region. */
enum { CALLS = 20 };
#define CALL(n)									\
	switch (n) {								\
	case 0: r->ret = stat(name, &r->st); break;				\
	case 1: r->ret = lstat(name, &r->st); break;				\
	case 2: r->ret = fstatat(dir, name, &r->st, 0); break;			\
	case 3: r->ret = fstatat(dir, name, &r->st, AT_SYMLINK_NOFOLLOW); break; \
	case 4: r->ret = statx(dir, name, 0, mask, &r->stx); break;		\
	case 5: r->ret = statx(dir, name, AT_SYMLINK_NOFOLLOW, mask, &r->stx); break; \
	case 6: r->ret = access(name, R_OK); break;				\
	case 7: r->ret = access(name, W_OK); break;				\
	case 8: r->ret = access(name, X_OK); break;				\
	case 9: r->ret = faccessat(dir, name, R_OK, AT_EACCESS); break;		\
	case 10: r->ret = faccessat(dir, name, W_OK, AT_EACCESS); break;	\
	case 11: r->ret = faccessat(dir, name, X_OK, AT_EACCESS); break;	\
	case 12: r->ret = readlink(name, r->text, sizeof(r->text)); break;	\
	case 13: r->ret = readlinkat(dir, name, r->text, sizeof(r->text)); break; \
	case 14: r->ret = open(name, O_RDONLY); break;				\
	case 15: r->ret = open(name, O_RDONLY | O_DIRECTORY); break;		\
	case 16: r->ret = openat(dir, name, O_RDONLY | O_NOFOLLOW); break;	\
	case 17: r->ret = openat(dir, name, O_RDONLY | O_CLOEXEC); break;	\
	case 18: r->ret = openat(dir, name, O_RDWR); break;			\
	case 19: r->ret = chmod(name, 0755); break;				\
	}									\
	r->error = errno;

static __attribute__((noinline)) void native(unsigned int n, int dir, const char *name, struct result *r)
{
	const unsigned int mask = STATX_BASIC_STATS | STATX_MNT_ID;

	errno = 0;
	CALL(n)
}

static __attribute__((noinline)) void region(unsigned int n, int dir, const char *name, struct result *r)
{
	const unsigned int mask = STATX_BASIC_STATS | STATX_MNT_ID;

	errno = 0;
	COSY_START;
	CALL(n)
	COSY_END;
}

static void ignore_times(struct result *r, unsigned int n)
{
	if (n < 4) {
		r->st.st_atim = r->st.st_mtim = r->st.st_ctim = (struct timespec){ 0 };
		/* The contents of /proc change. */
		r->st.st_nlink = 0;
	} else if (n < 6) {
		memset(&r->stx.stx_atime, 0, sizeof(r->stx.stx_atime) * 4);
		r->stx.stx_nlink = 0;
	}
}

static void compare_opened(const char *name, unsigned int n, int a, int b)
{
	char link[2][64], path[2][300] = { "", "" };
	struct stat st[2];

	must(!fstat(a, &st[0]) && !fstat(b, &st[1]), "fstat");
	sprintf(link[0], "/proc/self/fd/%d", a);
	sprintf(link[1], "/proc/self/fd/%d", b);
	if (readlink(link[0], path[0], 299) < 0 || readlink(link[1], path[1], 299) < 0)
		path[0][0] = path[1][0] = '\0';
	if (st[0].st_dev != st[1].st_dev || st[0].st_ino != st[1].st_ino ||
	    fcntl(a, F_GETFL) != fcntl(b, F_GETFL) || strcmp(path[0], path[1])) {
		differing++;
		printf("%s: call %u opens %s instead of %s\n", name, n, path[1], path[0]);
	}
}

static void compare(unsigned int n, int dir, const char *name)
{
	struct result a, b;
	bool opened;

	memset(&a, 0x5a, sizeof(a));
	memset(&b, 0x5a, sizeof(b));
	native(n, dir, name, &a);
	region(n, dir, name, &b);
	tried++;
	opened = n >= 14 && n <= 18 && a.ret >= 0 && b.ret >= 0;
	if (opened) {
		compare_opened(name, n, (int)a.ret, (int)b.ret);
		close((int)a.ret);
		close((int)b.ret);
		return;
	}
	ignore_times(&a, n);
	ignore_times(&b, n);
	if (memcmp(&a, &b, sizeof(a))) {
		differing++;
		printf("%s: call %u: %ld, errno %d instead of %ld, errno %d\n", name, n, b.ret,
		       b.error, a.ret, a.error);
	}
}

static void compare_all(const char *who)
{
	int root = open("/", O_RDONLY | O_DIRECTORY), inside = open("/mnt/bind", O_PATH | O_DIRECTORY);

	must(root >= 0 && inside >= 0, "/");
	tried = differing = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (unsigned int n = 0; n < CALLS; n++) {
			compare(n, -1, names[i]);
			/* The same below a descriptor, and below one inside of a mount. */
			compare(n, root, names[i] + 1);
			compare(n, inside, "sub/third");
		}
	}
	close(root);
	close(inside);
	printf("%s: %u tried, %u differ\n", who, tried, differing);
	fflush(stdout);
}

/*
 * Mounts, unmounts and renames directories on the path of the main thread's names. Both mounts end
 * at once: what the inner one covers must not outlive the outer one.
 */
static bool stop;

static void *disturb(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		make_mount("/race/mnt", 0, 0755);
		make_dir("/race/mnt/dir", 0755);
		make_mount("/race/mnt/dir", 0, 0755);
		make_file("/race/mnt/dir/inner");
		must(!rename("/race/there", "/race/away"), "rename");
		sched_yield();
		must(!umount2("/race/mnt", MNT_DETACH), "umount");
		must(!rename("/race/away", "/race/there"), "rename");
	}
	return NULL;
}

static void race(void)
{
	struct stat below, moved, st;
	unsigned int entered = 0, not_entered = 0, wrong = 0;
	pthread_t thread;
	int ret, error;

	make_dir("/race", 0755);
	make_dir("/race/mnt", 0755);
	make_dir("/race/mnt/dir", 0755);
	make_file("/race/mnt/dir/inner");
	make_dir("/race/there", 0755);
	make_file("/race/there/inner");
	must(!stat("/race/mnt/dir/inner", &below) && !stat("/race/there/inner", &moved), "race");
	must(!pthread_create(&thread, NULL, disturb, NULL), "thread");
	/* The number of tries is not limited, because one CPU may let the other thread wait. */
	for (unsigned int i = 0; i < 3000 || !entered || !not_entered; i++) {
		COSY_START;
		ret = stat("/race/mnt/dir/inner", &st);
		error = errno;
		COSY_END;
		if (ret)
			wrong += error != ENOENT;
		else if (st.st_dev != below.st_dev)
			entered++;
		else if (st.st_ino == below.st_ino)
			not_entered++;
		else
			wrong++;
		COSY_START;
		ret = open("/race/there/inner", O_RDONLY);
		error = errno;
		COSY_END;
		if (ret < 0)
			wrong += error != ENOENT;
		else
			wrong += fstat(ret, &st) || st.st_ino != moved.st_ino || close(ret);
		COSY_START;
		ret = open("/race/mnt/dir/inner", O_RDONLY);
		error = errno;
		COSY_END;
		if (ret < 0)
			wrong += error != ENOENT;
		else
			wrong += fstat(ret, &st) ||
				 (st.st_dev == below.st_dev && st.st_ino != below.st_ino) || close(ret);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	printf("races: %u entered a mount, %u did not, %u wrong\n", entered, not_entered, wrong);
	differing += wrong;
}

/* Only look-ups that need no path walk, for Inputs/count-walks. */
static void look_up(void)
{
	static const char *const quick[] = {
		"/dir/inner", "//dir/sub/inner", "/mnt", "/mnt/dir/inner", "/mnt/bind/inner",
		"/mnt/bind/sub/third", "/covered", "/elsewhere/inner", "/a/b/c/d/e/f/g/h/inner",
	};
	struct statx stx;
	struct stat st;
	int ret;

	for (size_t i = 0; i < sizeof(quick) / sizeof(quick[0]); i++) {
		COSY_START;
		ret = stat(quick[i], &st);
		ret |= statx(AT_FDCWD, quick[i], 0, STATX_BASIC_STATS, &stx);
		COSY_END;
		must(!ret, quick[i]);
	}
}

int main(int argc, char **argv)
{
	unsigned int all = 0;

	make_tree(argc > 2 ? argv[2] : NULL);
	if (argc > 1) {
		look_up();
		return 0;
	}
	compare_all("root");
	all += differing;
	setfsuid(NOBODY);
	compare_all("user");
	setfsuid(0);
	all += differing;
	race();
	return all + differing != 0;
}
