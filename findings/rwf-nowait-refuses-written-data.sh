#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Linux 6.1.192 of Debian 12, ext4 with blocks of 1 KiB, which mke2fs 1.47.0 chooses for an image of 32 MiB: a program
# writes a file of 1,000 bytes, and reads it with a buffer of 4,096 bytes and RWF_NOWAIT. All data is in memory, but the
# call fails with EAGAIN, however often it is repeated, and also after fsync(). With a buffer of at most 1,024 bytes it
# returns the data. After one plain read() with the large buffer, RWF_NOWAIT works, too. With blocks of 4 KiB, as
# mke2fs chooses for larger disks, it always works.
#
# The blocks of the page behind the end of the file are not up to date, and the kernel looks at as many as the caller asked
# for, not only at those that the file has. Only a read that may wait fills them. So a program that falls back to
# a thread after EAGAIN, and reads with RWF_NOWAIT each time, uses the thread only because of the block size and of the size
# of its buffer. preadv2(2) says that RWF_NOWAIT fails if data "is not immediately available".
#
# The kernel boots in QEMU, with the program below as its only process. Besides what README.md says, this
# needs qemu-system-x86, cpio, gcc and Linux's headers for programs.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

release=6.1.0-57-amd64
unpack linux-image-$release=6.1.192-3 e2fsprogs=1.47.0-2+b2 libext2fs2=1.47.0-2+b2 logsave=1.47.0-2+b2
mkdir -p tree/dev tree/disk
modules=root/lib/modules/$release/kernel
cp $modules/crypto/crc32c_generic.ko $modules/lib/{crc16,libcrc32c}.ko $modules/fs/{mbcache,jbd2/jbd2,ext4/ext4}.ko \
	$modules/drivers/block/loop.ko tree
truncate -s 32M tree/small
truncate -s 32M tree/large
mke2fs -q -t ext4 tree/small
mke2fs -q -t ext4 -b 4096 tree/large
cat >nowait.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

static const char *const modules[] = { "/crc32c_generic.ko", "/crc16.ko", "/libcrc32c.ko", "/mbcache.ko",
				       "/jbd2.ko", "/ext4.ko", "/loop.ko" };

/* Return a name of the result of a read. */
static const char *name(ssize_t result)
{
	return result == 1000 ? "1000" : result >= 0 ? "another size" : errno == EAGAIN ? "EAGAIN" : "another error";
}

static const char *nowait(int file, size_t size)
{
	static char buffer[4096];
	struct iovec iov = { buffer, size };

	return name(preadv2(file, &iov, 1, 0, RWF_NOWAIT));
}

static void try(const char *image, const char *device)
{
	char data[4096] = { 0 };
	int loop = open(device, O_RDWR), file;

	if (ioctl(loop, LOOP_SET_FD, open(image, O_RDWR)) || mount(device, "/disk", "ext4", 0, NULL)) {
		printf("no disk\n");
		return;
	}
	file = open("/disk/file", O_CREAT | O_RDWR, 0600);
	if (write(file, data, 1000) != 1000)
		printf("cannot write\n");
	printf("%s, page: %s\n", image + 1, nowait(file, 4096));
	printf("%s, page again: %s\n", image + 1, nowait(file, 4096));
	printf("%s, block: %s\n", image + 1, nowait(file, 1024));
	fsync(file);
	printf("%s, page after fsync: %s\n", image + 1, nowait(file, 4096));
	printf("%s, plain: %s\n", image + 1, name(pread(file, data, 4096, 0)));
	printf("%s, page at last: %s\n", image + 1, nowait(file, 4096));
	close(file);
	umount("/disk");
}

int main(void)
{
	struct utsname name;

	uname(&name);
	printf("release %s\n", name.release);
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++)
		syscall(SYS_finit_module, open(modules[i], O_RDONLY), "", 0);
	try("/small", "/dev/loop0");
	try("/large", "/dev/loop1");
	fflush(stdout);
	reboot(RB_AUTOBOOT);
	return 0;
}
END
gcc -O1 -Wall -static -o tree/init nowait.c
boot "$release"
while IFS=: read -r how wanted; do
	expect "$how" "${wanted# }" "$(sed -n "s/^$how: //p" vm)"
done <<'END'
small, page: EAGAIN
small, page again: EAGAIN
small, block: 1000
small, page after fsync: EAGAIN
small, plain: 1000
small, page at last: 1000
large, page: 1000
large, page again: 1000
large, block: 1000
large, page after fsync: 1000
large, plain: 1000
large, page at last: 1000
END
