#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# rclone 1.60.1 of Debian 12: Debian builds this Go program with cgo, so it is dynamically linked
# against libc, and a preloaded library's constructor runs in it. Yet it makes its calls on files by
# instructions of its own: not one open, stat or readdir of its walk goes through libc. So neither a
# static executable nor the lack of a dynamic loader tells programs that a preloaded library cannot
# reach.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack rclone=1.60.1+dfsg-2+b5
mkdir tree
for ((i = 0; i < 100; i++)); do
	echo "$i" >"tree/file$i"
done
rclone=$folder/root/usr/bin/rclone
export HOME=$folder XDG_CONFIG_HOME=$folder

expect "rclone needs libc" yes "$(readelf -d "$rclone" | grep -q 'NEEDED.*libc\.so\.6' && echo yes || echo no)"

# A library whose constructor leaves a file, and whose functions leave one when libc is asked for the
# status of a file.
cat >library.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void start(void)
{
	close(creat("started", 0600));
}

static void *reached(const char *function, const char *name)
{
	if (strstr(name, "file1"))
		close(creat("reached", 0600));
	return dlsym(RTLD_NEXT, function);
}

#define STATUS(NAME) \
	int NAME(const char *name, void *status) \
	{ \
		int (*real)(const char *, void *) = reached(#NAME, name); \
		return real(name, status); \
	}
#define STATUS_AT(NAME) \
	int NAME(int fd, const char *name, void *status, int flags) \
	{ \
		int (*real)(int, const char *, void *, int) = reached(#NAME, name); \
		return real(fd, name, status, flags); \
	}
STATUS(stat)
STATUS(stat64)
STATUS(lstat)
STATUS(lstat64)
STATUS_AT(fstatat)
STATUS_AT(fstatat64)

int statx(int fd, const char *name, int flags, unsigned int mask, void *status)
{
	int (*real)(int, const char *, int, unsigned int, void *) = reached("statx", name);

	return real(fd, name, flags, mask, status);
}
END
cc -shared -fPIC -o library.so library.c
LD_PRELOAD=$folder/library.so "$rclone" lsl tree >/dev/null 2>&1
expect "the library's constructor runs" yes "$([[ -e started ]] && echo yes || echo no)"
expect "libc gets the status of a file" no "$([[ -e reached ]] && echo yes || echo no)"
rm -f started
traced %file "$rclone" lsl tree
expect "the kernel gets the status of each file" yes \
	"$( (($(calls 'stat.*tree/file') >= 100)) && echo yes || echo no)"
# The same library sees what a program in C does.
LD_PRELOAD=$folder/library.so find tree -newer library.c >/dev/null
expect "libc gets the status of a file for find" yes "$([[ -e reached ]] && echo yes || echo no)"
