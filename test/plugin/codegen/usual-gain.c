// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a loop usually gains: opening that creates a file, writing at the end of a file, calls of
// descriptors that are no files, and operations that are seldom executed.
// RUN: %clang -O2 -S -o %t.s -w -Rpass-analysis=cosy %s 2>&1 | grep 'this loop' | FileCheck %s
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Creating a file saves less than opening one to read it. */
void creates(const char *path, int n)
{
	COSY_START;
	// CHECK: usually takes 15{{[0-9][0-9]}} less ({{.*}}; its native code saves up to 933 by single calls
	for (int i = 0; i < n; i++)
		close(open(path, O_WRONLY | O_CREAT, 0600));
	// CHECK: usually takes 23{{[0-9][0-9]}} less ({{.*}}; its native code saves up to 1666 by single calls
	for (int i = 0; i < n; i++)
		close(open(path, O_RDONLY));
	COSY_END;
}

/* A write after a seek to the end extends the file, one after another seek does not. */
long appends(int fd, const char *buf, int n)
{
	long sum = 0;

	COSY_START;
	// CHECK: usually takes 3{{[0-9][0-9]}} less (
	for (int i = 0; i < n; i++)
		sum += lseek(fd, 0, SEEK_END) + write(fd, buf, 10);
	COSY_END;
	COSY_START;
	// CHECK: usually takes 9{{[0-9][0-9]}} less (
	for (int i = 0; i < n; i++)
		sum += lseek(fd, i, SEEK_SET) + write(fd, buf, 10);
	COSY_END;
	return sum;
}

/* A loop that polls reads pipes or connections. */
long polls(struct pollfd *p, char *buf, int n)
{
	long sum = 0;

	COSY_START;
	// CHECK: usually takes 3{{[0-9][0-9]}} less (
	for (int i = 0; i < n; i++)
		sum += poll(p, 1, 0) + read(p->fd, buf, 10);
	COSY_END;
	return sum;
}

/* The second comparison is made for half of the names or less. */
int compares(const char *const *names, int n)
{
	int sum = 0;

	COSY_START;
	// CHECK: its operations cost up to 3{{[0-9][0-9]}}; as a compound it usually takes 1{{[56][0-9][0-9]}} less (
	for (int i = 0; i < n; i++)
		if (access(names[i], R_OK) == 0 && strcmp(names[i], "name") == 0)
			sum++;
	COSY_END;
	return sum;
}
