// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * advice.c - loops for which only some advice is right.
 *
 * usage: advice records|answers|copy|times|sizes|reached|names
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#define LOOPS 400

#ifdef AS_GO
/* What the Go linker writes, and a call as Go makes it. */
__attribute__((section(".note.go.buildid"), used)) static const char build_id[4] = "go";
#endif

/* Update a record in place. */
static void records(void)
{
	int fd = open("/tmp/records", O_RDWR | O_CREAT | O_TRUNC, 0600);
	char record[64] = "";

	if (fd < 0 || ftruncate(fd, 64 * 64))
		err(1, "/tmp/records");
	for (int i = 0; i < LOOPS; i++) {
		off_t at = i % 64 * 64;

		if (lseek(fd, at, SEEK_SET) < 0 || read(fd, record, 64) != 64)
			err(1, "read");
		record[0]++;
		if (lseek(fd, at, SEEK_SET) < 0 || write(fd, record, 64) != 64)
			err(1, "write");
	}
}

/* Answer requests: both descriptors of the pair are read and written. */
static void answers(void)
{
	char request[16] = "";
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		err(1, "socketpair");
	for (int i = 0; i < LOOPS; i++) {
		if (send(pair[0], request, 16, 0) != 16 || read(pair[1], request, 16) != 16 ||
		    write(pair[1], request, 16) != 16 || recv(pair[0], request, 16, 0) != 16)
			err(1, "request");
	}
}

static void copy(void)
{
	int from = open("/dev/zero", O_RDONLY), to = open("/tmp/copy", O_WRONLY | O_CREAT, 0600);
	char part[512];

	for (int i = 0; i < LOOPS; i++) {
		if (read(from, part, 512) != 512 || write(to, part, 512) != 512)
			err(1, "copy");
	}
}

/* The C library looks at /etc/localtime each time. */
static void times(void)
{
	long sum = 0;

	for (time_t t = 0; t < LOOPS; t++)
		sum += localtime(&t)->tm_sec;
	printf("%ld\n", sum);
}

/* The status of each file in a directory: batches, markers and cosy run help the same calls. */
static void sizes(void)
{
	DIR *dir = opendir("/tmp/sizes");
	const struct dirent *entry;
	struct stat st;
	long sum = 0;

	while (dir && (entry = readdir(dir)))
		sum += fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ? 0 : st.st_size;
	printf("%ld\n", sum);
}

/* Calls that functions of the C library make, and that cosy run makes, and some that gain less. */
static void reached(void)
{
	char result[PATH_MAX];
	FILE *file;

	if (chdir("/tmp/sizes"))
		err(1, "/tmp/sizes");
	for (int i = 0; i < LOOPS; i++) {
		if (utime("file-1", NULL))
			err(1, "utime");
		file = fopen("file-1", "r");
		if (!file || fclose(file))
			err(1, "fopen");
		if (close(open("file-1", O_PATH)))
			err(1, "open");
		/* Only the first takes one call of the module. */
		if (!realpath("/tmp/sizes/file-1", result) || !realpath("file-1", result))
			err(1, "realpath");
	}
}

/* Calls with names of different forms. check-advice.py finds each loop by its number of iterations. */
static void names(void)
{
	int dir = open("/tmp/sizes", O_DIRECTORY), done = 0;
	struct stat st;

	if (dir < 0 || fchdir(dir))
		err(1, "/tmp/sizes");
	for (int i = 0; i < LOOPS + 1; i++)
		done += !stat("/tmp/sizes/file-1", &st);
	for (int i = 0; i < LOOPS + 2; i++)
		done += !stat("file-1", &st);
	for (int i = 0; i < LOOPS + 3; i++)
		done += !fstatat(dir, "file-1", &st, 0);
	for (int i = 0; i < LOOPS + 4; i++)
		done += !fstatat(AT_FDCWD, "file-1", &st, 0);
	for (int i = 0; i < LOOPS + 5; i++)
		done += !close(open("file-1", O_RDONLY | O_CLOEXEC));
	for (int i = 0; i < LOOPS + 6; i++)
		done += !close(open("file-1", O_WRONLY));
	for (int i = 0; i < LOOPS + 7; i++)
		done += !close(open("file-1", O_RDONLY | O_NOATIME));
	for (int i = 0; i < LOOPS + 8; i++)
		done += stat("missing", &st);
	for (int i = 0; i < LOOPS + 9; i++)
		done += open("missing", O_RDONLY);
	printf("%d\n", done);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} all[] = { { "records", records }, { "answers", answers }, { "copy", copy },
		    { "times", times }, { "sizes", sizes }, { "reached", reached },
		    { "names", names } };

	for (size_t i = 0; argc == 2 && i < sizeof(all) / sizeof(all[0]); i++) {
		if (!strcmp(argv[1], all[i].name)) {
			all[i].function();
			return 0;
		}
	}
	return 2;
}
