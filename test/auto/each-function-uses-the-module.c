// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Every function of preload.def that can be linked makes its call through the module: after some
 * calls of only this function, the device is open.
 */

// RUN: %cosy-cc -fcosy-auto -O2 -Wall -I%root/compound-ir %s -o %t && %vm %t | FileCheck %s
// CHECK: 49 of 49 functions

// docs/porting.md lists those that are not recognised.
// RUN: %cosy-cc -fcosy-auto -O2 -Wall -static -I%root/compound-ir %s -o %t && %vm %t | FileCheck --check-prefix=STATIC %s
// STATIC:      __open_2 does not
// STATIC-NEXT: __open64_2 does not
// STATIC-NEXT: __openat_2 does not
// STATIC-NEXT: __openat64_2 does not
// STATIC-NEXT: __readlink_chk does not
// STATIC-NEXT: __readlinkat_chk does not
// STATIC-NEXT: fchmodat does not
// STATIC-NEXT: lutimes does not
// STATIC-NEXT: 41 of 49 functions

// Without the option, no wrapper is linked.
// RUN: %cosy-cc -fcosy-auto -fno-cosy-auto -O2 -I%root/compound-ir %s -o %t && nm %t | FileCheck --check-prefix=LINKED --implicit-check-not=cosy_auto %s
// LINKED: main

#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <utime.h>

#include "../run/Inputs/device.h"

int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);
ssize_t __readlink_chk(const char *, char *, size_t, size_t);
ssize_t __readlinkat_chk(int, const char *, char *, size_t, size_t);

/* Only old programs call these functions. They cannot be linked any more. */
#define __xstat(...)		0
#define __xstat64(...)		0
#define __lxstat(...)		0
#define __lxstat64(...)		0
#define __fxstatat(...)		0
#define __fxstatat64(...)	0

/* Every call fails, because the names do not exist. */
#define COSY_PRELOAD_IF(function, name, condition, params, names, ...)		\
static long call_##function(void)						\
{										\
	const char *path = "/missing/name", *from = path, *to = path;		\
	const char *target = path, *attribute = "user.x";			\
	const void *times = NULL, *utimbuf = NULL, *timevals = NULL;		\
	int dir = -1, olddir = -1, newdir = -1, version = 1;			\
	/* Without flags, renameat2() is another system call. */		\
	int flags = !strcmp(#function, "renameat2");				\
	unsigned int mode = 0, mask = 0, user = 0, group = 0;			\
	unsigned long size = 1, room = 1;					\
	char space[4096];							\
	void *buffer = space;							\
	long length = 0;							\
										\
	(void)path, (void)from, (void)to, (void)target, (void)dir;		\
	(void)attribute, (void)times, (void)utimbuf, (void)timevals;		\
	(void)olddir, (void)newdir, (void)flags, (void)version;			\
	(void)mode, (void)mask, (void)user, (void)group, (void)size;		\
	(void)room, (void)length, (void)buffer;					\
	return function names;							\
}
#include <preload.def>

static const struct {
	const char *name;
	long (*call)(void);
} functions[] = {
#define COSY_PRELOAD_IF(function, ...) { #function, call_##function },
#include <preload.def>
};

/* In a child, which begins without the device. */
static bool opens_device(long (*call)(void))
{
	struct rlimit limit;
	pid_t child = fork();
	int status;

	if (!child) {
		for (int i = 0; i < 100; i++) {
			errno = 0;
			EQUAL(call(), -1);
			EQUAL(errno, ENOENT);
		}
		EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
		_exit(is_device(limit.rlim_cur + HIDDEN) ? 10 : 20);
	}
	CHECK(child > 0);
	EQUAL(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status));
	CHECK(WEXITSTATUS(status) == 10 || WEXITSTATUS(status) == 20);
	return WEXITSTATUS(status) == 10;
}

int main(void)
{
	int opened = 0, all = 0;

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (strstr(functions[i].name, "xstat"))
			continue;
		all++;
		if (opens_device(functions[i].call))
			opened++;
		else
			printf("%s does not\n", functions[i].name);
	}
	printf("%d of %d functions\n", opened, all);
	return 0;
}
