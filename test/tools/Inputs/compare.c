// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A program with a region. With the argument "differ" it behaves in another way if COSY_EXECUTOR is
 * not native; with "time" its output is never the same.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef PLAIN
#define COSY_START
#define COSY_END
#else
#include <cosy.h>
#endif

int main(int argc, char **argv)
{
	const char *executor = getenv("COSY_EXECUTOR");
	struct timespec now;
	struct stat st;
	long found = 0;

	COSY_START;
	for (int i = 0; i < 200; i++)
		found += stat("/etc/hostname", &st) == 0;
	COSY_END;
	if (argc > 1 && !strcmp(argv[1], "time")) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		printf("%ld.%09ld\n", now.tv_sec, now.tv_nsec);
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "differ")) {
		int fd = open("left", O_WRONLY | O_CREAT | O_TRUNC, 0644);

		if (executor && !strcmp(executor, "native")) {
			fputs("e\n", stderr);
			puts("native");
			return write(fd, "native", 6) != 6;
		}
		puts("cosy");
		return 3;
	}
	printf("%ld\n", found);
	return 0;
}
