// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define _GNU_SOURCE
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

uint64_t directory_make(int *fd)
{
	uint64_t total = 0;
	struct stat st;
	char name[16];

	if (mkdir(DIRECTORY, 0700) && errno != EEXIST)
		bench_die(DIRECTORY);
	*fd = open(DIRECTORY, O_RDONLY | O_DIRECTORY);
	if (*fd < 0)
		bench_die(DIRECTORY);
	for (int i = 0; i < DIRECTORY_FILES; i++) {
		int file;

		snprintf(name, sizeof(name), "file%04d", i);
		file = openat(*fd, name, O_WRONLY | O_CREAT, 0600);
		if (file < 0 || ftruncate(file, i))
			bench_die(name);
		close(file);
		total += (uint64_t)i;
	}
	if (fstat(*fd, &st))
		bench_die(DIRECTORY);
	total += (uint64_t)st.st_size;
	if (stat(".", &st))
		bench_die(".");
	return total + (uint64_t)st.st_size;
}
