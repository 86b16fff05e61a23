/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * attributes.h - the attributes of a file, other than its contents.
 */
#ifndef ATTRIBUTES_H
#define ATTRIBUTES_H

#include "copy.h"

#include <sys/stat.h>

/**
 * attributes_copy() - copy times, owner, mode and access control list of another file;
 *		       stops at the first failure
 * @from:   the other file
 * @in:     the same, open, or -1: its name may have another file meanwhile
 * @to:     the file; a symbolic link is not followed
 * @fd:     the same, open, or -1
 * @status: of @from
 *
 * An owner that the process may not set is not a failure. Set-id bits are copied only with
 * the owner. The default list of a directory is copied, too.
 *
 * Return: COPY_DONE, or the failure with its errno.
 */
enum copy_result attributes_copy(const char *from, int in, const char *to, int fd,
				 const struct stat *status);

#endif /* ATTRIBUTES_H */
