/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Regions as the documents advise to write them, and as they warn of: some gain, some lose. On a CPU
 * that counts instructions, the verdict on each is compared with what it saves.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef PLAIN
#define COSY_START do {} while (0)
#define COSY_END do {} while (0)
#else
#include <cosy.h>
#endif

#include "verdict-measure.h"
#include "verdict-tree.h"

static unsigned long sum;

/* User code of another file, which runs as an up-call. */
extern __attribute__((noinline, weak)) unsigned long hash(const char *bytes, long n)
{
	unsigned long h = 5381;

	for (long i = 0; i < n; i++)
		h = h * 33 + (unsigned char)bytes[i];
	return h;
}

static void one_stat(int i)
{
	const char *name = name_of(i);
	struct stat st;

	COSY_START;
	sum += stat(name, &st) == 0;
	COSY_END;
}

static void sixteen_stats(int i)
{
	struct stat st;

	COSY_START;
	for (int k = 0; k < 16; k++)
		sum += stat(names[k], &st) == 0 ? st.st_size : 0;
	COSY_END;
	(void)i;
}

static void stats_and_random(int i)
{
	struct stat st;

	COSY_START;
	for (int k = 0; k < 16; k++) {
		sum += lstat(names[k], &st) == 0;
		sum += random();
	}
	COSY_END;
	(void)i;
}

static void stats_of_missing(int i)
{
	struct stat st;

	COSY_START;
	for (int k = 0; k < 8; k++)
		sum += stat(TREE "/missing", &st) == 0;
	COSY_END;
	(void)i;
}

static void small_file(int i)
{
	const char *name = name_of(i);
	int fd;

	COSY_START;
	fd = open(name, O_RDONLY);
	if (fd >= 0) {
		sum += read(fd, buf, 4096);
		close(fd);
	}
	COSY_END;
}

static void small_file_with_status(int i)
{
	const char *name = name_of(i);
	struct stat st;
	int fd;

	COSY_START;
	fd = open(name, O_RDONLY);
	if (fd >= 0) {
		if (fstat(fd, &st) == 0)
			sum += read(fd, buf, st.st_size);
		close(fd);
	}
	COSY_END;
}

/* The natural first region of a deduplicator. */
static void hashed_file(int i)
{
	const char *name = name_of(i);
	long n;
	int fd;

	COSY_START;
	fd = open(name, O_RDONLY);
	if (fd >= 0) {
		while ((n = read(fd, buf, sizeof(buf))) > 0)
			sum += hash(buf, n);
		close(fd);
	}
	COSY_END;
}

/* The same with the hash after the region. */
static void file_hashed_later(int i)
{
	const char *name = name_of(i);
	long n = 0;
	int fd;

	COSY_START;
	fd = open(name, O_RDONLY);
	if (fd >= 0) {
		n = read(fd, buf, sizeof(buf));
		close(fd);
	}
	COSY_END;
	if (n > 0)
		sum += hash(buf, n);
}

static void ten_files(int i)
{
	COSY_START;
	for (int k = 0; k < 10; k++) {
		int fd = open(names[k], O_RDONLY);

		if (fd < 0)
			break;
		sum += read(fd, buf, 4096);
		close(fd);
	}
	COSY_END;
	(void)i;
}

static void large_file(int i)
{
	long n;
	int fd;

	COSY_START;
	fd = open(TREE "/big", O_RDONLY);
	if (fd >= 0) {
		while ((n = read(fd, buf, 4096)) > 0)
			sum += n;
		close(fd);
	}
	COSY_END;
	(void)i;
}

static void one_getpid(int i)
{
	COSY_START;
	sum += getpid();
	COSY_END;
	(void)i;
}

static void two_getpids(int i)
{
	COSY_START;
	sum += getpid();
	sum += getpid();
	COSY_END;
	(void)i;
}

static void twenty_getppids(int i)
{
	COSY_START;
	for (int k = 0; k < 20; k++)
		sum += getppid();
	COSY_END;
	(void)i;
}

static int lock(short type, off_t at)
{
	struct flock fl = { .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 64 };

	return fcntl(record_fd, F_SETLKW, &fl);
}

static void record_locks(int i)
{
	off_t at = i % 64 * 64;

	COSY_START;
	if (lock(F_WRLCK, at) == 0)
		lock(F_UNLCK, at);
	COSY_END;
}

static void record_update(int i)
{
	off_t at = i % 64 * 64;
	char s[64];

	COSY_START;
	if (lseek(record_fd, at, SEEK_SET) >= 0 && read(record_fd, s, sizeof(s)) >= 0) {
		s[0]++;
		if (lseek(record_fd, at, SEEK_SET) >= 0)
			sum += write(record_fd, s, sizeof(s));
	}
	COSY_END;
}

static void locked_record_update(int i)
{
	off_t at = i % 64 * 64;
	char s[64];

	COSY_START;
	if (lock(F_WRLCK, at) == 0) {
		if (lseek(record_fd, at, SEEK_SET) >= 0 && read(record_fd, s, sizeof(s)) >= 0) {
			s[0]++;
			if (lseek(record_fd, at, SEEK_SET) >= 0)
				sum += write(record_fd, s, sizeof(s));
		}
		lock(F_UNLCK, at);
	}
	COSY_END;
}

static void one_pread(int i)
{
	off_t at = i % 64 * 64;

	COSY_START;
	sum += pread(record_fd, buf, 64, at);
	COSY_END;
}

static void sixteen_preads(int i)
{
	COSY_START;
	for (int k = 0; k < 16; k++)
		sum += pread(record_fd, buf, 64, k * 64);
	COSY_END;
	(void)i;
}

static void eight_pwrites(int i)
{
	COSY_START;
	for (int k = 0; k < 8; k++)
		sum += pwrite(record_fd, buf, 64, k * 64);
	COSY_END;
	(void)i;
}

static void readdir_and_status(int i)
{
	struct dirent *entry;
	struct stat st;
	DIR *dir = opendir(TREE "/dir");

	if (!dir)
		return;
	COSY_START;
	while ((entry = readdir(dir)))
		sum += fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	COSY_END;
	closedir(dir);
	(void)i;
}

struct dirent64_of_kernel {
	uint64_t ino, off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

static void getdents_and_status(int i)
{
	long n;
	int fd;

	COSY_START;
	fd = open(TREE "/dir", O_RDONLY | O_DIRECTORY);
	while ((n = syscall(SYS_getdents64, fd, buf, 4096)) > 0) {
		for (long at = 0; at < n;) {
			struct dirent64_of_kernel *entry = (void *)(buf + at);
			struct stat st;

			sum += fstatat(fd, entry->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
			at += entry->reclen;
		}
	}
	close(fd);
	COSY_END;
	(void)i;
}

static void create_and_remove(int i)
{
	COSY_START;
	for (int k = 0; k < 4; k++) {
		int fd = open(TREE "/new", O_WRONLY | O_CREAT | O_TRUNC, 0600);

		sum += write(fd, buf, 100);
		close(fd);
		unlink(TREE "/new");
	}
	COSY_END;
	(void)i;
}

static void rename_twice(int i)
{
	COSY_START;
	sum += rename(TREE "/renamed", TREE "/other");
	sum += rename(TREE "/other", TREE "/renamed");
	COSY_END;
	(void)i;
}

static void make_directory(int i)
{
	COSY_START;
	sum += mkdir(TREE "/made", 0700);
	sum += rmdir(TREE "/made");
	COSY_END;
	(void)i;
}

static void links(int i)
{
	COSY_START;
	for (int k = 0; k < 4; k++) {
		sum += symlink("somewhere", TREE "/link");
		sum += readlink(TREE "/link", buf, 100);
		sum += unlink(TREE "/link");
	}
	COSY_END;
	(void)i;
}

static void eight_readlinks(int i)
{
	COSY_START;
	for (int k = 0; k < 8; k++)
		sum += readlink(TREE "/a-link", buf, 100);
	COSY_END;
	(void)i;
}

static void eight_accesses(int i)
{
	COSY_START;
	for (int k = 0; k < 8; k++)
		sum += access(names[k], R_OK);
	COSY_END;
	(void)i;
}

static void failing_opens(int i)
{
	COSY_START;
	for (int k = 0; k < 4; k++)
		sum += open(TREE "/missing", O_RDONLY);
	COSY_END;
	(void)i;
}

static void pipe_round_trips(int i)
{
	COSY_START;
	for (int k = 0; k < 4; k++) {
		sum += write(pipes[1], buf, 64);
		sum += read(pipes[0], buf, 64);
	}
	COSY_END;
	(void)i;
}

static void socket_round_trip(int i)
{
	COSY_START;
	sum += send(sockets[0], buf, 64, 0);
	sum += recv(sockets[1], buf, 64, 0);
	COSY_END;
	(void)i;
}

static void poll_and_read(int i)
{
	struct pollfd fd = { .fd = pipes[0], .events = POLLIN };

	COSY_START;
	sum += write(pipes[1], buf, 64);
	if (poll(&fd, 1, 0) == 1)
		sum += read(pipes[0], buf, 64);
	COSY_END;
	(void)i;
}

/* Operations take eight times as long as native instructions. */
static void checksum(int i)
{
	COSY_START;
	long n = pread(big_fd, buf, 4096, 0);

	for (long k = 0; k < n; k++)
		sum = sum * 31 + (unsigned char)buf[k];
	COSY_END;
	(void)i;
}

static void short_checksums(int i)
{
	COSY_START;
	for (int r = 0; r < 16; r++) {
		long n = pread(big_fd, buf, 16, r * 64);

		for (long k = 0; k < n; k++)
			sum += (unsigned char)buf[k];
	}
	COSY_END;
	(void)i;
}

static void descriptor_flags(int i)
{
	COSY_START;
	for (int k = 0; k < 8; k++)
		sum += fcntl(record_fd, F_GETFL);
	COSY_END;
	(void)i;
}

static void duplicates(int i)
{
	COSY_START;
	for (int k = 0; k < 4; k++)
		close(dup(record_fd));
	COSY_END;
	(void)i;
}

static void formatted_lines(int i)
{
	COSY_START;
	for (int k = 0; k < 4; k++) {
		int n = snprintf(buf, 100, "%d %d\n", i, k);

		sum += pwrite(record_fd, buf, n, 0);
	}
	COSY_END;
}

static void allocated_status(int i)
{
	COSY_START;
	for (int k = 0; k < 8; k++) {
		struct stat *st = malloc(sizeof(*st));

		sum += stat(names[k], st) == 0 ? st->st_size : 0;
		free(st);
	}
	COSY_END;
	(void)i;
}

static void directory_or_file(int i)
{
	const char *name = i % 2 ? TREE "/dir" : name_of(i);
	struct stat st;

	COSY_START;
	if (stat(name, &st) == 0 && S_ISREG(st.st_mode)) {
		int fd = open(name, O_RDONLY);

		sum += read(fd, buf, 4096);
		close(fd);
	}
	COSY_END;
}

static void touched_files(int i)
{
	COSY_START;
	for (int k = 0; k < 4; k++)
		sum += utimensat(AT_FDCWD, names[k], NULL, 0);
	COSY_END;
	(void)i;
}

static void copied_file(int i)
{
	int from, to;
	long n;

	COSY_START;
	from = open(TREE "/big", O_RDONLY);
	to = open(TREE "/copy", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	while ((n = read(from, buf, 16384)) > 0)
		sum += write(to, buf, n);
	close(to);
	close(from);
	COSY_END;
	(void)i;
}

static void gathered_write(int i)
{
	struct iovec parts[2] = { { buf, 32 }, { buf + 64, 32 } };

	COSY_START;
	for (int k = 0; k < 4; k++)
		sum += pwritev(record_fd, parts, 2, 0);
	COSY_END;
	(void)i;
}

static const struct region regions[] = {
	REGION(hashed_file), REGION(record_locks), REGION(record_update),
	REGION(locked_record_update), REGION(small_file), REGION(readdir_and_status),
	REGION(one_getpid), REGION(sixteen_stats), REGION(one_stat),
	REGION(stats_and_random), REGION(stats_of_missing), REGION(small_file_with_status),
	REGION(file_hashed_later), REGION(ten_files), REGION(large_file), REGION(two_getpids),
	REGION(twenty_getppids), REGION(one_pread), REGION(sixteen_preads),
	REGION(eight_pwrites), REGION(getdents_and_status), REGION(create_and_remove),
	REGION(rename_twice), REGION(make_directory), REGION(links), REGION(eight_readlinks),
	REGION(eight_accesses), REGION(failing_opens), REGION(pipe_round_trips),
	REGION(socket_round_trip), REGION(poll_and_read), REGION(checksum),
	REGION(short_checksums), REGION(descriptor_flags), REGION(duplicates),
	REGION(formatted_lines), REGION(allocated_status), REGION(directory_or_file),
	REGION(touched_files), REGION(copied_file), REGION(gathered_write),
};

int main(int argc, char **argv)
{
	return measure_regions(regions, sizeof(regions) / sizeof(*regions), argc, argv);
}
