/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * verify.h - structural verification of a compound image.
 *
 * Verification is short because every operation is safe for any register contents at any
 * pc. Only the structure is checked: lengths, register and exit numbers, branch targets,
 * argument slots.
 */
#ifndef COSY_VERIFY_H
#define COSY_VERIFY_H

#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct cosy_diag - why an image was rejected
 * @reason: static text, a lower-case phrase without full stop
 * @offset: offset in bytes of the wrong field in the image
 */
struct cosy_diag {
	const char *reason;
	cosy_u32 offset;
};

/**
 * cosy_verify() - check that @size bytes at @image are a compound
 * @image: the image, at least 8-byte aligned, which must not change any more (the
 *	   module verifies its own copy)
 * @size:  bytes at @image
 * @diag:  set if the image is rejected; must not be NULL
 *
 * Return: 0, or -1 with @diag set. Takes time linear in @size, does not allocate, reads
 * only [@image, @image + @size). May run in any thread or signal context. In the module it
 * may sleep.
 */
int cosy_verify(const void *image, cosy_u64 size, struct cosy_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* COSY_VERIFY_H */
