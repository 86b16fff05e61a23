/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * typical.h - common code of the tests of typical functions.
 */
#ifndef TYPICAL_H
#define TYPICAL_H

#include <stdint.h>

#define LENGTH(array)	(sizeof(array) / sizeof(*(array)))

static inline uint32_t next(void)
{
	static uint32_t random = 1;

	random = random * 1103515245 + 12345;
	return random >> 16;
}

#endif /* TYPICAL_H */
