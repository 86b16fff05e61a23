/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * file.h - files of the benchmarks that move data.
 */
#ifndef FILE_H
#define FILE_H

#include <stdint.h>

/**
 * file_make() - make a file, with every page in memory
 * @name: its name
 * @size: its size
 * @seed: files with different seeds differ everywhere
 *
 * Return: the file, open for reading and writing. Exits if it cannot be made.
 */
int file_make(const char *name, uint64_t size, unsigned char seed);

/** file_same() - return whether the first @size bytes of two open files are equal */
_Bool file_same(int a, int b, uint64_t size);

#endif /* FILE_H */
