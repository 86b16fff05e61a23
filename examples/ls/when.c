// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * when.c - the time of a file, as `ls -l` writes it.
 *
 * Converting to local time is expensive, and the files of a directory are usually from a
 * few days. So converted days are cached. Only hour and minute are computed for a file.
 */
#include "when.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { DAY = 24 * 60 * 60 };

/*
 * struct day - a day of the local time
 * @start:  its first second
 * @length: DAY for a day without a change of the clocks. Otherwise 0: then it is valid
 *	    only for the time it was computed for
 * @date:   its text
 * @year:   the text that replaces the time of day
 */
struct day {
	time_t start;
	uint32_t length;
	uint32_t year_size;
	char date[sizeof("Jan 31 ") - 1];
	char year[WHEN_SIZE - sizeof("Jan 31 ")];
};

/* Cached by the last digits of their number. */
enum { DAYS = 64 };

static struct day days[DAYS];

static bool earlier(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec :
					a->tv_nsec < b->tv_nsec;
}

/*
 * Return true within the last six months, half a year of 365.2425 days. Then the time of
 * day is printed in place of the year.
 */
static bool is_recent(const struct timespec *when)
{
	static struct timespec now = { .tv_sec = INT64_MIN };
	struct timespec half_year_ago;

	if (earlier(&now, when))
		clock_gettime(CLOCK_REALTIME, &now);
	half_year_ago = now;
	half_year_ago.tv_sec -= 31556952 / 2;
	return earlier(&half_year_ago, when) && earlier(when, &now);
}

static char *put_two(char *p, int number, char fill)
{
	*p++ = number < 10 ? fill : '0' + number / 10;
	*p++ = '0' + number % 10;
	return p;
}

/* Return true if @time is this time of the day of @tm, by the same clock. */
static bool is_at(time_t time, const struct tm *tm, int hour, int minute,
		  int second)
{
	struct tm at;

	return localtime_r(&time, &at) && at.tm_year == tm->tm_year &&
	       at.tm_yday == tm->tm_yday && at.tm_gmtoff == tm->tm_gmtoff &&
	       at.tm_hour == hour && at.tm_min == minute &&
	       at.tm_sec == second;
}

static void make_day(struct day *day, time_t time, const struct tm *tm)
{
	static const char months[12][4] = {
		"Jan", "Feb", "Mar", "Apr", "May", "Jun",
		"Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
	};
	char *p = mempcpy(day->date, months[tm->tm_mon], 3);

	*p++ = ' ';
	p = put_two(p, tm->tm_mday, ' ');
	*p = ' ';
	day->year_size = sprintf(day->year, " %04jd",
				 (intmax_t)tm->tm_year + 1900);
	day->start = time - (tm->tm_hour * 60 + tm->tm_min) * 60 - tm->tm_sec;
	day->length = is_at(day->start, tm, 0, 0, 0) &&
		      is_at(day->start + DAY - 1, tm, 23, 59, 59) ? DAY : 0;
}

char *put_when(char *p, const struct timespec *when)
{
	struct day *day = &days[(uint64_t)when->tv_sec / DAY % DAYS];
	uint64_t second = (uint64_t)when->tv_sec - day->start;
	int hour = second / 3600, minute = second / 60 % 60;
	struct tm tm;

	if (second >= day->length) {
		if (!localtime_r(&when->tv_sec, &tm))
			return p + sprintf(p, "%12jd", (intmax_t)when->tv_sec);
		make_day(day, when->tv_sec, &tm);
		hour = tm.tm_hour;
		minute = tm.tm_min;
	}
	p = mempcpy(p, day->date, sizeof(day->date));
	if (!is_recent(when))
		return mempcpy(p, day->year, day->year_size);
	p = put_two(p, hour, '0');
	*p++ = ':';
	return put_two(p, minute, '0');
}
