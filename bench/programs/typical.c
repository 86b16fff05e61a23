// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * typical DIRECTORY: measure an iteration of loops as programs have them, in nanoseconds of CPU time,
 * which under icount are instructions. bench/predictions.py compares what they save as compounds with
 * the plugin's predictions. Each region has one loop with system calls.
 *
 * Prints a line "NAME NANOSECONDS" for each loop.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cosy.h>

#define FILES 400
#define LINE_SIZE 64

static char names[FILES][16], copies[FILES][16], lines[FILES * LINE_SIZE], buffer[65536];
static long offsets[FILES];
static int logs[4], pipes[2], records, directory, pages, copy, event, poller;
static unsigned long sum, missing;
static double begin;

static void check(int failed, const char *what)
{
	if (failed)
		err(1, "%s", what);
}

/* User code of another file, which runs as an up-call. */
extern __attribute__((noinline, weak)) unsigned long hash(const char *bytes, long n)
{
	unsigned long h = 5381;

	for (long i = 0; i < n; i++)
		h = h * 33 + (unsigned char)bytes[i];
	return h;
}

/* Write each line to the log that its first character names. */
static void split_log(void)
{
	const char *line = lines, *end = lines + sizeof(lines);

	COSY_START;
	while (line < end) {
		const char *next = memchr(line, '\n', end - line);

		if (!next)
			break;
		next++;
		if (write(logs[(line[0] - '0') & 3], line, next - line) < 0)
			break;
		line = next;
	}
	COSY_END;
}

/* The same by the word after the time, which ends with the line's first space. */
static void split_parsed_log(void)
{
	const char *line = lines, *end = lines + sizeof(lines);

	COSY_START;
	while (line < end) {
		const char *next = memchr(line, '\n', end - line);
		const char *space = memchr(line, ' ', end - line);
		int log;

		if (!next || !space)
			break;
		next++;
		switch (space[1]) {
		case 'e':
			log = 0;
			break;
		case 'w':
			log = 1;
			break;
		case 'i':
			log = 2;
			break;
		default:
			log = 3;
			break;
		}
		sum += next - line;
		if (write(logs[log], line, next - line) != next - line)
			break;
		line = next;
	}
	COSY_END;
}

static int lock(short type, off_t at)
{
	struct flock fl = { .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 64 };

	return fcntl(records, F_SETLKW, &fl);
}

static void lock_records(void)
{
	COSY_START;
	for (int i = 0; i < FILES; i++) {
		if (lock(F_WRLCK, i % 64 * 64) || lock(F_UNLCK, i % 64 * 64))
			break;
	}
	COSY_END;
}

static void update_locked(void)
{
	char record[64];

	COSY_START;
	for (int i = 0; i < FILES; i++) {
		off_t at = i % 64 * 64;

		if (lock(F_WRLCK, at) || pread(records, record, sizeof(record), at) < 0)
			break;
		record[0]++;
		if (pwrite(records, record, sizeof(record), at) < 0 || lock(F_UNLCK, at))
			break;
	}
	COSY_END;
}

static void update_records(void)
{
	char record[64];

	COSY_START;
	for (int i = 0; i < FILES; i++) {
		off_t at = i % 64 * 64;

		if (lseek(records, at, SEEK_SET) < 0 || read(records, record, sizeof(record)) < 0)
			break;
		record[0]++;
		if (lseek(records, at, SEEK_SET) < 0 ||
		    write(records, record, sizeof(record)) < 0)
			break;
	}
	COSY_END;
}

static void read_files(void)
{
	COSY_START;
	for (int i = 0; i < FILES; i++) {
		int fd = open(names[i], O_RDONLY);

		if (fd < 0)
			break;
		sum += read(fd, buffer, 4096);
		close(fd);
	}
	COSY_END;
}

static void read_by_status(void)
{
	struct stat st;

	COSY_START;
	for (int i = 0; i < FILES; i++) {
		int fd = open(names[i], O_RDONLY);

		if (fd < 0)
			break;
		if (fstat(fd, &st) == 0)
			sum += read(fd, buffer, st.st_size);
		close(fd);
	}
	COSY_END;
}

static void hash_files(void)
{
	COSY_START;
	for (int i = 0; i < FILES; i++) {
		int fd = open(names[i], O_RDONLY);
		long n;

		if (fd < 0)
			break;
		n = read(fd, buffer, sizeof(buffer));
		sum += hash(buffer, n);
		close(fd);
	}
	COSY_END;
}

static void sum_sizes(void)
{
	struct stat st;

	COSY_START;
	for (int i = 0; i < FILES; i++) {
		if (lstat(names[i], &st) == 0 && S_ISREG(st.st_mode))
			sum += st.st_blocks;
	}
	COSY_END;
}

static void read_directory(void)
{
	DIR *dir = opendir(".");
	struct dirent *entry;
	struct stat st;

	check(!dir, "opendir");
	COSY_START;
	while ((entry = readdir(dir)))
		sum += fstatat(directory, entry->d_name, &st, AT_SYMLINK_NOFOLLOW);
	COSY_END;
	closedir(dir);
}

struct entry {
	uint64_t ino, off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

static void read_entries(void)
{
	struct stat st;
	long n;

	check(lseek(directory, 0, SEEK_SET) != 0, "lseek");
	n = syscall(SYS_getdents64, directory, buffer, sizeof(buffer));
	COSY_START;
	for (long at = 0; at < n;) {
		struct entry *entry = (void *)(buffer + at);

		sum += fstatat(directory, entry->name, &st, AT_SYMLINK_NOFOLLOW);
		at += entry->reclen;
	}
	COSY_END;
}

static void print_lines(void)
{
	COSY_START;
	for (int i = 0; i < FILES; i++) {
		int n = snprintf(buffer, 100, "%d\n", i);

		if (pwrite(records, buffer, n, 0) < 0)
			break;
	}
	COSY_END;
}

/* Copy a file of FILES pages to one that grows. */
static void copy_pieces(void)
{
	long n;

	check(lseek(pages, 0, SEEK_SET) != 0 || ftruncate(copy, 0) || lseek(copy, 0, SEEK_SET) != 0,
	      "pages");
	COSY_START;
	while ((n = read(pages, buffer, 4096)) > 0) {
		if (write(copy, buffer, n) != n)
			break;
	}
	COSY_END;
}

/* Some lines cannot be read. */
static void report_failures(void)
{
	COSY_START;
	for (int i = 0; i < FILES; i++) {
		if (pread(records, buffer, 64, i % 64 * 64) < 0)
			perror("records");
	}
	COSY_END;
}

/* A checksum of each record is computed in the region. */
static void add_bytes(void)
{
	COSY_START;
	for (int i = 0; i < FILES; i++) {
		long n = pread(records, buffer, 64, i % 64 * 64);

		for (long k = 0; k < n; k++)
			sum += (unsigned char)buffer[k];
	}
	COSY_END;
}

/* Lines go to the log of their level. */
static void split_levels(void)
{
	const char *line = lines, *end = lines + sizeof(lines);

	COSY_START;
	while (line < end) {
		const char *next = memchr(line, '\n', end - line);
		const char *level = line + 26;
		int log = 3;

		if (!next)
			break;
		next++;
		if (!memcmp(level, "error", 5))
			log = 0;
		else if (!memcmp(level, "warning", 7))
			log = 1;
		else if (!memcmp(level, "info", 4))
			log = 2;
		if (write(logs[log], line, next - line) != next - line)
			break;
		line = next;
	}
	COSY_END;
}

/* Records at the offsets of an index. */
static void read_index(void)
{
	COSY_START;
	for (int i = 0; i < FILES; i++) {
		uint32_t key;

		if (pread(records, buffer, 64, offsets[i]) != 64)
			break;
		memcpy(&key, buffer, sizeof(key));
		if (key == 0x12345678)
			missing++;
		sum += key;
	}
	COSY_END;
}

/* Copy files. */
static void copy_files(void)
{
	COSY_START;
	for (int i = 0; i < FILES; i++) {
		int from = open(names[i], O_RDONLY), to;
		long n;

		if (from < 0)
			continue;
		to = open(copies[i], O_WRONLY | O_CREAT | O_TRUNC, 0644);
		if (to >= 0) {
			n = read(from, buffer, sizeof(buffer));
			if (n > 0 && write(to, buffer, n) != n)
				missing++;
			close(to);
		}
		close(from);
	}
	COSY_END;
}

/* Write files in the safe way. */
static void replace_files(void)
{
	COSY_START;
	for (int i = 0; i < FILES; i++) {
		int fd = open("temporary", O_WRONLY | O_CREAT | O_EXCL, 0600);

		if (fd < 0)
			break;
		if (write(fd, lines, 100) != 100)
			missing++;
		close(fd);
		if (rename("temporary", copies[i]))
			break;
	}
	COSY_END;
}

/* Files are made and removed again. */
static void touch_unlink(void)
{
	COSY_START;
	for (int i = 0; i < FILES; i++) {
		int fd = open("new", O_CREAT | O_WRONLY, 0644);

		if (fd < 0)
			break;
		close(fd);
		unlink("new");
	}
	COSY_END;
}

/* Append: the position is asked for first. */
static void append_records(void)
{
	COSY_START;
	for (int i = 0; i < FILES; i++) {
		off_t end = lseek(copy, 0, SEEK_END);

		if (end < 0 || write(copy, lines, LINE_SIZE) != LINE_SIZE)
			break;
	}
	COSY_END;
}

/* Every second name is missing. */
static void stat_some(void)
{
	struct stat st;

	COSY_START;
	for (int i = 0; i < FILES; i++) {
		const char *name = i & 1 ? "missing" : names[i];

		if (stat(name, &st)) {
			if (errno != ENOENT)
				warn("%s", name);
			missing++;
			continue;
		}
		sum += st.st_size;
	}
	COSY_END;
}

/* Which names exist; each is compared with its successor. */
static void check_names(void)
{
	COSY_START;
	for (int i = 0; i + 1 < FILES; i++) {
		if (strcmp(names[i], names[i + 1]) == 0)
			continue;
		if (access(names[i], R_OK) == 0)
			sum += strlen(names[i]);
	}
	COSY_END;
}

/* Set times and modes, as archivers do. */
static void set_times(void)
{
	static const struct timespec times[2] = { { 1, 2 }, { 3, 4 } };

	COSY_START;
	for (int i = 0; i < FILES; i++) {
		if (fchmodat(directory, names[i], 0644, 0) ||
		    utimensat(directory, names[i], times, 0))
			break;
	}
	COSY_END;
}

/* Lines through a pipe. */
static void pipe_through(void)
{
	COSY_START;
	for (int i = 0; i < FILES; i++) {
		if (write(pipes[1], lines + i * LINE_SIZE, LINE_SIZE) != LINE_SIZE ||
		    read(pipes[0], buffer, LINE_SIZE) != LINE_SIZE)
			break;
	}
	COSY_END;
}

/* Wait for an event that is there. */
static void take_events(void)
{
	uint64_t one = 1;

	COSY_START;
	for (int i = 0; i < FILES; i++) {
		struct epoll_event e;

		if (write(event, &one, sizeof(one)) != sizeof(one) ||
		    epoll_wait(poller, &e, 1, 0) != 1 || read(event, &one, sizeof(one)) < 0)
			break;
	}
	COSY_END;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void prepare(void)
{
	static const char *const kinds[4] = { "error", "warning", "info", "note" };
	struct epoll_event e = { .events = EPOLLIN };

	for (int i = 0; i < FILES; i++) {
		int fd;

		snprintf(names[i], sizeof(names[i]), "f%d", i);
		snprintf(copies[i], sizeof(copies[i]), "c%d", i);
		offsets[i] = i * 37 % 64 * 64;
		fd = open(names[i], O_CREAT | O_WRONLY, 0644);
		check(fd < 0 || write(fd, buffer, 1000) != 1000 || close(fd), names[i]);
		snprintf(buffer, sizeof(buffer), "%d-2026-11-30T12:00:00.000 %-37s\n", i % 4,
			 kinds[i % 4]);
		memcpy(lines + i * LINE_SIZE, buffer, LINE_SIZE);
	}
	for (int i = 0; i < 4; i++) {
		snprintf(buffer, sizeof(buffer), "log%d", i);
		logs[i] = open(buffer, O_CREAT | O_WRONLY | O_APPEND, 0644);
		check(logs[i] < 0, buffer);
	}
	pages = open("pages", O_CREAT | O_RDWR, 0644);
	check(pages < 0, "pages");
	for (int i = 0; i < FILES; i++)
		check(write(pages, buffer, 4096) != 4096, "pages");
	copy = open("copy", O_CREAT | O_RDWR, 0644);
	check(copy < 0, "copy");
	records = open("records", O_CREAT | O_RDWR, 0644);
	check(records < 0 || write(records, buffer, 4096) != 4096, "records");
	directory = open(".", O_RDONLY | O_DIRECTORY);
	check(directory < 0, "open");
	check(pipe(pipes), "pipe");
	event = eventfd(0, 0);
	poller = epoll_create1(0);
	check(event < 0 || poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, event, &e), "epoll");
	/* Later reads do not change the time, because a tick has passed since the write. */
	usleep(20000);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} loops[] = {
#define LOOP(name) { #name, name }
		LOOP(split_log), LOOP(split_parsed_log), LOOP(lock_records), LOOP(update_locked),
		LOOP(update_records), LOOP(read_files), LOOP(read_by_status), LOOP(hash_files),
		LOOP(sum_sizes), LOOP(read_directory), LOOP(read_entries), LOOP(print_lines),
		LOOP(copy_pieces), LOOP(report_failures), LOOP(add_bytes), LOOP(split_levels),
		LOOP(read_index), LOOP(copy_files), LOOP(replace_files), LOOP(touch_unlink),
		LOOP(append_records), LOOP(stat_some), LOOP(check_names), LOOP(set_times),
		LOOP(pipe_through), LOOP(take_events),
	};

	if (argc != 2)
		errx(1, "usage: typical DIRECTORY");
	check(chdir(argv[1]), argv[1]);
	prepare();
	for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
		loops[i].run();
		begin = now();
		loops[i].run();
		printf("%-16s %8.0f\n", loops[i].name, (now() - begin) / FILES);
	}
	return 0;
}
