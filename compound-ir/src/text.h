/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * text.h - tables of names for the assembler and the disassembler.
 */
#ifndef COSY_TEXT_H
#define COSY_TEXT_H

#include <cosy/format.h>

struct cosy_op_text {
	const char *name;
	enum cosy_form form;
};

/* Names and forms, by operation. */
extern const struct cosy_op_text cosy_op_texts[COSY_NR_OPS];
/* Names, by condition. */
extern const char *const cosy_cond_texts[COSY_NR_CONDS];
/* Names, by number of the hint. */
extern const char *const cosy_hint_texts[COSY_NR_HINTS];

#endif /* COSY_TEXT_H */
