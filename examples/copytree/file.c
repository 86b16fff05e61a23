// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * file.c - copy many regular files at once.
 *
 * Each file is a job: a chain of operations, one of which is outstanding at a time. The
 * callback of each operation submits the next one.
 */
#include "file.h"

#include "../common/progress.h"
#include "../common/quote.h"

#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BUFFER = 64 * 1024 };

struct job {
	struct cosy_async op;
	struct files *files;
	struct job *next_unused;
	char *from, *to;
	struct stat status, opened;	/* by its name, and then of what was opened */
	struct timespec times[2];
	int in, out;
	bool by_path;			/* @in was opened by O_PATH at first */
	size_t filled, written;		/* bytes of the buffer */
	char name[32];			/* in /proc, of a descriptor */
	char buffer[BUFFER];
};

static const char *remedy(int number)
{
	switch (number) {
	case EACCES:
	case EPERM:
		return " (copy as root, or as the owner)";
	case EEXIST:
		return " (remove it, or copy to another place)";
	case ENOSPC:
	case EDQUOT:
		return " (free some space, and copy again)";
	case EMFILE:
		return " (use fewer --jobs, or a higher ulimit -n)";
	case ENAMETOOLONG:
		return " (copy its directory by itself)";
	case ESTALE:
		return " (it was replaced while the tree was copied)";
	default:
		return "";
	}
}

void files_complain(struct files *files, int number, const char *what,
		    const char *path)
{
	progress_clear();
	fprintf(stderr, "%s: ", program_invocation_name);
	fprintf(stderr, what, quote(path));
	fprintf(stderr, ": %s%s\n", strerror(number), remedy(number));
	files->failed = true;
}

static void close_fd(struct files *files, int fd)
{
	if (fd >= 0 && cosy_async_close(files->loop, NULL, fd))
		close(fd);
}

static void end(struct job *job)
{
	struct files *files = job->files;

	close_fd(files, job->in);
	close_fd(files, job->out);
	free(job->from);
	free(job->to);
	job->next_unused = files->unused;
	files->unused = job;
	files->active--;
	if (files->progress)
		files->progress(files);
}

/* Ends a job that is not complete. Prints the reason, unless it is a signal. */
static void fail(struct job *job, const char *what, const char *path)
{
	if (!job->files->signal)
		files_complain(job->files, (int)-job->op.result, what, path);
	if (job->out >= 0)
		unlink(job->to);
	end(job);
}

/* End a job whose operation has failed, and any job after a signal. Return true if it ended. */
static bool is_over(struct job *job, const char *what, const char *path)
{
	if (job->op.result >= 0 && !job->files->signal)
		return false;
	fail(job, what, path);
	return true;
}

/*
 * The steps, in reverse order: each submits its operation, and its callback is the
 * function above it. There are enough entries for all jobs, so submitting does not fail.
 */
static void done_close(struct cosy_async *op)
{
	struct job *job = op->data;

	/* The descriptor is closed even if close(2) failed. */
	job->out = -1;
	if (op->result < 0) {
		unlink(job->to);
		fail(job, "error writing %s", job->to);
		return;
	}
	job->files->count++;
	end(job);
}

static void done_times(struct cosy_async *op)
{
	struct job *job = op->data;

	if (is_over(job, "cannot preserve the times of %s", job->to))
		return;
	op->done = done_close;
	cosy_async_close(job->files->loop, op, job->out);
}

static void done_mode(struct cosy_async *op)
{
	struct job *job = op->data;

	if (is_over(job, "cannot preserve the permissions of %s", job->to))
		return;
	job->times[0] = job->status.st_atim;
	job->times[1] = job->status.st_mtim;
	op->done = done_times;
	cosy_async_futimens(job->files->loop, op, job->out, job->times);
}

static void done_owner(struct cosy_async *op)
{
	struct job *job = op->data;
	mode_t mode = job->status.st_mode & 07777;

	if (op->result == -EPERM) {
		/*
		 * Only root may change the owner. Set-id bits would then apply to another
		 * user.
		 */
		mode &= ~(S_ISUID | S_ISGID);
		op->result = 0;
	}
	if (is_over(job, "cannot preserve the owner of %s", job->to))
		return;
	op->done = done_mode;
	cosy_async_fchmod(job->files->loop, op, job->out, mode);
}

static void done_read(struct cosy_async *op);

static void read_some(struct job *job)
{
	job->op.done = done_read;
	cosy_async_read(job->files->loop, &job->op, job->in, job->buffer, BUFFER);
}

static void done_write(struct cosy_async *op)
{
	struct job *job = op->data;

	/* See write_some(). */
	if (op->result == 0)
		op->result = -ENOSPC;
	if (is_over(job, "error writing %s", job->to))
		return;
	job->written += op->result;
	job->files->bytes += op->result;
	if (job->written < job->filled)
		cosy_async_write(job->files->loop, op, job->out,
				 job->buffer + job->written,
				 job->filled - job->written);
	else
		read_some(job);
}

static void done_read(struct cosy_async *op)
{
	struct job *job = op->data;

	if (is_over(job, "error reading %s", job->from))
		return;
	if (op->result == 0) {
		op->done = done_owner;
		cosy_async_fchown(job->files->loop, op, job->out,
				  job->status.st_uid, job->status.st_gid);
		return;
	}
	job->filled = op->result;
	job->written = 0;
	op->done = done_write;
	cosy_async_write(job->files->loop, op, job->out, job->buffer, job->filled);
}

static void done_create(struct cosy_async *op)
{
	struct job *job = op->data;

	if (op->result >= 0)
		job->out = (int)op->result;
	if (!is_over(job, "cannot create %s", job->to))
		read_some(job);
}

/*
 * A directory of the path may have become a symbolic link meanwhile, for which O_NOFOLLOW does nothing.
 * Then the name leads to a file that the owner of the tree may not even read.
 */
static bool was_replaced(const struct job *job)
{
	return job->opened.st_dev != job->status.st_dev ||
	       job->opened.st_ino != job->status.st_ino || !S_ISREG(job->opened.st_mode);
}

static void done_status(struct cosy_async *op)
{
	struct job *job = op->data;

	if (op->result >= 0 && was_replaced(job))
		op->result = -ESTALE;
	if (is_over(job, "cannot copy %s", job->from))
		return;
	/* A number may have a new file. The copy has the owner of what it was read from. */
	job->status = job->opened;
	op->done = done_create;
	cosy_async_open(job->files->loop, op, job->to,
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static void take_status(struct job *job, void (*done)(struct cosy_async *op))
{
	job->op.done = done;
	cosy_async_fstat(job->files->loop, &job->op, job->in, &job->opened);
}

static void done_wait(struct cosy_async *op)
{
	struct job *job = op->data;

	if (op->result >= 0) {
		close_fd(job->files, job->in);
		job->in = (int)op->result;
	}
	if (!is_over(job, "cannot open %s for reading", job->from))
		take_status(job, done_status);
}

static void done_path_status(struct cosy_async *op)
{
	struct job *job = op->data;

	if (op->result >= 0 && was_replaced(job))
		op->result = -ESTALE;
	if (is_over(job, "cannot copy %s", job->from))
		return;
	snprintf(job->name, sizeof(job->name), "/proc/self/fd/%d", job->in);
	op->done = done_wait;
	cosy_async_open(job->files->loop, op, job->name, O_RDONLY | O_CLOEXEC, 0);
}

static void done_open(struct cosy_async *op);

static void open_source(struct job *job, int flags)
{
	job->op.done = done_open;
	cosy_async_open(job->files->loop, &job->op, job->from, flags | O_NOFOLLOW | O_CLOEXEC, 0);
}

/*
 * O_NONBLOCK: it may have become a FIFO without a writer. If another process has a lease of the
 * file, opening it so fails. Without O_NONBLOCK it waits until the lease is given back; O_PATH makes sure that
 * it is still the same regular file.
 */
static void done_open(struct cosy_async *op)
{
	struct job *job = op->data;

	if (op->result == -EAGAIN) {
		job->by_path = true;
		open_source(job, O_PATH);
		return;
	}
	if (op->result >= 0)
		job->in = (int)op->result;
	if (!is_over(job, "cannot open %s for reading", job->from))
		take_status(job, job->by_path ? done_path_status : done_status);
}

static void done_signal(struct cosy_async *op)
{
	struct files *files = op->data;

	if (op->result > 0)
		files->signal = (int)op->result;
}

/* A job has two descriptors. The loop and the program have some more. */
static unsigned int limit_jobs(unsigned int jobs)
{
	const unsigned int others = 32;
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < 2 * jobs + others) {
		limit.rlim_cur = limit.rlim_max < 2 * jobs + others ?
					 limit.rlim_max : 2 * jobs + others;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur < 2 * jobs + others)
		jobs = limit.rlim_cur > others + 2 ? (limit.rlim_cur - others) / 2 : 1;
	return jobs;
}

void files_init(struct files *files, unsigned int jobs)
{
	struct cosy_loop_options options = { .size = sizeof(options) };
	int err;

	jobs = limit_jobs(jobs);
	/* One operation, and two descriptors that are closed after the job has ended. */
	options.entries = 3 * jobs + 1;
	err = cosy_loop_create(&files->loop, &options);
	if (err)
		error(1, -err, "cannot begin");
	files->signal_op = (struct cosy_async){ .done = done_signal, .data = files };
	err = cosy_async_signal(files->loop, &files->signal_op, &files->signals, NULL);
	if (err)
		error(1, -err, "cannot wait for signals");
	files->jobs = calloc(jobs, sizeof(*files->jobs));
	if (!files->jobs)
		error(1, errno, "cannot begin (use fewer --jobs)");
	for (unsigned int i = 0; i < jobs; i++) {
		files->jobs[i].next_unused = files->unused;
		files->unused = &files->jobs[i];
	}
}

/* Only a signal handler can make this fail. */
static void wait_for_one(struct files *files)
{
	cosy_loop_run_once(files->loop);
}

void files_copy(struct files *files, const char *from, const char *to,
		const struct stat *status)
{
	struct job *job;

	while (!files->unused)
		wait_for_one(files);
	if (files->signal)
		return;
	job = files->unused;
	files->unused = job->next_unused;
	files->active++;
	job->op = (struct cosy_async){ .data = job };
	job->files = files;
	job->from = strdup(from);
	job->to = strdup(to);
	if (!job->from || !job->to)
		error(1, errno, "cannot go on");
	job->status = *status;
	job->in = job->out = -1;
	job->by_path = false;
	open_source(job, O_RDONLY | O_NONBLOCK);
}

void files_wait(struct files *files)
{
	while (files->active > 0)
		wait_for_one(files);
}

void files_finish(struct files *files)
{
	while (cosy_loop_destroy(files->loop) == -EBUSY)
		wait_for_one(files);
	free(files->jobs);
}
