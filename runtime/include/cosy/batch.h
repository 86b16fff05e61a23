/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cosy/batch.h - batch functions: many file operations in one crossing.
 *
 * For programs built by any compiler; link with -lcosy-batch -lcosy. With the
 * kernel module a function enters the kernel once and processes its items there.
 * Without the module it makes the same system calls one by one. The results are
 * the same.
 *
 * Common to all functions:
 *
 * - A failure is a negative errno value (-ENOENT). errno itself is unchanged.
 * - Items are processed in order. The effects of one item are complete before the
 *   next one begins. A failed item does not stop the others.
 * - Signal handlers run between two system calls, and the function continues
 *   after them. A system call that a handler without SA_RESTART interrupts fails
 *   its item with -EINTR.
 * - dirfd is a directory descriptor or AT_FDCWD; relative paths start there.
 * - They are thread-safe on distinct buffers. They are not cancellation points.
 *   Unless noted, they are async-signal-safe.
 *
 * cosy-batch(7) is the overview; each function has a page in section 3.
 */
#ifndef COSY_BATCH_H
#define COSY_BATCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * cosy_stat_many() - take the status of many files
 * @dirfd:   directory that relative paths start from, or AT_FDCWD
 * @paths:   @count paths
 * @count:   number of paths; arrays of @count elements must fit into the address
 *           space
 * @flags:   0, or an OR of AT_SYMLINK_NOFOLLOW, AT_NO_AUTOMOUNT and AT_EMPTY_PATH,
 *           as for fstatat(2)
 * @status:  out: @count structures; an element whose path failed is unchanged
 * @results: out: @count results: 0, or the path's negative errno
 *
 * Return: the number of paths whose result is 0; or -EINVAL for unknown @flags, or
 * if @count is too large. Then no path was looked up.
 */
ssize_t cosy_stat_many(int dirfd, const char *const *paths, size_t count,
		       int flags, struct stat *status, int *results);

/**
 * struct cosy_read_result - the contents of one file, from cosy_read_many()
 * @offset: offset of its first byte in the buffer
 * @length: its length in bytes; or a negative errno, then the buffer contains nothing
 *          of it
 */
struct cosy_read_result {
	size_t offset;
	ssize_t length;
};

/**
 * cosy_read_many() - read many whole files into one buffer
 * @dirfd:   directory that relative paths start from, or AT_FDCWD
 * @paths:   @count paths of regular files
 * @count:   number of paths
 * @flags:   0 or AT_SYMLINK_NOFOLLOW: a path whose last component is a symbolic
 *           link fails with -ELOOP
 * @buffer:  out: the contents, one file directly after the other
 * @size:    of @buffer in bytes, at most SSIZE_MAX
 * @results: out: @count results; only the first ones are set, as many as the return
 *           value says
 *
 * Ends before the first file that does not fit into the rest of the buffer; call
 * it again with the remaining paths and an empty buffer. A file that does not fit
 * into an empty buffer has the result -EFBIG. A directory has -EISDIR, another
 * file that is not regular -EINVAL; neither is read, and opening does not wait for
 * the other end of a FIFO.
 *
 * Return: the number of paths that were processed, at least 1 if @count is; or
 * -EINVAL for unknown @flags, or if @count or @size is too large. Then no path was
 * looked up.
 */
ssize_t cosy_read_many(int dirfd, const char *const *paths, size_t count,
		       int flags, void *buffer, size_t size,
		       struct cosy_read_result *results);

/**
 * cosy_unlink_many() - remove many names
 * @dirfd:   directory that relative paths start from, or AT_FDCWD
 * @paths:   @count paths
 * @count:   number of paths; an array of @count results must fit into the address
 *           space
 * @flags:   0: remove files; AT_REMOVEDIR: remove empty directories
 * @results: out: @count results: 0, or the path's negative errno
 *
 * Return: the number of names that were removed; or -EINVAL for unknown @flags, or if
 * @count is too large. Then nothing was removed.
 */
ssize_t cosy_unlink_many(int dirfd, const char *const *paths, size_t count,
			 int flags, int *results);

/* Flags of cosy_copy_file(). */
#define COSY_COPY_EXCLUSIVE 1	/* fail with -EEXIST if the destination exists */
#define COSY_COPY_NOFOLLOW 2	/* fail with -ELOOP if the source is a symbolic link */

/**
 * cosy_copy_file() - copy the contents of a regular file
 * @from_dirfd: directory that a relative @from starts from, or AT_FDCWD
 * @from:   the source
 * @to_dirfd: directory that a relative @to starts from, or AT_FDCWD
 * @to:     the destination; a symbolic link is followed
 * @flags:  0, or an OR of COSY_COPY_EXCLUSIVE and COSY_COPY_NOFOLLOW
 * @copied: out: bytes of the destination that are valid, from its beginning; also
 *          after a failure; may be NULL
 *
 * A new destination gets the source's permission bits, restricted by the umask.
 * An existing one is truncated and keeps its own. Holes of the source are holes of
 * the destination. After a failure the destination keeps what was copied. Uses
 * 16 KiB of stack.
 *
 * Return: 0; or a negative errno: of the system call that failed, -EISDIR if the
 * source or the destination is a directory, -EINVAL if one of them is another file
 * that is not regular, if both are one file, or for unknown @flags; -ENXIO if the
 * destination is a FIFO without a reader.
 */
int cosy_copy_file(int from_dirfd, const char *from, int to_dirfd,
		   const char *to, int flags, off_t *copied);

/* Flags of cosy_dir_open(). */
#define COSY_DIR_STATUS 1	/* take the status of each entry */
#define COSY_DIR_NOFOLLOW 2	/* fail with -ENOTDIR if path is a symbolic link */
#define COSY_DIR_EMPTY_PATH 4	/* if path is "", list the open directory dirfd */

/**
 * struct cosy_dir_entry - an entry of a directory
 * @name:   its name
 * @inode:  the inode number in the directory
 * @type:   DT_REG, DT_DIR, … of <dirent.h>; DT_UNKNOWN only if neither the
 *          directory nor the status shows the type
 * @result: 0: @status is valid; otherwise a negative errno that says why not;
 *          -ENODATA: it was not requested
 * @status: as from lstat(2)
 */
struct cosy_dir_entry {
	const char *name;
	ino_t inode;
	int result;
	unsigned char type;
	struct stat status;
};

/** struct cosy_dir - a directory that is being listed; opaque */
struct cosy_dir;

/**
 * cosy_dir_open() - open a directory and read its first entries
 * @dir:   out: the directory, to be closed by cosy_dir_close(); NULL after a failure
 * @dirfd: directory that a relative @path starts from, or AT_FDCWD
 * @path:  the directory
 * @flags: 0, or an OR of COSY_DIR_STATUS, COSY_DIR_NOFOLLOW and
 *         COSY_DIR_EMPTY_PATH. Without COSY_DIR_STATUS, a status is taken only if
 *         the directory does not contain the type of an entry
 *
 * With COSY_DIR_EMPTY_PATH and the @path "", the directory @dirfd is listed from its
 * position. Its descriptor may be closed meanwhile; the directory need not be
 * searchable. At the end, and in cosy_dir_close(), the position is set to the
 * beginning.
 *
 * If all entries fit into the first block, the directory is read and closed in the
 * same crossing. Not async-signal-safe.
 *
 * Return: 0; or a negative errno of opening it, -ENOMEM, -EINVAL for unknown
 * @flags.
 */
int cosy_dir_open(struct cosy_dir **dir, int dirfd, const char *path, int flags);

/**
 * cosy_dir_read() - take the next entries
 * @dir:     the directory
 * @entries: out: the entries, valid until the next call for @dir
 *
 * The entries are in the directory's order, without "." and "..". Names that are
 * created or removed meanwhile may be listed or not, as with readdir(3). Not
 * async-signal-safe.
 *
 * Return: their number; 0 at the end; or a negative errno of reading further entries,
 * after which another call tries again.
 */
ssize_t cosy_dir_read(struct cosy_dir *dir,
		      const struct cosy_dir_entry **entries);

/**
 * cosy_dir_close() - end listing
 * @dir: the directory, or NULL
 *
 * Frees the entries. Not async-signal-safe.
 */
void cosy_dir_close(struct cosy_dir *dir);

#ifdef __cplusplus
}
#endif

#endif /* COSY_BATCH_H */
