/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * walk.h - the regular files of a tree, in the order of its directories.
 *
 * Symbolic links, devices, pipes and sockets are omitted. The order is that of the entries
 * in the file system, and the files of a directory come where the directory is listed. Not
 * thread-safe. Ends the program with a message and status 2 if there is no memory.
 */
#ifndef WALK_H
#define WALK_H

/**
 * struct walk_actions - functions that walk_tree() calls
 * @file: for a regular file
 * @fail: if a directory cannot be opened or read, or the type of an entry cannot be
 *	  determined; @error is an errno
 */
struct walk_actions {
	void (*file)(void *context, const char *path);
	void (*fail)(void *context, const char *path, int error);
};

/**
 * walk_tree() - walk a tree
 * @root:    a directory; a symbolic link to one is followed. NULL: the working
 *	     directory, with paths that do not begin with "./"
 * @context: passed to the actions
 */
void walk_tree(const char *root, const struct walk_actions *actions,
	       void *context);

#endif /* WALK_H */
