/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * walk.h - the regular files of a tree, in the order of its directories.
 *
 * Symbolic links, devices, pipes and sockets are passed over. The order is
 * that in which the file system lists its directories, and a directory's files
 * come where the directory is listed. Not thread-safe; ends the program with a
 * message and status 2 if there is no memory.
 */
#ifndef WALK_H
#define WALK_H

/**
 * struct walk_actions - what to do
 * @file: with a regular file
 * @fail: when a directory could not be opened or read, or an entry's type could
 *	  not be found out; @error is an errno
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
