// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * sum.c - checksums of many files, many per crossing.
 */
#include "sum.h"
#include "../common/allocated.h"

#include <cosy.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes read at once, files in the queue, and bytes between two calls of progress. */
enum { CHUNK = 64 * 1024, QUEUE = 512, PROGRESS = 64 * 1024 * 1024 };

/* The CRC's polynomial, and the bytes that it processes at once. */
#define POLYNOMIAL 0x04c11db7u
enum { SLICES = 8 };

/*
 * Adler-32: the largest prime below 2^16, and how many bytes can be added to two sums below
 * it before they overflow 32 bits.
 */
#define ADLER_MODULUS 65521u
enum { ADLER_BLOCK = 5552 };

/* table[256 * k + b] is the effect of byte b on a CRC k bytes later. */
static void make_table(uint32_t *table)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t value = byte << 24;

		for (int bit = 0; bit < 8; bit++)
			value = value << 1 ^ (value >> 31 ? POLYNOMIAL : 0);
		table[byte] = value;
	}
	for (uint32_t i = 256; i < 256 * SLICES; i++)
		table[i] = table[i - 256] << 8 ^
			   table[table[i - 256] >> 24];
}

COSY_FUNCTION
static uint32_t crc_update(uint32_t crc, const unsigned char *p, size_t n,
			   const uint32_t *table)
{
	for (; n >= SLICES; n -= SLICES, p += SLICES)
		crc = table[1792 + (crc >> 24 ^ p[0])] ^
		      table[1536 + ((crc >> 16 & 255) ^ p[1])] ^
		      table[1280 + ((crc >> 8 & 255) ^ p[2])] ^
		      table[1024 + ((crc & 255) ^ p[3])] ^
		      table[768 + p[4]] ^ table[512 + p[5]] ^
		      table[256 + p[6]] ^ table[p[7]];
	for (; n > 0; n--, p++)
		crc = crc << 8 ^ table[crc >> 24 ^ *p];
	return crc;
}

COSY_FUNCTION
static uint32_t adler_update(uint32_t adler, const unsigned char *p, size_t n)
{
	uint32_t a = adler & 0xffff, b = adler >> 16;
	size_t block;

	for (; n > 0; n -= block) {
		block = n < ADLER_BLOCK ? n : ADLER_BLOCK;
		for (size_t i = 0; i < block; i++) {
			a += *p++;
			b += a;
		}
		a %= ADLER_MODULUS;
		b %= ADLER_MODULUS;
	}
	return b << 16 | a;
}

/*
 * As in POSIX, the CRC also covers the length, in as few bytes as possible, lowest first.
 */
static uint32_t crc_finish(uint32_t crc, uint64_t size, const uint32_t *table)
{
	for (; size > 0; size >>= 8) {
		unsigned char byte = size;

		crc = crc_update(crc, &byte, 1, table);
	}
	return ~crc;
}

void sum_init(struct sum *sum, enum sum_algorithm algorithm,
	      void (*report)(void *context, const struct sum_file *file),
	      void (*progress)(void *context), void *context)
{
	*sum = (struct sum){
		.algorithm = algorithm,
		.report = report,
		.progress = progress,
		.context = context,
		.fd = -1,
		.files = allocated(calloc(QUEUE, sizeof(*sum->files)), 1),
		.buffer = allocated(cosy_malloc(CHUNK), 1),
		.table = allocated(cosy_calloc(256 * SLICES, sizeof(*sum->table)), 1),
	};
	make_table(sum->table);
}

void sum_add(struct sum *sum, const char *path)
{
	char *copy = allocated(strdup(path), 1);

	if (sum->count == QUEUE)
		sum_flush(sum);
	sum->files[sum->count++] = (struct sum_file){
		.path = copy,
		.value = sum->algorithm == SUM_ADLER ? 1 : 0,
	};
}

/* Computes sums until all files are done, or until progress is due: then a file is open. */
static void sum_files(struct sum *sum)
{
	struct sum_file *file = sum->files + sum->done;
	struct sum_file *last = sum->files + sum->count;
	unsigned char *buffer = sum->buffer;
	const uint32_t *table = sum->table;
	bool adler = sum->algorithm == SUM_ADLER;
	uint64_t bytes = 0, size = 0;
	uint32_t value = 0;
	int fd = sum->fd;
	ssize_t n;

	COSY_START;
	for (; file != last; file++) {
		value = file->value;
		size = file->size;
		if (fd < 0) {
			fd = 0;
			if (file->path[0] != '-' || file->path[1] != '\0')
				fd = open(file->path, O_RDONLY | O_CLOEXEC);
			if (fd < 0) {
				file->error = errno;
				continue;
			}
		}
		for (;;) {
			n = read(fd, buffer, CHUNK);
			if (n <= 0)
				break;
			value = adler ? adler_update(value, buffer, n) :
					crc_update(value, buffer, n, table);
			size += n;
			bytes += n;
			if (bytes > PROGRESS)
				goto leave;
		}
		if (n < 0)
			file->error = errno;
		if (fd != 0 && close(fd) < 0 && n == 0)
			file->error = errno;
		fd = -1;
		file->value = value;
		file->size = size;
	}
leave:
	COSY_END;

	if (fd >= 0) {
		file->value = value;
		file->size = size;
	}
	sum->done = file - sum->files;
	sum->fd = fd;
	sum->bytes += bytes;
}

void sum_flush(struct sum *sum)
{
	while (sum->done != sum->count) {
		sum_files(sum);
		sum->progress(sum->context);
	}
	for (size_t i = 0; i < sum->count; i++) {
		struct sum_file *file = &sum->files[i];

		if (sum->algorithm == SUM_CRC)
			file->value = crc_finish(file->value, file->size,
						 sum->table);
		sum->finished++;
		sum->report(sum->context, file);
		free(file->path);
	}
	sum->count = sum->done = 0;
}

void sum_free(struct sum *sum)
{
	free(sum->files);
	cosy_free(sum->buffer);
	cosy_free(sum->table);
}
