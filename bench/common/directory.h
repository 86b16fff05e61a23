/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * directory.h - the directory of the ls benchmarks.
 */
#ifndef DIRECTORY_H
#define DIRECTORY_H

#include <stdint.h>

#define DIRECTORY "ls5000.data"
#define DIRECTORY_FILES 5000

/**
 * directory_make() - make DIRECTORY with its files, unless they are there
 * @fd: out: DIRECTORY, open
 *
 * Return: the sum of the sizes of its entries, "." and ".." among them. Leaves
 * the program if it cannot be made.
 */
uint64_t directory_make(int *fd);

#endif /* DIRECTORY_H */
