// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * ring.c - io_uring by its system calls.
 */
#include "ring.h"

#include <errno.h>
#include <error.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *map(struct ring *ring, int which, size_t size, off_t offset)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, ring->fd, offset);

	if (p == MAP_FAILED)
		error(1, errno, "cannot map the ring");
	ring->maps[which] = p;
	ring->map_sizes[which] = size;
	return p;
}

void ring_open(struct ring *ring, unsigned int entries)
{
	/* The waiting thread executes the kernel's work, while it waits. */
	struct io_uring_params p = {
		.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
	};
	unsigned int *array;
	char *sq, *cq;

	ring->fd = (int)syscall(SYS_io_uring_setup, entries, &p);
	if (ring->fd < 0)
		error(1, errno, "cannot use io_uring (it needs Linux 6.1, and has to be allowed)");
	sq = map(ring, 0, p.sq_off.array + p.sq_entries * sizeof(*array),
		 IORING_OFF_SQ_RING);
	cq = map(ring, 1, p.cq_off.cqes + p.cq_entries * sizeof(*ring->cqes),
		 IORING_OFF_CQ_RING);
	ring->sqes = map(ring, 2, p.sq_entries * sizeof(*ring->sqes),
			 IORING_OFF_SQES);
	ring->cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
	ring->sq_tail = (unsigned int *)(sq + p.sq_off.tail);
	ring->cq_head = (unsigned int *)(cq + p.cq_off.head);
	ring->cq_tail = (unsigned int *)(cq + p.cq_off.tail);
	ring->sq_mask = p.sq_entries - 1;
	ring->cq_mask = p.cq_entries - 1;
	ring->filled = 0;
	/* Entries are submitted in the order of their indices. */
	array = (unsigned int *)(sq + p.sq_off.array);
	for (unsigned int i = 0; i < p.sq_entries; i++)
		array[i] = i;
}

void ring_close(struct ring *ring)
{
	for (int i = 0; i < 3; i++)
		munmap(ring->maps[i], ring->map_sizes[i]);
	close(ring->fd);
}

struct io_uring_sqe *ring_entry(struct ring *ring, void *data)
{
	struct io_uring_sqe *sqe;

	if (ring->filled > ring->sq_mask)
		ring_enter(ring, 0);
	sqe = &ring->sqes[(*ring->sq_tail + ring->filled++) & ring->sq_mask];
	memset(sqe, 0, sizeof(*sqe));
	sqe->user_data = (uintptr_t)data;
	return sqe;
}

void ring_enter(struct ring *ring, unsigned int min)
{
	unsigned int tail = *ring->sq_tail + ring->filled;
	long n;

	__atomic_store_n(ring->sq_tail, tail, __ATOMIC_RELEASE);
	/* After a signal, or without memory, some entries may not have been submitted. */
	do {
		n = syscall(SYS_io_uring_enter, ring->fd, ring->filled, min,
			    IORING_ENTER_GETEVENTS, NULL, 0);
		if (n < 0 && errno != EINTR && errno != EAGAIN && errno != EBUSY)
			error(1, errno, "io_uring_enter");
		if (n > 0)
			ring->filled -= n;
	} while (ring->filled > 0);
}

bool ring_next(struct ring *ring, struct io_uring_cqe *cqe)
{
	unsigned int head = *ring->cq_head;

	if (head == __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE))
		return false;
	*cqe = ring->cqes[head & ring->cq_mask];
	__atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
	return true;
}
