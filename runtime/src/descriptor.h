/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * descriptor.h - descriptors of libcosy's, at numbers where a program does not
 * meet them.
 */
#ifndef COSY_DESCRIPTOR_H
#define COSY_DESCRIPTOR_H

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

#endif /* COSY_DESCRIPTOR_H */
