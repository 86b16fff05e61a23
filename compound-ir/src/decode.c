// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * decode.c - decode a verified image to threaded code, once at load.
 *
 * Each slot becomes one struct cosy_insn. Its handler is specialised by all that is known
 * at load: the operation, its width and condition, whether the second operand is a
 * constant, whether dst is the first operand, and whether a branch goes back. Slots keep
 * their places.
 */
#include <cosy/calls.h>
#include <cosy/decode.h>

#include "compiler.h"
#include "handlers.h"

/* The numbers below depend on these lists having the same order. */
_Static_assert(COSY_H_ASHR_RR4 - COSY_H_ADD_RR4 ==
	       (COSY_OP_ASHR - COSY_OP_ADD) * COSY_H_PER_ALU, "ALU order");
_Static_assert(COSY_H_SET_RI4_SGE - COSY_H_SET_RI4_EQ == COSY_COND_SGE &&
	       COSY_H_LOOP_B4_SGE - COSY_H_LOOP_B4_EQ == COSY_COND_SGE,
	       "condition order");
_Static_assert(COSY_H_BR_F_N - COSY_H_BR_F_RR4_EQ ==
	       COSY_H_SET_N - COSY_H_SET_RR4_EQ, "compare order");

cosy_u64 cosy_code_size(const void *image)
{
	const struct cosy_header *h = image;

	return cosy_code_size_of(h->nops);
}

static void set_target(struct cosy_insn *in, cosy_u32 pc, cosy_u32 target)
{
	in->disp = ((cosy_s32)target - (cosy_s32)pc - 1) *
		   (cosy_s32)sizeof(struct cosy_insn);
}

/* Handlers of operations on 1 or 2 bytes read the width at run time. */
static void set_narrow(struct cosy_insn *in, unsigned int width,
		       unsigned int cond)
{
	in->above = (8 - width) & 7;
	in->cond = cond & 15;
}

static void decode_alu(const struct cosy_op *op, struct cosy_insn *in)
{
	unsigned int handler = COSY_H_ADD_RR4 +
			       (op->code - COSY_OP_ADD) * COSY_H_PER_ALU;

	if (op->width < 4) {
		in->handler = handler + COSY_H_ALU_N;
		set_narrow(in, op->width, 0);
		return;
	}
	if (op->code == COSY_OP_SUB && op->b == COSY_NONE) {
		/* The same as adding the negated constant, for which there are pairs. */
		handler = COSY_H_ADD_RR4;
		in->imm = (cosy_s64)-(cosy_u64)op->imm;
	}
	if (op->width == 8)
		handler += COSY_H_ALU_8;
	if (op->b == COSY_NONE) {
		handler += COSY_H_ALU_RI;
	} else if (op->dst == op->b) {
		switch (op->code) {
		case COSY_OP_ADD:
		case COSY_OP_MUL:
		case COSY_OP_AND:
		case COSY_OP_OR:
		case COSY_OP_XOR:
			in->a = op->b;
			in->b = op->a;
			break;
		default:
			break;
		}
	}
	if (in->dst == in->a)
		handler += COSY_H_ALU_DST;
	in->handler = handler;
}

/*
 * SET and BR: @first is the operation's handler for RR4_EQ. With two registers only six
 * conditions have a handler. The others exchange the operands.
 */
static void decode_compare(const struct cosy_op *op, struct cosy_insn *in,
			   unsigned int first)
{
	enum { RR4, RR8 = COSY_H_SET_RR8_EQ - COSY_H_SET_RR4_EQ,
	       RI4 = COSY_H_SET_RI4_EQ - COSY_H_SET_RR4_EQ,
	       RI8 = COSY_H_SET_RI8_EQ - COSY_H_SET_RR4_EQ,
	       N = COSY_H_SET_N - COSY_H_SET_RR4_EQ };
	enum { EQ, NE, ULT, ULE, SLT, SLE, SWAP = 8 };
	static const cosy_u8 rr_cond[COSY_NR_CONDS] = {
		[COSY_COND_EQ] = EQ, [COSY_COND_NE] = NE,
		[COSY_COND_ULT] = ULT, [COSY_COND_ULE] = ULE,
		[COSY_COND_UGT] = ULT | SWAP, [COSY_COND_UGE] = ULE | SWAP,
		[COSY_COND_SLT] = SLT, [COSY_COND_SLE] = SLE,
		[COSY_COND_SGT] = SLT | SWAP, [COSY_COND_SGE] = SLE | SWAP,
	};

	if (op->width < 4) {
		in->handler = first + N;
		set_narrow(in, op->width, op->cond);
	} else if (op->b == COSY_NONE) {
		in->handler = first + (op->width == 4 ? RI4 : RI8) + op->cond;
	} else {
		in->handler = first + (op->width == 4 ? RR4 : RR8) +
			      (rr_cond[op->cond] & ~SWAP);
		if (rr_cond[op->cond] & SWAP) {
			in->a = op->b;
			in->b = op->a;
		}
	}
}

static void decode_loop(const struct cosy_op *op, struct cosy_insn *in)
{
	if (op->width < 4 || in->disp >= 0) {
		in->handler = COSY_H_LOOP_N;
		set_narrow(in, op->width, op->cond);
	} else if (op->width == 4) {
		in->handler = COSY_H_LOOP_B4_EQ + op->cond;
	} else {
		in->handler = COSY_H_LOOP_B8_EQ + op->cond;
	}
}

static unsigned int extend_handler(const struct cosy_op *op)
{
	if (op->width == 4)
		return COSY_H_SEXT_4_8;
	if (op->width == 2)
		return op->imm == 4 ? COSY_H_SEXT_2_4 : COSY_H_SEXT_2_8;
	if (op->imm == 2)
		return COSY_H_SEXT_1_2;
	return op->imm == 4 ? COSY_H_SEXT_1_4 : COSY_H_SEXT_1_8;
}

/* Return the handler for @width from four handlers for the widths 1, 2, 4 and 8. */
static unsigned int by_width(unsigned int first, unsigned int width)
{
	return first + (width > 1) + (width > 2) + (width > 4);
}

static void decode_call(const struct cosy_op *op, struct cosy_insn *in,
			unsigned int flags, cosy_fast_find_fn *fast)
{
	bool parks = flags & COSY_DECODE_PARKS &&
		     cosy_call_parks((cosy_u32)op->imm);
	bool nested = flags & COSY_DECODE_NESTED;
	bool nests = cosy_call_nests((cosy_u32)op->imm);
	cosy_s32 path = -1;

	in->hints = op->c & ((1u << COSY_NR_HINTS) - 1);
	in->c = 0;
	in->nargs = op->width & 7;
	if (op->code == COSY_OP_LIBC)
		in->kind = COSY_INSN_LIBC;
	if (fast && nests && !parks)
		path = fast(op);
	if (nested ? !nests : parks) {
		in->handler = COSY_H_STEP_CALL;
	} else if (path >= 0) {
		in->handler = COSY_H_FAST;
		in->fast = (cosy_u8)path;
	} else if (op->code == COSY_OP_SYS) {
		in->handler = COSY_H_SYS_0 + op->width;
	} else {
		in->handler = COSY_H_LIBC_0 + op->width;
	}
}

/* Return the handler of an operation that has only one, or -1. */
static cosy_s32 single_handler(unsigned int code)
{
	switch (code) {
	case COSY_OP_CONST:
		return COSY_H_CONST;
	case COSY_OP_MOV:
		return COSY_H_MOV;
	case COSY_OP_SELECT:
		return COSY_H_SELECT;
	case COSY_OP_EXIT:
		return COSY_H_EXIT;
	case COSY_OP_COPY:
		return COSY_H_COPY;
	case COSY_OP_FILL:
		return COSY_H_FILL;
	case COSY_OP_COMPARE:
		return COSY_H_COMPARE;
	case COSY_OP_FIND:
		return COSY_H_FIND;
	case COSY_OP_STRLEN:
		return COSY_H_STRLEN;
	case COSY_OP_STRCMP:
		return COSY_H_STRCMP;
	case COSY_OP_STRNLEN:
		return COSY_H_STRNLEN;
	case COSY_OP_STRCHR:
		return COSY_H_STRCHR;
	case COSY_OP_STRRCHR:
		return COSY_H_STRRCHR;
	case COSY_OP_STPCPY:
		return COSY_H_STPCPY;
	case COSY_OP_TID:
		return COSY_H_TID;
	default:
		return -1;
	}
}

static void decode_op(const struct cosy_op *op, struct cosy_insn *in,
		      cosy_u16 nregs, unsigned int flags,
		      cosy_fast_find_fn *fast)
{
	bool back = in->disp < 0;

	in->handler = single_handler(op->code);
	if (in->handler >= 0)
		return;
	switch (op->code) {
	case COSY_OP_ARG:
	case COSY_OP_CASE:
		in->handler = COSY_H_SLOT;
		in->kind = COSY_INSN_SLOT;
		break;
	case COSY_OP_SEXT:
		in->handler = extend_handler(op);
		break;
	case COSY_OP_ZEXT:
		in->handler = op->width == 8 ? COSY_H_MOV :
			      by_width(COSY_H_ZEXT_1, op->width);
		break;
	case COSY_OP_SET:
		decode_compare(op, in, COSY_H_SET_RR4_EQ);
		break;
	case COSY_OP_JMP:
		in->handler = back ? COSY_H_JMP_B : COSY_H_JMP_F;
		break;
	case COSY_OP_BR:
		decode_compare(op, in, back ? COSY_H_BR_B_RR4_EQ :
					      COSY_H_BR_F_RR4_EQ);
		break;
	case COSY_OP_LOOP:
		decode_loop(op, in);
		break;
	case COSY_OP_SWITCH:
		in->handler = COSY_H_SWITCH;
		in->ncases = op->c;
		in->c = 0;
		set_narrow(in, op->width, 0);
		break;
	case COSY_OP_LOAD:
		in->handler = by_width(COSY_H_LOAD_1, op->width);
		break;
	case COSY_OP_STORE:
		in->handler = by_width(COSY_H_STORE_1, op->width);
		break;
	case COSY_OP_CMPXCHG:
		in->handler = by_width(COSY_H_CMPXCHG_1, op->width);
		break;
	case COSY_OP_SYS:
	case COSY_OP_LIBC:
		decode_call(op, in, flags, fast);
		break;
	case COSY_OP_UPCALL:
		in->handler = COSY_H_UPCALL;
		in->kind = COSY_INSN_UPCALL;
		in->b = op->c ? op->a + op->c : nregs;
		in->c = 0;
		break;
	case COSY_OP_CALL:
		in->handler = COSY_H_FUNCTION;
		in->imm = op->imm | (cosy_s64)op->c << 16;
		in->c = 0;
		in->nargs = op->width & 7;
		break;
	default:
		decode_alu(op, in);
		break;
	}
}

/* Return the index of a handler among those that can be in pairs, or -1. */
static int pair_index(cosy_s32 handler)
{
	enum {
		NO_PAIR,
#define COSY_IN_PAIRS(name, unused) NR_##name,
		COSY_PAIR_FIRSTS(COSY_IN_PAIRS, )
#undef COSY_IN_PAIRS
	};
	static const cosy_u8 in_pairs[COSY_NR_HANDLERS] = {
#define COSY_IN_PAIRS(name, unused) [COSY_H_##name] = NR_##name,
		COSY_PAIR_FIRSTS(COSY_IN_PAIRS, )
#undef COSY_IN_PAIRS
	};

	return in_pairs[handler] - 1;
}

/*
 * If there is a handler for a slot and the next one, the slot executes both. The next one
 * keeps its own handler, for jumps to it.
 */
static void fuse(struct cosy_code *code)
{
	int first, second;
	cosy_u32 pc;

	first = pair_index(code->insns[0].handler);
	for (pc = 1; pc < code->ninsns; pc++, first = second) {
		if (pc % SLOTS_IN_A_GO == 0)
			relax();
		second = pair_index(code->insns[pc].handler);
		if (first >= 0 && second >= 0)
			code->insns[pc - 1].handler = COSY_H_CONST_CONST +
				first * COSY_H_PER_FIRST + second;
	}
}

void cosy_decode(const void *image, struct cosy_code *code, unsigned int flags,
		 cosy_fast_find_fn *fast)
{
	const struct cosy_header *h = image;
	const struct cosy_op *ops = (const void *)(h + 1);
	cosy_u32 pc;

	code->ninsns = h->nops;
	code->nregs = h->nregs;
	code->ninputs = h->ninputs;
	code->out_first = h->out_first;
	code->nout = h->nout;
	code->nexits = h->nexits;
	code->limit = h->limit;
	for (pc = 0; pc < h->nops; pc++) {
		const struct cosy_op *op = &ops[pc];
		struct cosy_insn *in = &code->insns[pc];

		if (pc % SLOTS_IN_A_GO == 0)
			relax();
		*in = (struct cosy_insn){
			.dst = op->dst,
			.a = op->a == COSY_NONE ? h->nregs : op->a,
			.b = op->b == COSY_NONE ? h->nregs : op->b,
			.c = op->c,
			.imm = op->imm,
		};
		set_target(in, pc, op->target);
		decode_op(op, in, h->nregs, flags, fast);
	}
	for (; pc < h->nops + COSY_GUARD_SLOTS; pc++) {
		code->insns[pc] = (struct cosy_insn){ .handler = COSY_H_EXIT };
		set_target(&code->insns[pc], pc, 0);
	}
	fuse(code);
	cosy_exec_link(code);
}
