/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * asm.h - the textual form of compounds, both ways; user space only.
 *
 * The textual form is lossless: an image that verifies, disassembled and
 * assembled again, is the same bytes. compound-ir/README.md has the grammar.
 */
#ifndef COSY_ASM_H
#define COSY_ASM_H

#include <stddef.h>
#include <stdio.h>

#include "verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct cosy_asm_error - the first error of a text
 * @line: @column: where, counted from 1; column in bytes
 * @text: what is wrong and how to mend it, a lower-case phrase
 */
struct cosy_asm_error {
	unsigned int line;
	unsigned int column;
	char text[192];
};

/**
 * cosy_assemble() - from text to an image
 * @text:  the text, need not be NUL-terminated
 * @len:   its length in bytes
 * @size:  out: size of the image in bytes
 * @error: out: set when there is no image; may not be NULL
 *
 * Return: a verified image, to be given back with free(); NULL with @error
 * set. Thread-safe.
 */
void *cosy_assemble(const char *text, size_t len, size_t *size,
		    struct cosy_asm_error *error);

/* What cosy_disassemble() adds as comments. */
#define COSY_DIS_PC	(1u << 0)	/* the slot after each operation */
#define COSY_DIS_SOURCE	(1u << 1)	/* the source line before its operations */

/**
 * cosy_disassemble() - from an image to text
 * @image: the image, 8-byte aligned
 * @size:  its size in bytes
 * @flags: COSY_DIS_*
 * @out:   where the text goes; the caller checks ferror()
 * @diag:  out: set when the image is not valid; may not be NULL
 *
 * Return: 0; -1 with @diag set if the image does not verify, then nothing has
 * been written. Thread-safe.
 */
int cosy_disassemble(const void *image, size_t size, unsigned int flags,
		     FILE *out, struct cosy_diag *diag);

/**
 * cosy_call_name() - the name of a system call
 * @nr: its number
 *
 * Return: its name in syscalls.def, NULL if it is not there.
 */
const char *cosy_call_name(cosy_s64 nr);

/**
 * cosy_call_number() - the number of a system call
 * @name: its name, need not be NUL-terminated
 * @len:  length of @name
 *
 * Return: its number, -1 if it is not in syscalls.def.
 */
cosy_s64 cosy_call_number(const char *name, size_t len);

#ifdef __cplusplus
}
#endif

#endif /* COSY_ASM_H */
