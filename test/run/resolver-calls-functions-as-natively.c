// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A library chooses a function when it is relocated (IFUNC), and calls functions that cosy run interposes for
 * that. libcosy-preload.so is relocated later. The program does the same as natively.
 */

// RUN: %cc -O1 -Wall -fPIC -shared -Wl,-z,now -DLIBRARY %s -o %t.so && %cc -O1 -Wall %s %t.so -o %t
// RUN: %t >%t.native
// RUN: %build/bin/cosy run %t >%t.run && cmp %t.native %t.run
// RUN: %build/bin/cosy run /lib64/ld-linux-x86-64.so.2 %t >%t.run && cmp %t.native %t.run
// RUN: env COSY_EXECUTOR=kernel %build/bin/cosy run %t >%t.run && cmp %t.native %t.run

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *results(void);

#ifdef LIBRARY
/*
 * With glibc 2.43, malloc() crashes natively before all libraries are relocated, so fopen() does. 2.42 was not
 * tried.
 */
#define FOPEN_WORKS !__GLIBC_PREREQ(2, 42)

static char text[200];

static const char *chosen(void)
{
	return text;
}

static const char *(*resolve(void))(void)
{
	char link[PATH_MAX], path[PATH_MAX];
	int fd = open("/etc/passwd", O_RDONLY), missing = open("/missing", O_RDONLY), error = errno;
	FILE *file = FOPEN_WORKS ? fopen("/etc/passwd", "r") : NULL;
	struct stat st;

	snprintf(text, sizeof(text), "%d %d %d %d %d %d %d %d %d %d", fd >= 0, missing, error, !!file,
		 stat("/", &st), access("/", R_OK), readlink("/proc/self/exe", link, sizeof(link)) > 0,
		 !!realpath("/usr/..", path), prctl(PR_GET_DUMPABLE), (int)syscall(SYS_access, "/", R_OK));
	if (file)
		fclose(file);
	close(fd);
	return chosen;
}

/* The library calls it through a relocation of its own. */
const char *choose(void) __attribute__((ifunc("resolve"), visibility("hidden")));

const char *results(void)
{
	return choose();
}
#else
int main(void)
{
	puts(results());
	return 0;
}
#endif
