// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * reader.c - read many files into one buffer, many per crossing.
 */
#include "reader.h"
#include "../common/allocated.h"
#include "search.h"

#include <cosy.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Large enough for some dozens of source files, small enough for the cache. It is enlarged
 * only for a line that does not fit.
 */
enum { BUFFER = 1024 * 1024 };

void reader_init(struct reader *reader, const struct stat *leave_out,
		 bool skip_holes, const struct filter *filter)
{
	*reader = (struct reader){
		.fd = -1,
		.skip_holes = skip_holes,
		.filter = filter,
	};
	if (leave_out) {
		reader->leave_out = true;
		reader->device = leave_out->st_dev;
		reader->inode = leave_out->st_ino;
	}
	reader->buffer_size = BUFFER;
	reader->buffer = allocated(filter ? cosy_malloc(BUFFER) : malloc(BUFFER), 2);
}

void reader_add(struct reader *reader, const char *path, bool operand)
{
	if (reader->count == reader->size) {
		reader->size = reader->size ? 2 * reader->size : 64;
		reader->files = allocated(reallocarray(reader->files, reader->size,
						       sizeof(*reader->files)), 2);
	}
	reader->files[reader->count] = (struct reader_file){
		.path = allocated(strdup(path), 2),
		.operand = operand,
	};
	reader->count++;
}

size_t reader_waiting(const struct reader *reader)
{
	return reader->count - reader->taken;
}

/* Return true if the file has a hole after its first window. */
static inline bool has_hole(int fd, off_t size)
{
	off_t hole;

	if (size <= SEARCH_WINDOW)
		return false;
	hole = lseek(fd, SEARCH_WINDOW, SEEK_HOLE);
	lseek(fd, 0, SEEK_SET);
	return hole >= 0 && hole < size;
}

/*
 * Skips a hole of a sparse file, which may be much larger than its data. Returns false if
 * there is no hole at the offset.
 */
static inline bool skip_hole(int fd)
{
	off_t here = lseek(fd, 0, SEEK_CUR), data = lseek(fd, here, SEEK_DATA);

	if (data < 0 && errno == ENXIO)
		data = lseek(fd, 0, SEEK_END);
	return data > here;
}

/* Sets the state of a file that is open. */
static inline void classify(struct reader_file *file, int fd, bool leave_out, dev_t device,
			    ino_t inode)
{
	struct stat status;

	if (fstat(fd, &status) < 0) {
		file->state = READER_FAILED;
		file->error = errno;
	} else if (!S_ISREG(status.st_mode)) {
		file->state = READER_SPECIAL;
	} else if (leave_out && status.st_dev == device && status.st_ino == inode) {
		file->state = READER_OUTPUT;
	} else {
		file->sparse = has_hole(fd, status.st_size);
		file->state = READER_PART;
	}
}

/* Return true if an operand may wait when it is opened or read. */
static inline bool may_wait(const struct reader_file *file)
{
	struct stat status;

	return file->operand && fstatat(AT_FDCWD, file->path, &status, 0) == 0 &&
	       !S_ISREG(status.st_mode);
}

/*
 * Reads files until all are read, or until the buffer is full, when the file is open and is
 * a part, or until a file may wait.
 */
static void read_files(struct reader *reader)
{
	struct reader_file *file = reader->files + reader->done;
	struct reader_file *last = reader->files + reader->count;
	char *buffer = reader->buffer;
	size_t used = reader->buffer_used, size = reader->buffer_size;
	bool leave_out = reader->leave_out;
	dev_t device = reader->device;
	ino_t inode = reader->inode;
	bool skip_holes = reader->skip_holes;
	const struct filter *filter = reader->filter;
	int fd = reader->fd;
	bool whole = false;	/* no data of the file has been returned */
	bool sparse = fd >= 0 && file->sparse;
	int flags;
	ssize_t n;

	COSY_START;
	for (; file != last; file++) {
		if (fd < 0) {
			if (may_wait(file)) {
				file->state = READER_SPECIAL;
				file++;
				break;
			}
			flags = O_RDONLY | O_NOCTTY;
			if (!file->operand)
				flags |= O_NOFOLLOW | O_NONBLOCK;
			fd = open(file->path, flags);
			if (fd < 0) {
				file->state = READER_FAILED;
				file->error = errno;
				continue;
			}
			file->start = used;
			whole = true;
			classify(file, fd, leave_out, device, inode);
			sparse = file->sparse;
		}
		if (file->state == READER_PART) {
			do {
				/* One byte is for a hole, and one remains free. */
				if (used + 2 >= size)
					goto leave;
				if (sparse && skip_holes && skip_hole(fd))
					buffer[used++] = '\0';
				n = read(fd, buffer + used, size - used - 1);
				if (n > 0)
					used += n;
			} while (n > 0);
			file->state = READER_END;
			if (n < 0) {
				file->state = READER_BROKEN;
				file->error = errno;
			}
			file->length = used - file->start;
			used++;
			if (whole && filter &&
			    !filter_passes(filter,
					   (unsigned char *)buffer + file->start,
					   file->length)) {
				used = file->start;
				file->length = 0;
			}
		}
		close(fd);
		fd = -1;
	}
leave:
	COSY_END;

	if (fd >= 0)
		file->length = used - file->start;
	reader->done = file - reader->files;
	reader->buffer_used = used;
	reader->fd = fd;
}

/*
 * A buffer that must grow leaves the segment, because the size of the segment is limited.
 */
static void grow(struct reader *reader)
{
	char *old = reader->buffer;

	if (reader->filter) {
		reader->buffer = memcpy(allocated(reallocarray(NULL, 2, reader->buffer_size), 2),
					old, reader->buffer_size);
		cosy_free(old);
		reader->filter = NULL;
	} else {
		reader->buffer = allocated(reallocarray(old, 2, reader->buffer_size), 2);
	}
	reader->buffer_size *= 2;
}

/* Makes room in the buffer, which contains at most one part. */
static void make_room(struct reader *reader)
{
	struct reader_file *part = &reader->files[reader->done];

	if (reader->fd < 0) {
		reader->buffer_used = 0;
		return;
	}
	if (part->start == 0 && reader->consumed == 0)
		grow(reader);
	reader->buffer_used = part->length - reader->consumed;
	memmove(reader->buffer, reader->buffer + part->start + reader->consumed,
		reader->buffer_used);
	part->start = 0;
	reader->part_taken = false;
	reader->consumed = 0;
}

static void clear(struct reader *reader)
{
	for (size_t i = 0; i < reader->count; i++)
		free(reader->files[i].path);
	reader->count = 0;
	reader->done = 0;
	reader->taken = 0;
}

/* Return true if a file that was regular in its directory is now of another type. */
static bool is_other_than_found(const struct reader_file *file)
{
	return !file->operand &&
	       (file->state == READER_SPECIAL ||
		(file->state == READER_FAILED && file->error == ELOOP));
}

bool reader_next(struct reader *reader, struct reader_chunk *chunk)
{
	const struct reader_file *file;

	do {
		if (reader->taken == reader->done &&
		    (reader->fd < 0 || reader->part_taken)) {
			if (reader->done == reader->count) {
				clear(reader);
				return false;
			}
			make_room(reader);
			read_files(reader);
		}
		file = &reader->files[reader->taken];
		if (reader->taken < reader->done)
			reader->taken++;
		else
			reader->part_taken = true;
	} while (is_other_than_found(file));
	*chunk = (struct reader_chunk){
		.path = file->path,
		.state = file->state,
		.error = file->error,
		.sparse = file->sparse,
		.data = reader->buffer + file->start,
		.length = file->length,
	};
	return true;
}

void reader_consume(struct reader *reader, size_t bytes)
{
	reader->consumed = bytes;
}

void reader_skip(struct reader *reader)
{
	close(reader->fd);
	reader->fd = -1;
	reader->part_taken = false;
	reader->consumed = 0;
	reader->taken = ++reader->done;
}

void reader_free(struct reader *reader)
{
	if (reader->fd >= 0)
		close(reader->fd);
	clear(reader);
	free(reader->files);
	if (reader->filter)
		cosy_free(reader->buffer);
	else
		free(reader->buffer);
}
