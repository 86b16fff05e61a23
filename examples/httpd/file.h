/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * file.h - files below the root. No name leads out of it: either the process has changed its root
 * directory, or the kernel refuses to resolve such a name.
 */
#ifndef FILE_H
#define FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/**
 * struct file - what file_load() has found
 * @error:  0, or errno
 * @stat:   status of the file; valid if @error is 0
 * @loaded: bytes in the buffer, -1 if the file is larger than the buffer or not a regular one
 */
struct file {
	int error;
	ssize_t loaded;
	struct stat stat;
};

/** file_set_root() - names are relative to @root from now on, or to the working directory if -1 */
void file_set_root(int root);

/**
 * file_load() - get the status of a file, and its contents if they fit
 * @name:   its name, relative to the root
 * @buffer: receives the contents
 * @room:   its size; 0: only the status is needed
 * @file:   out: what was found
 *
 * Does not wait for FIFOs and devices.
 */
void file_load(const char *name, char *buffer, size_t room, struct file *file);

/**
 * file_open() - open a regular file
 * @name: its name, relative to the root
 * @stat: out: its status
 *
 * Return: the descriptor, close-on-exec, or -errno.
 */
int file_open(const char *name, struct stat *stat);

#endif /* FILE_H */
