// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts that the plugin proves about calls become hints, and remarks at their lines.
// RUN: %clang -O2 -c -o %t.o -fplugin-arg-cosy-dump -Rpass=cosy -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: %clang -O0 -c -o %t.o -fplugin-arg-cosy-dump %s 2>&1 | FileCheck --check-prefix=O0 %s
// RUN: %clang -O2 -c -o %t.o -fplugin-arg-cosy-dump -fplugin-arg-cosy-no-fast %s 2>&1 | FileCheck --check-prefix=PLAIN %s
#include <cosy.h>
#include <fcntl.h>
#include <unistd.h>

// PLAIN-NOT: {{private|rest|join}}
// PLAIN: libc.plain r{{[0-9]+}}, openat
// PLAIN: libc.plain r{{[0-9]+}}, read
// PLAIN-NOT: {{private|rest|join}}

// CHECK: fast-paths.c:[[#@LINE+10]]:11: remark: the descriptor is private: it is closed here and passed to no other code
// CHECK: fast-paths.c:[[#@LINE+13]]:15: remark: reads on to the end of the file are made at once
// CHECK-LABEL: .compound "whole"
// CHECK: libc.private r[[#FD:]], openat,
// CHECK: libc.rest r{{[0-9]+}}, read, r[[#FD]],
// O0: libc.private
// O0: libc.rest
long whole(const char *name, char *to)
{
	COSY_START;
	int fd = open(name, O_RDONLY);
	long used = 0, n;

	if (fd >= 0)
		while ((n = read(fd, to + used, 4096)) > 0)
			used += n;
	close(fd);
	COSY_END;
	return used;
}

// CHECK: fast-paths.c:[[#@LINE+7]]:11: remark: the descriptor is not private: it is stored in memory
// CHECK-LABEL: .compound "known"
// CHECK: libc r{{[0-9]+}}, openat
int known_fd;
void known(const char *name)
{
	COSY_START;
	int fd = open(name, O_RDONLY);
	known_fd = fd;
	close(fd);
	COSY_END;
}

// CHECK: fast-paths.c:[[#@LINE+9]]:14: remark: not read at once: the pieces do not follow each other in memory
// CHECK-LABEL: .compound "over"
// CHECK: libc r{{[0-9]+}}, read
long over(const char *name, char *to)
{
	long used = 0, n;

	COSY_START;
	int fd = open(name, O_RDONLY);
	while ((n = read(fd, to, 4096)) > 0)
		used += n;
	close(fd);
	COSY_END;
	return used;
}

// CHECK: fast-paths.c:[[#@LINE+10]]:14: remark: not read at once: the loop does more than read
// CHECK-LABEL: .compound "noisy"
// CHECK: libc r{{[0-9]+}}, read
long noisy(const char *name, char *to, long *progress)
{
	long used = 0, n;

	COSY_START;
	int fd = open(name, O_RDONLY);

	while ((n = read(fd, to + used, 4096)) > 0)
		*progress = used += n;
	close(fd);
	COSY_END;
	return used;
}

// CHECK: fast-paths.c:[[#@LINE+10]]:6: remark: joined with the read after it
// CHECK: fast-paths.c:[[#@LINE+12]]:3: remark: not joined with a call after it: something else is done between them
// CHECK-LABEL: .compound "seek"
// CHECK: libc.join r{{[0-9]+}}, lseek
// CHECK: libc r{{[0-9]+}}, lseek
long seek(int fd, long at, char *to)
{
	long n = 0;

	COSY_START;
	if (lseek(fd, at, SEEK_SET) >= 0)
		n = read(fd, to, 10);
	if (n > 5) {
		lseek(fd, at, SEEK_SET);
		to[0] = 'x';
		n = write(fd, to, 10);
	}
	COSY_END;
	return n;
}
