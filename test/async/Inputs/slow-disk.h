/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * slow-disk.h - a disk that answers on request: a network block device whose server is a child of
 * the program. Its reads are delayed, or fail.
 */
#ifndef SLOW_DISK_H
#define SLOW_DISK_H

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/fs.h>
#include <linux/nbd.h>

#define DISK_DEVICE	"/dev/nbd0"
#define DISK_MAX_HELD	4096

/* State that the server and the program share. */
struct disk {
	volatile bool hold;		/* do not answer reads */
	volatile bool fail;		/* answer them with an error */
	volatile unsigned int held;	/* reads that were not answered yet */
	volatile unsigned int reads;	/* number of reads */
};

static struct disk *disk;

static inline void disk_die(const char *what)
{
	perror(what);
	_exit(99);
}

static inline void disk_move(int socket, void *data, size_t n, bool out)
{
	while (n) {
		ssize_t moved = out ? send(socket, data, n, MSG_NOSIGNAL) : recv(socket, data, n, 0);

		/* The device has been released. */
		if (moved <= 0)
			_exit(0);
		data = (char *)data + moved;
		n -= (size_t)moved;
	}
}

static inline void disk_answer(int socket, int image, const struct nbd_request *request,
			       void *data)
{
	uint32_t n = be32toh(request->len), type = be32toh(request->type) & 0xffff;
	struct nbd_reply reply = { .magic = htobe32(NBD_REPLY_MAGIC) };

	memcpy(&reply.handle, &request->handle, sizeof(reply.handle));
	if (type == NBD_CMD_READ && disk->fail)
		reply.error = htobe32(EIO);
	disk_move(socket, &reply, sizeof(reply), true);
	if (type != NBD_CMD_READ || reply.error)
		return;
	if (pread(image, data, n, (off_t)be64toh(request->from)) != (ssize_t)n)
		disk_die("the image");
	disk_move(socket, data, n, true);
}

static inline void disk_serve(int socket, int image)
{
	static struct nbd_request held[DISK_MAX_HELD];
	static char data[32 << 20];
	struct pollfd ready = { .fd = socket, .events = POLLIN };
	struct nbd_request request;

	for (;;) {
		if (!disk->hold) {
			for (unsigned int i = 0; i < disk->held; i++)
				disk_answer(socket, image, &held[i], data);
			disk->held = 0;
		}
		if (poll(&ready, 1, 1) <= 0)
			continue;
		disk_move(socket, &request, sizeof(request), false);
		switch (be32toh(request.type) & 0xffff) {
		case NBD_CMD_WRITE:
			disk_move(socket, data, be32toh(request.len), false);
			if (pwrite(image, data, be32toh(request.len),
				   (off_t)be64toh(request.from)) < 0)
				disk_die("the image");
			break;
		case NBD_CMD_DISC:
			_exit(0);
		case NBD_CMD_READ:
			disk->reads++;
			if (disk->hold && disk->held < DISK_MAX_HELD) {
				held[disk->held] = request;
				disk->held++;
				continue;
			}
		}
		disk_answer(socket, image, &request, data);
	}
}

static inline void disk_mount(const char *directory)
{
	if (mount(DISK_DEVICE, directory, "ext4", MS_NOATIME, NULL))
		disk_die("mount");
}

/* Drop all cached files. The program has no file open there. */
static inline void disk_make_cold(const char *directory)
{
	if (umount(directory))
		disk_die("umount");
	disk_mount(directory);
}

/* Mount the file system of an image. */
static inline void disk_begin(const char *image_name, const char *directory)
{
	int device = open(DISK_DEVICE, O_RDWR | O_CLOEXEC), image, sv[2];
	struct stat st;
	uint64_t size;

	disk = mmap(NULL, sizeof(*disk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	image = open(image_name, O_RDWR | O_CLOEXEC);
	if (device < 0 || image < 0 || fstat(image, &st) || disk == MAP_FAILED ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		disk_die(DISK_DEVICE);
	if (ioctl(device, NBD_SET_BLKSIZE, 4096L) ||
	    ioctl(device, NBD_SET_SIZE_BLOCKS, st.st_size / 4096) ||
	    ioctl(device, NBD_SET_SOCK, sv[0]))
		disk_die("the block device");
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(sv[0]);
		disk_serve(sv[1], image);
	}
	close(sv[1]);
	if (!fork()) {
		ioctl(device, NBD_DO_IT);
		/* If the program has failed, no process answers delayed reads. */
		ioctl(device, NBD_CLEAR_SOCK);
		_exit(0);
	}
	close(sv[0]);
	close(image);
	/* NBD_DO_IT sets the size of blocks, and then this. A kernel that mounts in between complains. */
	do {
		usleep(1000);
		if (ioctl(device, BLKGETSIZE64, &size))
			disk_die("the size of the block device");
	} while (!size);
	close(device);
	disk_mount(directory);
}

static inline void disk_end(const char *directory)
{
	int device;

	if (umount(directory))
		disk_die("umount");
	device = open(DISK_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0 || ioctl(device, NBD_DISCONNECT))
		disk_die("the block device");
	close(device);
	while (wait(NULL) > 0)
		;
}

/* Delay reads from now on. */
static inline void disk_hold(void)
{
	disk->hold = true;
}

/* Wait until the kernel waits for at least so many reads. */
static inline void disk_await(unsigned int reads)
{
	while (disk->held < reads)
		usleep(1000);
}

/* Answer delayed and later reads. */
static inline void disk_go_on(void)
{
	disk->hold = false;
	while (disk->held)
		usleep(1000);
}

#endif /* SLOW_DISK_H */
