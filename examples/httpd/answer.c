// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * answer.c - what a request gets: a file, a part of one, or a status.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "condition.h"
#include "config.h"
#include "file.h"
#include "header.h"
#include "mime.h"
#include "path.h"

/* What is known of a request while it is answered. */
struct answer {
	struct reply *reply;
	const struct request *request;
	const char *base;
	bool head;
	char etag[CONDITION_ETAG];
	size_t etag_size;
	char path[PATH_ROOM];
	struct file file;
};

/* A field that is repeated, but no list, has a value that is not valid: none of these contains a comma alone. */
static const char *field(const struct answer *a, enum request_field field, size_t *size)
{
	const struct extent *value = &a->request->fields[field];

	*size = value->size;
	if (a->request->repeated & 1 << field) {
		*size = 1;
		return ",";
	}
	return *size ? a->base + value->at : NULL;
}

static bool has(const struct answer *a, enum request_field field)
{
	return a->request->fields[field].size;
}

static int error_status(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return 403;
	case ENOENT:
	case ENOTDIR:
	case ENAMETOOLONG:
	case ELOOP:
	case EXDEV: /* a symbolic link that leads out of the root */
	case ENXIO: /* a socket or a FIFO */
		return 404;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case EAGAIN:
		return 503;
	default:
		return 500;
	}
}

/* The name of a directory gets a slash, so that relative links in its index are right. */
static void redirect(const struct answer *a)
{
	const char *target = a->base + a->request->target.at, *end = target + a->request->target.size;
	char fields[REPLY_SMALL / 2], *to = fields;
	size_t size = (size_t)(end - target);
	const char *part = path_part(target, &size);

	if ((size_t)(end - part) > sizeof(fields) - 32) {
		reply_status(a->reply, a->request, 414);
		return;
	}
	to = header_text(to, "\r\nLocation: /");
	to = mempcpy(to, part, size);
	*to++ = '/';
	to = mempcpy(to, part + size, (size_t)(end - part) - size);
	*to = 0;
	header_status(a->reply, a->request, 301, fields);
}

/* Return true if a list names the file's tag. All fields with its name are one list. */
static bool names_file(const struct answer *a, enum request_field list)
{
	const bool strong = list == REQUEST_IF_MATCH;
	const struct request *request = a->request;
	const struct extent *value = &request->fields[list];
	bool found = condition_matches(a->base + value->at, value->size, a->etag, strong);

	for (int i = 0; i < request->nfurther && !found; i++) {
		value = &request->further[i].value;
		found = request->further[i].field == list &&
			condition_matches(a->base + value->at, value->size, a->etag, strong);
	}
	return found;
}

/*
 * When a file was modified, compared with a date of the client. A file that has changed in this second may change
 * in it again, and the client may have what it was at the second's beginning.
 */
static time_t modified(const struct answer *a)
{
	const time_t time = a->file.stat.st_mtime;

	return time < header_date() ? time : time + 1;
}

/* Return true if the client wants the file only as it was. */
static bool has_changed(const struct answer *a)
{
	const char *text;
	size_t size;

	if (has(a, REQUEST_IF_MATCH))
		return !names_file(a, REQUEST_IF_MATCH);
	text = field(a, REQUEST_IF_UNMODIFIED_SINCE, &size);
	return text && condition_modified(text, size, modified(a));
}

/* Return true if the client has the file as it is. */
static bool client_has(const struct answer *a)
{
	const char *text;
	size_t size;

	if (has(a, REQUEST_IF_NONE_MATCH))
		return names_file(a, REQUEST_IF_NONE_MATCH);
	text = field(a, REQUEST_IF_MODIFIED_SINCE, &size);
	return text && condition_not_modified(text, size, modified(a));
}

static enum condition_range find_range(const struct answer *a, int64_t *first, int64_t *end)
{
	const char *text;
	size_t size;

	*first = 0;
	*end = a->file.stat.st_size;
	text = field(a, REQUEST_IF_RANGE, &size);
	if (a->head || (text && !condition_same(text, size, a->etag, a->file.stat.st_mtime)))
		return CONDITION_WHOLE;
	text = field(a, REQUEST_RANGE, &size);
	return text ? condition_range(text, size, a->file.stat.st_size, first, end) :
		      CONDITION_WHOLE;
}

/*
 * Files of a directory often have one time, so the last date is kept. A file that has changed in this second may
 * change in it again, and then its date says nothing: a client could join parts of both.
 */
static char *put_modified(char *to, const struct answer *a)
{
	static char text[CONDITION_DATE];
	static time_t last = -1;

	if (last != a->file.stat.st_mtime) {
		last = a->file.stat.st_mtime;
		condition_date(last, text);
	}
	if (last < header_date()) {
		to = header_text(to, "\r\nLast-Modified: ");
		to = mempcpy(to, text, CONDITION_DATE - 1);
	}
	to = header_text(to, "\r\nETag: ");
	/* Always as many bytes, so that no function is called for it. */
	memcpy(to, a->etag, CONDITION_ETAG);
	return to + a->etag_size;
}

/* Make the header of the bytes from @first to @end of the file; @have of them are in the buffer. */
static void put_header(const struct answer *a, int status, int64_t first, int64_t end, int64_t have)
{
	char header[REPLY_HEADER], *to = header;
	struct reply *reply = a->reply;

	reply->status = status;
	to = header_begin(to, reply, a->request);
	to = put_modified(to, a);
	if (status != 304) {
		to = header_text(to, "\r\nContent-Type: ");
		to = header_text(to, mime_type(a->path));
		to = header_text(to, "\r\nAccept-Ranges: bytes\r\nContent-Length: ");
		to = header_number(to, (uint64_t)(end - first));
	}
	if (status == 206) {
		to = header_text(to, "\r\nContent-Range: bytes ");
		to = header_number(to, (uint64_t)first);
		*to++ = '-';
		to = header_number(to, (uint64_t)end - 1);
		*to++ = '/';
		to = header_number(to, (uint64_t)a->file.stat.st_size);
	}
	to = header_end(to);
	reply->header = (uint32_t)(to - header);
	reply->start = REPLY_HEADER - reply->header;
	reply->size = reply->header + (uint32_t)have;
	memcpy(reply->buffer + reply->start, header, reply->header);
}

/* Send a part of a file, or a file that does not fit into the buffer. */
static void put_part(struct answer *a)
{
	char *contents = a->reply->buffer + REPLY_HEADER, range[64], *to = range;
	enum condition_range kind;
	int64_t first, end;
	ssize_t have;
	int fd;

	/* From here on it counts what this descriptor refers to. */
	fd = file_open(a->path, &a->file.stat);
	if (fd < 0) {
		reply_status(a->reply, a->request, error_status(-fd));
		return;
	}
	a->etag_size = condition_etag(&a->file.stat.st_mtim, a->file.stat.st_size, a->etag);
	if (has_changed(a)) {
		close(fd);
		reply_status(a->reply, a->request, 412);
		return;
	}
	kind = find_range(a, &first, &end);
	if (kind == CONDITION_OUTSIDE) {
		close(fd);
		to = header_text(to, "\r\nContent-Range: bytes */");
		to = header_number(to, (uint64_t)a->file.stat.st_size);
		*to = 0;
		header_status(a->reply, a->request, 416, range);
		return;
	}
	have = end - first > REPLY_SMALL ? 0 : pread(fd, contents, (size_t)(end - first), first);
	put_header(a, kind == CONDITION_PART ? 206 : 200, first, end, have < 0 ? 0 : have);
	a->reply->file = fd;
	a->reply->at = first + (have < 0 ? 0 : have);
	a->reply->end = end;
}

static void answer_file(struct answer *a)
{
	const bool conditional = has(a, REQUEST_IF_NONE_MATCH) || has(a, REQUEST_IF_MODIFIED_SINCE) ||
				 has(a, REQUEST_IF_MATCH) || has(a, REQUEST_IF_UNMODIFIED_SINCE);
	const bool whole = !a->head && !conditional && !has(a, REQUEST_RANGE);
	const size_t size = strlen(a->path);
	const struct stat *st = &a->file.stat;

	if (!size || a->path[size - 1] == '/') {
		if (size + strlen(config.index) >= PATH_ROOM) {
			reply_status(a->reply, a->request, 414);
			return;
		}
		strcpy(a->path + size, config.index);
	}
	file_load(a->path, a->reply->buffer + REPLY_HEADER, whole ? REPLY_SMALL : 0, &a->file);
	if (a->file.error) {
		reply_status(a->reply, a->request, error_status(a->file.error));
	} else if (S_ISDIR(st->st_mode)) {
		if (size && a->path[size - 1] != '/')
			redirect(a);
		else
			reply_status(a->reply, a->request, 404);
	} else if (!S_ISREG(st->st_mode)) {
		reply_status(a->reply, a->request, 403);
	} else {
		a->etag_size = condition_etag(&st->st_mtim, st->st_size, a->etag);
		if (conditional && has_changed(a))
			reply_status(a->reply, a->request, 412);
		else if (conditional && client_has(a))
			put_header(a, 304, 0, 0, 0);
		else if (a->head)
			put_header(a, 200, 0, st->st_size, 0);
		else if (whole && a->file.loaded >= 0)
			put_header(a, 200, 0, a->file.loaded, a->file.loaded);
		else
			put_part(a);
	}
}

void reply_answer(struct reply *reply, const struct request *request, const char *base)
{
	struct answer a;
	int status;

	a.reply = reply;
	a.request = request;
	a.base = base;
	a.head = request->parser.method == HTTP_HEAD;
	if (!a.head && request->parser.method != HTTP_GET) {
		reply_status(reply, request, 405);
		return;
	}
	status = path_from_target(base + request->target.at, request->target.size, a.path);
	if (status)
		reply_status(reply, request, status);
	else
		answer_file(&a);
}
