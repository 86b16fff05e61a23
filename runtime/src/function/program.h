/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * program.h - the BPF programs of user functions, loaded by libbpf.
 */
#ifndef COSY_PROGRAM_H
#define COSY_PROGRAM_H

#include <cosy/region.h>

/**
 * cosy_program_prepare() - find libbpf
 *
 * The caller holds no lock: another thread may be loading a library, whose constructors add functions.
 * Thread-safe.
 */
void cosy_program_prepare(void);

/**
 * cosy_program_load() - load a function's program for a segment
 * @function: the function
 * @map:      descriptor of the segment's arena, which stays the caller's
 *
 * Not async-signal-safe. The caller holds a lock, and has called cosy_program_prepare() before it.
 *
 * Return: a descriptor at a number that programs do not notice, which the caller closes; -errno,
 * -ENOSYS without libbpf.
 */
int cosy_program_load(const struct cosy_function *function, int map);

/** cosy_program_unload() - let libbpf forget this copy of libcosy, which is unloaded */
void cosy_program_unload(void);

#endif /* COSY_PROGRAM_H */
