/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * More regions as the documents advise to write them, and as they warn of: batches, locks between
 * threads, callbacks, sockets, extended attributes, and regions that do something else in some entries.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#ifdef PLAIN
#define COSY_START do {} while (0)
#define COSY_END do {} while (0)
#define COSY_BATCH(size) do {} while (0)
#else
#include <cosy.h>
#endif

#include "verdict-measure.h"
#include "verdict-tree.h"

static unsigned long sum;

/* User code of another file, which runs as an up-call. */
extern __attribute__((noinline, weak)) void make_path(char *path, const char *name)
{
	strcpy(stpcpy(path, TREE "/"), name + sizeof(TREE));
}

extern __attribute__((noinline, weak)) void evaluate(const struct stat *st)
{
	sum += st->st_size;
}

/* The loop that porting.md warns of. */
static void paths_made_between(int i)
{
	char path[256];
	struct stat st;

	COSY_START;
	for (int k = 0; k < 16; k++) {
		make_path(path, names[k]);
		if (stat(path, &st) == 0)
			evaluate(&st);
	}
	COSY_END;
	(void)i;
}

static void names_in_a_batch(int i)
{
	DIR *dir = opendir(TREE "/dir");
	struct dirent *entry;
	int fd = dirfd(dir);

	while ((entry = readdir(dir))) {
		char name[256];
		struct stat st;
		int failed;

		COSY_BATCH(128);
		strcpy(name, entry->d_name);
		COSY_START;
		failed = fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW);
		COSY_END;
		if (!failed)
			evaluate(&st);
	}
	closedir(dir);
	(void)i;
}

static void appended_line(int i)
{
	int fd;

	COSY_START;
	fd = open(TREE "/log", O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (fd >= 0) {
		sum += write(fd, buf, 80);
		close(fd);
	}
	COSY_END;
	(void)i;
}

/* Transactions of a database, every third of which writes. */
static void transactions(int i)
{
	char s[64];

	COSY_START;
	for (int k = 0; k < 10; k++) {
		lseek(record_fd, k * 64, SEEK_SET);
		sum += read(record_fd, s, sizeof(s));
		if ((i + k) % 3 == 0) {
			s[1]++;
			lseek(record_fd, k * 64, SEEK_SET);
			sum += write(record_fd, s, sizeof(s));
		}
	}
	COSY_END;
}

static void small_reads(int i)
{
	char s[16];

	COSY_START;
	lseek(record_fd, 0, SEEK_SET);
	for (int k = 0; k < 64; k++)
		sum += read(record_fd, s, sizeof(s));
	COSY_END;
	(void)i;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void guarded_record(int i)
{
	off_t at = i % 64 * 64;

	COSY_START;
	pthread_mutex_lock(&mutex);
	sum += pread(record_fd, buf, 64, at);
	buf[0]++;
	sum += pwrite(record_fd, buf, 64, at);
	pthread_mutex_unlock(&mutex);
	COSY_END;
}

static void whole_file_lock(int i)
{
	COSY_START;
	if (flock(record_fd, LOCK_EX) == 0) {
		sum += pread(record_fd, buf, 64, 0);
		flock(record_fd, LOCK_UN);
	}
	COSY_END;
	(void)i;
}

/* One of four entries does much, the others do little. */
static void seldom_many(int i)
{
	int n = i % 4 ? 1 : 32;

	COSY_START;
	for (int k = 0; k < n; k++)
		sum += pread(record_fd, buf, 64, k * 64);
	COSY_END;
}

static void one_or_two_cheap_calls(int i)
{
	COSY_START;
	sum += lseek(record_fd, 0, SEEK_CUR);
	if (i % 2)
		sum += getppid();
	COSY_END;
}

static void watched_sockets(int i)
{
	struct epoll_event event = { .events = EPOLLIN };
	static int epfd;

	if (!epfd)
		epfd = epoll_create1(0);
	COSY_START;
	for (int k = 0; k < 4; k++) {
		sum += epoll_ctl(epfd, EPOLL_CTL_ADD, sockets[k % 2], &event);
		sum += epoll_ctl(epfd, EPOLL_CTL_DEL, sockets[k % 2], &event);
	}
	COSY_END;
	(void)i;
}

static void requests_and_replies(int i)
{
	COSY_START;
	for (int k = 0; k < 4; k++) {
		sum += write(sockets[0], buf, 100);
		sum += read(sockets[1], buf, 1000);
		sum += write(sockets[1], buf, 200);
		sum += read(sockets[0], buf, 1000);
	}
	COSY_END;
	(void)i;
}

static void attributes(int i)
{
	const char *name = name_of(i);

	COSY_START;
	sum += getxattr(name, "user.one", buf, 100);
	sum += listxattr(name, buf, 1000);
	COSY_END;
}

/* The types of files, as file(1) finds them. */
static void magic_numbers(int i)
{
	unsigned char s[16];

	COSY_START;
	for (int k = 0; k < 8; k++) {
		int fd = open(names[(i + k) % 100], O_RDONLY);

		if (fd < 0)
			continue;
		if (read(fd, s, sizeof(s)) == sizeof(s)) {
			switch (s[0]) {
			case 0x7f:
				sum += s[1] == 'E';
				break;
			case '#':
				sum += s[1] == '!';
				break;
			case 0:
				sum += !s[1] && !s[2];
				break;
			}
		}
		close(fd);
	}
	COSY_END;
}

/* Floating point is an up-call. */
static void averages(int i)
{
	double total = 0;
	struct stat st;

	COSY_START;
	for (int k = 0; k < 8; k++) {
		if (fstat(record_fd, &st) == 0)
			total = total * 0.5 + (double)st.st_size;
	}
	COSY_END;
	sum += (unsigned long)total + (unsigned long)i;
}

static void mapped_file(int i)
{
	COSY_START;
	char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, record_fd, 0);

	if (p != MAP_FAILED) {
		sum += (unsigned char)p[5];
		munmap(p, 4096);
	}
	COSY_END;
	(void)i;
}

static long size_by_status(const char *name)
{
	struct stat st;

	return lstat(name, &st) == 0 ? st.st_size : 0;
}

static long is_denied(const char *name)
{
	return access(name, R_OK);
}

static long (*volatile size_of)(const char *name);

static void callbacks(int i)
{
	size_of = i % 3 ? size_by_status : is_denied;
	COSY_START;
	for (int k = 0; k < 4; k++)
		sum += size_of(names[k]);
	COSY_END;
}

/* Lines from a pipe, as a filter reads them. */
static void filtered_lines(int i)
{
	char line[64];

	COSY_START;
	for (int k = 0; k < 4; k++) {
		sum += write(pipes[1], buf, 60);
		long n = read(pipes[0], line, sizeof(line));
		long at = 0;

		while (at < n && line[at] != '\n')
			at++;
		sum += at;
	}
	COSY_END;
	(void)i;
}

static const struct region regions[] = {
	REGION(paths_made_between), REGION(names_in_a_batch), REGION(appended_line), REGION(transactions), REGION(small_reads),
	REGION(guarded_record), REGION(whole_file_lock), REGION(seldom_many),
	REGION(one_or_two_cheap_calls), REGION(watched_sockets), REGION(requests_and_replies),
	REGION(attributes), REGION(magic_numbers), REGION(averages), REGION(mapped_file),
	REGION(callbacks), REGION(filtered_lines),
};

int main(int argc, char **argv)
{
	return measure_regions(regions, sizeof(regions) / sizeof(*regions), argc, argv);
}
