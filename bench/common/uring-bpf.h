/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * uring-bpf.h - a ring of io_uring whose loop is a BPF program (bench/programs/uring-bpf.bpf.c).
 */
#ifndef COMMON_URING_BPF_H
#define COMMON_URING_BPF_H

#include <stddef.h>

#include "../programs/uring-bpf.h"

/**
 * uring_bpf_open() - make the process's ring, and attach its loop
 * @loop:   name of the loop
 * @memory: whole pages that the loop shares with the process
 * @size:   their bytes
 * @slots:  number of the ring's direct descriptors, which are empty; 0: none
 *
 * Exits if the kernel is older than 7.1 or the process has no CAP_BPF and CAP_PERFMON.
 *
 * Return: the variables of the loop. They are 0, except for @memory.
 */
struct uring_bpf_state *uring_bpf_open(const char *loop, void *memory, size_t size,
				       unsigned int slots);

/** uring_bpf_file() - make @fd the direct descriptor @slot of the ring */
void uring_bpf_file(unsigned int slot, int fd);

/** uring_bpf_run() - run the loop until it stops; exits if it stops for an error */
void uring_bpf_run(void);

#endif /* COMMON_URING_BPF_H */
