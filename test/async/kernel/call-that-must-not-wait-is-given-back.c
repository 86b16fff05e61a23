// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Entries of a ring that must not wait. Their calls are made if all data is cached, with the results of
 * the calls. Otherwise they are given back unchanged. A thread that enters waits neither for a disk,
 * nor for a page, nor for a server.
 */

// RUN: %compile %s -o %t
// It puts probes into functions that other tests execute. An emulated processor may still execute
// what it has replaced there, so it has a VM of its own with one processor.
// RUN: %root/scripts/vm/run --smp 1 -- bash %S/Inputs/on-each-file-system.sh %t

#include "Inputs/ring.h"

#include <linux/filter.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

#define NAME(text)	((uintptr_t)(text))
#define CWD		((uint64_t)AT_FDCWD)
#define GIVEN_BACK	(-2000)

static struct ring ring;
static struct stat st;

/* The folder of the layer to which an overlay writes; "" if there is no overlay. */
static const char *layer = "";

/* Return: the result, or GIVEN_BACK. */
static long long nowait(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const struct cosy_ring_entry *given = ring.page->given;
	long long result = -1000;

	memset(&st, 0, sizeof(st));
	ring_call(&ring, 1, (uint32_t)nr, a, b, c, d);
	if (ring_execute(&ring) == 1 && ring_collect(&ring, &result) == 1)
		return result;
	if (!ring_gave(&ring, 1, (uint32_t)nr, 0) || given->args[0] != a || given->args[1] != b ||
	    given->args[2] != c || given->args[3] != d)
		check(false, "what is given back is as it was");
	return GIVEN_BACK;
}

static long long nowait_stat(const char *name)
{
	return nowait(SYS_stat, NAME(name), NAME(&st), 0, 0);
}

/* Links and directories. Those of an overlay are given back; no walk in its cache follows its links. */
static void links_and_directories(int dir)
{
	const long long expected = *layer ? GIVEN_BACK : 0;
	static const char *const link = "link";
	struct stat native;

	check(!lstat(link, &native) && nowait(SYS_lstat, NAME(link), NAME(&st), 0, 0) == expected &&
	      (expected || !memcmp(&st, &native, sizeof(st))), "lstat() of a cached link");
	check(nowait_stat(link) == expected && (expected || S_ISREG(st.st_mode)),
	      "stat() of a cached link");
	check(nowait(SYS_fstat, (uint64_t)dir, NAME(&st), 0, 0) == expected &&
	      (expected || S_ISDIR(st.st_mode)), "fstat() of a directory");
	check(nowait_stat("dir/a/b/c/d/e") == expected && (expected || S_ISDIR(st.st_mode)),
	      "stat() of a directory's name of six components");
	check(nowait_stat("dir/a/b/c/d/e/file") == 0 && S_ISREG(st.st_mode),
	      "stat() of a name of seven components is made");
}

static void made(void)
{
	struct stat native;
	int fd = open("dir", O_RDONLY | O_DIRECTORY), file = open("dir/file", O_RDONLY);

	check(!stat("dir/file", &native) && nowait_stat("dir/file") == 0 &&
	      !memcmp(&st, &native, sizeof(st)), "stat() of a cached file is made");
	check(nowait(SYS_newfstatat, (uint64_t)fd, NAME("file"), NAME(&st), 0) == 0 &&
	      st.st_size == 5, "newfstatat() of a name below a descriptor is made");
	check(nowait(SYS_fstat, (uint64_t)file, NAME(&st), 0, 0) == 0 && st.st_size == 5,
	      "fstat() of a file is made");
	links_and_directories(fd);
	check(nowait(SYS_access, NAME("dir/file"), R_OK, 0, 0) == 0,
	      "access() of a cached file is made");
	check(nowait(SYS_faccessat, (uint64_t)fd, NAME("file"), W_OK, 0) == 0,
	      "faccessat() of a name below a descriptor is made");
	check(nowait(SYS_faccessat2, CWD, NAME("dir/file"), X_OK, AT_EACCESS) == -EACCES,
	      "faccessat2, which fails");
	check(nowait(SYS_fstat, 4000, NAME(&st), 0, 0) == -EBADF,
	      "fstat() of a descriptor that is not open fails with EBADF");
	ring_call(&ring, 0, SYS_stat, NAME("dir/file"), NAME(&st), 0, 0);
	check(ring_execute(&ring) == 0 && !ring.page->ngiven && st.st_size == 5,
	      "a call without an operation is made, and completes nothing");
	/* Silent, but the process must learn that it was returned. */
	ring_call(&ring, 0, SYS_stat, NAME("/proc/version"), NAME(&st), 0, 0);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 0, SYS_stat, 0), "silent, and given back");
	close(fd);
	close(file);
}

static void not_made(void)
{
	static const struct {
		const char *what;
		long nr;
		uint64_t args[4];
	} calls[] = {
		{ "a server is asked", SYS_stat, { NAME("/proc/version"), NAME(&st) } },
		{ "a root", SYS_stat, { NAME("/"), NAME(&st) } },
		{ "a walk back", SYS_stat, { NAME("dir/.."), NAME(&st) } },
		{ "a walk that stays", SYS_stat, { NAME("dir/."), NAME(&st) } },
		{ "a slash at the end", SYS_stat, { NAME("dir/"), NAME(&st) } },
		{ "one that is not made by the module", SYS_exit_group, { 77 } },
		{ "one that does not exist", 1000, { 0 } },
		{ "nor this", COSY_ENTRY_SPECIAL - 1, { 0 } },
		{ "a bad name", SYS_stat, { 8, NAME(&st) } },
		{ "a name of the kernel", SYS_stat, { ~0ull - 4096, NAME(&st) } },
		{ "no name", SYS_stat, { NAME(""), NAME(&st) } },
		{ "a bad buffer", SYS_stat, { NAME("dir/file"), 8 } },
		{ "a buffer of the kernel", SYS_stat, { NAME("dir/file"), 1ull << 63 } },
		{ "unknown flags", SYS_newfstatat, { CWD, NAME("dir/file"), NAME(&st), 1 << 20 } },
		{ "a bad mode", SYS_access, { NAME("dir/file"), 8 } },
		{ "a socket", SYS_fstat, { 0, NAME(&st) } },
	};
	int sv[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		const uint64_t *args = calls[i].args;

		check(nowait(calls[i].nr, calls[i].nr == SYS_fstat ? (uint64_t)sv[0] : args[0],
			     args[1], args[2], args[3]) == GIVEN_BACK,
		      "%s is given back", calls[i].what);
	}
	close(sv[0]);
	close(sv[1]);
}

/* The last close of a file without a name frees it on the disk. */
static void closes(void)
{
	int fd = open("dir/file", O_RDONLY), gone = open("gone", O_CREAT | O_RDONLY, 0600);

	check(nowait(SYS_close, (uint64_t)fd, 0, 0, 0) == 0 && fcntl(fd, F_GETFD) < 0,
	      "close() of a file is made");
	check(!unlink("gone") && nowait(SYS_close, (uint64_t)gone, 0, 0, 0) == GIVEN_BACK &&
	      !close(gone), "close() of a file without a name is given back");
}

#define LONG_FILE	100000

/* Read from the descriptor in the ring and natively, and compare. Return the result in the ring. */
static long long read_twice(int fd, uint64_t size, int64_t pos)
{
	static char here[LONG_FILE + 8192], native[LONG_FILE + 8192];
	long long ret, expected;

	memset(here, 1, sizeof(here));
	memset(native, 1, sizeof(native));
	ret = nowait(SYS_pread64, (uint64_t)fd, NAME(here), size, (uint64_t)pos);
	expected = pread(fd, native, size, pos);
	if (ret != GIVEN_BACK)
		check(ret == expected && !memcmp(here, native, sizeof(here)),
		      "pread64() of %llu bytes at %lld is made as natively: %lld, %lld",
		      (unsigned long long)size, (long long)pos, ret, expected);
	return ret;
}

/* The name of a file in the layer to which an overlay writes. */
static const char *real_name(const char *name)
{
	static char real[256];

	snprintf(real, sizeof(real), "%s/folder/%s", layer, name);
	return real;
}

/* tmpfs does not tell an overlay whether it would wait. */
static bool is_read_at_once(void)
{
	struct statfs fs;

	return !*layer || (!statfs(real_name("dir/file"), &fs) && fs.f_type != TMPFS_MAGIC);
}

static void reads(void)
{
	static const struct {
		uint64_t size;
		int64_t pos;
	} parts[] = {
		{ 1, 0 }, { 4096, 0 }, { 4096, 1 }, { 16384, 0 }, { 16385, 1 }, { 65536, 4095 },
		{ LONG_FILE, 0 }, { LONG_FILE + 5000, 0 }, { 5000, LONG_FILE - 1 },
		{ 10, LONG_FILE }, { 10, LONG_FILE + 1 }, { 10, INT64_MAX - 20 },
	};
	static char data[LONG_FILE];
	int fd = open("long", O_CREAT | O_RDWR, 0644), direct, only;
	bool at_once;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7 + i / 4096);
	check(write(fd, data, sizeof(data)) == sizeof(data) && !fsync(fd), "a long file is written");
	at_once = is_read_at_once();
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		/* At the end, the kernel asks no layer. */
		long long ret = read_twice(fd, parts[i].size, parts[i].pos);

		check(at_once == (ret != GIVEN_BACK) || parts[i].pos >= LONG_FILE,
		      "%llu bytes at %lld are %s", (unsigned long long)parts[i].size,
		      (long long)parts[i].pos, at_once ? "read" : "given back");
	}
	check(lseek(fd, 99, SEEK_SET) == 99 &&
	      nowait(SYS_read, (uint64_t)fd, NAME(data), 50, 0) == (at_once ? 50 : GIVEN_BACK) &&
	      lseek(fd, 0, SEEK_CUR) == (at_once ? 149 : 99), "read() is made at the position");
	check(nowait(SYS_pread64, (uint64_t)fd, NAME(data), 50, (uint64_t)-1) == GIVEN_BACK,
	      "a read before the start of the file is given back");
	check(nowait(SYS_pread64, (uint64_t)fd, 8, 50, 0) == GIVEN_BACK,
	      "a read to memory that is not mapped is given back");
	only = open("long", O_WRONLY);
	check(nowait(SYS_pread64, (uint64_t)only, NAME(data), 50, 0) == GIVEN_BACK,
	      "a read of a file that is open for writing is given back");
	close(only);
	direct = open("long", O_RDONLY | O_DIRECT);
	check(direct < 0 || nowait(SYS_pread64, (uint64_t)direct, NAME(data), 4096, 0) == GIVEN_BACK,
	      "a read with O_DIRECT is given back");
	close(direct);
	close(fd);
	check(!unlink("long"), "the long file is removed");
}

static void ignore(int signal)
{
	(void)signal;
}

/* Opening a file waits for the holder of a lease. */
static void opens(void)
{
	int fd = (int)nowait(SYS_open, NAME("dir/file"), O_RDONLY, 0, 0), holder;

	check(fd >= 0 && pread(fd, &st, 5, 0) == 5 && !memcmp(&st, "12345", 5),
	      "open() of a cached file is made: %d", fd);
	close(fd);
	check(nowait(SYS_open, NAME("dir/file"), O_WRONLY, 0, 0) == GIVEN_BACK,
	      "open() for writing is given back");
	signal(SIGIO, ignore);
	holder = open("dir/file", O_RDWR);
	check(holder >= 0 && !fcntl(holder, F_SETLEASE, F_WRLCK), "a file is leased");
	check(nowait(SYS_open, NAME("dir/file"), O_RDONLY, 0, 0) == GIVEN_BACK,
	      "open() of a leased file is given back");
	check(!fcntl(holder, F_SETLEASE, F_UNLCK), "the lease ends");
	close(holder);
	if (!*layer)
		return;
	holder = open(real_name("dir/file"), O_RDWR);
	check(holder >= 0 && !fcntl(holder, F_SETLEASE, F_WRLCK), "the file of the layer is leased");
	check(nowait(SYS_open, NAME("dir/file"), O_RDONLY, 0, 0) == GIVEN_BACK,
	      "open() of the file is given back");
	check(!fcntl(holder, F_SETLEASE, F_UNLCK), "the lease of the layer ends");
	close(holder);
}

/* What closes a descriptor does not overtake a call that was given back, and may use it. */
static void closes_after_others(void)
{
	static const uint32_t nrs[] = { SYS_close, SYS_dup2, SYS_dup3, SYS_close_range };
	const struct cosy_ring_entry *given = ring.page->given;

	for (size_t i = 0; i < sizeof(nrs) / sizeof(*nrs); i++) {
		int fd = open("dir/file", O_RDONLY);

		ring_call(&ring, 1, SYS_pread64, (uint64_t)fd, 8, 5, 0);
		ring_call(&ring, 2, nrs[i], (uint64_t)fd, (uint64_t)fd, 0, 0);
		ring_call(&ring, 3, SYS_getpid, 0, 0, 0, 0);
		check(ring_execute(&ring) == 0 && ring.page->ngiven == 2 && given[0].op == 1 &&
		      given[1].op == 2 && given[1].nr == nrs[i] && given[1].args[0] == (uint64_t)fd &&
		      fcntl(fd, F_GETFD) >= 0, "call %u is given back after a pread64", nrs[i]);
		check(ring_completes(&ring, 3, getpid()), "the next entry goes on behind it");
		close(fd);
	}
}

/* Nothing resolves a fault meanwhile. A thread that waited for the page would wait for ever. */
static void absent_pages(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	int uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register reg = {
		.range = { (uintptr_t)page, 8192 },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (!check(uffd >= 0 && !ioctl(uffd, UFFDIO_API, &api) &&
		   !ioctl(uffd, UFFDIO_REGISTER, &reg),
		   "two pages are registered with userfaultfd"))
		return;
	alarm(300);
	check(nowait_stat(page) == GIVEN_BACK,
	      "stat() is given back: its name is on an absent page");
	check(nowait(SYS_stat, NAME("dir/file"), NAME(page), 0, 0) == GIVEN_BACK,
	      "stat() is given back: its buffer is on an absent page");
	check(nowait(SYS_statx, CWD, NAME(page), 0, 0) == GIVEN_BACK,
	      "statx() is given back: its name is on an absent page");
	close(uffd);
	/* The first part of the structure is mapped, the rest is not. */
	page[4095] = 1;
	check(nowait(SYS_stat, NAME("dir/file"), NAME(page + 4096 - 72), 0, 0) == GIVEN_BACK,
	      "stat() is given back: the second half of its buffer is on an absent page");
	page[4096] = 1;
	check(nowait(SYS_stat, NAME("dir/file"), NAME(page + 4096 - 72), 0, 0) == 0,
	      "stat() is made: both pages of its buffer are present");
	alarm(0);
	munmap(page, 8192);
}

static void drop_caches(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	check(fd >= 0 && write(fd, "3", 1) == 1, "the caches are dropped");
	close(fd);
}

/* Names that are not in the dentry cache must be read from the disk. */
static void cold(void)
{
	check(access("dir/none", F_OK) && nowait_stat("dir/none") == -ENOENT,
	      "ENOENT: a negative dentry is cached");
	check(nowait_stat("dir/new") == GIVEN_BACK, "a name without a dentry is given back");
	sync();
	drop_caches();
	check(nowait_stat("dir/a/b/c/d/e/file") == GIVEN_BACK,
	      "a name that must be read from the disk is given back");
	check(!stat("dir/a/b/c/d/e/file", &st) && nowait_stat("dir/a/b/c/d/e/file") == 0,
	      "the same name is found after it was read");
	check(nowait_stat("..") == GIVEN_BACK, "a name that leaves the mount is given back");
}

/*
 * The result for what may not be searched. Linux 6.12 checks the permission again outside of RCU,
 * which may wait; 6.1 does not.
 */
static long long denied(void)
{
	struct utsname name;

	uname(&name);
	return strncmp(name.release, "6.1.", 4) ? GIVEN_BACK : -EACCES;
}

/* Not root: it gets no information from directories that it may not search. */
static void permission(void)
{
	long long ret;
	pid_t child = fork();
	int status = 0;

	if (!child) {
		if (setresgid(1000, 1000, 1000) || setresuid(1000, 1000, 1000) ||
		    ring_create(&ring, 64))
			_exit(2);
		check(stat("secret/file", &st) && errno == EACCES &&
		      nowait_stat("secret/file") == denied(),
		      "EACCES natively, and no result for a file in a directory that may not be searched");
		check(nowait_stat("secret/none") == denied(),
		      "the same for a name that does not exist there");
		check(access("dir/file", W_OK) == -1 && !access("dir/file", R_OK),
		      "natively, the file may be read but not written");
		ret = nowait(SYS_access, NAME("dir/file"), W_OK, 0, 0);
		check(ret == -EACCES, "EACCES: the file may not be written: %lld", ret);
		ret = nowait(SYS_access, NAME("dir/file"), R_OK, 0, 0);
		check(!ret, "the file may be read: %lld", ret);
		_exit(finish());
	}
	check(waitpid(child, &status, 0) == child && !status,
	      "the checks of another user pass: %#x", status);
}

#define TRACING	"/sys/kernel/tracing/"
#define TRACE	TRACING "instances/cosy-nowait/"

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_APPEND);
	bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return written;
}

/*
 * The result of stat() of @name, by the loop or natively. @asked: whether the file system was
 * called.
 */
static long long traced_stat(const char *name, bool by_loop, bool *asked)
{
	int enable = open(TRACE "events/cosy/nowait/enable", O_WRONLY);
	long long ret;
	char line[512];
	FILE *trace;

	/* Opening a file also calls the file system. */
	if (write(enable, "1", 1) != 1)
		die("enable");
	ret = by_loop ? nowait_stat(name) : stat(name, &st);
	if (write(enable, "0", 1) != 1)
		die("enable");
	close(enable);
	trace = fopen(TRACE "trace", "r");
	if (!trace)
		die(TRACE "trace");
	*asked = false;
	while (fgets(line, sizeof(line), trace))
		*asked |= line[0] != '#';
	fclose(trace);
	close(open(TRACE "trace", O_WRONLY | O_TRUNC));
	return ret;
}

/*
 * The kernel calls a file system to check the target of a jump, and that may call a server. The
 * VM's root is such a file system.
 */
static void served(void)
{
	static const char *const link = "link-to-root";
	char pid[16];
	bool asked;

	snprintf(pid, sizeof(pid), "%d", getpid());
	/* Since 6.14 the call has the first name. With LOOKUP_RCU it calls no server. */
	if (symlink("/", link) ||
	    (!write_text(TRACING "kprobe_events",
			 "p:cosy/nowait __v9fs_lookup_revalidate flags=%si:u32\n") &&
	     !write_text(TRACING "kprobe_events",
			 "p:cosy/nowait v9fs_lookup_revalidate flags=%si:u32\n")) ||
	    (mkdir(TRACE, 0700) && errno != EEXIST) || !write_text(TRACE "set_event_pid", pid) ||
	    !write_text(TRACE "events/cosy/nowait/filter", "!(flags & 0x100)"))
		die("a probe");
	check(!traced_stat(link, false, &asked) && asked,
	      "natively, the file system of the root is called");
	check(traced_stat(link, true, &asked) == GIVEN_BACK && !asked,
	      "a link to the root is given back without a call of its file system");
	check(!rmdir(TRACE) && write_text(TRACING "kprobe_events", "-:cosy/nowait\n"),
	      "the probe is removed");
}

static void *remove_and_make(void *arg)
{
	volatile bool *stop = arg;

	while (!*stop) {
		rename("dir/file", "dir/other");
		rename("dir/other", "dir/file");
		unlink("moved/x");
		rmdir("moved");
		mkdir("moved", 0755);
		close(open("moved/x", O_CREAT | O_WRONLY, 0600));
	}
	return NULL;
}

/* Results for names that change were correct at some moment. */
static void changing(void)
{
	volatile bool stop = false;
	unsigned int right = 0, n = 20000;
	pthread_t thread;

	pthread_create(&thread, NULL, remove_and_make, (void *)&stop);
	for (unsigned int i = 0; i < n; i++) {
		long long ret = nowait_stat(i % 2 ? "moved/x" : "dir/file");

		right += ret == GIVEN_BACK || ret == -ENOENT || (ret == 0 && S_ISREG(st.st_mode));
	}
	stop = true;
	pthread_join(thread, NULL);
	check(right == n,
	      "%u of %u results for names that change were right at some moment", right, n);
}

/* If a filter does not return ALLOW for the call, it is made in user mode. */
static void filtered(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_stat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 77),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	check(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program),
	      "a filter for stat() is installed");
	check(nowait_stat("dir/file") == GIVEN_BACK,
	      "stat() is given back: the filter does not allow it");
	check(nowait(SYS_lstat, NAME("dir/file"), NAME(&st), 0, 0) == 0,
	      "lstat() is made: the filter allows it");
}

static void make_files(void)
{
	struct timespec times[2] = { { 0 } };
	int fd;

	mkdir("dir", 0755);
	mkdir("secret", 0700);
	check(!system("mkdir -p dir/a/b/c/d/e && chmod 755 ."), "the directories are made");
	close(open("secret/file", O_CREAT | O_WRONLY, 0644));
	close(open("dir/a/b/c/d/e/file", O_CREAT | O_WRONLY, 0644));
	fd = open("dir/file", O_CREAT | O_WRONLY, 0644);
	check(write(fd, "12345", 5) == 5, "a file is made");
	close(fd);
	/* Its access time need not be written when it is followed. */
	times[0].tv_sec = time(NULL) + 1000;
	check(!symlink("dir/file", "link") &&
	      !utimensat(AT_FDCWD, "link", times, AT_SYMLINK_NOFOLLOW), "a link is made");
}

int main(int argc, char **argv)
{
	struct statfs fs;

	device = open(COSY_DEVICE, O_RDWR | O_CLOEXEC);
	if (!check(device >= 0 && argc >= 2, "the device is open, and a folder is given"))
		return 1;
	if (argc == 3)
		layer = argv[2];
	if (!check(!chdir(argv[1]) && !mkdir("folder", 0755) && !chdir("folder") &&
		   !statfs(".", &fs) && !ring_create(&ring, 64), "a loop"))
		return 1;
	make_files();
	made();
	not_made();
	closes();
	reads();
	opens();
	closes_after_others();
	absent_pages();
	if (fs.f_type == EXT4_SUPER_MAGIC || (*layer && is_read_at_once()))
		cold();
	permission();
	changing();
	if (fs.f_type == TMPFS_MAGIC)
		served();
	filtered();
	return finish();
}
