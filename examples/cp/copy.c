// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * copy.c - copy the contents of many files, many per crossing.
 *
 * Usually the buffer only passes data from read to write. Nothing else uses it, so it need
 * not contain the data.
 */
#include "copy.h"
#include "../common/allocated.h"
#include "../common/write.h"
#include "attributes.h"

#include <cosy.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes copied at once, files in the queue, and bytes between two calls of progress. */
enum { CHUNK = 128 * 1024, QUEUE = 512, PROGRESS = 64 * 1024 * 1024 };

/* The number of zeros that become a hole. */
enum { BLOCK = 4096 };

void copy_init(struct copy *copy, const struct copy_options *options,
	       void (*report)(void *context, const struct copy_file *file),
	       void (*progress)(void *context), void *context)
{
	*copy = (struct copy){
		.options = *options,
		.report = report,
		.progress = progress,
		.context = context,
		.in = -1,
		.out = -1,
	};
	copy->files = allocated(calloc(QUEUE, sizeof(*copy->files)), 1);
}

void copy_add(struct copy *copy, const char *from, const char *to, bool follow)
{
	if (copy->count == QUEUE)
		copy_flush(copy);
	copy->files[copy->count++] = (struct copy_file){
		.from = allocated(strdup(from), 1),
		.to = allocated(strdup(to), 1),
		.follow = follow,
	};
}

/* A call for the file has failed. */
static inline void fail(struct copy_file *file, enum copy_result result)
{
	file->result = result;
	file->error = errno;
}

/* Copies the attributes of the source, which is open, to @out. */
static inline void copy_attributes(struct copy_file *file, int in, int out,
				   const struct stat *status)
{
	enum copy_result result = attributes_copy(file->from, in, file->to, out, status);

	if (result != COPY_DONE)
		fail(file, result);
}

/* Completes the destination. An incomplete copy does not get the times of the source. */
static inline void end_destination(struct copy_file *file, int in, int out, bool preserve,
				   const struct stat *status)
{
	if (preserve && file->result == COPY_WAITING)
		copy_attributes(file, in, out, status);
	if (close(out) < 0 && file->result == COPY_WAITING)
		fail(file, COPY_WRITE_FAILED);
}

/*
 * Writes @n bytes that were just read from @in. A rest that cannot be written at once is
 * read again later. Returns the number of bytes written, or -1.
 */
static inline ssize_t write_read(int in, int out, const char *buffer, ssize_t n)
{
	ssize_t written = write_some(out, buffer, n);

	if (written >= 0 && written < n && lseek(in, written - n, SEEK_CUR) < 0)
		return -1;
	return written;
}

/* Return true if the file has holes. */
static inline bool is_sparse(const struct stat *status)
{
	return S_ISREG(status->st_mode) &&
	       status->st_blocks < status->st_size / 512;
}

/* Opens the source. Returns the descriptor, or -1. */
static inline int open_source(struct copy_file *file)
{
	int flags = O_RDONLY | O_CLOEXEC, in;

	if (!file->follow)
		flags |= O_NOFOLLOW | O_NONBLOCK;
	in = open(file->from, flags);
	if (in < 0)
		fail(file, COPY_OPEN_FAILED);
	return in;
}

/*
 * Opens the destination of a source with the status @from. Returns the descriptor, or -1 with the
 * reason in file->result.
 */
static inline int open_destination(struct copy_file *file, const struct stat *from,
				   const struct copy_options *options)
{
	int flags = O_WRONLY | O_TRUNC | O_CLOEXEC, out;
	mode_t mode = from->st_mode & (options->preserve ? 0700 : 0777);
	struct stat there;

	if (stat(file->to, &there) == 0) {
		file->existed = true;
		if (there.st_dev == from->st_dev && there.st_ino == from->st_ino)
			file->result = COPY_SAME;
		else if (S_ISDIR(there.st_mode))
			file->result = COPY_ONTO_DIRECTORY;
		else if (options->no_clobber)
			file->result = COPY_SKIPPED;
		if (file->result != COPY_WAITING)
			return -1;
	} else if (errno == ENOENT) {
		flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
	} else if (errno == ELOOP && options->force) {
		/* It is removed if it cannot be opened. */
		file->existed = true;
	} else {
		fail(file, COPY_STAT_FAILED);
		return -1;
	}
	out = open(file->to, flags, mode);
	if (out < 0)
		fail(file, COPY_CREATE_FAILED);
	return out;
}

/* Return true if the buffer must contain the data, or holes must be found. */
static inline bool is_special(const struct stat *status, enum copy_holes holes)
{
	return holes == COPY_HOLES_ALWAYS || !S_ISREG(status->st_mode) ||
	       (holes == COPY_HOLES_AUTO && is_sparse(status));
}

/*
 * Copies files until all are copied, or a file is open that this region cannot copy, or
 * progress is due. Then a file is open, too. Returns true if the region cannot copy it.
 */
static bool copy_files(struct copy *copy)
{
	struct copy_file *file = copy->files + copy->done;
	struct copy_file *last = copy->files + copy->count;
	const struct copy_options options = copy->options;
	int in = copy->in, out = copy->out;
	struct stat status = copy->status;
	uint64_t bytes = 0;
	char buffer[CHUNK];
	bool special = false;
	ssize_t n, written;

	COSY_START;
	for (; file != last; file++) {
		if (in < 0) {
			in = open_source(file);
			if (in < 0)
				continue;
			if (fstat(in, &status) < 0) {
				fail(file, COPY_READ_FAILED);
				goto close_in;
			}
			if (!file->follow && !S_ISREG(status.st_mode)) {
				file->result = COPY_REPLACED;
				goto close_in;
			}
			out = open_destination(file, &status, &options);
			if (out < 0)
				goto close_in;
			special = is_special(&status, options.holes);
			if (special)
				goto leave;
		}
		for (;;) {
			n = read(in, buffer, CHUNK);
			if (n <= 0)
				break;
			written = write_read(in, out, buffer, n);
			if (written < 0) {
				fail(file, COPY_WRITE_FAILED);
				break;
			}
			bytes += written;
			if (bytes > PROGRESS)
				goto leave;
		}
		if (n < 0)
			fail(file, COPY_READ_FAILED);
		end_destination(file, in, out, options.preserve, &status);
		out = -1;
close_in:
		close(in);
		in = -1;
	}
leave:
	COSY_END;

	copy->done = file - copy->files;
	copy->in = in;
	copy->out = out;
	copy->status = status;
	copy->bytes += bytes;
	return special;
}

/*
 * Finds the data after *@end. Returns its beginning, which is then the offset of @in, and
 * sets *@end to its end.
 */
static inline off_t next_data(int in, off_t *end)
{
	off_t at = lseek(in, *end, SEEK_DATA);

	if (at < 0)
		return -1;
	*end = lseek(in, at, SEEK_HOLE);
	return *end < 0 ? -1 : lseek(in, at, SEEK_SET);
}

/* Counts @n further bytes of a file. */
static inline void count(struct copy *copy, ssize_t n)
{
	const uint64_t before = copy->bytes / PROGRESS;

	copy->bytes += n;
	if (copy->bytes / PROGRESS != before)
		copy->progress(copy->context);
}

/*
 * Copies the data between the holes of the open file. The buffer contains one piece of data
 * at a time, however many holes there are.
 */
static void copy_sparse(struct copy *copy, struct copy_file *file)
{
	const int in = copy->in, out = copy->out;
	/* If data ends the file, its size is where that ended: files of sysfs have larger ones. */
	off_t size = copy->status.st_size, at = 0, end = 0;
	char buffer[CHUNK];
	ssize_t n = 0, written;
	size_t room;

	COSY_START;
	for (;;) {
		if (at == end) {
			at = next_data(in, &end);
			if (at < 0) {
				/* ENXIO: no data follows, but a hole may end the file. */
				n = errno == ENXIO ? 0 : -1;
				break;
			}
			if (lseek(out, at, SEEK_SET) < 0) {
				n = -1;
				break;
			}
		}
		room = end - at < CHUNK ? end - at : CHUNK;
		n = read(in, buffer, room);
		if (n <= 0) {
			size = at;
			break;
		}
		written = write_read(in, out, buffer, n);
		if (written < 0) {
			fail(file, COPY_WRITE_FAILED);
			break;
		}
		at += written;
		count(copy, written);
	}
	if (n < 0)
		fail(file, COPY_READ_FAILED);
	else if (file->result == COPY_WAITING && ftruncate(out, size) < 0)
		fail(file, COPY_WRITE_FAILED);
	COSY_END;
}

/* Writes all of it. Returns the number of bytes written, less than @n after an error. */
static inline ssize_t write_all(int out, const char *buffer, ssize_t n)
{
	ssize_t done = 0, written;

	do {
		written = write_some(out, buffer + done, n - done);
		if (written < 0)
			break;
		done += written;
	} while (done < n);
	return done;
}

static inline bool is_zero(const char *block, size_t size)
{
	return *block == 0 && memcmp(block, block + 1, size - 1) == 0;
}

/*
 * Copies the open file with holes for all blocks of zeros, or a file that cannot be read
 * twice. This has a region of its own, because it needs the contents of the buffer.
 */
static void copy_buffered(struct copy *copy, struct copy_file *file, bool holes)
{
	const off_t size = copy->status.st_size;
	const int in = copy->in, out = copy->out;
	/*
	 * A file without holes, or a file that is not regular, is one piece of data of any
	 * size.
	 */
	off_t at = 0, end = is_sparse(&copy->status) ? 0 : INT64_MAX;
	char buffer[CHUNK];
	ssize_t n = 0, done, part;
	size_t room;

	COSY_START;
	for (;;) {
		if (at == end) {
			at = next_data(in, &end);
			if (at < 0) {
				n = errno == ENXIO ? 0 : -1;
				at = size;
				break;
			}
		}
		room = end - at < CHUNK ? end - at : CHUNK;
		n = read(in, buffer, room);
		if (n <= 0)
			break;
		for (done = 0; done < n; done += part) {
			part = !holes || n - done < BLOCK ? n - done : BLOCK;
			if (holes && is_zero(buffer + done, part))
				continue;
			if ((holes && lseek(out, at + done, SEEK_SET) < 0) ||
			    write_all(out, buffer + done, part) < part) {
				fail(file, COPY_WRITE_FAILED);
				goto failed;
			}
		}
		at += n;
		count(copy, n);
	}
	if (n < 0)
		fail(file, COPY_READ_FAILED);
	else if (holes && ftruncate(out, at) < 0)
		fail(file, COPY_WRITE_FAILED);
failed:
	COSY_END;
}

/* Copies the open file if copy_files() cannot, and ends it. */
static void copy_special(struct copy *copy)
{
	struct copy_file *file = copy->files + copy->done;
	struct stat to;
	/* A pipe or a device receives all zeros. */
	bool can = fstat(copy->out, &to) == 0 && S_ISREG(to.st_mode);

	if (!S_ISREG(copy->status.st_mode))
		copy_buffered(copy, file,
			      can && copy->options.holes == COPY_HOLES_ALWAYS);
	else if (!can)
		return;
	else if (copy->options.holes == COPY_HOLES_ALWAYS)
		copy_buffered(copy, file, true);
	else
		copy_sparse(copy, file);
	end_destination(file, copy->in, copy->out, copy->options.preserve, &copy->status);
	close(copy->in);
	copy->in = copy->out = -1;
	copy->done++;
}

/* Return true for a dangling link, through which no file can be created. */
static bool is_dangling(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

static void clear(struct copy *copy)
{
	for (size_t i = 0; i < copy->count; i++) {
		free(copy->files[i].from);
		free(copy->files[i].to);
	}
	copy->count = copy->done = 0;
}

static void run(struct copy *copy)
{
	while (copy->done != copy->count) {
		if (copy_files(copy))
			copy_special(copy);
		copy->progress(copy->context);
	}
}

/* Find why the destination could not be created. Return true if a retry may succeed. */
static bool can_retry(struct copy_file *file, bool force)
{
	if (file->result != COPY_CREATE_FAILED)
		return false;
	if (file->error == EEXIST && is_dangling(file->to)) {
		file->result = COPY_DANGLING;
		file->error = 0;
		return false;
	}
	/* A name with a slash at its end could only be a directory. */
	if (file->error == EISDIR && file->to[strlen(file->to) - 1] == '/')
		file->error = ENOTDIR;
	if (!file->existed || !force)
		return false;
	if (unlink(file->to) < 0) {
		fail(file, COPY_REMOVE_FAILED);
		return false;
	}
	file->result = COPY_WAITING;
	return true;
}

void copy_flush(struct copy *copy)
{
	size_t count = copy->count;

	run(copy);
	for (size_t i = 0; i < count; i++) {
		struct copy_file *file = &copy->files[i];

		if (can_retry(file, copy->options.force)) {
			copy->done = i;
			copy->count = i + 1;
			run(copy);
			copy->count = count;
		}
		if (file->result == COPY_WAITING)
			file->result = COPY_DONE;
		copy->finished++;
		copy->report(copy->context, file);
	}
	clear(copy);
}

void copy_free(struct copy *copy)
{
	free(copy->files);
}
