// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define _GNU_SOURCE
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

/* The sizes differ, but are so small that ftruncate() makes all files sparse. */
#define SIZES	5000

uint64_t directory_make(uint64_t files, int *fd, const char **path)
{
	static char directory[32];
	uint64_t total = 0;
	struct stat st;
	char name[32];

	snprintf(directory, sizeof(directory), "ls%" PRIu64 ".data", files);
	if (path)
		*path = directory;
	if (mkdir(directory, 0700) && errno != EEXIST)
		bench_die(directory);
	*fd = open(directory, O_RDONLY | O_DIRECTORY);
	if (*fd < 0)
		bench_die(directory);
	for (uint64_t i = 0; i < files; i++) {
		int file;

		snprintf(name, sizeof(name), "file%05" PRIu64, i);
		file = openat(*fd, name, O_WRONLY | O_CREAT, 0600);
		if (file < 0 || ftruncate(file, (off_t)(i % SIZES)))
			bench_die(name);
		close(file);
		total += i % SIZES;
	}
	if (fstat(*fd, &st))
		bench_die(directory);
	total += (uint64_t)st.st_size;
	if (stat(".", &st))
		bench_die(".");
	return total + (uint64_t)st.st_size;
}
