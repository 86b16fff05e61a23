/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * file.h - copy many regular files at once, by operations of cosy-async(7).
 *
 *	files_init(&files, 1000);
 *	files_copy(&files, from, to, &status);	(for each; may wait for others)
 *	files_finish(&files);
 *
 * Not thread-safe. If there is no memory, a function ends the program with a message and
 * status 1.
 */
#ifndef FILE_H
#define FILE_H

#include <cosy/async.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct job;

/**
 * struct files - files that are being copied
 * @loop:      executes the operations
 * @signals:   signals that stop the copying; the caller has blocked them
 * @progress:  called from time to time, or NULL
 * @signal:    out: the signal that was received, or 0
 * @failed:    out: a file was not copied; a message was printed
 * @count:     files that are complete
 * @bytes:     bytes that were written
 * The other members belong to file.c.
 */
struct files {
	struct cosy_loop *loop;
	sigset_t signals;
	void (*progress)(const struct files *files);
	int signal;
	bool failed;
	uint64_t count, bytes;
	struct cosy_async signal_op;
	struct job *jobs;
	struct job *unused;
	unsigned int active;
};

/**
 * files_init() - initialise the structure
 * @files: @signals and @progress are set; freed by files_finish()
 * @jobs:  files that are copied at once; fewer if there are too few descriptors
 */
void files_init(struct files *files, unsigned int jobs);

/**
 * files_copy() - copy a file, now or later; does nothing after a signal
 * @from:   the source; copied
 * @to:     the copy, which must not exist; copied
 * @status: of @from; another file that has its name when it is opened is not copied
 *
 * The copy gets the mode, owner and times of the file. An incomplete copy is removed.
 */
void files_copy(struct files *files, const char *from, const char *to,
		const struct stat *status);

/** files_wait() - wait until all files are complete */
void files_wait(struct files *files);

/** files_finish() - free the structure; no job may be outstanding */
void files_finish(struct files *files);

/**
 * files_complain() - print an error and a remedy
 * @error: an errno
 * @what:  the error, with %s for the path
 */
void files_complain(struct files *files, int error, const char *what,
		    const char *path);

#endif /* FILE_H */
