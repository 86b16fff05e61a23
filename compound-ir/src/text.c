// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * text.c - names of operations, conditions, hints and system calls.
 */
#include "text.h"

#include <string.h>

#include <cosy/asm.h>

const struct cosy_op_text cosy_op_texts[COSY_NR_OPS] = {
#define COSY_OP(NAME, text, form) { text, COSY_FORM_##form },
#include <cosy/ops.def>
};

const char *const cosy_cond_texts[COSY_NR_CONDS] = {
#define COSY_COND(NAME, text) #text,
	COSY_CONDS(COSY_COND)
#undef COSY_COND
};

const char *const cosy_hint_texts[COSY_NR_HINTS] = {
#define COSY_HINT(NAME, text) #text,
	COSY_HINTS(COSY_HINT)
#undef COSY_HINT
};

static const struct {
	cosy_s64 nr;
	const char *name;
} calls[] = {
#define COSY_SYSCALL(nr, name, args, nested) { nr, #name },
#include "../syscalls.def"
};

#define NR_CALLS (sizeof(calls) / sizeof(calls[0]))

const char *cosy_call_name(cosy_s64 nr)
{
	size_t i;

	for (i = 0; i < NR_CALLS; i++)
		if (calls[i].nr == nr)
			return calls[i].name;
	return NULL;
}

cosy_s64 cosy_call_number(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < NR_CALLS; i++)
		if (strlen(calls[i].name) == len &&
		    !memcmp(calls[i].name, name, len))
			return calls[i].nr;
	return -1;
}
