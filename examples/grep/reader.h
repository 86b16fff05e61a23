/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reader.h - read many files into one buffer, many per crossing.
 *
 * A reader is a queue: the program adds paths, and gets data in the same order.
 *
 *	reader_add(&reader, path, true);
 *	...
 *	while (reader_next(&reader, &chunk))
 *		use(&chunk);
 *
 * In reader_next(), a Cosy region opens, reads and closes files until the buffer is
 * full. A file that does not fit is returned in several chunks. The caller handles files
 * that are not regular, because opening or reading them may wait.
 *
 * With a filter, the region also searches, and keeps only files that pass. So the buffer is
 * filled later.
 *
 * Not thread-safe for one reader, and not async-signal-safe. If there is no memory, a
 * function ends the program with a message and status 2.
 */
#ifndef READER_H
#define READER_H

#include "filter.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/** enum reader_state - the kind of a chunk */
enum reader_state {
	READER_PART,		/* data, and more may follow */
	READER_END,		/* the last data; none if the file is empty */
	READER_FAILED,		/* could not be opened */
	READER_BROKEN,		/* data, after which reading failed */
	READER_SPECIAL,		/* not a regular file, and not read */
	READER_OUTPUT,		/* the file that must be left out */
};

/**
 * struct reader_chunk - a result of reader_next()
 * @path:     path of the file, as it was added
 * @state:    the kind of the chunk
 * @error:    errno, for READER_FAILED and READER_BROKEN
 * @sparse:   the file has holes after its first SEARCH_WINDOW bytes
 * @data:     valid until the next call, and may be changed; there is room for one
 *	      more byte
 * @length:   its length
 */
struct reader_chunk {
	const char *path;
	enum reader_state state;
	int error;
	bool sparse;
	char *data;
	size_t length;
};

/** struct reader_file - a file in the queue */
struct reader_file {
	char *path;
	bool operand, sparse;
	unsigned char state;	/* enum reader_state */
	int error;
	size_t start, length;	/* of its data in the buffer */
};

/** struct reader - a queue of files; callers do not access its members */
struct reader {
	struct reader_file *files;
	size_t count, size;
	size_t done, taken;	/* files read, files returned */
	char *buffer;
	size_t buffer_used, buffer_size;
	const struct filter *filter;	/* not NULL: buffer is in the segment */
	int fd;			/* of files[done], -1: not open */
	bool skip_holes, leave_out;
	dev_t device;		/* the file to leave out */
	ino_t inode;
	bool part_taken;	/* files[done] has been returned, as a part */
	size_t consumed;
};

/**
 * reader_init() - initialise an empty queue
 * @reader:     freed by reader_free()
 * @leave_out:  a file that is not read, such as standard output, or NULL
 * @skip_holes: a hole of a sparse file may be read as a single NUL
 * @filter:     a file that fits into the buffer and does not pass is returned without
 *	        data; or NULL. Kept, not copied
 */
void reader_init(struct reader *reader, const struct stat *leave_out,
		 bool skip_holes, const struct filter *filter);

/**
 * reader_add() - append a file to the queue
 * @path:    copied
 * @operand: the user has named it: it may have any type, and symbolic links are
 *	     followed. Otherwise it was found in a directory as a regular file; if it
 *	     is not regular any more, it is omitted
 */
void reader_add(struct reader *reader, const char *path, bool operand);

/** reader_waiting() - return the number of files that were added and not yet returned */
size_t reader_waiting(const struct reader *reader);

/**
 * reader_next() - take the next chunk
 *
 * Return: true, and *@chunk is set, or false: the queue is empty.
 */
bool reader_next(struct reader *reader, struct reader_chunk *chunk);

/**
 * reader_consume() - consume the beginning of a part
 * @bytes: the number of bytes of the last chunk, a READER_PART. The next chunk begins
 *	   with the others
 */
void reader_consume(struct reader *reader, size_t bytes);

/** reader_skip() - skip the rest of the file of the last chunk, a part */
void reader_skip(struct reader *reader);

/** reader_free() - free the buffer and the queue */
void reader_free(struct reader *reader);

#endif /* READER_H */
