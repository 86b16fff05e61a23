// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A log that is rotated when it is full: copies standard input to log, log.1, log.2, …
// RUN: %cosy-cc -O2 -D_GNU_SOURCE %s -o %t
// RUN: seq 1 5000 >%t.in
// RUN: %run-all --before 'rm -rf %t.dir; mkdir %t.dir' --file %t.dir/log --file %t.dir/log.1 \
// RUN:   --file %t.dir/log.2 --file %t.dir/log.3 --file %t.dir/log.4 %t %t.dir/log 4000 3 <%t.in \
// RUN:   | FileCheck %s
// CHECK: 23893 bytes, 5 rotations
// RUN: tail -n 1 %t.dir/log | grep -x 5000 && test -e %t.dir/log.3 -a ! -e %t.dir/log.4
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *log_name;
static int log_fd = -1, keep;

static void name_of(char *name, size_t size, int number)
{
	if (number)
		snprintf(name, size, "%s.%d", log_name, number);
	else
		snprintf(name, size, "%s", log_name);
}

static int rotate(void)
{
	char from[4096], to[4096];

	for (int i = keep; i >= 0; i--) {
		name_of(from, sizeof(from), i);
		name_of(to, sizeof(to), i + 1);
		if (i == keep ? unlink(from) : rename(from, to)) {
			if (errno != ENOENT)
				return -1;
		}
	}
	if (log_fd >= 0)
		close(log_fd);
	log_fd = open(log_name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	return log_fd;
}

int main(int argc, char *argv[])
{
	long limit, total = 0, rotations = 0;
	char buf[1000];
	struct stat st;
	ssize_t n;

	if (argc != 4)
		return 2;
	log_name = argv[1];
	limit = atol(argv[2]);
	keep = atoi(argv[3]);
	if (rotate() < 0) {
		perror(log_name);
		return 1;
	}
	COSY_START;
	while ((n = read(STDIN_FILENO, buf, sizeof(buf))) > 0) {
		if (fstat(log_fd, &st) < 0)
			break;
		if (st.st_size + n > limit) {
			if (rotate() < 0)
				break;
			rotations++;
		}
		if (write(log_fd, buf, n) != n)
			break;
		total += n;
	}
	COSY_END;
	if (n != 0) {
		perror(log_name);
		return 1;
	}
	printf("%ld bytes, %ld rotations\n", total, rotations);
	return 0;
}
