/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * uring-bpf.h - what the loops of uring-bpf.bpf.c share with the programs that run them.
 */
#ifndef URING_BPF_H
#define URING_BPF_H

#include <linux/types.h>

/* Entries of the ring, and completions that it holds. */
#define RING_ENTRIES	 128
#define RING_COMPLETIONS 1024

/* The loop "nops": entries submitted at once. */
#define NOPS		64

/* The loop "files": files, those that are open at once, and what is read of them at once. */
#define FILES		256
#define SLOTS		32
#define PIECE		4096
#define NAME_SIZE	16

/* The loop "entries": bytes of getdents64(), and statuses that are asked for at once. */
#define DIRENTS		32768
#define STATUSES	32

/* The loop "echo": connections, bytes of a request, and requests that are answered at once. */
#define CONNECTIONS	1024
#define SIZE		64
#define REQUESTS	64

/* Bytes of the memory that each loop shares with the program. */
#define NOPS_MEMORY	4096
#define FILES_MEMORY	(SLOTS * PIECE)
#define ENTRIES_MEMORY	(DIRENTS + STATUSES * 256)
#define ECHO_MEMORY	(CONNECTIONS * SIZE)

/**
 * struct uring_bpf_offsets - constants of the loops, which are set before they are loaded
 * @completions: offset of the head of the completion queue, which its tail follows
 * @cqes:	 offset of the completions
 */
struct uring_bpf_offsets {
	__u32 completions;
	__u32 cqes;
};

/**
 * struct uring_bpf_state - variables of the loops
 * @memory: address of the shared memory in the program
 * @wanted: a loop stops when it has done so much
 * @next:   what is begun next
 * @done:   what is complete
 * @sum:    the result
 * @at:     "files": address of the names; "entries": offset of the next entry
 * @end:    "entries": the end of the entries
 * @filled: entries of the ring that are filled
 * @fd:     "entries": the directory
 * @flags:  "echo": IOSQE_..., of sends
 * @first:  "echo": IORING_RECVSEND_..., of receives
 * @error:  why the loop stopped, or 0
 */
struct uring_bpf_state {
	__u64 memory;
	__u64 wanted;
	__u64 next;
	__u64 done;
	__u64 sum;
	__u64 at;
	__u64 end;
	__u32 filled;
	__s32 fd;
	__u32 flags;
	__u32 first;
	__s32 error;
};

/* The answer to a request of SIZE bytes: the first word is the sum of all words. */
static inline void sum_words(__u64 *words)
{
	__u64 sum = 0;

	for (unsigned int i = 0; i < SIZE / sizeof(*words); i++)
		sum += words[i];
	words[0] = sum;
}

#endif /* URING_BPF_H */
