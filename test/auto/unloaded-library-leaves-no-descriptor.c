// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A shared library that is unloaded leaves no descriptor of the device, and does not close another
 * file of the program with that number.
 */

// RUN: %cosy-cc -O2 -Wall -fcosy-auto -DLIBRARY -shared -fPIC %s -o %t.so
// RUN: %cc -O2 -Wall %s -o %t && %vm env COSY_EXECUTOR=kernel %t %t.so | FileCheck %s
// CHECK: loaded: 1 descriptor
// CHECK-NEXT: unloaded: 0 descriptors
// CHECK-NEXT: loaded: 1 descriptor
// CHECK-NEXT: unloaded, another file there: open

#include <sys/stat.h>

#ifdef LIBRARY
int use(void);

int use(void)
{
	struct stat st;

	for (int i = 0; i < 64; i++)
		if (stat("/", &st))
			return 0;
	return 1;
}
#else
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_DESCRIPTORS 8192

/* Return: the number of descriptors of the device; *last is set to one of them. */
static int count(int *last)
{
	char name[64], target[64];
	int found = 0;

	for (int fd = 0; fd < MAX_DESCRIPTORS; fd++) {
		ssize_t n;

		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		n = readlink(name, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		if (strcmp(target, "/dev/cosy"))
			continue;
		found++;
		*last = fd;
	}
	return found;
}

static void *load(const char *name, int *fd)
{
	void *library = dlopen(name, RTLD_NOW);
	int (*use)(void) = library ? (int (*)(void))dlsym(library, "use") : NULL;

	if (!use || !use())
		exit(1);
	printf("loaded: %d descriptor\n", count(fd));
	return library;
}

int main(int argc, char **argv)
{
	struct rlimit files;
	void *library;
	int fd = -1;

	if (argc < 2)
		return 1;
	library = load(argv[1], &fd);
	if (dlclose(library))
		return 1;
	printf("unloaded: %d descriptors\n", count(&fd));

	library = load(argv[1], &fd);
	close(fd);
	/* The limit does not permit the number. */
	if (getrlimit(RLIMIT_NOFILE, &files))
		return 1;
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files) ||
	    fcntl(STDOUT_FILENO, F_DUPFD, fd) != fd || dlclose(library))
		return 1;
	printf("unloaded, another file there: %s\n",
	       fcntl(fd, F_GETFD) < 0 ? "closed" : "open");
	return 0;
}
#endif
