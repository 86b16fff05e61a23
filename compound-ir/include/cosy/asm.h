/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * asm.h - the textual form of compounds: assembler and disassembler, for user space only.
 *
 * The textual form is lossless: an image that verifies is the same bytes after
 * disassembling and assembling. compound-ir/README.md has the grammar.
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
 * @line: @column: place, counted from 1; column in bytes
 * @text: what is wrong and the remedy, a lower-case phrase
 */
struct cosy_asm_error {
	unsigned int line;
	unsigned int column;
	char text[192];
};

/**
 * cosy_assemble() - assemble a text to an image
 * @text:  the text, need not be NUL-terminated
 * @len:   its length in bytes
 * @size:  out: size of the image in bytes
 * @error: out: set if there is no image; must not be NULL
 *
 * Return: a verified image, which the caller frees with free(), or NULL with @error set.
 * Thread-safe.
 */
void *cosy_assemble(const char *text, size_t len, size_t *size,
		    struct cosy_asm_error *error);

/* Comments that cosy_disassemble() adds. */
#define COSY_DIS_PC	(1u << 0)	/* the slot after each operation */
#define COSY_DIS_SOURCE	(1u << 1)	/* the source line before its operations */

/**
 * cosy_disassemble() - disassemble an image to text
 * @image: the image, 8-byte aligned
 * @size:  its size in bytes
 * @flags: COSY_DIS_*
 * @out:   the text is written here; the caller checks ferror()
 * @diag:  out: set if the image is not valid; must not be NULL
 *
 * Return: 0, or -1 with @diag set if the image does not verify. Then nothing was written.
 * Thread-safe.
 */
int cosy_disassemble(const void *image, size_t size, unsigned int flags,
		     FILE *out, struct cosy_diag *diag);

/**
 * cosy_call_name() - the name of a system call
 * @nr: its number
 *
 * Return: its name in syscalls.def, or NULL if that does not contain it.
 */
const char *cosy_call_name(cosy_s64 nr);

/**
 * cosy_call_number() - the number of a system call
 * @name: its name, need not be NUL-terminated
 * @len:  length of @name
 *
 * Return: its number, or -1 if syscalls.def does not contain it.
 */
cosy_s64 cosy_call_number(const char *name, size_t len);

#ifdef __cplusplus
}
#endif

#endif /* COSY_ASM_H */
