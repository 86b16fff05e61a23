// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A condition that stops a call in the middle stops a fast path at the same byte, with the same
// error: limits, quotas, full file systems, seals, file attributes, swap files, devices, running
// programs.
// REQUIRES: root
// RUN: %cosy-cc -O2 -Wall -Wextra -D_GNU_SOURCE %s -o %t
// RUN: %vm %S/Inputs/ways %S/Inputs/make-files %t | FileCheck %s
// CHECK: tmpfs, as root: {{[1-9][0-9][0-9]+}} lines
// CHECK-NEXT: tmpfs, as user: {{[1-9][0-9]+}} lines
// CHECK-NEXT: ext4, as root: {{[1-9][0-9][0-9]+}} lines
// CHECK-NEXT: overlayfs, as root: {{[1-9][0-9][0-9]+}} lines
#define REGION_BUFFER (1 << 21)
#include "Inputs/regions.h"

#include <linux/fs.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/quota.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static const size_t blocks[] = { 5000, 65536 };
#define BLOCKS (sizeof(blocks) / sizeof(blocks[0]))

static void say_file(const char *name)
{
	struct stat st;

	if (stat(name, &st))
		printf("  no %s\n", name);
	else
		printf("  %s: %ld bytes\n", name, (long)st.st_size);
}

/* All calls that write to the existing file @to. */
static void write_all_ways(const char *what, const char *to, int flags)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		char text[100];
		int in = must_open("from300000", O_RDONLY), out = open(to, flags | O_RDWR, 0600);

		snprintf(text, sizeof(text), "%s, by %zu", what, blocks[i]);
		if (out < 0) {
			printf("%s: %s\n", text, strerror(errno));
		} else {
			say(text, copy(in, out, blocks[i]));
			printf("  positions %ld %ld\n", (long)lseek(in, 0, SEEK_CUR),
			       (long)lseek(out, 0, SEEK_CUR));
			say("  at 4000", write_at(out, 4000, blocks[i]));
			say("  far", write_at(out, 290000, blocks[i]));
			say("  read there", read_at(out, 290000, blocks[i]));
			close(out);
		}
		close(in);
		say("  created", create(to, flags | O_RDWR, blocks[i]));
		say_file(to);
	}
}

/* --- limits and full file systems --------------------------------------------- */

static int exceeded;

static void on_exceeded(int sig)
{
	(void)sig;
	exceeded++;
}

static void test_size_limit(void)
{
	static const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	static const rlim_t limits[] = { 0, 4999, 8192, 100000 };

	signal(SIGXFSZ, on_exceeded);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct rlimit limit = { limits[i], RLIM_INFINITY };

		setrlimit(RLIMIT_FSIZE, &limit);
		write_all_ways("limited", "to", O_CREAT | O_TRUNC);
		printf("limit %ld: %d signals\n", (long)limits[i], exceeded);
		unlink("to");
	}
	setrlimit(RLIMIT_FSIZE, &none);
}

static void test_full(void)
{
	if (mkdir("small", 0700) || mount("full", "small", "tmpfs", 0, "size=100k,nr_inodes=4")) {
		printf("mount: %s\n", strerror(errno));
		return;
	}
	write_all_ways("full", "small/to", O_CREAT);
	for (int i = 0; i < 4; i++) {
		char name[20];

		snprintf(name, sizeof(name), "small/%d", i);
		say(name, create(name, O_RDWR, 10));
	}
	if (umount("small") || rmdir("small"))
		printf("umount: %s\n", strerror(errno));
}

/* --- quotas -------------------------------------------------------------------- */

/* What is limited for 1234: a user, a group, or the project of a directory. */
static const struct quota {
	const char *name;
	int type;
} quotas[] = { { "user", USRQUOTA }, { "group", GRPQUOTA }, { "project", PRJQUOTA } };

static void limit(const struct quota *quota, const char *dev, unsigned int blocks, unsigned int inodes)
{
	struct dqblk limit = { .dqb_bhardlimit = blocks, .dqb_bsoftlimit = blocks / 2,
			       .dqb_ihardlimit = inodes, .dqb_valid = QIF_LIMITS };

	if (quotactl(QCMD(Q_SETQUOTA, quota->type), dev, 1234, (void *)&limit))
		printf("quotactl: %s\n", strerror(errno));
}

static void within_quota(const struct quota *quota)
{
	char name[30];

	printf("quota of a %s\n", quota->name);
	if (setresgid(1234, 1234, 1234) || setresuid(1234, 1234, 1234))
		exit(1);
	write_all_ways("quota", "limited/project/to", O_CREAT);
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "limited/project/%d", i);
		say(name, create(name, O_RDWR, 10));
		say_names(name);
	}
	/* Links and renames across the border of a project are not possible. */
	say_names_to("limited/project/0", "limited/0");
	say("outside", create("limited/1", O_RDWR, 10));
	say_names_to("limited/1", "limited/project/9");
	exit(0);
}

/* For unprivileged users; on a separate file system with quotas. */
static void test_quotas(void)
{
	struct fsxattr attributes = { .fsx_xflags = FS_XFLAG_PROJINHERIT, .fsx_projid = 1234 };
	char dev[100] = "";
	int status, fd;
	FILE *pipe;

	if (mkdir("limited", 0700) ||
	    system("truncate -s 16M quota.image && /sbin/mkfs.ext4 -q -O quota,project "
		   "-E quotatype=usrquota:grpquota:prjquota quota.image && "
		   "mount -o loop,usrquota,grpquota,prjquota quota.image limited")) {
		printf("no file system with quotas\n");
		return;
	}
	pipe = popen("findmnt -n -o SOURCE limited", "r");
	if (pipe && fscanf(pipe, "%99s", dev) != 1)
		printf("findmnt failed\n");
	pclose(pipe);
	if (chmod("limited", 01777) || mkdir("limited/project", 0700) || chmod("limited/project", 01777))
		printf("chmod: %s\n", strerror(errno));
	fd = must_open("limited/project", O_RDONLY);
	if (ioctl(fd, FS_IOC_FSSETXATTR, &attributes))
		printf("project: %s\n", strerror(errno));
	close(fd);
	for (size_t i = 0; i < sizeof(quotas) / sizeof(quotas[0]); i++) {
		pid_t child;

		limit(&quotas[i], dev, 100, 4);
		fflush(stdout);
		child = fork();
		if (!child)
			within_quota(&quotas[i]);
		waitpid(child, &status, 0);
		printf("ended with %d\n", status);
		limit(&quotas[i], dev, 0, 0);
		if (system("find limited/project limited -maxdepth 1 -type f -delete"))
			printf("find failed\n");
	}
	if (umount("limited") || rmdir("limited") || unlink("quota.image"))
		printf("umount: %s\n", strerror(errno));
}

/* --- conditions of files ------------------------------------------------------- */

static void with_attribute(const char *what, int flag)
{
	int fd = must_open("to", O_RDWR | O_CREAT), old = 0, new;

	if (write(fd, "0123456789", 10) != 10 || ioctl(fd, FS_IOC_GETFLAGS, &old)) {
		printf("%s: %s\n", what, strerror(errno));
		close(fd);
		return;
	}
	new = old | flag;
	printf("%s: %d\n", what, ioctl(fd, FS_IOC_SETFLAGS, &new));
	/* Through a file that was opened before, and opened again. */
	say("open before", write_at(fd, 3, 5));
	write_all_ways(what, "to", 0);
	write_all_ways(what, "to", O_APPEND);
	write_all_ways(what, "to", O_TRUNC);
	say("read", slurp("to", O_RDONLY));
	say_names("to");
	ioctl(fd, FS_IOC_SETFLAGS, &old);
	close(fd);
	unlink("to");
}

static void test_swap(void)
{
	int fd = must_open("to", O_RDWR | O_CREAT);

	/* Other processes may swap now; it is not for long. */
	if (posix_fallocate(fd, 0, 65536) || system("/sbin/mkswap -q to 2>/dev/null") ||
	    swapon("to", 0)) {
		printf("swapon: %s\n", strerror(errno));
	} else {
		say("a swap file", write_at(fd, 4096, 100));
		write_all_ways("a swap file", "to", 0);
		say_names("to");
		printf("swapoff: %d\n", swapoff("to"));
	}
	close(fd);
	unlink("to");
}

static void test_seals(void)
{
	static const int seals[] = { F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE, F_SEAL_FUTURE_WRITE };

	for (size_t i = 0; i < sizeof(seals) / sizeof(seals[0]); i++) {
		int fd = memfd_create("sealed", MFD_ALLOW_SEALING), in = must_open("from65537", O_RDONLY);
		int to = must_open("to", O_RDWR | O_CREAT | O_TRUNC);

		if (ftruncate(fd, 10000) || fcntl(fd, F_ADD_SEALS, seals[i]))
			printf("seal: %s\n", strerror(errno));
		printf("seal %#x\n", seals[i]);
		say("copy", copy(in, fd, 4096));
		printf("  positions %ld %ld\n", (long)lseek(in, 0, SEEK_CUR),
		       (long)lseek(fd, 0, SEEK_CUR));
		say("in it", write_at(fd, 100, 100));
		say("behind it", write_at(fd, 9990, 100));
		say("read", read_at(fd, 9990, 100));
		lseek(fd, 0, SEEK_SET);
		say("copy from it", copy(fd, to, 4096));
		close(fd);
		close(in);
		close(to);
	}
	unlink("to");
}

/* A running program cannot be written. A file that is open for writing cannot be executed. */
static void test_program(void)
{
	int status, fds[2];
	pid_t child;

	if (system("cp /bin/cat program && chmod 755 program") || pipe(fds))
		return;
	child = fork();
	if (!child) {
		dup2(fds[0], 0);
		dup2(open("/dev/null", O_WRONLY), 1);
		close(fds[1]);
		execl("./program", "program", NULL);
		_exit(1);
	}
	close(fds[0]);
	/* It runs when it reads from the pipe. */
	if (write(fds[1], "x", 1) != 1)
		return;
	while (ioctl(fds[1], FIONREAD, &status) == 0 && status)
		usleep(1000);
	say("a program that runs", create("program", O_WRONLY, 10));
	say("is read", slurp("program", O_RDONLY));
	close(fds[1]);
	waitpid(child, &status, 0);
	unlink("program");
}

/* --- files that are not regular -------------------------------------------------- */

static void test_kinds(void)
{
	static const char *const kinds[] = {
		"/dev/zero", "/dev/full", "/dev/null", "/proc/self/comm", "/proc/version",
		"/sys/kernel/mm/transparent_hugepage/enabled", "/proc/self/mem", ".", "/dev/tty",
	};
	int in, out, pair[2], pipes[2], master, slave;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (i >= 2)
			say(kinds[i], slurp(kinds[i], O_RDONLY | O_NONBLOCK));
		in = open(kinds[i], O_RDONLY);
		out = must_open("to", O_RDWR | O_CREAT | O_TRUNC);
		/* Two of them have no end. */
		if (in >= 0 && i >= 2)
			say("  copied from it", copy(in, out, 4096));
		if (in >= 0)
			say("  read at 5", read_at(in, 5, 10));
		close(out);
		out = open(kinds[i], O_WRONLY | O_NONBLOCK);
		in = must_open("from10001", O_RDONLY);
		if (out >= 0 && strcmp(kinds[i], "/proc/self/comm")) {
			say("  copied to it", copy(in, out, 4096));
			printf("  position %ld\n", (long)lseek(in, 0, SEEK_CUR));
			say("  written at 5", write_at(out, 5, 10));
		}
		if (i < 3)
			say("  created", create(kinds[i], O_WRONLY, 10));
		close(in);
		close(out);
	}

	/* Pipes, sockets, terminals: full, empty, closed. */
	signal(SIGPIPE, on_exceeded);
	if (pipe2(pipes, O_NONBLOCK) || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair) ||
	    openpty(&master, &slave, NULL, NULL, NULL))
		return;
	in = must_open("from300000", O_RDONLY);
	out = must_open("to", O_RDWR | O_CREAT | O_TRUNC);
	say("to a pipe", copy(in, pipes[1], 5000));
	printf("  position %ld\n", (long)lseek(in, 0, SEEK_CUR));
	say("from it", copy(pipes[0], out, 3000));
	say("at", read_at(pipes[0], 3, 3000));
	close(pipes[0]);
	say("closed", copy(in, pipes[1], 5000));
	lseek(in, 0, SEEK_SET);
	say("to a datagram socket", copy(in, pair[0], 1000));
	say("from it", copy(pair[1], out, 300));
	lseek(in, 0, SEEK_SET);
	say("too long for it", copy(in, pair[0], 65536));
	close(pair[1]);
	say("closed", copy(in, pair[0], 1000));
	close(in);
	in = must_open("from4095", O_RDONLY);
	fcntl(master, F_SETFL, O_NONBLOCK);
	say("to a terminal", copy(in, slave, 700));
	say("from it", copy(master, out, 100));
	say("not seekable", write_at(slave, 3, 10));
	printf("signals %d\n", exceeded);
	close(in);
	close(out);
	unlink("to");
}

static void test_flags(void)
{
	static const int flags[] = { O_SYNC, O_DIRECT, O_APPEND, O_APPEND | O_DIRECT };

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		int in;

		printf("flags %#o\n", flags[i]);
		write_all_ways("with flags", "to", O_CREAT | flags[i]);
		in = open("from65537", O_RDONLY | flags[i]);
		if (in >= 0) {
			int out = must_open("to", O_RDWR);

			say("from it", copy(in, out, 5000));
			close(out);
			close(in);
		}
		say("slurp", slurp("from65536", O_RDONLY | flags[i]));
		unlink("to");
	}
}

/* --- numbers of files, tables -------------------------------------------------- */

static void test_numbers(void)
{
	struct rlimit old, limit;
	int next = dup(0);

	close(next);
	getrlimit(RLIMIT_NOFILE, &old);
	limit = old;
	limit.rlim_cur = (rlim_t)next;
	setrlimit(RLIMIT_NOFILE, &limit);
	say("no number is left", slurp("from4096", O_RDONLY));
	say("missing, no number", slurp("missing", O_RDONLY));
	say("created, no number", create("made", O_RDWR, 10));
	say_file("made");
	limit.rlim_cur++;
	setrlimit(RLIMIT_NOFILE, &limit);
	say("one is left", slurp("from4096", O_RDONLY));
	setrlimit(RLIMIT_NOFILE, &old);
}

static void *wait_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* A private file, while its table is copied, replaced, closed, by calls in the same region. */
static void test_tables(void)
{
	pthread_t other;
	char c;

	for (int i = 0; i < 4; i++) {
		long before, result, copied, n, closed;
		int error = 0, taken;

		if (i == 2)
			pthread_create(&other, NULL, wait_for_ever, NULL);
		COSY_START;
		int fd = open("from4096", O_RDONLY);
		before = read(fd, &c, 1);
		result = close_range(500, 600, i % 2 ? CLOSE_RANGE_UNSHARE : 0);
		copied = dup2(1, 77);
		n = read(fd, &c, 1);
		if (n < 0)
			error = errno;
		closed = close(fd);
		COSY_END;
		taken = dup(0);
		printf("table, %d: %ld %ld %ld %ld %d %ld, next %d\n", i, before, result, copied, n,
		       error, closed, taken);
		close(taken);
		close(77);
	}
}

/* --- LSMs ---------------------------------------------------------------------- */

/* A child that may only read files. */
static void test_landlock(void)
{
	struct landlock_ruleset_attr all = { .handled_access_fs = (1ull << 13) - 1 };
	struct landlock_path_beneath_attr below = {
		.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
	}, device = {
		.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE,
	};
	int before, in, rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	pid_t child;

	if (rules < 0) {
		printf("landlock: %s\n", strerror(errno));
		return;
	}
	before = must_open("to", O_RDWR | O_CREAT);
	fflush(stdout);
	child = fork();
	if (!child) {
		below.parent_fd = must_open(".", O_PATH);
		device.parent_fd = must_open("/dev/cosy", O_PATH);
		if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) ||
		    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &device, 0) ||
		    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    syscall(SYS_landlock_restrict_self, rules, 0))
			printf("landlock: %s\n", strerror(errno));
		say("allowed", slurp("from65536", O_RDONLY));
		say("elsewhere", slurp("/etc/passwd", O_RDONLY));
		say("forbidden", create("to", O_WRONLY, 10));
		say("made", create("made", O_WRONLY, 10));
		in = must_open("from10001", O_RDONLY);
		say("open before", copy(in, before, 4096));
		say_names("from4096");
		exit(0);
	}
	waitpid(child, NULL, 0);
	close(before);
	close(rules);
	unlink("to");
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc != 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	test_tables();
	test_size_limit();
	test_seals();
	test_flags();
	test_kinds();
	test_numbers();
	test_landlock();
	if (geteuid() == 0) {
		test_full();
		test_quotas();
		with_attribute("immutable", FS_IMMUTABLE_FL);
		with_attribute("append-only", FS_APPEND_FL);
		test_swap();
		test_program();
	}
	return 0;
}
