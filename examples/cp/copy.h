/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copy.h - copy the contents of many files, many per crossing.
 *
 * A queue: the program adds pairs of paths, and a Cosy region copies them. The result of
 * each is reported, in the order of the queue:
 *
 *	struct copy copy;
 *
 *	copy_init(&copy, &options, report, context);
 *	copy_add(&copy, from, to);
 *	copy_flush(&copy);
 *	copy_free(&copy);
 *
 * Not thread-safe for one struct copy, and not async-signal-safe. If there is no memory, a
 * function ends the program with a message and status 1.
 */
#ifndef COPY_H
#define COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/** enum copy_result - the result for one file */
enum copy_result {
	COPY_WAITING,
	COPY_DONE,
	COPY_SKIPPED,		/* the destination exists, and no_clobber is set */
	COPY_SAME,		/* source and destination are one file */
	COPY_ONTO_DIRECTORY,
	COPY_DANGLING,		/* the destination is a dangling symbolic link */
	COPY_REPLACED,		/* the source is not a regular file any more */
	COPY_STAT_FAILED,	/* of the destination; these have an errno */
	COPY_OPEN_FAILED,
	COPY_CREATE_FAILED,
	COPY_READ_FAILED,
	COPY_WRITE_FAILED,
	COPY_REMOVE_FAILED,	/* of the destination, by force */
	COPY_TIMES_FAILED,
	COPY_OWNER_FAILED,
	COPY_MODE_FAILED,
};

/** enum copy_holes - the holes of a copy */
enum copy_holes {
	COPY_HOLES_AUTO,	/* where the source has holes */
	COPY_HOLES_NEVER,
	COPY_HOLES_ALWAYS,	/* also where a block of the source is zero */
};

/**
 * struct copy_options - how to copy
 * @preserve:   keep times, owner and mode
 * @no_clobber: do not change a destination that exists
 * @force:      if a destination cannot be opened, remove it and try again
 * @holes:      the holes of the copy
 */
struct copy_options {
	bool preserve;
	bool no_clobber;
	bool force;
	enum copy_holes holes;
};

/**
 * struct copy_file - a file to copy
 * @from: the source
 * @to:   the destination
 * @follow: the source may be a symbolic link, or a file that is not regular
 * @existed: out: the destination existed
 * @result: out
 * @error:  out: the errno of the result, 0 if it has none
 */
struct copy_file {
	char *from, *to;
	bool follow;
	bool existed;
	enum copy_result result;
	int error;
};

/**
 * struct copy - a queue of files
 *
 * Callers may read @bytes, the number of bytes written, and @finished, the number of
 * files that are done. The other members are the position of the region.
 */
struct copy {
	struct copy_options options;
	void (*report)(void *context, const struct copy_file *file);
	void (*progress)(void *context);
	void *context;
	struct copy_file *files;
	size_t count, done;
	int in, out;
	struct stat status;	/* of in */
	uint64_t bytes, finished;
};

/**
 * copy_init() - initialise a queue
 * @copy:     freed by copy_free()
 * @options:  how to copy; copied
 * @report:   called for each file that is done
 * @progress: called from time to time while files are copied
 * @context:  for both
 */
void copy_init(struct copy *copy, const struct copy_options *options,
	       void (*report)(void *context, const struct copy_file *file),
	       void (*progress)(void *context), void *context);

/**
 * copy_add() - add a file, which is copied now or later
 * @from:   the source; copied
 * @to:     the destination, not a directory; copied
 * @follow: the user has named the source: follow a symbolic link, and read from a
 *	    file of any type. Otherwise it was found in a directory, and must still be
 *	    a regular file
 *
 * May copy and report files that were added before, but not this one.
 */
void copy_add(struct copy *copy, const char *from, const char *to, bool follow);

/** copy_flush() - copy and report all files of the queue */
void copy_flush(struct copy *copy);

/** copy_free() - free the memory; the queue must be empty */
void copy_free(struct copy *copy);

#endif /* COPY_H */
