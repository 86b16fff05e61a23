/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A loop does not wait for the server of a FUSE file system to find out what a descriptor refers to.
 */
// REQUIRES: root, mount-namespace
// RUN: %compile
// RUN: mkdir -p %t.mount
// RUN: COSY_EXECUTOR=user %bounded %t %t.mount
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>

#include "loop.h"

static void reply(int fuse, const struct fuse_in_header *in, int error, const void *data, size_t size)
{
	char bytes[512];
	struct fuse_out_header *out = (struct fuse_out_header *)bytes;

	*out = (struct fuse_out_header){
		.len = (uint32_t)(sizeof(*out) + size), .error = error, .unique = in->unique,
	};
	if (size)
		memcpy(out + 1, data, size);
	CHECK(write(fuse, bytes, out->len) > 0);
}

/* The root has number 1, and one file with any name has number 2, and no size, as files of /proc that can wait. */
static struct fuse_attr attributes(uint64_t number)
{
	return (struct fuse_attr){
		.ino = number, .nlink = 1, .blksize = 4096,
		.mode = number == 1 ? S_IFDIR | 0755 : S_IFREG | 0644,
	};
}

/* Serve. A request for attributes, for events, or to read waits for a byte of @goes_on. */
static void serve(int fuse, int goes_on)
{
	static char bytes[FUSE_MIN_READ_BUFFER + (64 << 10)];
	const struct fuse_in_header *in = (const struct fuse_in_header *)bytes;
	const struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 4096 };
	const struct fuse_entry_out entry = { .nodeid = 2, .entry_valid = 60, .attr = attributes(2) };
	const struct fuse_open_out opened = { .fh = 1, .open_flags = FOPEN_DIRECT_IO };
	struct fuse_attr_out attr = { .attr_valid = 0 };
	char byte;

	while (read(fuse, bytes, sizeof(bytes)) > 0) {
		switch (in->opcode) {
		case FUSE_INIT:
			reply(fuse, in, 0, &init, sizeof(init));
			break;
		case FUSE_LOOKUP:
			reply(fuse, in, 0, &entry, sizeof(entry));
			break;
		case FUSE_GETATTR:
			EQUAL(read(goes_on, &byte, 1), 1);
			attr.attr = attributes(in->nodeid);
			reply(fuse, in, 0, &attr, sizeof(attr));
			break;
		case FUSE_POLL:
			EQUAL(read(goes_on, &byte, 1), 1);
			reply(fuse, in, -ENOSYS, NULL, 0);
			break;
		case FUSE_OPEN:
			reply(fuse, in, 0, &opened, sizeof(opened));
			break;
		case FUSE_READ:
			EQUAL(read(goes_on, &byte, 1), 1);
			reply(fuse, in, 0, "hello", 5);
			break;
		default:
			reply(fuse, in, -ENOSYS, NULL, 0);
		}
	}
	_exit(0);
}

/* Let a process serve a file system at @path. Return what lets it reply, or -1: the kernel has no FUSE. */
static int mount_slow(const char *path)
{
	int fuse = open("/dev/fuse", O_RDWR), pipes[2];
	char options[80];

	if (fuse < 0)
		return -1;
	EQUAL(unshare(CLONE_NEWNS), 0);
	EQUAL(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	EQUAL(mount("slow", path, "fuse", 0, options), 0);
	EQUAL(pipe(pipes), 0);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pipes[1]);
		serve(fuse, pipes[0]);
	}
	close(fuse);
	return pipes[1];
}

int main(int argc, char **argv)
{
	struct cosy_loop *loop = make_loop();
	struct cosy_async op = { 0 };
	char path[512], bytes[8] = "";
	int goes_on, fd;

	EQUAL(argc, 2);
	goes_on = mount_slow(argv[1]);
	if (goes_on < 0)
		return 0;
	snprintf(path, sizeof(path), "%s/file", argv[1]);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	EQUAL(cosy_async_pread(loop, &op, fd, bytes, 5, 0), 0);
	execute(loop);
	EQUAL(write(goes_on, "123", 3), 3);
	EQUAL(result_of(loop, &op), 5);
	EQUAL_TEXT(bytes, "hello");
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
