/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * long-format.h - the columns of `ls -l`.
 *
 * The columns are as wide as their widest entry, so all entries of a listing
 * are measured before the first is printed. Not thread-safe.
 */
#ifndef LONG_FORMAT_H
#define LONG_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/**
 * struct columns - widths in characters; initially all 0
 * @most_links: the maximum number of links
 * @most_bytes: the maximum size, unless sizes are for humans
 */
struct columns {
	int links, owner, group, size, major, minor;
	nlink_t most_links;
	off_t most_bytes;
};

/** struct long_options - formats */
struct long_options {
	bool numeric;		/* user and group numbers instead of names */
	bool human;		/* sizes as 1.5K, 23M … */
};

/** columns_fit() - enlarge the columns for an entry */
void columns_fit(struct columns *columns, const struct long_options *options,
		 const struct stat *status);

/** columns_room() - return the number of bytes that put_columns() needs */
size_t columns_room(const struct columns *columns);

/**
 * put_columns() - write the part of a line before the name
 * @p:      the destination; no NUL is written
 * @status: of the entry; NULL: unknown, question marks are written
 * @type:   its type if @status is NULL: DT_REG, DT_DIR, … from <dirent.h>
 *
 * Return: the end.
 */
char *put_columns(char *p, const struct columns *columns,
		  const struct long_options *options,
		  const struct stat *status, unsigned char type);

/**
 * print_total() - print the line above the entries of a directory
 * @blocks: sum of their st_blocks, in units of 512 bytes
 */
void print_total(const struct long_options *options, uint64_t blocks);

#endif /* LONG_FORMAT_H */
