// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * many-files.c - a user's private files when the number of files has reached the system's limit.
 * They count, and ENFILE is returned as natively.
 *
 *	many-files DIRECTORY
 *
 * Must run in a separate VM with one CPU. It uses the files of all processes, and with several
 * CPUs the kernel counts files inexactly.
 */
#include "more-regions.h"

#include <stdio_ext.h>
#include <sys/resource.h>

#define FILE_MAX "/proc/sys/fs/file-max"
#define FILE_NR "/proc/sys/fs/file-nr"
#define MAX_FILES 1000

static long read_number(const char *name)
{
	FILE *file = fopen(name, "r");
	long number = -1;

	if (!file || fscanf(file, "%ld", &number) != 1)
		printf("%s: %s\n", name, strerror(errno));
	fclose(file);
	return number;
}

/* The maximum number of files. Only root may set it, and root is not limited. */
static void set_most(long number)
{
	FILE *file;

	if (seteuid(0))
		exit(1);
	file = fopen(FILE_MAX, "w");
	if (!file || fprintf(file, "%ld", number) < 0 || fclose(file))
		printf("file-max: %s\n", strerror(errno));
	if (seteuid(65534))
		exit(1);
}

/* Open two at once, when only one is allowed. */
static void two(const char *what)
{
	int errors[2] = { 0, 0 }, a, b;
	char bytes[10];
	long n;

	COSY_START;
	a = open("from4096", O_RDONLY);
	if (a < 0)
		errors[0] = errno;
	b = open("made", O_RDWR | O_CREAT, 0600);
	if (b < 0)
		errors[1] = errno;
	n = read(a, bytes, sizeof(bytes));
	close(a);
	close(b);
	COSY_END;
	printf("%s, two: %d %d, errors %d %d, read %ld\n", what, a >= 0, b >= 0, errors[0], errors[1], n);
	printf("  made: %d\n", access("made", F_OK));
	unlink("made");
}

static void everything(const char *what)
{
	printf("%s\n", what);
	say("slurp", slurp("from65536", O_RDONLY));
	say("slurp, missing", slurp("missing", O_RDONLY));
	say("create", create("made", O_RDWR | O_EXCL, 100));
	printf("  made: %d\n", access("made", F_OK));
	unlink("made");
	say("list", list("."));
	say_names("from4096");
	two(what);
}

/*
 * Open files until the system's limit is reached; @taken are open. The kernel releases files of other processes
 * later, such as those of a file system that was unmounted. Return how many are open.
 */
static int take_all(int files[MAX_FILES], int taken)
{
	while (taken < MAX_FILES - 1 && (files[taken] = open("from1", O_RDONLY)) >= 0)
		taken++;
	do {
		close(files[--taken]);
		files[taken] = open("from1", O_RDONLY);
	} while (taken && files[taken] < 0);
	return taken + 1;
}

/*
 * Do everything with @left of the system's files, and print it. It is repeated if another process has taken
 * or given back a file meanwhile. Return how many are open.
 */
static int everything_of(const char *what, int left, int files[MAX_FILES], int taken)
{
	int before;

	fflush(stdout);
	do {
		__fpurge(stdout);
		before = take_all(files, taken);
		for (taken = before; taken > before - left; taken--)
			close(files[taken - 1]);
		everything(what);
		taken = take_all(files, taken);
	} while (taken != before);
	fflush(stdout);
	return taken;
}

int main(int argc, char **argv)
{
	long normal = read_number(FILE_MAX);
	int next = dup(0), taken;
	struct rlimit limit, none;
	static int files[MAX_FILES];

	(void)argv;
	if (argc != 2)
		return 2;
	if (geteuid() != 0)
		return 0;
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	close(next);
	set_most(normal);
	everything("enough");
	set_most(1);
	everything("none is left");
	/* EMFILE comes first. */
	getrlimit(RLIMIT_NOFILE, &limit);
	none = (struct rlimit){ (rlim_t)next, limit.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	say("nor a number", slurp("from65536", O_RDONLY));
	setrlimit(RLIMIT_NOFILE, &limit);
	set_most(normal);
	everything("enough again");

	/*
	 * All are used, then all except a few. The CPU adds what it has opened or closed to the number that the kernel
	 * compares first only when it is 32. It has just done so when no more can be opened. With a limit of about that
	 * number, it does not do so during the calls, and the kernel counts exactly.
	 */
	set_most(read_number(FILE_NR) + 500);
	for (taken = 0; taken < MAX_FILES && (files[taken] = open("from1", O_RDONLY)) >= 0; taken++)
		;
	printf("taken: %d, %s\n", taken > 400 && taken < 600, strerror(errno));
	set_most(normal);
	set_most(read_number(FILE_NR) - 1);
	for (int left = 0; left < 4; left++) {
		char what[20];

		snprintf(what, sizeof(what), "%d left", left);
		for (int again = 0; again < 2; again++)
			taken = everything_of(what, left, files, taken);
	}
	while (taken)
		close(files[--taken]);
	set_most(normal);
	everything("all given back");
	return 0;
}
