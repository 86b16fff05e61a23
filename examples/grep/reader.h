/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reader.h - read many files into one buffer, many per crossing.
 *
 * A reader is a queue: paths go in, data comes out, in the same order.
 *
 *	reader_add(&reader, path, true);
 *	...
 *	while (reader_next(&reader, &chunk))
 *		use(&chunk);
 *
 * In reader_next(), a Cosy region opens, reads and closes files until the buffer is
 * full. A file that does not fit comes in several chunks. Files that are not regular are
 * left to the caller, because opening or reading them may wait.
 *
 * With a filter, the region searches as well, and keeps only what matches. So the buffer
 * fills later.
 *
 * Not thread-safe for one reader, nor async-signal-safe. A function that finds
 * no memory ends the program with a message and status 2.
 */
#ifndef READER_H
#define READER_H

#include "filter.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/** enum reader_state - what a chunk is */
enum reader_state {
	READER_PART,		/* data, and there may be more to come */
	READER_END,		/* data, the last; none if the file is empty */
	READER_FAILED,		/* could not be opened */
	READER_BROKEN,		/* data, after which it could not be read on */
	READER_SPECIAL,		/* not a regular file, and was not touched */
	READER_OUTPUT,		/* is the file that was to be left out */
};

/**
 * struct reader_chunk - what reader_next() returned
 * @path:     the file's, as it was added
 * @state:    what has been read of it
 * @error:    errno, for READER_FAILED and READER_BROKEN
 * @sparse:   the file has holes after its first SEARCH_WINDOW bytes
 * @data:     valid, and may be changed, until the next call; there is room for
 *	      one byte more
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

/** struct reader - a queue of files; callers leave its members alone */
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
 * reader_init() - an empty queue
 * @reader:     to be given back with reader_free()
 * @leave_out:  a file not to read, such as standard output; NULL: none
 * @skip_holes: a hole of a sparse file may be read as a single NUL
 * @filter:     a file that fits into the buffer and does not pass is returned as
 *	        one without data; NULL: none. Kept, not copied
 */
void reader_init(struct reader *reader, const struct stat *leave_out,
		 bool skip_holes, const struct filter *filter);

/**
 * reader_add() - append a file to the queue
 * @path:    copied
 * @operand: named by the user: it may be anything, symbolic links are followed.
 *	     Otherwise it was found in a directory, as a regular file; if it is
 *	     not one by now, it is passed over without a chunk
 */
void reader_add(struct reader *reader, const char *path, bool operand);

/** reader_waiting() - number of files added and not yet returned */
size_t reader_waiting(const struct reader *reader);

/**
 * reader_next() - take the next chunk
 *
 * Return: true, and *@chunk is set, or false: the queue is empty.
 */
bool reader_next(struct reader *reader, struct reader_chunk *chunk);

/**
 * reader_consume() - say how much of a part is done with
 * @bytes: at the front of the data of the last chunk, a READER_PART. The others
 *	   come again, at the front of the next chunk
 */
void reader_consume(struct reader *reader, size_t bytes);

/** reader_skip() - want no more of the file the last chunk, a part, is of */
void reader_skip(struct reader *reader);

/** reader_free() - give the buffer, and what is left in the queue, back */
void reader_free(struct reader *reader);

#endif /* READER_H */
