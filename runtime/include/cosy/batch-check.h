/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cosy/batch-check.h - the interface between code compiled with -fcosy-batch-check
 * and libcosy, which finds loops that break the promise of COSY_BATCH.
 *
 * Programs do not include this. A loop with COSY_BATCH runs in the split order,
 * natively, and tells libcosy which iteration runs in which phase. Code compiled
 * with the option tells libcosy what it reads and writes. The split exchanges two
 * accesses only if the access of the later iteration comes first. So if one of them
 * is a write, the iterations are not independent.
 *
 * A site is a text "file:line:column" that lives as long as the program. All
 * functions keep errno and affect only the calling thread. While the thread is not
 * in such a loop, they do nothing and cost a comparison.
 */
#ifndef COSY_BATCH_CHECK_H
#define COSY_BATCH_CHECK_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum cosy_batch_phase - a part of an iteration */
enum cosy_batch_phase {
	COSY_BATCH_COLLECT,	/* the code before the region, step, condition */
	COSY_BATCH_CALL,	/* the region */
	COSY_BATCH_FINISH,	/* the code after the region */
};

/** enum cosy_batch_object - objects other than memory that are accessed */
enum cosy_batch_object {
	COSY_BATCH_DESCRIPTOR,	/* value: the descriptor */
	COSY_BATCH_STREAM,	/* value: address of the FILE, 0 for stdout */
};

/** cosy_batch_enter() - a loop begins; @site: its COSY_BATCH */
void cosy_batch_enter(const char *site);

/**
 * cosy_batch_at() - an iteration continues
 * @phase: enum cosy_batch_phase
 * @index: the iteration, counted from the first one of the batch
 */
void cosy_batch_at(unsigned int phase, uint64_t index);

/** cosy_batch_next() - all iterations of a batch are finished */
void cosy_batch_next(void);

/**
 * cosy_batch_leave() - the loop is left
 *
 * The iteration of the last cosy_batch_at() leaves it. Data that later iterations
 * have written must not be read from now on.
 */
void cosy_batch_leave(void);

/** cosy_batch_return() - a function with such a loop returns; @frame: its frame */
void cosy_batch_return(const void *frame);

/** cosy_batch_read() - @size bytes at @p are about to be read */
void cosy_batch_read(const void *p, size_t size, const char *site);

/** cosy_batch_write() - @size bytes at @p are about to be written, or have been */
void cosy_batch_write(const void *p, size_t size, const char *site);

/**
 * cosy_batch_update() - @size bytes at @p are about to be read and written
 *
 * A number there is increased, and its sum is not used otherwise. So the order of
 * such accesses makes no difference.
 */
void cosy_batch_update(const void *p, size_t size, const char *site);

/**
 * cosy_batch_result() - a system call has accessed memory
 * @p:      its address
 * @size:   its maximum size
 * @result: the result of the call; if it is negative, nothing was accessed
 * @written: it has written the memory; 0: read
 * @counts: @result is the number of bytes
 */
void cosy_batch_result(const void *p, size_t size, int64_t result, int written,
		       int counts, const char *site);

/** cosy_batch_read_string() - at most @size bytes of the string @s are read */
void cosy_batch_read_string(const char *s, size_t size, const char *site);

/** cosy_batch_write_string() - a string has been written to the @size bytes at @s */
void cosy_batch_write_string(const char *s, size_t size, const char *site);

/**
 * cosy_batch_entry() - readdir() has returned @entry of @dir
 *
 * Previous entries count as overwritten, because they may be.
 */
void cosy_batch_entry(const void *dir, const struct dirent *entry, const char *site);

/** cosy_batch_free() - the block @p of malloc(), or NULL, is about to be freed */
void cosy_batch_free(void *p, const char *site);

/** cosy_batch_new() - the block @p, or NULL, is new; @size SIZE_MAX: it is a string */
void cosy_batch_new(const void *p, size_t size);

/**
 * cosy_batch_object() - a call is about to use or change an object
 * @object: enum cosy_batch_object
 * @value:  which one
 * @change: 0 if the call has no effect on others that use the object
 */
void cosy_batch_object(unsigned int object, uint64_t value, int change,
		       const char *site);

/** cosy_batch_open() - the descriptor @fd is new, or the call has failed */
void cosy_batch_open(int fd);

/** cosy_batch_close() - the descriptor @fd is about to be closed */
void cosy_batch_close(int fd, const char *site);

/**
 * cosy_batch_path() - a call is about to look up a file
 * @dirfd:  where @path begins if it is relative
 * @change: not 0 if the call changes the file that @path names
 */
void cosy_batch_path(int dirfd, const char *path, int change, const char *site);

/** cosy_batch_chdir() - the working directory is about to change */
void cosy_batch_chdir(const char *site);

#ifdef __cplusplus
}
#endif

#endif /* COSY_BATCH_CHECK_H */
