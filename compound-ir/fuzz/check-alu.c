// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * check-alu.c - compare the executor with the reference for every operation: at every
 * width, with every condition and in every form that the decoder distinguishes, on pairs of
 * boundary values.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cosy/exec.h>
#include <cosy/verify.h>

#include "reference.h"

enum { NREGS = 4, NOPS = 3 };

struct image {
	struct cosy_header h;
	struct cosy_op ops[NOPS];
	char strings[8];
};

static const uint64_t values[] = {
	0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100,
	0x7e, 0x7f, 0x80, 0x81, 0xfe, 0xff, 0x100, 0x101,
	0x7fff, 0x8000, 0x8001, 0xffff, 0x10000, 0x10001,
	0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0x100000000,
	0x100000001, 0x7fffffffffffffff, 0x8000000000000000,
	0x8000000000000001, 0xfffffffffffffffe, 0xffffffffffffffff,
	0xffffffffffffff80, 0xffffffffffff8000, 0xffffffff80000000,
	0x123456789abcdef0, 0xfedcba9876543210, 0xa5a5a5a55a5a5a5a,
};

#define NVALUES (sizeof(values) / sizeof(values[0]))

static uint64_t checks;

static void fail(const struct image *image, const uint64_t *regs,
		 const struct reference *ref, enum cosy_status status)
{
	const struct cosy_op *op = &image->ops[0];

	printf("operation %u width %u cond %u dst r%u a r%u b r%u imm %" PRId64
	       ": executor %d, r%u = %" PRIu64 ", reference r%u = %" PRIu64 "\n",
	       op->code, op->width, op->cond, op->dst, op->a, op->b, op->imm,
	       status, op->dst, regs[op->dst], op->dst, ref->regs[op->dst]);
	exit(1);
}

/* Run @image by the executor and by the reference, with @x in r1 and @y in r2. */
static void check(const struct image *image, const struct cosy_code *code,
		  uint64_t x, uint64_t y)
{
	static struct reference ref;
	uint64_t regs[NREGS + 1] = { 0x1122334455667788, x, y, 3, 0 };
	struct cosy_state st = { .regs = regs, .budget = 1 };
	enum cosy_status status;
	enum reference_end end;

	memcpy(ref.regs, regs, NREGS * sizeof(*regs));
	ref.pc = 0;
	ref.limit = 1;
	end = reference_run(image, &ref, 8);
	status = cosy_exec(code, &st);
	checks++;
	if (end == REFERENCE_FAULT ?
	    status != COSY_STEP || st.value != COSY_STEP_FAULT || st.pc :
	    status != COSY_DONE || st.value != ref.value)
		fail(image, regs, &ref, status);
	if (memcmp(regs, ref.regs, NREGS * sizeof(*regs)) || regs[NREGS])
		fail(image, regs, &ref, status);
}

static struct image image_of(const struct cosy_op *op)
{
	struct image image = {
		.h = {
			.magic = COSY_MAGIC, .version = COSY_VERSION,
			.nregs = NREGS, .size = sizeof(image), .nops = NOPS,
			.strings_size = 8, .nexits = 2, .limit = 1,
		},
		.ops = { *op, { .code = COSY_OP_EXIT },
			 { .code = COSY_OP_EXIT, .imm = 1 } },
	};

	return image;
}

static struct cosy_code *code_of(const struct image *image)
{
	struct cosy_diag diag;
	struct cosy_code *code;

	if (cosy_verify(image, sizeof(*image), &diag)) {
		printf("offset %u: %s\n", diag.offset, diag.reason);
		exit(1);
	}
	code = malloc(cosy_code_size(image));
	if (!code)
		abort();
	cosy_decode(image, code, 0, NULL);
	return code;
}

static void check_values(const struct cosy_op *op)
{
	struct image image = image_of(op);
	struct cosy_code *code = code_of(&image);
	size_t i, j, n;

	/* If b is not read, one value of r2 is enough. */
	n = op->b == COSY_NONE ? 1 : NVALUES;
	for (i = 0; i < NVALUES; i++)
		for (j = 0; j < n; j++)
			check(&image, code, values[i], values[j]);
	free(code);
}

/* Check @op on two registers in each relation to dst, and on each constant. */
static void check_operands(struct cosy_op op, int has_dst, int has_imm)
{
	size_t i;

	for (op.dst = 0; op.dst < (has_dst ? 3 : 1); op.dst++) {
		op.a = 1;
		op.b = 2;
		check_values(&op);
		op.b = 1;
		check_values(&op);
		op.a = 2;
		check_values(&op);
		if (!has_imm)
			continue;
		op.b = COSY_NONE;
		for (i = 0; i < NVALUES; i++) {
			op.imm = (int64_t)values[i];
			op.a = 1;
			check_values(&op);
		}
		op.imm = 0;
	}
}

int main(void)
{
	static const uint8_t widths[] = { 1, 2, 4, 8 };
	struct cosy_op op;
	unsigned int w, code, cond, imm;

	for (w = 0; w < 4; w++) {
		for (code = COSY_OP_ADD; code <= COSY_OP_ASHR; code++) {
			op = (struct cosy_op){ .code = (uint8_t)code,
					       .width = widths[w] };
			check_operands(op, 1, 1);
		}
		for (cond = 0; cond < COSY_NR_CONDS; cond++) {
			op = (struct cosy_op){ .code = COSY_OP_SET,
					       .width = widths[w],
					       .cond = (uint16_t)cond };
			check_operands(op, 1, 1);
			op.code = COSY_OP_BR;
			op.target = 2;
			check_operands(op, 0, 1);
			for (imm = 0; imm < NVALUES; imm++) {
				op = (struct cosy_op){
					.code = COSY_OP_LOOP,
					.width = widths[w],
					.cond = (uint16_t)cond, .target = 2,
					.dst = 1, .b = 2,
					.imm = (int64_t)values[imm],
				};
				check_values(&op);
				op.b = 1;	/* b and a are the same register */
				check_values(&op);
			}
		}
		op = (struct cosy_op){ .code = COSY_OP_ZEXT, .width = widths[w],
				       .a = 1 };
		check_values(&op);
		for (imm = 2 * widths[w]; imm <= 8; imm *= 2) {
			op = (struct cosy_op){ .code = COSY_OP_SEXT,
					       .width = widths[w], .imm = imm,
					       .dst = 2, .a = 1 };
			check_values(&op);
		}
	}
	op = (struct cosy_op){ .code = COSY_OP_SELECT, .a = 1, .b = 2, .c = 3 };
	check_values(&op);
	printf("%" PRIu64 " operations, the same everywhere\n", checks);
	return 0;
}
