/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * attributes.h - what a file has besides its contents.
 */
#ifndef ATTRIBUTES_H
#define ATTRIBUTES_H

#include "copy.h"

#include <sys/stat.h>

/**
 * attributes_copy() - give a file the times, owner, mode and access control list of
 *		       another one, up to what fails
 * @from:   the other one
 * @to:     the file; a symbolic link stands for itself
 * @fd:     the same, open, or -1
 * @status: of @from
 *
 * An owner that may not be given away is no failure; set-id bits go with the owner only.
 * Of a directory the list for what will be made in it is copied, too.
 *
 * Return: COPY_DONE, or the failure with its errno.
 */
enum copy_result attributes_copy(const char *from, const char *to, int fd,
				 const struct stat *status);

#endif /* ATTRIBUTES_H */
