/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copy.h - copy the contents of many files, many per crossing.
 *
 * A queue: pairs of paths go in, and a Cosy region copies as many as it is
 * given. What came of each is reported to the caller in the order they came:
 *
 *	struct copy copy;
 *
 *	copy_init(&copy, &options, report, context);
 *	copy_add(&copy, from, to);
 *	copy_flush(&copy);
 *	copy_free(&copy);
 *
 * None of this is thread-safe for one struct copy, nor async-signal-safe. A
 * function that finds no memory ends the program with a message and status 1.
 */
#ifndef COPY_H
#define COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/** enum copy_result - what came of one file */
enum copy_result {
	COPY_WAITING,
	COPY_DONE,
	COPY_SKIPPED,		/* it was there, and no_clobber is set */
	COPY_SAME,		/* source and destination are one file */
	COPY_ONTO_DIRECTORY,
	COPY_DANGLING,		/* the destination is a dangling symbolic link */
	COPY_REPLACED,		/* the source is no regular file any more */
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

/** enum copy_holes - where the copy gets holes */
enum copy_holes {
	COPY_HOLES_AUTO,	/* where the source has them */
	COPY_HOLES_NEVER,
	COPY_HOLES_ALWAYS,	/* also where a block of the source is zeros */
};

/**
 * struct copy_options - how to copy
 * @preserve:   keep times, owner and mode
 * @no_clobber: leave a destination that exists alone
 * @force:      if a destination cannot be opened, remove it and try again
 * @holes:      where the copy gets holes
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
 * @follow: the source may be a symbolic link, or no regular file
 * @existed: out: the destination was there
 * @result: out
 * @error:  out: the errno that goes with the result, 0 for none
 */
struct copy_file {
	char *from, *to;
	bool follow;
	bool existed;
	enum copy_result result;
	int error;
};

/**
 * struct copy - files to copy
 *
 * Callers may read @bytes, what has been written, and @finished, the number of
 * files that are through. The rest says where the region stands.
 */
struct copy {
	struct copy_options options;
	void (*report)(void *context, const struct copy_file *file);
	void (*progress)(void *context);
	void *context;
	struct copy_file *files;
	size_t count, size, done;
	int in, out;
	struct stat status;	/* of in */
	uint64_t bytes, finished;
};

/**
 * copy_init() - begin
 * @copy:     to be given back with copy_free()
 * @options:  how to copy; copied
 * @report:   called for each file when it is through
 * @progress: called now and then while files are copied
 * @context:  for both
 */
void copy_init(struct copy *copy, const struct copy_options *options,
	       void (*report)(void *context, const struct copy_file *file),
	       void (*progress)(void *context), void *context);

/**
 * copy_add() - copy a file, now or later
 * @from:   the source; copied
 * @to:     the destination, not a directory; copied
 * @follow: the source was named by the user: follow a symbolic link, and read
 *	    from whatever it is. Otherwise it was found, and has to be a regular
 *	    file still
 *
 * May copy, and report, what was added before, never the file itself.
 */
void copy_add(struct copy *copy, const char *from, const char *to, bool follow);

/** copy_flush() - copy what was added, and report it */
void copy_flush(struct copy *copy);

/** copy_free() - give the memory back; nothing may be waiting */
void copy_free(struct copy *copy);

#endif /* COPY_H */
