/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * program.h - the BPF programs of user functions, loaded by libbpf.
 */
#ifndef COSY_PROGRAM_H
#define COSY_PROGRAM_H

#include <cosy/region.h>

/**
 * cosy_program_load() - load a function's program for a segment
 * @function: the function
 * @map:      descriptor of the segment's arena
 *
 * Not async-signal-safe; one thread at a time.
 *
 * Return: a descriptor out of the program's sight; -errno, -ENOSYS without
 * libbpf.
 */
int cosy_program_load(const struct cosy_function *function, int map);

#endif /* COSY_PROGRAM_H */
