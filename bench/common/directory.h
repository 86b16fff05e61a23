/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * directory.h - the directories of the ls benchmarks.
 */
#ifndef DIRECTORY_H
#define DIRECTORY_H

#include <stdint.h>

/**
 * directory_make() - make a directory with files, unless it exists
 * @files: number of files
 * @fd:    out: the directory, open
 * @path:  out: its path, static; may be NULL
 *
 * Return: the sum of the sizes of its entries, including "." and "..". Exits if the
 * directory cannot be made.
 */
uint64_t directory_make(uint64_t files, int *fd, const char **path);

#endif /* DIRECTORY_H */
