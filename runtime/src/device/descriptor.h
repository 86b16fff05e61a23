/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * descriptor.h - descriptors of libcosy's, at numbers where a program does not
 * meet them.
 */
#ifndef COSY_DESCRIPTOR_H
#define COSY_DESCRIPTOR_H

#include <stdbool.h>

/* Marks are numbers from 1 to this. */
#define COSY_MARKS	64

/**
 * cosy_descriptor_copy() - duplicate a descriptor, close-on-exec
 * @fd: any descriptor
 *
 * Async-signal-safe, thread-safe.
 *
 * Return: a descriptor out of the program's sight, or -errno.
 */
int cosy_descriptor_copy(int fd);

/**
 * cosy_descriptor_hide() - give a descriptor a number the program does not see
 * @fd: a descriptor of ours, close-on-exec, given up; or an error, which is
 *	returned
 *
 * Async-signal-safe, thread-safe.
 *
 * Return: the descriptor's number now; @fd if there is no better one.
 */
int cosy_descriptor_hide(int fd);

/**
 * cosy_descriptor_mark() - mark an open file of ours
 * @fd:	  a descriptor of the file, which sends no signals
 * @mark: the mark
 *
 * The program may close all descriptors, and open others with the same numbers.
 *
 * Return: 0 or -errno.
 */
int cosy_descriptor_mark(int fd, int mark);

/**
 * cosy_descriptor_is_marked() - test whether a number still refers to a file that was marked
 * @fd:	  the number
 * @mark: its mark
 *
 * Async-signal-safe.
 *
 * Return: true if it does, or if a seccomp filter does not let us know.
 */
bool cosy_descriptor_is_marked(int fd, int mark);

#endif /* COSY_DESCRIPTOR_H */
