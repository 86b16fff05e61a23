/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * allocated.h - memory without which a program cannot go on.
 */
#ifndef ALLOCATED_H
#define ALLOCATED_H

#include <errno.h>
#include <error.h>

/**
 * allocated() - end the program with a message if there was no memory
 * @memory: what malloc() or the like has returned
 * @status: the exit status
 *
 * Return: @memory.
 */
static inline void *allocated(void *memory, int status)
{
	if (!memory)
		error(status, errno, "cannot go on");
	return memory;
}

#endif /* ALLOCATED_H */
