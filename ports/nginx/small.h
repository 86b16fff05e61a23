/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * small.h - what nginx does for small files: they are read, and sent with the header in one call; and for its log:
 * the lines of all requests that are answered before it waits are written by one call.
 *
 * That alone, without Cosy, is the variant "fair". In the variant "cosy" the calls for the file are a
 * region.
 */
#ifndef SMALL_H
#define SMALL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define SMALL_ROOM (16 * 1024)
#define SMALL_HEAD 1024

/**
 * struct small - what is known of a file
 * @error: 0, or errno of opening it
 * @size:  bytes of @data; -1 if the file is not a regular one, or larger than SMALL_ROOM
 * @stat:  valid if @error is 0
 * @head:  room for the header, which is sent with the contents
 * @data:  its contents
 */
struct small {
	int error;
	ssize_t size;
	struct stat stat;
	char head[SMALL_HEAD], data[SMALL_ROOM];
};

/**
 * small_get() - get a file's status, and its contents if it is small
 * @request: a number that no other request has
 * @name:    its name, which ends with a zero
 * @length:  bytes before that
 *
 * The file is not opened again if the last call was for the same request and name.
 *
 * Return: what is known of the file, until the next call; NULL if there is no memory.
 */
struct small *small_get(uint64_t request, const char *name, size_t length);

/**
 * small_take() - keep what the last small_get() returned
 *
 * For a client that does not take everything at once.
 *
 * Return: that, which the caller frees.
 */
struct small *small_take(void);

/** small_writev() - writev() to a socket; small parts become one buffer, which is sent with @flags */
ssize_t small_writev(int fd, const struct iovec *parts, int count, int flags);

/**
 * small_log() - write a line of a log that has no buffer
 * @fd:   the file
 * @line: the line
 * @size: its bytes
 *
 * It is written by small_log_flush(), together with the next ones.
 *
 * Return: @size; -1 and errno if lines of this file, before this one, could not be written.
 */
ssize_t small_log(int fd, const void *line, size_t size);

/** small_log_flush() - write the lines; nginx calls it before it waits for events, and before it reopens logs */
void small_log_flush(void);

#endif /* SMALL_H */
