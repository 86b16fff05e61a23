// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * walk.c - the regular files of a tree, in the order of its directories.
 *
 * The region that reads directories is in dirlist.c. It gets all sub-directories of a
 * directory at once.
 */
#include "walk.h"
#include "allocated.h"
#include "dirlist.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static char *join(const char *directory, const char *name)
{
	if (directory)
		return dirlist_join(directory, name);
	return allocated(strdup(name), DIRLIST_EXIT);
}

static void visit(const struct dirlist *list, const struct dirlist_dir *dir,
		  const char *path, const struct walk_actions *actions,
		  void *context)
{
	const struct dirlist_entry *entries = &list->entries[dir->first];
	size_t nbelow = 0, next = 0;
	struct dirlist below;
	char **paths;

	if (dir->open_error) {
		actions->fail(context, dir->path, dir->open_error);
		return;
	}
	paths = allocated(calloc(dir->count + 1, sizeof(*paths)), DIRLIST_EXIT);
	for (size_t i = 0; i < dir->count; i++)
		if (entries[i].type == DT_DIR)
			paths[nbelow++] = join(path, list->names +
						     entries[i].name);
	dirlist_init(&below, paths, nbelow, DIRLIST_CHILDREN,
		     DIRLIST_NOFOLLOW);
	for (size_t i = 0; i < dir->count; i++) {
		const struct dirlist_entry *entry = &entries[i];
		char *name;

		if (entry->type == DT_DIR) {
			visit(&below, dirlist_next(&below), paths[next++],
			      actions, context);
		} else if (entry->status_error || entry->type == DT_REG) {
			name = join(path, list->names + entry->name);
			if (entry->status_error)
				actions->fail(context, name,
					      entry->status_error);
			else
				actions->file(context, name);
			free(name);
		}
	}
	if (dir->read_error)
		actions->fail(context, dir->path, dir->read_error);
	dirlist_free(&below);
	for (size_t i = 0; i < nbelow; i++)
		free(paths[i]);
	free(paths);
}

void walk_tree(const char *root, const struct walk_actions *actions,
	       void *context)
{
	char *path = (char *)(root ? root : ".");
	struct dirlist list;

	dirlist_init(&list, &path, 1, DIRLIST_CHILDREN, 0);
	visit(&list, dirlist_next(&list), root, actions, context);
	dirlist_free(&list);
}
