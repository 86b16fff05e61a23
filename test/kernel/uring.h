/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * uring.h - one request of io_uring, by system calls.
 */
#ifndef URING_H
#define URING_H

#include "compound.h"

#include <linux/io_uring.h>

/* A ring of io_uring with one request, which is not submitted yet. */
struct ring {
	int fd;
	char *queues;
	struct io_uring_sqe *request;
	struct io_uring_params params;
};

static inline bool ring_make(struct ring *ring, int opcode, int fd, void *address, unsigned int len)
{
	memset(ring, 0, sizeof(*ring));
	ring->fd = (int)syscall(SYS_io_uring_setup, 4, &ring->params);
	if (ring->fd < 0)
		return false;
	ring->queues = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd,
			    IORING_OFF_SQ_RING);
	ring->request = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			     ring->fd, IORING_OFF_SQES);
	if (ring->queues == MAP_FAILED || ring->request == MAP_FAILED)
		die("io_uring");
	memset(ring->request, 0, sizeof(*ring->request));
	ring->request->opcode = (__u8)opcode;
	ring->request->fd = fd;
	ring->request->addr = (__u64)(uintptr_t)address;
	ring->request->len = len;
	((unsigned int *)(ring->queues + ring->params.sq_off.array))[0] = 0;
	__atomic_store_n((unsigned int *)(ring->queues + ring->params.sq_off.tail), 1,
			 __ATOMIC_RELEASE);
	return true;
}

/* Return the result of the request, which is done. */
static inline int ring_result(const struct ring *ring)
{
	return ((struct io_uring_cqe *)(ring->queues + ring->params.cq_off.cqes))->res;
}

static inline void ring_end(struct ring *ring)
{
	munmap(ring->queues, 8192);
	munmap(ring->request, 4096);
	close(ring->fd);
}

#endif /* URING_H */
