/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * descriptor.h - gives libcosy's descriptors numbers that programs do not notice; lists those that are open.
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
 * Return: the descriptor, at a number that programs do not notice, or -errno. The caller closes it.
 */
int cosy_descriptor_copy(int fd);

/**
 * cosy_descriptor_hide() - move a descriptor to a number that programs do not notice
 * @fd: a descriptor of libcosy, close-on-exec, which is closed; or an error, which is returned
 *
 * Async-signal-safe, thread-safe.
 *
 * Return: the new descriptor; @fd, still open, if there is no better number.
 */
int cosy_descriptor_hide(int fd);

/**
 * cosy_descriptor_mark() - mark an open file of libcosy
 * @fd:	  a descriptor of the file, which sends no signals
 * @mark: the mark, 1 to COSY_MARKS
 *
 * A mark tells the file from another one that the program opens at the same number after it has
 * closed all descriptors.
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
 * Return: true if it does, or if a seccomp filter forbids the test.
 */
bool cosy_descriptor_is_marked(int fd, int mark);

/** cosy_descriptor_close() - close a file that was marked, unless its number has another one now */
void cosy_descriptor_close(int fd, int mark);

/**
 * cosy_descriptors_each() - call a function for each open descriptor of the process, until it returns true
 *
 * Return: 1 if it has; 0 if there are no more; -errno if /proc does not tell.
 */
int cosy_descriptors_each(bool (*use)(int fd, void *arg), void *arg);

#endif /* COSY_DESCRIPTOR_H */
