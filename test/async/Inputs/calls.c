/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * calls.c - arguments of all kinds.
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cosy/async.h>

int calls(struct cosy_loop *loop, struct cosy_async *op);

int calls(struct cosy_loop *loop, struct cosy_async *op)
{
	static char buffer[10];
	static struct iovec iov;
	static struct sockaddr_storage address;
	static socklen_t size;
	static struct stat st;
	int err = 0;

	err |= cosy_async_getpid(loop, op);
	err |= cosy_async_open(loop, op, "name", 0, 0600);
	err |= cosy_async_read(loop, op, 0, buffer, sizeof(buffer));
	err |= cosy_async_pwrite(loop, op, 0, buffer, sizeof(buffer), (off_t)1);
	err |= cosy_async_preadv2(loop, op, 0, &iov, 1, (off_t)-1, 0);
	err |= cosy_async_fstat(loop, op, 0, &st);
	err |= cosy_async_accept(loop, op, 0, (struct sockaddr *)&address, &size);
	err |= cosy_async_mmap(loop, op, buffer, sizeof(buffer), PROT_READ,
			       MAP_SHARED, 0, (off_t)0);
	err |= cosy_async_ioctl(loop, op, 0, 1, (uintptr_t)buffer);
	return err;
}
