// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cat - concatenate files
// RUN: %cosy-cc -O2 -D_GNU_SOURCE %s -o %t
// RUN: head -c 300000 %S/../../compound-ir/syscalls.def >%t.1 && printf 'no newline' >%t.2
// RUN: echo input | %run-all %t %t.1 - %t.2 %t.1 >%t.out
// RUN: (cat %t.1; echo input; cat %t.2 %t.1) | cmp - %t.out
// RUN: %run-all --status 1 %t %t.2 %t.missing %S %t.2 2>&1 | FileCheck %s
// CHECK: no newlineno newline
// CHECK: cat: {{.*}}.missing: No such file or directory
// CHECK: cat: {{.*}}programs: Is a directory
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char buffer[65536];

static int cat(int in, const char *name)
{
	ssize_t n;

	COSY_START;
	while ((n = read(in, buffer, sizeof(buffer))) != 0) {
		char *p = buffer;

		if (n < 0) {
			if (errno == EINTR)
				continue;
			fprintf(stderr, "cat: %s: %s\n", name, strerror(errno));
			return 1;
		}
		while (n > 0) {
			ssize_t done = write(STDOUT_FILENO, p, n);

			if (done <= 0) {
				if (done < 0 && errno == EINTR)
					continue;
				perror("cat: write error");
				return 1;
			}
			p += done;
			n -= done;
		}
	}
	COSY_END;
	return 0;
}

int main(int argc, char *argv[])
{
	int status = 0;

	if (argc == 1)
		return cat(STDIN_FILENO, "-");
	for (int i = 1; i < argc; i++) {
		int fd = STDIN_FILENO;

		if (strcmp(argv[i], "-"))
			fd = open(argv[i], O_RDONLY);
		if (fd < 0) {
			fprintf(stderr, "cat: %s: %s\n", argv[i], strerror(errno));
			status = 1;
			continue;
		}
		status |= cat(fd, argv[i]);
		if (fd != STDIN_FILENO)
			close(fd);
	}
	return status;
}
