/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * decode.h - decode a verified image to threaded code, once at load.
 */
#ifndef COSY_DECODE_H
#define COSY_DECODE_H

#include "format.h"

/** enum cosy_insn_kind - the kinds of slots */
enum cosy_insn_kind {
	COSY_INSN_OTHER,
	COSY_INSN_SLOT,		/* ARG or CASE, no operation by itself */
	COSY_INSN_UPCALL,
	COSY_INSN_LIBC,		/* a call whose failure sets errno */
};

/**
 * struct cosy_insn - one slot, decoded
 * @handler: address of the executor's code for it
 * @disp:    where a branch goes, in bytes from the next slot
 * @dst: @a: @b: @c: register numbers; COSY_NONE has become the number of the
 *	     register after the last one, which always holds 0. An UPCALL's native
 *	     code uses the registers from a up to, but not including, b
 * @ncases:  CASE slots after a SWITCH
 * @callee:  of a call: what cosy_env_callee() returned for its number
 * @fast:    of a call: the number of its fast path
 * @hints:   of a call: enum cosy_hint
 * @nargs:   ARG slots after a call
 * @above:   of operations on 1 or 2 bytes, and of SWITCH: bytes of a register
 *	     above the value
 * @cond:    of comparisons of 1 or 2 bytes: enum cosy_cond
 * @kind:    enum cosy_insn_kind
 * @imm:     constant; of a CALL the number of the function and, above 16 bits,
 *	     that of the up-call
 *
 * A CPU that mispredicts the jump to the next handler may speculatively execute any handler
 * on any slot. So a field has the same meaning in every slot, and a value with which every
 * handler that reads it stays inside its tables: registers are at most nregs, disp leads to
 * a slot, ncases and nargs stay within the guard slots, callee and fast exist. Unused
 * fields are 0. imm and hints may have any value, because no handler uses them as an index
 * without array_index_nospec().
 *
 * Slots keep their places, so a pc means the same before and after decoding. A slot that
 * was fused into the one before it keeps its own code.
 */
struct cosy_insn {
	cosy_s32 handler;
	cosy_s32 disp;
	cosy_u16 dst;
	cosy_u16 a;
	cosy_u16 b;
	cosy_u16 c;
	cosy_u16 ncases;
	cosy_u16 callee;
	cosy_u8 fast;
	cosy_u8 hints : 5;
	cosy_u8 nargs : 3;
	cosy_u8 above : 3;
	cosy_u8 cond : 4;
	cosy_u8 kind;
	cosy_s64 imm;
};

_Static_assert(sizeof(struct cosy_insn) == 32, "two slots to a cache line");
_Static_assert(COSY_NR_HINTS <= 5 && COSY_MAX_ARGS < 8 && COSY_NR_CONDS <= 16,
	       "widths of bit-fields");

/*
 * Slots after the last one, which are EXITs: as many as a handler, or a fast path for two
 * calls, can read ahead.
 */
#define COSY_GUARD_SLOTS	16u

/**
 * struct cosy_code - a decoded compound; immutable, so any number of threads can execute it
 * @ninsns: slots
 * @nregs: @ninputs: @out_first: @nout: @nexits: @limit: as in the header
 * @insns: the slots, and COSY_GUARD_SLOTS more
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
 * cosy_code_size_of() - the size in bytes of the decoded code of @nops slots
 * @nops: slots, at most 2^32
 *
 * This includes slots after the last one, because execution may read them.
 */
static inline cosy_u64 cosy_code_size_of(cosy_u64 nops)
{
	return sizeof(struct cosy_code) +
	       (nops + COSY_GUARD_SLOTS) * sizeof(struct cosy_insn);
}

/**
 * cosy_code_size() - the number of bytes that cosy_decode() needs for a verified image
 * @image: a verified image
 */
cosy_u64 cosy_code_size(const void *image);

/**
 * cosy_fast_find_fn - find the module's fast path for a call
 * @op: a SYS or LIBC operation that may be made here; its ARG slots and another operation
 *	follow
 *
 * Return: its number, from 0 to 255, or -1 if there is none.
 */
typedef cosy_s32 cosy_fast_find_fn(const struct cosy_op *op);

/**
 * enum cosy_decode_flags - how the code makes its calls
 * @COSY_DECODE_NESTED: inside a system call: calls that must not be nested (syscalls.def)
 *			leave with COSY_STEP
 * @COSY_DECODE_PARKS:	in a loop: a call for which the loop parks compounds has no fast path
 *			if NESTED is set too, and leaves with COSY_STEP otherwise
 */
enum cosy_decode_flags {
	COSY_DECODE_NESTED = 1 << 0,
	COSY_DECODE_PARKS = 1 << 1,
};

/**
 * cosy_decode() - decode a verified image
 * @image: an image that cosy_verify() has accepted; not used after the return
 * @code:  cosy_code_size() bytes, owned by the caller
 * @flags: enum cosy_decode_flags
 * @fast:  finds fast paths for calls, or NULL
 *
 * Cannot fail. May run in any thread or signal context. In the module it may sleep.
 */
void cosy_decode(const void *image, struct cosy_code *code, unsigned int flags,
		 cosy_fast_find_fn *fast);

/**
 * cosy_pc_valid() - test whether execution may begin at slot @pc
 * @code: decoded compound
 * @pc:	  slot
 *
 * Return: nonzero if @pc is inside @code and is an operation, not an ARG or
 * CASE slot.
 */
static inline int cosy_pc_valid(const struct cosy_code *code, cosy_u32 pc)
{
	return pc < code->ninsns && code->insns[pc].kind != COSY_INSN_SLOT;
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
 * cosy_live_range() - the registers that are live where execution resumes
 * @code: decoded compound
 * @pc:	  slot at which it was left or resumes, cosy_pc_valid()
 *
 * Return: after an UPCALL the registers that it names, which its native code may read and
 * write; elsewhere all registers.
 */
static inline struct cosy_range cosy_live_range(const struct cosy_code *code,
						cosy_u32 pc)
{
	struct cosy_range all = { 0, code->nregs };
	const struct cosy_insn *before = &code->insns[pc] - 1;
	cosy_s32 count;

	if (!pc || before->kind != COSY_INSN_UPCALL)
		return all;
	/* Not negative even where the CPU only guesses that this is an UPCALL. */
	count = before->b - before->a;
	count = count > 0 ? count : 0;
	return (struct cosy_range){ before->a, (cosy_u16)count };
}

#endif /* COSY_DECODE_H */
