// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * files.c - files that are opened, read and closed in a region, and positions that are set and
 * used: natively and in a region, with a comparison.
 *
 *	files DIRECTORY
 */
#define _GNU_SOURCE
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static unsigned int tried, failures;
static char buffer[2][1 << 18];

/* The results of a body. */
struct found {
	long fd, total, last, error, closed, middle;
};

static void same(const char *what, long size, struct found native,
		 struct found region)
{
	tried++;
	if (!memcmp(&native, &region, sizeof(native)))
		return;
	failures++;
	printf("%s %ld: natively %ld %ld %ld %ld %ld %ld, in a region %ld %ld %ld %ld %ld %ld\n",
	       what, size, native.fd, native.total, native.last, native.error,
	       native.closed, native.middle, region.fd, region.total,
	       region.last, region.error, region.closed, region.middle);
}

static void expect(bool good, const char *what)
{
	tried++;
	if (good)
		return;
	failures++;
	printf("%s\n", what);
}

/* Run the same body natively and as a region. */
#define BOTH(body, parameters)						\
static struct found native_##body parameters				\
body((void)0, (void)0)							\
static struct found region_##body parameters				\
body(COSY_START, COSY_END)

#define LOCALS								\
	long fd = 0, total = 0, last = 0, error = 0, closed = 0, middle = 0
#define FOUND ((struct found){ fd, total, last, error, closed, middle })

/* Open, read piece by piece to the end, close. */
#define slurp(BEGIN, END) {						\
	LOCALS;								\
									\
	BEGIN;								\
	int file = open(name, flags);					\
	ssize_t n;							\
									\
	while ((n = read(file, to + total, 4096)) > 0)			\
		total += n;						\
	if (n < 0)							\
		error = errno;						\
	closed = close(file);						\
	fd = file;							\
	last = n;							\
	END;								\
	return FOUND;							\
}
BOTH(slurp, (const char *name, int flags, char *to))

static __attribute__((noinline)) long look_at(long file)
{
	return fcntl((int)file, F_GETFD) * 1000000 +
	       lseek((int)file, 0, SEEK_CUR);
}

/* Native code in the middle sees the unchanged state of the file. */
static long (*volatile look)(long) = look_at;
#define seen(BEGIN, END) {						\
	long (*see)(long) = look;					\
	LOCALS;								\
									\
	BEGIN;								\
	int file = open(name, O_RDONLY | O_CLOEXEC);			\
									\
	fd = file;							\
	total = read(file, to, 100);					\
	middle = see(file);						\
	last = read(file, to + 100, 4096);				\
	closed = close(file);						\
	END;								\
	return FOUND;							\
}
BOTH(seen, (const char *name, char *to))

/* Left without closing; a call that does not accept private files. */
#define kept(BEGIN, END) {						\
	LOCALS;								\
									\
	BEGIN;								\
	int file = open(name, O_RDONLY);				\
									\
	total = read(file, to, 10);					\
	fd = file;							\
	if (total != 10) {						\
		getppid();						\
		last = read(file, to + 10, 4096);			\
		closed = close(file);					\
		fd = -5;						\
	}								\
	END;								\
	return FOUND;							\
}
BOTH(kept, (const char *name, char *to))

/* All calls that accept private files. */
#define all(BEGIN, END) {						\
	static struct stat st;						\
	LOCALS;								\
									\
	BEGIN;								\
	int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);	\
									\
	fd = file;							\
	total = write(file, "abcdefgh", 8);				\
	total += 16 * pwrite(file, "XY", 2, 3);				\
	total += 256 * lseek(file, 1, SEEK_SET);			\
	total += 4096 * read(file, to, 100);				\
	middle = pread(file, to + 100, 100, 4);				\
	middle += 256 * lseek(file, -20, SEEK_CUR);			\
	last = fstat(file, &st);					\
	last += 256 * lseek(file, 0, 77);				\
	error = errno;							\
	getppid();							\
	last += 65536 * lseek(file, 0, SEEK_END);			\
	closed = close(file);						\
	END;								\
	last += st.st_size;						\
	return FOUND;							\
}
BOTH(all, (const char *name, char *to))

/* A call with a name that leads to the private file, or starts there. */
enum { NAMED = 28 };
#define named(BEGIN, END) {						\
	static struct stat st;						\
	LOCALS;								\
									\
	BEGIN;								\
	int file = open(name, O_RDONLY);				\
									\
	switch (which) {						\
	case 0: middle = stat(path, &st); break;			\
	case 1: middle = lstat(path, &st); break;			\
	case 2: middle = fstatat(number, "x", &st, 0); break;		\
	case 3: middle = fstatat(number, "/", &st, 0); break;		\
	case 4: middle = fstatat(number, path, &st, 0); break;		\
	case 5: middle = open(path, O_RDONLY); break;			\
	case 6: middle = open(path, O_RDONLY | O_CREAT, 0600); break;	\
	case 7: middle = openat(number, "x", O_WRONLY | O_CREAT, 0600); break; \
	case 8: middle = access(path, R_OK); break;			\
	case 9: middle = faccessat(number, "x", R_OK, 0); break;	\
	case 10: middle = readlink(path, to, 100); break;		\
	case 11: middle = readlinkat(number, "x", to, 100); break;	\
	case 12: middle = unlink(path); break;				\
	case 13: middle = unlinkat(number, "x", AT_REMOVEDIR); break;	\
	case 14: middle = rmdir(path); break;				\
	case 15: middle = mkdir(path, 0700); break;			\
	case 16: middle = rename(path, "other"); break;			\
	case 17: middle = renameat(number, "x", number, "y"); break;	\
	case 18: middle = linkat(AT_FDCWD, path, AT_FDCWD, "linked",	\
				 AT_SYMLINK_FOLLOW); break;		\
	case 19: middle = symlink("x", path); break;			\
	case 20: middle = chmod(path, 0640); break;			\
	case 21: middle = chown(path, (uid_t)-1, (gid_t)-1); break;	\
	case 22: middle = truncate(path, 50); break;			\
	case 23: middle = mkdirat(number, "x", 0700); break;		\
	case 24: middle = statx(number, "x", 0, 0, (void *)to); break;	\
	case 25: middle = getxattr(path, "user.x", to, 100); break;	\
	case 26: middle = listxattr(path, to, 100); break;		\
	case 27: middle = utimensat(number, "x", NULL, 0); break;	\
	}								\
	if (middle < 0)							\
		error = errno;						\
	total = read(file, to + 500, 100);				\
	closed = close(file);						\
	fd = file;							\
	END;								\
	last = st.st_size;						\
	return FOUND;							\
}
BOTH(named, (int which, const char *name, const char *path, int number, char *to))

/* Set the position, then read. */
#define at(BEGIN, END) {						\
	LOCALS;								\
									\
	BEGIN;								\
	fd = lseek(file, offset, SEEK_SET);				\
	total = read(file, to, (size_t)size);				\
	error = errno;							\
	last = lseek(file, 0, SEEK_CUR);				\
	END;								\
	return FOUND;							\
}
BOTH(at, (int file, long offset, char *to, long size))

#define at_if(BEGIN, END) {						\
	LOCALS;								\
									\
	BEGIN;								\
	if (lseek(file, offset, SEEK_SET) < 0) {			\
		error = errno;						\
	} else {							\
		total = write(file, from, (size_t)size);		\
		error = errno;						\
		last = lseek(file, 0, SEEK_CUR);			\
	}								\
	END;								\
	return FOUND;							\
}
BOTH(at_if, (int file, long offset, const char *from, long size))

static void must(bool good, const char *what)
{
	if (!good) {
		perror(what);
		exit(2);
	}
}

static void make(const char *name, long size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	must(fd >= 0, name);
	for (long i = 0; i < size; i++)
		buffer[0][i] = (char)(i * 7 + i / 4096);
	must(write(fd, buffer[0], (size_t)size) == size, name);
	close(fd);
}

static void both_slurp(const char *what, const char *name, int flags, long size)
{
	struct found native, region;

	memset(buffer, 0x5a, sizeof(buffer));
	errno = 0;
	native = native_slurp(name, flags, buffer[0]);
	errno = 0;
	region = region_slurp(name, flags, buffer[1]);
	same(what, size, native, region);
	expect(!memcmp(buffer[0], buffer[1], sizeof(buffer[0])), what);
}

static void test_slurp(void)
{
	static const long sizes[] = { 0, 1, 100, 4095, 4096, 4097, 8192, 12289,
				      65535, 65536, 65537, 131072, 200000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		make("file", sizes[i]);
		both_slurp("slurp", "file", O_RDONLY, sizes[i]);
		both_slurp("slurp direct", "file", O_RDONLY | O_DIRECT, sizes[i]);
		same("seen", sizes[i], native_seen("file", buffer[0]),
		     region_seen("file", buffer[1]));
	}
	both_slurp("missing", "missing", O_RDONLY, 0);
	both_slurp("directory", ".", O_RDONLY, 0);
	both_slurp("for writing", "file", O_WRONLY, 0);
	both_slurp("proc", "/proc/version", O_RDONLY, 0);
	both_slurp("proc", "/proc/cpuinfo", O_RDONLY, 1);
	both_slurp("null", "/dev/null", O_RDONLY, 0);
	same("all", 0, native_all("new", buffer[0]), region_all("new", buffer[1]));
}

static void test_named(void)
{
	struct found native, region;
	int number = dup(0);
	char path[32];

	close(number);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", number);
	must(!symlink(path, "by-number"), "symlink");
	for (int link = 0; link < 2; link++) {
		for (int which = 0; which < NAMED; which++) {
			const char *to = link ? "by-number" : path;

			if (link && (which == 12 || which == 16))
				continue;	/* would be the link itself */
			make("file", 100);
			memset(buffer, 0x5a, sizeof(buffer));
			native = native_named(which, "file", to, number, buffer[0]);
			if (which >= 5 && which <= 7)
				close((int)native.middle);
			unlink("linked");
			make("file", 100);
			memset(buffer, 0x5a, sizeof(buffer));
			region = region_named(which, "file", to, number, buffer[1]);
			if (which >= 5 && which <= 7)
				close((int)region.middle);
			unlink("linked");
			same(to, which, native, region);
		}
	}
	unlink("by-number");
}

/* The buffer ends in the middle of a piece. */
static void test_fault(void)
{
	char *map = mmap(NULL, 16 * 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct found native, region;

	munmap(map + 3 * 4096, 4096);
	make("file", 40000);
	for (long offset = 0; offset < 4 * 4096; offset += 1000) {
		errno = 0;
		native = native_slurp("file", O_RDONLY, map + offset);
		errno = 0;
		region = region_slurp("file", O_RDONLY, map + offset);
		same("fault", offset, native, region);
	}
	munmap(map, 16 * 4096);
}

static void test_numbers(void)
{
	struct rlimit old, limit;
	struct found native, region;
	int next = dup(0);

	close(next);
	make("file", 5000);
	getrlimit(RLIMIT_NOFILE, &old);
	/* The first run opens further descriptors. */
	region_slurp("file", O_RDONLY, buffer[1]);
	limit = old;
	limit.rlim_cur = (rlim_t)next;
	setrlimit(RLIMIT_NOFILE, &limit);
	both_slurp("EMFILE", "file", O_RDONLY, next);
	expect(open("file", O_RDONLY) < 0 && errno == EMFILE, "open() at the limit fails with EMFILE");
	limit.rlim_cur++;
	setrlimit(RLIMIT_NOFILE, &limit);
	both_slurp("one left", "file", O_RDONLY, next);
	setrlimit(RLIMIT_NOFILE, &old);
	native = native_kept("file", buffer[0]);
	close((int)native.fd);
	region = region_kept("file", buffer[1]);
	same("kept", 0, native, region);
	expect(lseek((int)region.fd, 0, SEEK_CUR) == 10, "what is kept is open");
	close((int)region.fd);
	make("file", 5);
	same("not kept", 0, native_kept("file", buffer[0]),
	     region_kept("file", buffer[1]));
	expect(dup(0) == next, "no descriptor is lost");
	close(next);
}

/* The events of one run of @body for other processes. */
static void events(struct found (*body)(const char *, int, char *), char *text,
		   size_t size)
{
	char list[4096] __attribute__((aligned(8)));
	int notify = inotify_init1(IN_NONBLOCK);
	size_t used = 0;
	ssize_t n;

	inotify_add_watch(notify, "file", IN_ALL_EVENTS);
	inotify_add_watch(notify, ".", IN_ALL_EVENTS);
	body("file", O_RDONLY, buffer[0]);
	n = read(notify, list, sizeof(list));
	text[0] = '\0';
	for (ssize_t i = 0; i < n;) {
		struct inotify_event *event = (struct inotify_event *)(list + i);

		used += (size_t)snprintf(text + used, size - used, "%d:%x ",
					 event->wd, event->mask);
		i += (ssize_t)(sizeof(*event) + event->len);
	}
	close(notify);
}

static void test_events(void)
{
	char native[1000], region[1000];

	make("file", 20000);
	region_slurp("file", O_RDONLY, buffer[0]);
	events(native_slurp, native, sizeof(native));
	events(region_slurp, region, sizeof(region));
	expect(native[0] && !strcmp(native, region), "inotify has the native events");
	if (strcmp(native, region))
		printf("natively %s, in a region %s\n", native, region);
}

static void counts(struct found (*body)(const char *, int, char *), long out[2])
{
	long before[2] = { 0 }, after[2] = { 0 };

	for (int i = 0; i < 2; i++) {
		long *to = i ? after : before;
		FILE *io;

		if (i)
			body("file", O_RDONLY, buffer[0]);
		io = fopen("/proc/self/io", "r");
		must(io && fscanf(io, "rchar: %ld\nwchar: %*d\nsyscr: %ld", to,
				  to + 1) == 2, "/proc/self/io");
		fclose(io);
	}
	out[0] = after[0] - before[0];
	out[1] = after[1] - before[1];
}

static void test_counts(void)
{
	long native[2], region[2];

	make("file", 70000);
	region_slurp("file", O_RDONLY, buffer[0]);
	/* The length of /proc/self/io sometimes changes. */
	for (int i = 0; i < 5; i++) {
		counts(native_slurp, native);
		counts(region_slurp, region);
		if (!memcmp(native, region, sizeof(native)))
			break;
	}
	expect(!memcmp(native, region, sizeof(native)), "counts of /proc/self/io");
	expect(region[0] > 70000 && region[1] > 70000 / 4096, "something is counted");
}

static bool touches(struct found (*body)(const char *, int, char *))
{
	static const struct timespec old[2] = { { 1000, 5 }, { 2000, 5 } };
	struct stat st;

	utimensat(AT_FDCWD, "file", old, 0);
	body("file", O_RDONLY, buffer[0]);
	stat("file", &st);
	return st.st_atime != 1000;
}

static void test_atime(void)
{
	make("file", 5000);
	expect(touches(native_slurp) == touches(region_slurp), "the access time changes as natively");
}

static void test_lease(void)
{
	struct found native, region;
	int fd;

	make("file", 5000);
	signal(SIGIO, SIG_IGN);
	fd = open("file", O_RDWR);
	if (fcntl(fd, F_SETLEASE, F_WRLCK) == 0) {
		errno = 0;
		native = native_slurp("file", O_RDONLY | O_NONBLOCK, buffer[0]);
		errno = 0;
		region = region_slurp("file", O_RDONLY | O_NONBLOCK, buffer[1]);
		same("lease", 0, native, region);
	}
	close(fd);
}

/* Return true if other processes see no lock of this one after @body has closed the file. */
static bool unlocks(struct found (*body)(const char *, int, char *))
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open("file", O_RDWR), status;
	pid_t child;

	must(fd >= 0 && !fcntl(fd, F_SETLK, &lock), "lock");
	body("file", O_RDONLY, buffer[0]);
	child = fork();
	if (!child)
		_exit(fcntl(fd, F_GETLK, &lock) || lock.l_type != F_UNLCK);
	waitpid(child, &status, 0);
	close(fd);
	return !status;
}

static void test_locks(void)
{
	make("file", 5000);
	expect(unlocks(native_slurp), "natively close gives up POSIX locks");
	expect(unlocks(region_slurp), "in a region close gives up POSIX locks");
}

static void test_positions(void)
{
	static const long offsets[] = { 0, 1, 4096, 9999, 10000, 10001, 1L << 40,
					-1, -10000, 1L << 62, (1UL << 63) - 1 };
	int pipes[2], fds[8], n = 0;

	make("file", 10000);
	must(!pipe2(pipes, O_NONBLOCK), "pipe");
	fds[n++] = open("file", O_RDONLY);
	fds[n++] = open("file", O_WRONLY);
	fds[n++] = open(".", O_RDONLY);
	fds[n++] = open("/proc/cpuinfo", O_RDONLY);
	fds[n++] = open("/dev/zero", O_RDONLY);
	fds[n++] = pipes[0];
	fds[n++] = -1;
	fds[n++] = open("file", O_PATH);
	for (int f = 0; f < n; f++)
		for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
			struct found native, region;

			errno = 0;
			native = native_at(fds[f], offsets[i], buffer[0], 777);
			errno = 0;
			region = region_at(fds[f], offsets[i], buffer[1], 777);
			same("position", offsets[i], native, region);
			expect(native.total <= 0 ||
			       !memcmp(buffer[0], buffer[1],
				       (size_t)native.total), "what was read");
			native = native_at(fds[f], offsets[i], (char *)8, 10);
			region = region_at(fds[f], offsets[i], (char *)8, 10);
			same("position, fault", offsets[i], native, region);
		}
	fds[0] = open("file", O_RDWR);
	fds[1] = open("file", O_RDWR | O_APPEND);
	for (int f = 0; f < n; f++)
		for (size_t i = 0; i < 6; i++) {
			struct found native, region;

			must(!truncate("file", 10000), "truncate");
			errno = 0;
			native = native_at_if(fds[f], offsets[i], "something", 9);
			must(!truncate("file", 10000), "truncate");
			errno = 0;
			region = region_at_if(fds[f], offsets[i], "something", 9);
			same("position, write", offsets[i], native, region);
		}
	for (int f = 0; f < n; f++)
		close(fds[f]);
	close(pipes[1]);
}

/* Other threads change the file, the numbers and the limits. */
static volatile bool stop;

static void *meddle(void *arg)
{
	unsigned int seed = (unsigned int)(long)arg, turn = 0;
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	while (!stop) {
		pid_t child;
		int fd;

		switch (rand_r(&seed) % 8) {
		case 0:
			rename("race", "race2");
			rename("race2", "race");
			break;
		case 1:
			unlink("race");
			fd = open("race", O_RDWR | O_CREAT, 0644);
			if (fd >= 0 && pwrite(fd, buffer[1], 9000, 0) < 0)
				close(-1);
			close(fd);
			break;
		case 2:
			if (truncate("race", rand_r(&seed) % 20000))
				break;
			break;
		case 3:
			dup2(0, 20 + rand_r(&seed) % 8);
			break;
		case 4:
			close(20 + rand_r(&seed) % 8);
			break;
		case 5:
			limit.rlim_cur = 20 + rand_r(&seed) % 10;
			setrlimit(RLIMIT_NOFILE, &limit);
			break;
		case 6:
			if (turn++ % 64)
				break;
			child = fork();
			if (!child)
				_exit(0);
			waitpid(child, NULL, 0);
			break;
		default:
			close(open("race", O_RDWR | O_APPEND));
		}
	}
	return NULL;
}

static void test_races(void)
{
	struct rlimit old;
	pthread_t threads[2];
	static char mine[1 << 18];
	long turns = 0;

	getrlimit(RLIMIT_NOFILE, &old);
	make("race", 9000);
	/* The changed numbers are the next ones. */
	while (dup(0) < 19)
		;
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, meddle, (void *)(i + 1));
	/*
	 * On a loaded machine the threads may run so seldom that the file is missing, or no
	 * descriptor free, in all 3000 turns. Without a read that succeeds, this does not end.
	 */
	for (int i = 0; i < 3000 || !turns; i++) {
		struct found found = region_slurp("race", O_RDONLY, mine);

		turns += found.fd >= 0 && found.total >= 0;
	}
	stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	setrlimit(RLIMIT_NOFILE, &old);
	for (int i = 4; i < 40; i++)
		close(i);
	both_slurp("afterwards", "file", O_RDONLY, 0);
}

static void test_kill(void)
{
	make("file", 60000);
	for (int i = 0; i < 30; i++) {
		pid_t child = fork();

		if (!child)
			for (;;)
				region_slurp("file", O_RDONLY, buffer[1]);
		usleep((useconds_t)(1000 + i * 397));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	both_slurp("after kills", "file", O_RDONLY, 0);
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]))
		return 2;
	test_slurp();
	test_named();
	test_fault();
	test_numbers();
	test_events();
	test_counts();
	test_atime();
	test_lease();
	test_locks();
	test_positions();
	test_kill();
	test_races();
	printf("%u tried, %u differ\n", tried, failures);
	return failures != 0;
}
