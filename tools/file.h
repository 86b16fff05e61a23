/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * file.h - reading a tool's input.
 */
#ifndef COSY_TOOLS_FILE_H
#define COSY_TOOLS_FILE_H

#include <stddef.h>

/**
 * read_file() - the contents of a file
 * @name: its name, "-" for standard input
 * @size: out: bytes read
 *
 * Return: the contents, 16-byte aligned, to be given back with free(); NULL
 * with errno set.
 */
void *read_file(const char *name, size_t *size);

#endif /* COSY_TOOLS_FILE_H */
