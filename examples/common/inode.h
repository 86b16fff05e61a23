/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * inode.h - what identifies a file, whatever its names are.
 */
#ifndef INODE_H
#define INODE_H

#include <sys/stat.h>

struct inode {
	dev_t device;
	ino_t number;
};

/** inode_of() - return the identity of the file that has a status */
static inline struct inode inode_of(const struct stat *status)
{
	return (struct inode){ status->st_dev, status->st_ino };
}

/** inode_compare() - compare structures that begin with a struct inode, for tsearch(3) */
static inline int inode_compare(const void *a, const void *b)
{
	const struct inode *left = a, *right = b;

	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

#endif /* INODE_H */
