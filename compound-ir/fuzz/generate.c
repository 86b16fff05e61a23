// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * generate.c - generate valid compounds from any bytes.
 */
#include "generate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cosy/format.h>
#include <cosy_env.h>

struct input {
	const uint8_t *at;
	size_t left;
};

/* Return the next byte, or 0 after the end. */
static unsigned int byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static unsigned int choose(struct input *in, unsigned int n)
{
	return (byte(in) | byte(in) << 8) % n;
}

/* Return a constant: a boundary value near a power of two, an address, or any value. */
static int64_t constant(struct input *in)
{
	unsigned int kind = byte(in);
	uint64_t value = byte(in);

	switch (kind % 4) {
	case 0:
		return (int8_t)value;
	case 1:
		return (int64_t)(MOCK_BASE + value);
	case 2:
		return (int64_t)(((uint64_t)1 << value % 64) - (value >> 7) +
				 (value >> 6 & 1));
	default:
		return (int64_t)(value * 0x0123456789abcdefu);
	}
}

static const uint8_t forms[COSY_NR_OPS] = {
#define COSY_OP(NAME, text, form) [COSY_OP_##NAME] = COSY_FORM_##form,
#include <cosy/ops.def>
};

/* Seldom use a register, because it seldom contains an address. */
static void set_address(struct cosy_op *op, uint16_t a, int64_t imm,
			bool absolute)
{
	if (absolute || imm & 3) {
		op->a = COSY_NONE;
		op->imm = (int64_t)(MOCK_BASE + (imm & (MOCK_SIZE - 1)));
	} else {
		op->a = a;
		op->imm = (int8_t)imm;
	}
}

static void make_op(struct input *in, const struct cosy_header *h,
		    struct cosy_op *op)
{
	static const uint8_t widths[] = { 1, 2, 4, 8 };
	uint16_t dst = (uint16_t)choose(in, h->nregs);
	uint16_t a = (uint16_t)choose(in, h->nregs);
	uint16_t b = (uint16_t)choose(in, h->nregs);
	uint16_t c = (uint16_t)choose(in, h->nregs);
	uint8_t width = widths[byte(in) % 4];
	uint16_t cond = (uint16_t)(byte(in) % COSY_NR_CONDS);
	int64_t imm = constant(in);
	bool with_imm = byte(in) & 1;

	switch (forms[op->code]) {
	case COSY_FORM_ARG:
		op->a = with_imm ? COSY_NONE : a;
		op->imm = imm;
		break;
	case COSY_FORM_CONST:
		op->dst = dst;
		op->imm = imm;
		break;
	case COSY_FORM_MOV:
		op->dst = dst;
		op->a = a;
		break;
	case COSY_FORM_EXTEND:
		op->dst = dst;
		op->a = a;
		op->width = width == 8 ? 4 : width;
		op->imm = op->width * 2;
		if (op->imm < 8 && with_imm)
			op->imm *= 2;
		break;
	case COSY_FORM_MOVW:
		op->dst = dst;
		op->a = a;
		op->width = width;
		break;
	case COSY_FORM_SET:
		op->cond = cond;
		/* fall through */
	case COSY_FORM_ALU:
		op->dst = dst;
		op->a = a;
		op->b = with_imm ? COSY_NONE : b;
		op->imm = with_imm ? imm : 0;
		op->width = width;
		break;
	case COSY_FORM_CMPXCHG:
		op->width = width;
		/* fall through */
	case COSY_FORM_SELECT:
	case COSY_FORM_BULKR:
		op->dst = dst;
		/* fall through */
	case COSY_FORM_BULK:
		op->a = a;
		op->b = b;
		op->c = c;
		break;
	case COSY_FORM_RESULT:
		op->dst = dst;
		break;
	case COSY_FORM_STRING:
		op->dst = dst;
		op->a = a;
		op->b = b;
		break;
	case COSY_FORM_BRANCH:
		op->a = a;
		op->b = with_imm ? COSY_NONE : b;
		op->imm = with_imm ? imm : 0;
		op->width = width;
		op->cond = cond;
		break;
	case COSY_FORM_LOOP:
		op->dst = dst;
		op->b = b;
		op->imm = imm;
		op->width = width;
		op->cond = cond;
		break;
	case COSY_FORM_SWITCH:
		op->a = a;
		op->width = width;
		break;
	case COSY_FORM_EXIT:
		op->imm = imm & 0xff;
		break;
	case COSY_FORM_LOAD:
		op->dst = dst;
		set_address(op, a, imm, with_imm);
		op->width = width;
		break;
	case COSY_FORM_STORE:
		op->b = b;
		set_address(op, a, imm, with_imm);
		op->width = width;
		break;
	case COSY_FORM_CALL:
		op->dst = dst;
		op->imm = imm & 0x1ff;
		op->c = c & ((1u << COSY_NR_HINTS) - 1);
		break;
	case COSY_FORM_UPCALL:
		op->imm = imm & 0xff;
		op->a = with_imm ? a : 0;
		op->c = with_imm ? 1 : 0;
		break;
	case COSY_FORM_FUNCTION:
		op->dst = dst;
		op->imm = imm & 0xff;
		op->c = (uint16_t)(imm >> 8 & 0xff);
		break;
	default:
		break;
	}
}

static bool is_bulk(const struct cosy_op *op)
{
	return forms[op->code] == COSY_FORM_BULK ||
	       forms[op->code] == COSY_FORM_BULKR ||
	       forms[op->code] == COSY_FORM_STRING || op->code == COSY_OP_STRLEN;
}

/*
 * Usually insert three operations that make the operands addresses and a length. The rest
 * of the bytes is random.
 */
static unsigned int make_bulk(struct input *in, struct cosy_op *op)
{
	struct cosy_op bulk = *op;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		op[i] = (struct cosy_op){ .code = COSY_OP_CONST };
		op[i].imm = byte(in) & 0x7f;
	}
	op[0].dst = forms[bulk.code] == COSY_FORM_BULK ||
		    forms[bulk.code] == COSY_FORM_BULKR ? bulk.c : bulk.a;
	op[1].dst = bulk.b;
	op[2].dst = bulk.a;
	op[2].imm += MOCK_BASE;
	if (bulk.code == COSY_OP_COPY || bulk.code == COSY_OP_COMPARE ||
	    bulk.code == COSY_OP_STRCMP || bulk.code == COSY_OP_STPCPY)
		op[1].imm += MOCK_BASE;
	op[3] = bulk;
	return 4;
}

/* Make the operand of @op an address, and often the value it compares what is there. */
static struct cosy_op *put_value(struct input *in, struct cosy_op *op, unsigned int *before)
{
	uint8_t random = byte(in);

	op[2] = op[0];
	op[0] = (struct cosy_op){ .code = COSY_OP_CONST, .dst = op[2].a,
				  .imm = MOCK_BASE + (random & 0x78) };
	op[1] = (struct cosy_op){ .code = COSY_OP_LOAD, .width = op[2].width,
				  .dst = random & 1 ? op[2].b : op[2].dst,
				  .a = COSY_NONE, .imm = op[0].imm };
	*before = 2;
	return op + 2;
}

/* Make the operand of @op small by an operation before it; @op moves. */
static struct cosy_op *put_small(struct cosy_op *op, unsigned int *before)
{
	op[1] = op[0];
	op[0] = (struct cosy_op){ .code = COSY_OP_UREM, .width = 8, .dst = op[1].a,
				  .a = op[1].a, .b = COSY_NONE, .imm = 16 };
	*before = 1;
	return op + 1;
}

/* Make an operation and the slots it needs. Return their number. */
static unsigned int make_slots(struct input *in, const struct cosy_header *h,
			       struct cosy_op *op, unsigned int room)
{
	unsigned int n = 0, before = 0, i;
	uint64_t value = 0;

	op->code = (uint8_t)(COSY_OP_CONST + byte(in) %
			     (COSY_NR_OPS - COSY_OP_CONST));
	make_op(in, h, op);
	if (is_bulk(op) && room > 4)
		return make_bulk(in, op);
	if (op->code == COSY_OP_SWITCH && room > 8)
		op = put_small(op, &before);
	if (op->code == COSY_OP_CMPXCHG && room > 4)
		op = put_value(in, op, &before);
	if (forms[op->code] == COSY_FORM_CALL ||
	    forms[op->code] == COSY_FORM_FUNCTION) {
		n = byte(in) % (COSY_MAX_ARGS + 1);
		n = n + 2 < room ? n : 0;
		op->width = (uint8_t)n;
		for (i = 1; i <= n; i++) {
			op[i].code = COSY_OP_ARG;
			make_op(in, h, &op[i]);
		}
	} else if (op->code == COSY_OP_SWITCH) {
		n = byte(in) % 6;
		n = n + 2 < room ? n : 0;
		op->c = (uint16_t)n;
		for (i = 1; i <= n; i++) {
			op[i].code = COSY_OP_CASE;
			op[i].imm = (int64_t)value;
			value += 1 + byte(in) % 4;
		}
	}
	return before + 1 + n;
}

static bool has_target(const struct cosy_op *op)
{
	switch (forms[op->code]) {
	case COSY_FORM_JUMP:
	case COSY_FORM_BRANCH:
	case COSY_FORM_LOOP:
	case COSY_FORM_SWITCH:
	case COSY_FORM_CASE:
		return true;
	default:
		return false;
	}
}

void *generate_compound(const uint8_t *bytes, size_t n, size_t *size)
{
	struct input in = { bytes, n };
	struct cosy_header h = {
		.magic = COSY_MAGIC, .version = COSY_VERSION,
		.strings_size = 1, .nexits = 256, .nupcalls = 256,
		.nfunctions = 256,
	};
	struct cosy_op ops[GENERATE_MAX_OPS] = { 0 };
	uint32_t starts[GENERATE_MAX_OPS];
	unsigned int nstarts = 0, i;
	char *image;

	h.nregs = (uint16_t)(1 + byte(&in) % 12);
	h.ninputs = h.nregs;
	h.nout = h.nregs;
	h.limit = 1 + byte(&in);
	while (h.nops < GENERATE_MAX_OPS - 1 && in.left) {
		starts[nstarts++] = h.nops;
		h.nops += make_slots(&in, &h, &ops[h.nops],
				     GENERATE_MAX_OPS - 1 - h.nops);
	}
	starts[nstarts++] = h.nops;
	ops[h.nops++].code = COSY_OP_EXIT;
	/* Read the bytes again from the beginning for the targets. */
	in = (struct input){ bytes, n };
	for (i = 0; i < h.nops; i++)
		if (has_target(&ops[i]))
			ops[i].target = starts[choose(&in, nstarts)];

	*size = sizeof(h) + h.nops * sizeof(*ops) + 1;
	h.size = (uint32_t)*size;
	image = calloc(1, *size);
	if (!image)
		abort();
	memcpy(image, &h, sizeof(h));
	memcpy(image + sizeof(h), ops, h.nops * sizeof(*ops));
	return image;
}
