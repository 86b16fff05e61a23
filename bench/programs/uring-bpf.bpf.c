// SPDX-License-Identifier: GPL-2.0
/*
 * uring-bpf.bpf.c - loops of rings, in BPF. Since Linux 7.1 io_uring_enter() calls the loop of its
 * ring, which submits entries and takes completions, until the loop returns that it stops.
 *
 * The rings have IORING_SETUP_SQ_REWIND: the first entries are submitted each time.
 */
#include <linux/bpf.h>
#include <linux/fcntl.h>
#include <linux/io_uring.h>
#include <linux/stat.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "uring-bpf.h"

#define EIO	5

char terms[] SEC("license") = "GPL";

/* From the kernel's type information: which memory of the ring, what a loop returns. */
enum { REGION_MEM, REGION_CQ, REGION_SQ };
enum { LOOP_CONTINUE, LOOP_STOP };

struct iou_ctx {
};

struct iou_loop_params {
	__u32 cq_wait_idx;
};

struct io_uring_bpf_ops {
	int (*loop_step)(struct iou_ctx *uring, struct iou_loop_params *params);
	__u32 ring_fd;
};

extern int bpf_io_uring_submit_sqes(struct iou_ctx *uring, __u32 nr) __ksym;
extern __u8 *bpf_io_uring_get_region(struct iou_ctx *uring, __u32 region,
				     const __u64 rdwr_buf_size) __ksym;

const volatile struct uring_bpf_offsets offsets;
struct uring_bpf_state state;

struct queue {
	__u32 head;
	__u32 tail;
};

struct ring {
	struct queue *completions;
	struct io_uring_cqe *cqes;
	struct io_uring_sqe *sqes;
	__u8 *memory;
};

/* Find the memory of the ring, and @size bytes that it shares with the program. */
static __always_inline bool find_ring(struct iou_ctx *uring, struct ring *ring, const __u64 size)
{
	__u8 *queues = bpf_io_uring_get_region(uring, REGION_CQ,
		offsets.cqes + RING_COMPLETIONS * sizeof(struct io_uring_cqe));

	ring->sqes = (void *)bpf_io_uring_get_region(uring, REGION_SQ,
						     RING_ENTRIES * sizeof(struct io_uring_sqe));
	ring->memory = bpf_io_uring_get_region(uring, REGION_MEM, size);
	if (!queues || !ring->sqes || !ring->memory)
		return false;
	ring->completions = (void *)(queues + offsets.completions);
	ring->cqes = (void *)(queues + offsets.cqes);
	return true;
}

static __always_inline struct io_uring_cqe *completion(struct ring *ring, __u32 i)
{
	return &ring->cqes[i & (RING_COMPLETIONS - 1)];
}

/*
 * Return the next entry to fill. Their number is not a local variable: the verifier would check a loop
 * once for each value.
 */
static __always_inline struct io_uring_sqe *entry(struct ring *ring)
{
	struct io_uring_sqe *sqe = &ring->sqes[state.filled++ & (RING_ENTRIES - 1)];

	__builtin_memset(sqe, 0, sizeof(*sqe));
	return sqe;
}

/* Submit the first @n entries. */
static __always_inline bool submit(struct iou_ctx *uring, __u32 n)
{
	state.filled = 0;
	return !n || bpf_io_uring_submit_sqes(uring, n) == (int)n;
}

static __always_inline int fail(int error)
{
	state.error = error ?: -EIO;
	return LOOP_STOP;
}

SEC("struct_ops.s/nops")
int BPF_PROG(nops, struct iou_ctx *uring, struct iou_loop_params *params)
{
	__u32 n = NOPS, head;
	struct ring ring;

	if (!find_ring(uring, &ring, NOPS_MEMORY))
		return fail(0);
	if (!state.next) {
		for (__u32 i = 0; i < NOPS; i++)
			entry(&ring)->opcode = IORING_OP_NOP;
		state.next = 1;
	}
	if (state.wanted - state.done < n)
		n = state.wanted - state.done;
	head = ring.completions->head;
	if (!submit(uring, n) || ring.completions->tail - head != n)
		return fail(0);
	for (__u32 i = 0; i < NOPS && i < n; i++)
		state.sum += completion(&ring, head + i)->res;
	ring.completions->head = head + n;
	state.done += n;
	params->cq_wait_idx = head;
	return state.done == state.wanted ? LOOP_STOP : LOOP_CONTINUE;
}

static __always_inline void open_next(struct ring *ring, __u32 slot)
{
	struct io_uring_sqe *sqe = entry(ring);

	sqe->opcode = IORING_OP_OPENAT;
	sqe->fd = AT_FDCWD;
	sqe->addr = state.at + (state.next++ & (FILES - 1)) * NAME_SIZE;
	sqe->open_flags = O_RDONLY;
	sqe->file_index = slot + 1;
	sqe->user_data = slot;
}

static __always_inline void read_piece(struct ring *ring, __u32 slot)
{
	struct io_uring_sqe *sqe = entry(ring);

	sqe->opcode = IORING_OP_READ;
	sqe->flags = IOSQE_FIXED_FILE;
	sqe->fd = slot;
	sqe->addr = state.memory + slot * PIECE;
	sqe->len = PIECE;
	sqe->off = -1;
	sqe->user_data = SLOTS | slot;
}

static __always_inline void close_slot(struct ring *ring, __u32 slot)
{
	struct io_uring_sqe *sqe = entry(ring);

	sqe->opcode = IORING_OP_CLOSE;
	sqe->flags = IOSQE_CQE_SKIP_SUCCESS;
	sqe->file_index = slot + 1;
}

/* Open files, read each to its end, and close it, as many at once as there are slots. */
SEC("struct_ops.s/files")
int BPF_PROG(files, struct iou_ctx *uring, struct iou_loop_params *params)
{
	__u32 head, n, slot;
	struct io_uring_cqe *cqe;
	struct ring ring;

	if (!find_ring(uring, &ring, FILES_MEMORY))
		return fail(0);
	for (slot = 0; !state.done && slot < SLOTS && state.next < SLOTS && state.next < state.wanted;
	     slot++)
		open_next(&ring, slot);
	head = ring.completions->head;
	n = ring.completions->tail - head;
	for (__u32 i = 0; i < SLOTS && i < n; i++, head++) {
		cqe = completion(&ring, head);
		slot = cqe->user_data & (SLOTS - 1);
		if (cqe->res < 0)
			return fail(cqe->res);
		if (cqe->user_data & SLOTS)
			state.sum += cqe->res;
		if (!(cqe->user_data & SLOTS) || cqe->res == PIECE) {
			read_piece(&ring, slot);
			continue;
		}
		close_slot(&ring, slot);
		state.done++;
		if (state.next < state.wanted)
			open_next(&ring, slot);
	}
	ring.completions->head = head;
	if (!submit(uring, state.filled))
		return fail(0);
	params->cq_wait_idx = head + 1;
	return state.done == state.wanted ? LOOP_STOP : LOOP_CONTINUE;
}

/* Get the statuses of the entries of a directory, and add up the sizes. */
SEC("struct_ops.s/entries")
int BPF_PROG(entries, struct iou_ctx *uring, struct iou_loop_params *params)
{
	__u32 head, n, filled = 0;
	struct io_uring_sqe *sqe;
	struct ring ring;

	if (!find_ring(uring, &ring, ENTRIES_MEMORY))
		return fail(0);
	head = ring.completions->head;
	n = ring.completions->tail - head;
	for (__u32 i = 0; i < STATUSES && i < n; i++, head++) {
		const struct io_uring_cqe *cqe = completion(&ring, head);
		__u32 slot = cqe->user_data & (STATUSES - 1);

		if (cqe->res < 0)
			return fail(cqe->res);
		state.sum += ((struct statx *)(ring.memory + DIRENTS + slot * 256))->stx_size;
		state.done++;
	}
	ring.completions->head = head;
	/* The next ones when all are complete, because a wakeup costs more than what it is for. */
	if (state.done == state.next) {
		while (filled < STATUSES && state.at < state.end) {
			__u32 at = state.at & (DIRENTS - 1);

			sqe = entry(&ring);
			sqe->opcode = IORING_OP_STATX;
			sqe->fd = state.fd;
			sqe->addr = state.memory + at + 19;
			sqe->len = STATX_BASIC_STATS;
			sqe->off = state.memory + DIRENTS + filled * 256;
			sqe->statx_flags = AT_SYMLINK_NOFOLLOW;
			sqe->user_data = filled;
			state.at += *(__u16 *)(ring.memory + at + 16);
			filled++;
		}
		if (!filled)
			return LOOP_STOP;
		state.next += filled;
		if (!submit(uring, filled))
			return fail(0);
	}
	params->cq_wait_idx = head + (state.next - state.done);
	return LOOP_CONTINUE;
}

static __always_inline void receive(struct ring *ring, __u32 connection)
{
	struct io_uring_sqe *sqe = entry(ring);

	sqe->opcode = IORING_OP_RECV;
	sqe->flags = IOSQE_FIXED_FILE;
	sqe->ioprio = state.first;
	sqe->fd = connection;
	sqe->addr = state.memory + connection * SIZE;
	sqe->len = SIZE;
	sqe->user_data = connection;
}

static __always_inline void answer(struct ring *ring, __u32 connection)
{
	struct io_uring_sqe *sqe = entry(ring);

	sum_words((__u64 *)(ring->memory + connection * SIZE));
	sqe->opcode = IORING_OP_SEND;
	sqe->flags = state.flags;
	sqe->fd = connection;
	sqe->addr = state.memory + connection * SIZE;
	sqe->len = SIZE;
}

/* Answer requests: first receive from each connection, then answer and receive again. */
SEC("struct_ops.s/echo")
int BPF_PROG(echo, struct iou_ctx *uring, struct iou_loop_params *params)
{
	__u32 head, n, connection;
	const struct io_uring_cqe *cqe;
	struct ring ring;

	if (!find_ring(uring, &ring, ECHO_MEMORY))
		return fail(0);
	for (__u32 i = 0; i < RING_ENTRIES && state.next < state.end; i++)
		receive(&ring, state.next++);
	if (state.filled) {
		if (!submit(uring, state.filled))
			return fail(0);
		return state.next < state.end ? LOOP_CONTINUE : LOOP_STOP;
	}
	head = ring.completions->head;
	n = ring.completions->tail - head;
	for (__u32 i = 0; i < REQUESTS && i < n; i++, head++) {
		cqe = completion(&ring, head);
		connection = cqe->user_data & (CONNECTIONS - 1);
		if (cqe->res != SIZE)
			return fail(cqe->res);
		answer(&ring, connection);
		receive(&ring, connection);
		state.done++;
	}
	ring.completions->head = head;
	if (!submit(uring, state.filled))
		return fail(0);
	params->cq_wait_idx = head + 1;
	return state.done >= state.wanted ? LOOP_STOP : LOOP_CONTINUE;
}

SEC(".struct_ops.link")
struct io_uring_bpf_ops nops_loop = { .loop_step = (void *)nops };

SEC(".struct_ops.link")
struct io_uring_bpf_ops files_loop = { .loop_step = (void *)files };

SEC(".struct_ops.link")
struct io_uring_bpf_ops entries_loop = { .loop_step = (void *)entries };

SEC(".struct_ops.link")
struct io_uring_bpf_ops echo_loop = { .loop_step = (void *)echo };
