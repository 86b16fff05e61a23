/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * region.h - regions as the plugin emits them, but written by hand, around compounds assembled by
 * cosy-as. The tests of libcosy need no plugin.
 *
 *	REGION(count, 12, THUNKS(hello));	the compound is in COUNT_FILE
 *	...
 *	exit = run(&count, frame);		-1: native
 */
#ifndef TEST_REGION_H
#define TEST_REGION_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cosy/format.h>
#include <cosy/region.h>

#include "../../Inputs/check.h"

#define THUNKS(...) ((const cosy_thunk[]){ __VA_ARGS__ })

#define REGION(name, image_file, where, ...)				\
	__asm__(".pushsection .rodata\n"				\
		".balign 8\n"						\
		#name "_image: .incbin \"" image_file "\"\n"		\
		#name "_end:\n"						\
		".popsection\n");					\
	extern const char name##_image[], name##_end[];			\
	static const cosy_thunk name##_thunks[] = { __VA_ARGS__ };	\
	static struct cosy_region name = {				\
		.abi = COSY_REGION_ABI,					\
		.image = name##_image,					\
		.thunks = name##_thunks,				\
		.nthunks = sizeof(name##_thunks) / sizeof(cosy_thunk),	\
		.line = where,						\
		.file = "prog.c",					\
		.function = "test",					\
	};								\
	__attribute__((constructor)) static void name##_add(void)	\
	{								\
		const struct cosy_header *header = name.image;		\
									\
		name.size = (uint32_t)(name##_end - name##_image);	\
		name.nregs = header->nregs;				\
		cosy_regions_add(&name, 1);				\
	}								\
	__attribute__((destructor)) static void name##_remove(void)	\
	{								\
		cosy_regions_remove(&name, 1);				\
	}

/* The code around a region. */
static inline int64_t run(struct cosy_region *region, uint64_t *frame)
{
	if (__atomic_load_n(&region->mode, __ATOMIC_RELAXED))
		return cosy_region_run(region, frame);
	return -1;
}

/* After the native code. */
static inline void left(struct cosy_region *region)
{
	if (__atomic_load_n(&region->mode, __ATOMIC_RELAXED) == COSY_REGION_MEASURED)
		cosy_region_left(region);
}

#endif /* TEST_REGION_H */
