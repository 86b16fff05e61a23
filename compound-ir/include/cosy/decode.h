/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * decode.h - from a verified image to threaded code, once at load.
 */
#ifndef COSY_DECODE_H
#define COSY_DECODE_H

#include "format.h"

/**
 * struct cosy_insn - one slot, decoded
 * @handler: where the executor's code for it is
 * @dst: @a: @b: register numbers; COSY_NONE has become the number of the
 *	 register behind the last one, which always holds 0
 * @c:	     register number, or what else the handler needs to know: see
 *	     src/handlers.h
 * @disp:    where a branch goes, in bytes from the slot behind this one; of a
 *	     call what it needs besides its number
 * @imm:     constant
 *
 * Slots keep their places, so a pc means the same before and after decoding.
 * A slot that was fused into the one before it still holds its own code.
 */
struct cosy_insn {
	cosy_s32 handler;
	cosy_u16 dst;
	cosy_u16 a;
	cosy_u16 b;
	cosy_u16 c;
	cosy_s32 disp;
	cosy_s64 imm;
};

/**
 * struct cosy_code - a decoded compound; immutable, any number of threads may
 * execute it at once
 * @ninsns: slots
 * @nregs: @ninputs: @out_first: @nout: @nexits: @limit: as in the header
 * @insns: the slots
 */
struct cosy_code {
	cosy_u32 ninsns;
	cosy_u16 nregs;
	cosy_u16 ninputs;
	cosy_u16 out_first;
	cosy_u16 nout;
	cosy_u32 nexits;
	cosy_u64 limit;
	struct cosy_insn insns[];
};

/**
 * cosy_code_size() - bytes cosy_decode() needs for a verified image
 * @image: a verified image
 */
cosy_u64 cosy_code_size(const void *image);

/**
 * cosy_fast_find_fn - has the module a fast path for a call?
 * @op: a SYS or LIBC operation that may be made here; its ARG slots are behind
 *	it, and behind those is another operation
 *
 * Return: its number, not negative; -1 if there is none.
 */
typedef cosy_s32 cosy_fast_find_fn(const struct cosy_op *op);

/**
 * cosy_decode() - decode a verified image
 * @image:  an image cosy_verify() accepted; no longer needed afterwards
 * @code:   cosy_code_size() bytes, owned by the caller
 * @nested: the code will make its calls from inside a system call: those that
 *	    may not run there (syscalls.def) leave with COSY_STEP instead
 * @fast:   which calls to make by a fast path, NULL if none
 *
 * Cannot fail. Any thread or signal context; in the module, where it may sleep.
 */
void cosy_decode(const void *image, struct cosy_code *code, int nested,
		 cosy_fast_find_fn *fast);

/* What c is in an ARG or CASE slot, and in an UPCALL. */
#define COSY_INSN_SLOT		0xffff
#define COSY_INSN_RANGE		0xfffe

/**
 * cosy_pc_valid() - may execution begin at slot @pc?
 * @code: decoded compound
 * @pc:	  slot
 *
 * Return: nonzero if @pc is inside @code and is an operation, not an ARG or
 * CASE slot.
 */
static inline int cosy_pc_valid(const struct cosy_code *code, cosy_u32 pc)
{
	return pc < code->ninsns && code->insns[pc].c != COSY_INSN_SLOT;
}

/**
 * struct cosy_range - some of a compound's registers
 * @first: the first of them
 * @count: their number
 */
struct cosy_range {
	cosy_u16 first;
	cosy_u16 count;
};

/**
 * cosy_live_range() - which registers matter where execution goes on
 * @code: decoded compound
 * @pc:	  slot at which it was left or is taken up, cosy_pc_valid()
 *
 * Return: behind an UPCALL those it names, which its native code may read and
 * write; all elsewhere.
 */
static inline struct cosy_range cosy_live_range(const struct cosy_code *code,
						cosy_u32 pc)
{
	struct cosy_range all = { 0, code->nregs };
	const struct cosy_insn *before = &code->insns[pc] - 1;

	if (!pc || before->c != COSY_INSN_RANGE)
		return all;
	return (struct cosy_range){ before->dst, before->b };
}

#endif /* COSY_DECODE_H */
