// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * condition.c - conditions and ranges of requests.
 */
#include "condition.h"

#include <stdio.h>
#include <string.h>

/* strftime() would use names of the locale, and take longer. */
static const char days[] = "SunMonTueWedThuFriSat";
static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

static char *put_two(char *to, int number)
{
	*to++ = (char)('0' + number / 10 % 10);
	*to++ = (char)('0' + number % 10);
	return to;
}

void condition_date(time_t time, char text[CONDITION_DATE])
{
	char *to = text;
	struct tm tm;

	/* A year after 9999 has no date of HTTP. */
	if (!gmtime_r(&time, &tm) || tm.tm_year > 8099 || tm.tm_year < -1900) {
		time = 0;
		gmtime_r(&time, &tm);
	}
	to = mempcpy(to, days + 3L * tm.tm_wday, 3);
	to = mempcpy(to, ", ", 2);
	to = put_two(to, tm.tm_mday);
	*to++ = ' ';
	to = mempcpy(to, months + 3L * tm.tm_mon, 3);
	*to++ = ' ';
	to = put_two(to, (tm.tm_year + 1900) / 100);
	to = put_two(to, (tm.tm_year + 1900) % 100);
	*to++ = ' ';
	to = put_two(to, tm.tm_hour);
	*to++ = ':';
	to = put_two(to, tm.tm_min);
	*to++ = ':';
	to = put_two(to, tm.tm_sec);
	memcpy(to, " GMT", 5);
}

/* Write the last @count hexadecimal digits of a number, and more bytes, up to the eighth. */
static char *put_digits(char *to, uint32_t number, int count)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t digits = number, letters;

	/* A digit in each byte; all are converted at once, because each answer has such a tag. */
	digits = (digits | digits << 16) & 0x0000ffff0000ffff;
	digits = (digits | digits << 8) & 0x00ff00ff00ff00ff;
	digits = (digits | digits << 4) & 0x0f0f0f0f0f0f0f0f;
	letters = (digits + 6 * ones) >> 4 & ones;
	digits += '0' * ones + letters * ('a' - '0' - 10);
	digits = __builtin_bswap64(digits) >> 8 * (8 - count);
	memcpy(to, &digits, sizeof(digits));
	return to + count;
}

/* Write a number from the first digit that is not 0. */
static char *put_hex(char *to, uint64_t number)
{
	const int count = (67 - __builtin_clzll(number | 1)) / 4;

	if (count > 8) {
		to = put_digits(to, (uint32_t)(number >> 32), count - 8);
		return put_digits(to, (uint32_t)number, 8);
	}
	return put_digits(to, (uint32_t)number, count);
}

size_t condition_etag(const struct timespec *modified, int64_t file_size, char text[CONDITION_ETAG])
{
	char *to = text;

	*to++ = '"';
	to = put_hex(to, (uint64_t)modified->tv_sec);
	*to++ = '-';
	to = put_hex(to, (uint64_t)modified->tv_nsec);
	*to++ = '-';
	to = put_hex(to, (uint64_t)file_size);
	*to++ = '"';
	*to = 0;
	return (size_t)(to - text);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static void trim(const char **text, size_t *size)
{
	while (*size && is_space((*text)[*size - 1]))
		--*size;
	while (*size && is_space(**text)) {
		++*text;
		--*size;
	}
}

bool condition_matches(const char *list, size_t size, const char *etag, bool strong)
{
	const char *end, *tag;
	size_t length;
	bool weak;

	trim(&list, &size);
	if (size == 1 && *list == '*')
		return true;
	for (end = list + size; list < end; list = tag + length + 1) {
		while (list < end && (is_space(*list) || *list == ','))
			list++;
		tag = list;
		weak = end - tag > 2 && !memcmp(tag, "W/", 2);
		if (weak)
			tag += 2;
		if (tag == end || *tag != '"')
			return false;
		/* A tag may contain commas. */
		list = memchr(tag + 1, '"', (size_t)(end - tag - 1));
		if (!list)
			return false;
		length = (size_t)(list + 1 - tag);
		if (!(strong && weak) && length == strlen(etag) && !memcmp(tag, etag, length))
			return true;
	}
	return false;
}

/* A year of two digits that would be more than 50 years ahead is one of the past. */
static int whole_year(int two_digits)
{
	const time_t now = time(NULL);
	struct tm tm;
	int year;

	gmtime_r(&now, &tm);
	year = tm.tm_year - tm.tm_year % 100 + two_digits;
	return year > tm.tm_year + 50 ? year - 100 : year;
}

/* Return false unless the text is a date in one of the forms that RFC 9110 says to accept. */
static bool parse_date(const char *text, size_t size, time_t *time)
{
	static const struct form {
		const char *format;
		size_t shortest, longest;
	} forms[] = {
		/* The form that is sent; those of RFC 850 and of asctime(). */
		{ "%a, %d %b %Y %H:%M:%S GMT", 29, 29 },
		{ "%A, %d-%b-%y %H:%M:%S GMT", 30, 33 },
		{ "%a %b %e %H:%M:%S %Y", 24, 24 },
	};
	char date[40];

	trim(&text, &size);
	if (size >= sizeof(date))
		return false;
	memcpy(date, text, size);
	date[size] = 0;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm tm = { 0 };
		const char *end;

		if (size < forms[i].shortest || size > forms[i].longest)
			continue;
		end = strptime(date, forms[i].format, &tm);
		if (!end || *end)
			return false;
		if (forms[i].shortest != forms[i].longest)
			tm.tm_year = whole_year(tm.tm_year % 100);
		*time = timegm(&tm);
		return true;
	}
	return false;
}

bool condition_not_modified(const char *date, size_t size, time_t modified)
{
	time_t since;

	return parse_date(date, size, &since) && modified <= since;
}

bool condition_modified(const char *date, size_t size, time_t modified)
{
	time_t since;

	return parse_date(date, size, &since) && modified > since;
}

bool condition_same(const char *text, size_t size, const char *etag, time_t modified)
{
	time_t date;

	trim(&text, &size);
	if (size && *text == '"')
		return size == strlen(etag) && !memcmp(text, etag, size);
	return parse_date(text, size, &date) && date == modified;
}

/* Parse digits from *@at on. Return the number, INT64_MAX if it is larger, -1 if there is none. */
static int64_t parse_number(const char **at, const char *end)
{
	int64_t number = -1;

	for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
		if (number < 0)
			number = 0;
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, **at - '0', &number))
			number = INT64_MAX;
	}
	return number;
}

enum condition_range condition_range(const char *text, size_t size, int64_t file_size,
				     int64_t *first, int64_t *end)
{
	const char *limit;
	int64_t from, to;

	trim(&text, &size);
	limit = text + size;
	if (size < 6 || strncasecmp(text, "bytes=", 6))
		return CONDITION_WHOLE;
	text += 6;
	from = parse_number(&text, limit);
	if (text == limit || *text++ != '-')
		return CONDITION_WHOLE;
	to = parse_number(&text, limit);
	/* A client that asks for several ranges has to accept the whole file. */
	if (text != limit || (from < 0 && to < 0) || (from >= 0 && to >= 0 && to < from))
		return CONDITION_WHOLE;
	if (from < 0) {
		/* The last bytes. */
		*first = to < file_size ? file_size - to : 0;
		*end = file_size;
		return to && file_size ? CONDITION_PART : CONDITION_OUTSIDE;
	}
	*first = from;
	*end = to >= 0 && to < file_size ? to + 1 : file_size;
	return from < file_size ? CONDITION_PART : CONDITION_OUTSIDE;
}
