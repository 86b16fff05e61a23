/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * file.h - reads a tool's input.
 */
#ifndef COSY_TOOLS_FILE_H
#define COSY_TOOLS_FILE_H

#include <stddef.h>

/**
 * read_file() - read the contents of a file
 * @name: its name, "-" for standard input
 * @size: out: bytes read
 *
 * Return: the contents, 16-byte aligned, for free(); NULL with errno set.
 */
void *read_file(const char *name, size_t *size);

#endif /* COSY_TOOLS_FILE_H */
