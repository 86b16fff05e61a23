// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * long-format.c - the columns of `ls -l`.
 *
 * A line is composed in a buffer without printf. There is a line for each file, and the
 * region makes the system calls, so composing takes most of the remaining time.
 */
#include "long-format.h"
#include "../common/allocated.h"
#include "when.h"

#include <dirent.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/* Room for a number of 64 bits, or a size for humans. */
enum { NUMBER = 24 };

/* The columns never need more than this, except for the names of users. */
enum { COLUMNS = 7 * NUMBER + WHEN_SIZE };

static int digits(uint64_t number)
{
	int count = 1;

	while (number >= 10) {
		number /= 10;
		count++;
	}
	return count;
}

/* The put_ functions write at @p, without a NUL, and return the end. */

static char *put_spaces(char *p, int count)
{
	while (count-- > 0)
		*p++ = ' ';
	return p;
}

/* @width is the width of the number; 0: as wide as necessary. */
static char *put_number(char *p, uint64_t number, int width)
{
	char *end = p + (width ? width : digits(number)), *digit = end;

	do {
		*--digit = '0' + number % 10;
		number /= 10;
	} while (number);
	put_spaces(p, digit - p);
	return end;
}

/* Bytes in powers of 1024, rounded up; with one decimal below 10. */
static char *put_human(char *p, uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	uint64_t unit = 1024, whole, tenths;
	int n = 0;

	if (bytes < 1024)
		return put_number(p, bytes, 0);
	while (bytes / unit >= 1024) {
		unit *= 1024;
		n++;
	}
	whole = bytes / unit;
	tenths = (bytes % unit * 10 + unit - 1) / unit;
	if (tenths == 10 || (tenths && whole >= 10)) {
		whole++;
		tenths = 0;
	}
	if (whole == 1024) {
		whole = 1;
		n++;
	}
	p = put_number(p, whole, 0);
	if (whole < 10) {
		*p++ = '.';
		*p++ = '0' + tenths;
	}
	*p++ = units[n];
	return p;
}

/* Names of users or groups, looked up once each. */
struct names {
	struct name {
		uint32_t id;
		char *text;	/* NULL: the number has no name */
		int width;	/* of the text, or of the number */
	} *names;
	size_t count, last;
};

static struct names users, groups;

static char *user_name(uint32_t id)
{
	struct passwd *entry = getpwuid(id);

	return entry ? entry->pw_name : NULL;
}

static char *group_name(uint32_t id)
{
	struct group *entry = getgrgid(id);

	return entry ? entry->gr_name : NULL;
}

static const struct name *look_up_name(struct names *names, uint32_t id,
				       char *(*lookup)(uint32_t))
{
	size_t i;

	for (i = 0; i < names->count; i++)
		if (names->names[i].id == id)
			break;
	if (i == names->count) {
		char *text = lookup ? lookup(id) : NULL;

		text = text && *text ? strdup(text) : NULL;
		names->names = allocated(reallocarray(names->names, i + 1,
						      sizeof(*names->names)), 2);
		names->names[names->count++] = (struct name){
			.id = id,
			.text = text,
			.width = text ? (int)strlen(text) : digits(id),
		};
	}
	names->last = i;
	return &names->names[i];
}

/* Usually it is the name of the previous file. */
static inline const struct name *find_name(struct names *names, uint32_t id,
					   char *(*lookup)(uint32_t))
{
	if (names->count && names->names[names->last].id == id)
		return &names->names[names->last];
	return look_up_name(names, id, lookup);
}

static const struct name *owner_of(const struct stat *status,
				   const struct long_options *options)
{
	return find_name(&users, status->st_uid,
			 options->numeric ? NULL : user_name);
}

static const struct name *group_of(const struct stat *status,
				   const struct long_options *options)
{
	return find_name(&groups, status->st_gid,
			 options->numeric ? NULL : group_name);
}

static bool is_device(const struct stat *status)
{
	return S_ISCHR(status->st_mode) || S_ISBLK(status->st_mode);
}

static void widen(int *column, int width)
{
	if (*column < width)
		*column = width;
}

void columns_fit(struct columns *columns, const struct long_options *options,
		 const struct stat *status)
{
	char size[NUMBER];

	if (status->st_nlink >= columns->most_links) {
		columns->most_links = status->st_nlink;
		widen(&columns->links, digits(status->st_nlink));
	}
	widen(&columns->owner, owner_of(status, options)->width);
	widen(&columns->group, group_of(status, options)->width);
	if (is_device(status)) {
		widen(&columns->major, digits(major(status->st_rdev)));
		widen(&columns->minor, digits(minor(status->st_rdev)));
		widen(&columns->size, columns->major + 2 + columns->minor);
	} else if (options->human) {
		widen(&columns->size, put_human(size, status->st_size) - size);
	} else if (status->st_size >= columns->most_bytes) {
		columns->most_bytes = status->st_size;
		widen(&columns->size, digits(status->st_size));
	}
}

static char type_letter(unsigned char type)
{
	switch (type) {
	case DT_REG:  return '-';
	case DT_DIR:  return 'd';
	case DT_LNK:  return 'l';
	case DT_CHR:  return 'c';
	case DT_BLK:  return 'b';
	case DT_FIFO: return 'p';
	case DT_SOCK: return 's';
	default:      return '?';
	}
}

static char execute_letter(bool execute, bool special, char letter)
{
	if (special)
		return execute ? letter : letter - 'a' + 'A';
	return execute ? 'x' : '-';
}

static void describe_mode(char *p, mode_t mode)
{
	*p++ = type_letter(IFTODT(mode));
	*p++ = mode & S_IRUSR ? 'r' : '-';
	*p++ = mode & S_IWUSR ? 'w' : '-';
	*p++ = execute_letter(mode & S_IXUSR, mode & S_ISUID, 's');
	*p++ = mode & S_IRGRP ? 'r' : '-';
	*p++ = mode & S_IWGRP ? 'w' : '-';
	*p++ = execute_letter(mode & S_IXGRP, mode & S_ISGID, 's');
	*p++ = mode & S_IROTH ? 'r' : '-';
	*p++ = mode & S_IWOTH ? 'w' : '-';
	*p = execute_letter(mode & S_IXOTH, mode & S_ISVTX, 't');
}

/* Most files have the mode of the previous one. */
static char *put_mode(char *p, mode_t mode)
{
	static char text[sizeof("-rwxrwxrwx") - 1];
	static mode_t last;

	if (mode != last || !text[0]) {
		describe_mode(text, mode);
		last = mode;
	}
	return mempcpy(p, text, sizeof(text));
}

static char *put_name(char *p, const struct name *name, int width)
{
	if (!name->text)
		return put_number(p, name->id, width);
	p = mempcpy(p, name->text, name->width);
	return put_spaces(p, width - name->width);
}

size_t columns_room(const struct columns *columns)
{
	return COLUMNS + columns->owner + columns->group;
}

char *put_columns(char *p, const struct columns *columns,
		  const struct long_options *options,
		  const struct stat *status, unsigned char type)
{
	if (!status)
		return p + sprintf(p, "%c????????? %*s %-*s %-*s %*s %12s ",
				   type_letter(type), columns->links, "?",
				   columns->owner, "?", columns->group, "?",
				   columns->size, "?", "?");
	p = put_mode(p, status->st_mode);
	*p++ = ' ';
	p = put_number(p, status->st_nlink, columns->links);
	*p++ = ' ';
	p = put_name(p, owner_of(status, options), columns->owner);
	*p++ = ' ';
	p = put_name(p, group_of(status, options), columns->group);
	*p++ = ' ';
	if (is_device(status)) {
		p = put_number(p, major(status->st_rdev),
			       columns->size - 2 - columns->minor);
		p = mempcpy(p, ", ", 2);
		p = put_number(p, minor(status->st_rdev), columns->minor);
	} else if (options->human) {
		char size[NUMBER];
		int length = put_human(size, status->st_size) - size;

		p = put_spaces(p, columns->size - length);
		p = mempcpy(p, size, length);
	} else {
		p = put_number(p, status->st_size, columns->size);
	}
	*p++ = ' ';
	p = put_when(p, &status->st_mtim);
	*p++ = ' ';
	return p;
}

void print_total(const struct long_options *options, uint64_t blocks)
{
	char text[NUMBER], *end;

	if (options->human)
		end = put_human(text, blocks * 512);
	else
		end = put_number(text, blocks / 2 + blocks % 2, 0);
	printf("total %.*s\n", (int)(end - text), text);
}
