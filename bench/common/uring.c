// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * uring.c - a ring of io_uring, used in batches by one thread.
 */

#define _GNU_SOURCE
#include "uring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

static int ring_fd;
static unsigned int *sq_tail, *sq_flags, *cq_head, *cq_tail;
static unsigned int sq_mask, cq_mask;
static struct io_uring_sqe *sqes;
static struct io_uring_cqe *cqes;
static unsigned int filled;

static void *map(size_t size, long long offset)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		       ring_fd, offset);

	if (p == MAP_FAILED)
		bench_die("the ring's memory");
	return p;
}

static void setup_ring(unsigned int entries, struct io_uring_params p)
{
	char *sq, *cq;
	unsigned int *array;

	ring_fd = (int)syscall(SYS_io_uring_setup, entries, &p);
	if (ring_fd < 0)
		bench_die("io_uring_setup");
	sq = map(p.sq_off.array + p.sq_entries * sizeof(unsigned int), IORING_OFF_SQ_RING);
	cq = map(p.cq_off.cqes + p.cq_entries * sizeof(*cqes), IORING_OFF_CQ_RING);
	sqes = map(p.sq_entries * sizeof(*sqes), IORING_OFF_SQES);
	sq_tail = (unsigned int *)(sq + p.sq_off.tail);
	sq_flags = (unsigned int *)(sq + p.sq_off.flags);
	sq_mask = p.sq_entries - 1;
	cq_head = (unsigned int *)(cq + p.cq_off.head);
	cq_tail = (unsigned int *)(cq + p.cq_off.tail);
	cq_mask = p.cq_entries - 1;
	cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
	/* Entries are always submitted in the order of their indices. */
	array = (unsigned int *)(sq + p.sq_off.array);
	for (unsigned int i = 0; i < p.sq_entries; i++)
		array[i] = i;
}

static void open_ring(unsigned int entries, unsigned int completions, unsigned int flags)
{
	setup_ring(entries, (struct io_uring_params){
		.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_CQSIZE | flags,
		.cq_entries = completions,
	});
}

void uring_open_polled(unsigned int idle_ms, unsigned int cpu)
{
	setup_ring(URING_BATCH, (struct io_uring_params){
		.flags = IORING_SETUP_SQPOLL | IORING_SETUP_SQ_AFF,
		.sq_thread_cpu = cpu,
		.sq_thread_idle = idle_ms,
	});
}

void uring_open(void)
{
	open_ring(URING_BATCH, 2 * URING_BATCH, IORING_SETUP_COOP_TASKRUN);
}

void uring_open_waiting(unsigned int entries, unsigned int completions)
{
	open_ring(entries, completions, IORING_SETUP_DEFER_TASKRUN);
}

void uring_register_files(unsigned int count)
{
	struct io_uring_rsrc_register r = {
		.nr = count,
		.flags = IORING_RSRC_REGISTER_SPARSE,
	};

	if (syscall(SYS_io_uring_register, ring_fd, IORING_REGISTER_FILES2, &r, sizeof(r)) < 0)
		bench_die("the ring's direct descriptors");
}

void uring_register_file(unsigned int slot, int fd)
{
	struct io_uring_files_update update = { .offset = slot, .fds = (uintptr_t)&fd };

	if (syscall(SYS_io_uring_register, ring_fd, IORING_REGISTER_FILES_UPDATE, &update, 1) != 1)
		bench_die("the ring's direct descriptors");
}

struct io_uring_sqe *uring_sqe(void)
{
	struct io_uring_sqe *sqe = &sqes[(*sq_tail + filled++) & sq_mask];

	memset(sqe, 0, sizeof(*sqe));
	return sqe;
}

struct io_uring_sqe *uring_rw(unsigned char opcode, int fd, void *buffer,
			      unsigned int size, uint64_t offset)
{
	struct io_uring_sqe *sqe = uring_sqe();

	sqe->opcode = opcode;
	sqe->fd = fd;
	sqe->addr = (uintptr_t)buffer;
	sqe->len = size;
	sqe->off = offset;
	return sqe;
}

void uring_statx(int dir, const char *name, unsigned int flags, struct statx *status)
{
	uring_rw(IORING_OP_STATX, dir, (void *)name, STATX_BASIC_STATS, (uintptr_t)status)
		->statx_flags = flags;
}

void uring_enter(unsigned int min)
{
	unsigned int wanted = filled;

	filled = 0;
	__atomic_store_n(sq_tail, *sq_tail + wanted, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring_fd, wanted, min, min ? IORING_ENTER_GETEVENTS : 0,
		    NULL, 0) != wanted)
		bench_die("io_uring_enter");
}

void uring_enter_polled(unsigned int min)
{
	unsigned int flags = min ? IORING_ENTER_GETEVENTS : 0;

	/* The full barrier is between the tail and the flag, as the thread's is in reverse. */
	__atomic_store_n(sq_tail, *sq_tail + filled, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	filled = 0;
	if (__atomic_load_n(sq_flags, __ATOMIC_RELAXED) & IORING_SQ_NEED_WAKEUP)
		flags |= IORING_ENTER_SQ_WAKEUP;
	if (flags && syscall(SYS_io_uring_enter, ring_fd, 0, min, flags, NULL, 0) < 0)
		bench_die("io_uring_enter");
}

bool uring_next(struct io_uring_cqe *cqe)
{
	unsigned int head = *cq_head;

	if (head == __atomic_load_n(cq_tail, __ATOMIC_ACQUIRE))
		return false;
	*cqe = cqes[head & cq_mask];
	__atomic_store_n(cq_head, head + 1, __ATOMIC_RELEASE);
	return true;
}

long uring_submit(void)
{
	unsigned int wanted = filled, head;
	long sum = 0;

	uring_enter(wanted);
	head = *cq_head;
	if (__atomic_load_n(cq_tail, __ATOMIC_ACQUIRE) - head != wanted) {
		errno = EIO;
		bench_die("completions are missing");
	}
	for (unsigned int i = 0; i < wanted; i++) {
		int res = cqes[(head + i) & cq_mask].res;

		if (res < 0) {
			errno = -res;
			bench_die("an operation in the ring");
		}
		sum += res;
	}
	__atomic_store_n(cq_head, head + wanted, __ATOMIC_RELEASE);
	return sum;
}
