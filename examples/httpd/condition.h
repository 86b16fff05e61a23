/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * condition.h - conditions and ranges of requests (RFC 9110, sections 13 and 14).
 */
#ifndef CONDITION_H
#define CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define CONDITION_DATE 30 /* Bytes of a date with its end. */
#define CONDITION_ETAG 48 /* Bytes of an entity tag with its end. */

/** condition_date() - write a time as "Sun, 29 Nov 2026 20:39:00 GMT" */
void condition_date(time_t time, char text[CONDITION_DATE]);

/**
 * condition_etag() - write the entity tag of a file: of its modification time and size, quoted
 *
 * Return: its bytes, without the zero at its end.
 */
size_t condition_etag(const struct timespec *modified, int64_t file_size,
		      char text[CONDITION_ETAG]);

/**
 * condition_matches() - test whether an If-None-Match, or an If-Match, names an entity tag
 * @list:   the field: tags, or "*"
 * @size:   its size
 * @etag:   the tag, quoted
 * @strong: of If-Match: no weak tag (W/"...") names it. Otherwise these are compared as strong ones
 */
bool condition_matches(const char *list, size_t size, const char *etag, bool strong);

/**
 * condition_not_modified() - test whether an If-Modified-Since is not earlier than a file
 * @date: the field
 * @size: its size
 * @modified: when the file was modified
 *
 * Return: true if it is not; false also if the field is no date.
 */
bool condition_not_modified(const char *date, size_t size, time_t modified);

/**
 * condition_modified() - test whether a file was modified after an If-Unmodified-Since
 * @date: the field
 * @size: its size
 * @modified: when the file was modified
 *
 * Return: true if it was; false also if the field is no date.
 */
bool condition_modified(const char *date, size_t size, time_t modified);

/**
 * condition_same() - test whether an If-Range is that of a file
 * @text: the field: one strong entity tag, or a date
 * @size: its size
 * @etag: the file's tag
 * @modified: when the file was modified
 */
bool condition_same(const char *text, size_t size, const char *etag, time_t modified);

enum condition_range {
	CONDITION_WHOLE, /* no range, several ranges, or not in bytes: send the file */
	CONDITION_PART,
	CONDITION_OUTSIDE, /* no byte of the file is in the range */
};

/**
 * condition_range() - find the part of a file that a Range names
 * @text: the field
 * @size: its size
 * @file_size: of the file
 * @first: out: its first byte
 * @end: out: after its last byte
 */
enum condition_range condition_range(const char *text, size_t size, int64_t file_size,
				     int64_t *first, int64_t *end);

#endif /* CONDITION_H */
