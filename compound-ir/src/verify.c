// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * verify.c - structural verification of a compound image.
 *
 * Every field is checked once and in order, so that the first wrong field is reported: the
 * header, then the slots, then lines and strings. Sums of lengths are computed in 64 bits
 * and cannot overflow. Nothing after the header is read before the lengths have been
 * checked.
 */
#include <cosy/verify.h>

#include "compiler.h"

#define OP_OFFSET(field)	((cosy_u32)offsetof(struct cosy_op, field))

static int reject(struct cosy_diag *diag, const char *reason, cosy_u64 offset)
{
	diag->reason = reason;
	diag->offset = (cosy_u32)offset;
	return -1;
}

#define REJECT_HEADER(field, reason) \
	reject(diag, reason, offsetof(struct cosy_header, field))

static int verify_header(const struct cosy_header *h, cosy_u64 size,
			 struct cosy_diag *diag)
{
	cosy_u64 need;

	if (size < sizeof(*h))
		return reject(diag, "image shorter than its header", size);
	if (h->magic != COSY_MAGIC)
		return REJECT_HEADER(magic, "not a compound");
	if (h->version != COSY_VERSION)
		return REJECT_HEADER(version, "unknown format version");
	if (h->nregs > COSY_MAX_REGS)
		return REJECT_HEADER(nregs, "too many registers");
	if (h->size > COSY_MAX_SIZE)
		return REJECT_HEADER(size, "image too large");
	if (h->size != size)
		return REJECT_HEADER(size, "size is not the size of the image");
	if (!h->nops)
		return REJECT_HEADER(nops, "no operations");
	if (h->nops > COSY_MAX_OPS)
		return REJECT_HEADER(nops, "too many operations");
	if (h->nlines > h->nops)
		return REJECT_HEADER(nlines, "more lines than operations");
	need = sizeof(*h) + (cosy_u64)h->nops * sizeof(struct cosy_op) +
	       (cosy_u64)h->nlines * sizeof(struct cosy_line) +
	       h->strings_size + h->data_size;
	if (need != size)
		return REJECT_HEADER(size, "tables do not add up to the size");
	if (!h->strings_size)
		return REJECT_HEADER(strings_size, "no strings");
	if (h->ninputs > h->nregs)
		return REJECT_HEADER(ninputs, "more inputs than registers");
	if (h->data_size && !h->ninputs)
		return REJECT_HEADER(ninputs, "no input for the address of the data");
	if (h->out_first > h->nregs)
		return REJECT_HEADER(out_first, "output is not a register");
	if (h->nout > h->nregs - h->out_first)
		return REJECT_HEADER(nout, "output is not a register");
	if (h->nexits > COSY_MAX_EXITS)
		return REJECT_HEADER(nexits, "too many exits");
	if (h->nupcalls > COSY_MAX_UPCALLS)
		return REJECT_HEADER(nupcalls, "too many up-calls");
	if (h->name >= h->strings_size)
		return REJECT_HEADER(name, "name outside the strings");
	if (!h->limit)
		return REJECT_HEADER(limit, "operation limit is zero");
	if (h->limit > COSY_MAX_LIMIT)
		return REJECT_HEADER(limit, "operation limit too large");
	return 0;
}

/* The fields that an operation uses, and their meaning. */
enum {
	DST	= 1 << 0,
	A	= 1 << 1,
	A_NONE	= 1 << 2,	/* a may be COSY_NONE */
	B	= 1 << 3,
	B_IMM	= 1 << 4,	/* b may be COSY_NONE, otherwise imm is zero */
	C	= 1 << 5,
	C_COUNT	= 1 << 6,	/* c is a number of slots, or of an up-call */
	WIDTH	= 1 << 7,	/* 1, 2, 4 or 8 */
	COUNT	= 1 << 8,	/* width is a number of slots */
	COND	= 1 << 9,
	TARGET	= 1 << 10,
	IMM	= 1 << 11,
	C_HINTS	= 1 << 12,	/* c is a set of hints */
	RANGE	= 1 << 13,	/* c registers from a on; all if c is 0 */
};

static const cosy_u16 form_fields[] = {
	[COSY_FORM_ARG]		= A | A_NONE | IMM,
	[COSY_FORM_CASE]	= IMM | TARGET,
	[COSY_FORM_CONST]	= DST | IMM,
	[COSY_FORM_MOV]		= DST | A,
	[COSY_FORM_EXTEND]	= DST | A | WIDTH | IMM,
	[COSY_FORM_MOVW]	= DST | A | WIDTH,
	[COSY_FORM_ALU]		= DST | A | B | B_IMM | IMM | WIDTH,
	[COSY_FORM_SET]		= DST | A | B | B_IMM | IMM | WIDTH | COND,
	[COSY_FORM_SELECT]	= DST | A | B | C,
	[COSY_FORM_JUMP]	= TARGET,
	[COSY_FORM_BRANCH]	= A | B | B_IMM | IMM | WIDTH | COND | TARGET,
	[COSY_FORM_LOOP]	= DST | B | IMM | WIDTH | COND | TARGET,
	[COSY_FORM_SWITCH]	= A | C_COUNT | WIDTH | TARGET,
	[COSY_FORM_EXIT]	= IMM,
	[COSY_FORM_LOAD]	= DST | A | A_NONE | IMM | WIDTH,
	[COSY_FORM_STORE]	= A | A_NONE | B | IMM | WIDTH,
	[COSY_FORM_BULK]	= A | B | C,
	[COSY_FORM_BULKR]	= DST | A | B | C,
	[COSY_FORM_STRING]	= DST | A | B,
	[COSY_FORM_CMPXCHG]	= DST | A | B | C | WIDTH,
	[COSY_FORM_RESULT]	= DST,
	[COSY_FORM_CALL]	= DST | IMM | COUNT | C_HINTS,
	[COSY_FORM_UPCALL]	= RANGE | IMM,
	[COSY_FORM_FUNCTION]	= DST | IMM | COUNT | C_COUNT,
};

static const cosy_u8 op_form[COSY_NR_OPS] = {
#define COSY_OP(NAME, text, form) [COSY_OP_##NAME] = COSY_FORM_##form,
#include <cosy/ops.def>
};

static bool is_slot(const struct cosy_op *op)
{
	return op->code == COSY_OP_ARG || op->code == COSY_OP_CASE;
}

static bool valid_width(cosy_u8 width)
{
	return width == 1 || width == 2 || width == 4 || width == 8;
}

#define REJECT_OP(field, reason) \
	reject(diag, reason, offset + OP_OFFSET(field))

/* Check the properties of fields that do not depend on the operation's meaning. */
static int verify_fields(const struct cosy_header *h, const struct cosy_op *op,
			 unsigned int fields, cosy_u64 offset,
			 struct cosy_diag *diag)
{
	if (fields & WIDTH) {
		if (!valid_width(op->width))
			return REJECT_OP(width, "width is not 1, 2, 4 or 8");
	} else if (op->width && !(fields & COUNT)) {
		return REJECT_OP(width, "unused field is not zero");
	}
	if (fields & DST) {
		if (op->dst >= h->nregs)
			return REJECT_OP(dst, "register number too large");
	} else if (op->dst) {
		return REJECT_OP(dst, "unused field is not zero");
	}
	if (fields & A) {
		if (op->a >= h->nregs &&
		    !(op->a == COSY_NONE && fields & A_NONE))
			return REJECT_OP(a, "register number too large");
	} else if (op->a && !(fields & RANGE)) {
		return REJECT_OP(a, "unused field is not zero");
	}
	if (fields & B) {
		if (op->b >= h->nregs &&
		    !(op->b == COSY_NONE && fields & B_IMM))
			return REJECT_OP(b, "register number too large");
	} else if (op->b) {
		return REJECT_OP(b, "unused field is not zero");
	}
	if (fields & C) {
		if (op->c >= h->nregs)
			return REJECT_OP(c, "register number too large");
	} else if (fields & C_HINTS) {
		if (op->c >> COSY_NR_HINTS)
			return REJECT_OP(c, "unknown hint");
	} else if (op->c && !(fields & (C_COUNT | RANGE))) {
		return REJECT_OP(c, "unused field is not zero");
	}
	if (fields & COND) {
		if (op->cond >= COSY_NR_CONDS)
			return REJECT_OP(cond, "unknown condition");
	} else if (op->cond) {
		return REJECT_OP(cond, "unused field is not zero");
	}
	if (!(fields & TARGET) && op->target)
		return REJECT_OP(target, "unused field is not zero");
	if (op->imm && (!(fields & IMM) ||
			(fields & B_IMM && op->b != COSY_NONE)))
		return REJECT_OP(imm, "unused field is not zero");
	return 0;
}

/* Check constants whose range depends on the operation. */
static int verify_imm(const struct cosy_header *h, const struct cosy_op *op,
		      cosy_u64 offset, struct cosy_diag *diag)
{
	switch (op_form[op->code]) {
	case COSY_FORM_EXTEND:
		if (op->imm != 2 && op->imm != 4 && op->imm != 8)
			return REJECT_OP(imm, "width is not 2, 4 or 8");
		if (op->width >= op->imm)
			return REJECT_OP(imm, "does not extend");
		return 0;
	case COSY_FORM_EXIT:
		if (op->imm < 0 || op->imm >= h->nexits)
			return REJECT_OP(imm, "exit number too large");
		return 0;
	case COSY_FORM_CALL:
		if (op->imm < 0 || op->imm > COSY_MAX_CALL_NR)
			return REJECT_OP(imm, "not a system-call number");
		return 0;
	case COSY_FORM_UPCALL:
		if (op->imm < 0 || op->imm >= h->nupcalls)
			return REJECT_OP(imm, "up-call number too large");
		if (op->a && !op->c)
			return REJECT_OP(a, "unused field is not zero");
		if (op->a > h->nregs)
			return REJECT_OP(a, "register number too large");
		if (op->c > h->nregs - op->a)
			return REJECT_OP(c, "register number too large");
		return 0;
	case COSY_FORM_FUNCTION:
		if (op->imm < 0 || op->imm >= h->nfunctions)
			return REJECT_OP(imm, "function number too large");
		if (op->c >= h->nupcalls)
			return REJECT_OP(c, "up-call number too large");
		return 0;
	default:
		return 0;
	}
}

/* Check the ARG or CASE slots after the operation at @pc. @slots becomes their number. */
static int verify_slots(const struct cosy_header *h, const struct cosy_op *op,
			cosy_u32 pc, cosy_u32 *slots, cosy_u64 offset,
			struct cosy_diag *diag)
{
	unsigned int code = COSY_OP_ARG;
	cosy_u32 i;

	*slots = 0;
	if (op_form[op->code] == COSY_FORM_CALL ||
	    op_form[op->code] == COSY_FORM_FUNCTION) {
		if (op->width > COSY_MAX_ARGS)
			return REJECT_OP(width, "too many arguments");
		*slots = op->width;
	} else if (op->code == COSY_OP_SWITCH) {
		code = COSY_OP_CASE;
		*slots = op->c;
	}
	for (i = 1; i <= *slots; i++) {
		if (pc + i >= h->nops || op[i].code != code) {
			if (code == COSY_OP_ARG)
				return REJECT_OP(width, "argument slot missing");
			return REJECT_OP(c, "case slot missing");
		}
		if (code == COSY_OP_CASE && i > 1 &&
		    (cosy_u64)op[i].imm <= (cosy_u64)op[i - 1].imm)
			return reject(diag, "cases not ascending", offset +
				      i * sizeof(*op) + OP_OFFSET(imm));
	}
	return 0;
}

static int verify_ops(const struct cosy_header *h, const struct cosy_op *ops,
		      struct cosy_diag *diag)
{
	cosy_u64 offset = sizeof(*h);
	cosy_u32 slots = 0;	/* ARG or CASE slots that follow */
	cosy_u32 pc, last = 0;

	for (pc = 0; pc < h->nops; pc++, offset += sizeof(*ops)) {
		const struct cosy_op *op = &ops[pc];
		unsigned int fields;

		if (pc % SLOTS_IN_A_GO == 0)
			relax();
		if (op->code >= COSY_NR_OPS)
			return REJECT_OP(code, "unknown operation");
		if (slots) {
			slots--;
		} else if (is_slot(op)) {
			return REJECT_OP(code, "slot belongs to no operation");
		} else {
			last = pc;
			if (verify_slots(h, op, pc, &slots, offset, diag))
				return -1;
		}
		fields = form_fields[op_form[op->code]];
		if (verify_fields(h, op, fields, offset, diag) ||
		    verify_imm(h, op, offset, diag))
			return -1;
		if (fields & TARGET) {
			if (op->target >= h->nops)
				return REJECT_OP(target, "target outside the operations");
			if (is_slot(&ops[op->target]))
				return REJECT_OP(target, "target is not an operation");
		}
	}

	/* Other operations may fall through to the next one. The last one must not. */
	switch (ops[last].code) {
	case COSY_OP_JMP:
	case COSY_OP_SWITCH:
	case COSY_OP_EXIT:
		return 0;
	default:
		return reject(diag, "runs off the end",
			      sizeof(*h) + last * (cosy_u64)sizeof(*ops));
	}
}

static int verify_lines(const struct cosy_header *h, const struct cosy_op *ops,
			const struct cosy_line *lines, struct cosy_diag *diag)
{
	cosy_u64 offset = sizeof(*h) + (cosy_u64)h->nops * sizeof(*ops);
	cosy_u32 i;

	for (i = 0; i < h->nlines; i++, offset += sizeof(*lines)) {
		const struct cosy_line *line = &lines[i];

		if (line->pc >= h->nops)
			return reject(diag, "line outside the operations",
				      offset + offsetof(struct cosy_line, pc));
		if (is_slot(&ops[line->pc]))
			return reject(diag, "line is not at an operation",
				      offset + offsetof(struct cosy_line, pc));
		if (i && line->pc <= lines[i - 1].pc)
			return reject(diag, "lines not ascending",
				      offset + offsetof(struct cosy_line, pc));
		if (line->file >= h->strings_size)
			return reject(diag, "file name outside the strings",
				      offset + offsetof(struct cosy_line, file));
	}
	return 0;
}

int cosy_verify(const void *image, cosy_u64 size, struct cosy_diag *diag)
{
	const struct cosy_header *h = image;
	const struct cosy_op *ops = (const void *)(h + 1);
	const struct cosy_line *lines;
	const char *strings;
	cosy_u64 offset;

	if (verify_header(h, size, diag))
		return -1;
	lines = (const void *)(ops + h->nops);
	strings = (const void *)(lines + h->nlines);
	if (verify_ops(h, ops, diag) || verify_lines(h, ops, lines, diag))
		return -1;

	offset = (cosy_u64)(strings - (const char *)image);
	if (strings[0])
		return reject(diag, "first string is not empty", offset);
	if (strings[h->strings_size - 1])
		return reject(diag, "last string is not terminated",
			      offset + h->strings_size - 1);
	return 0;
}
