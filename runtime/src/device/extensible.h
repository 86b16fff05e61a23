/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * extensible.h - structures of options and of counts that later releases may extend.
 */
#ifndef COSY_EXTENSIBLE_H
#define COSY_EXTENSIBLE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/**
 * cosy_extensible_copy() - copy a structure of options, which begins with its size, a uint32_t
 * @known:   set to the options, of @size bytes
 * @size:    size of the structure that libcosy knows
 * @options: the program's, or NULL
 *
 * Options that an older program does not know are 0; those that libcosy does not know have to be.
 *
 * Return: 0 or -EINVAL.
 */
static inline int cosy_extensible_copy(void *known, uint32_t size, const void *options)
{
	const unsigned char *bytes = options;
	uint32_t given;

	memset(known, 0, size);
	if (!options)
		return 0;
	memcpy(&given, options, sizeof(given));
	if (given < sizeof(given) || given > 4096)
		return -EINVAL;
	for (uint32_t i = size; i < given; i++) {
		if (bytes[i])
			return -EINVAL;
	}
	memcpy(known, options, given < size ? given : size);
	return 0;
}

/**
 * cosy_extensible_give() - give the program a structure
 * @to:    the program's, of @given bytes
 * @known: what libcosy knows, of @size bytes
 *
 * Members that libcosy does not know become 0.
 */
static inline void cosy_extensible_give(void *to, size_t given, const void *known, size_t size)
{
	memset(to, 0, given);
	memcpy(to, known, given < size ? given : size);
}

#endif /* COSY_EXTENSIBLE_H */
