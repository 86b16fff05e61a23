/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random arithmetic and branches on the module's executor, which another compiler has compiled
 * than the library's. The resulting registers must be the same.
 */
// RUN: %cc -O1 -I%root/compound-ir/include -I%include %s %lib/libcosy.a -o %t
// RUN: env COSY_EXECUTOR=user %t > %t.user
// RUN: %FileCheck %s < %t.user
// REQUIRES: vm
// RUN: %vm env COSY_EXECUTOR=kernel %t > %t.kernel 2> %t.err
// RUN: cmp /dev/null %t.err
// RUN: cmp %t.user %t.kernel
// CHECK: 0: {{[0-9a-f]+}}
// CHECK: 199: {{[0-9a-f]+}}

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cosy.h>
#include <cosy/format.h>

/* r0 to r7 are operands; r8 counts the iterations of the whole up to r9. */
enum { NREGS = 10, NRANDOM = 8, NOPS = 300, COMPOUNDS = 200, TURNS = 7 };

struct image {
	struct cosy_header h;
	struct cosy_op ops[NOPS];
	char strings[8];
};

static uint64_t state = 1;

static uint64_t any(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33 ^ state << 20;
}

static uint64_t value(void)
{
	uint64_t power = UINT64_C(1) << any() % 64;

	return any() % 3 ? power + any() % 3 - 1 : any();
}

static struct cosy_op random_op(uint32_t pc)
{
	static const uint8_t widths[] = { 1, 2, 4, 8 };
	struct cosy_op op = {
		.code = (uint8_t)(COSY_OP_CONST +
				  any() % (COSY_OP_BR - COSY_OP_CONST + 1)),
		.dst = any() % NRANDOM, .a = any() % NRANDOM,
	};
	uint8_t width = widths[any() % 4];
	uint32_t left = NOPS - 2 - pc;

	switch (op.code) {
	case COSY_OP_CONST:
		op.a = 0;
		op.imm = (int64_t)value();
		return op;
	case COSY_OP_MOV:
		return op;
	case COSY_OP_SEXT:
		op.width = widths[any() % 3];
		op.imm = 8;
		return op;
	case COSY_OP_ZEXT:
		op.width = width;
		return op;
	case COSY_OP_SELECT:
		op.b = any() % NRANDOM;
		op.c = any() % NRANDOM;
		return op;
	case COSY_OP_JMP:
		return (struct cosy_op){ .code = COSY_OP_JMP,
					 .target = pc + 1 + any() % left % 3 };
	case COSY_OP_UDIV:
	case COSY_OP_SDIV:
	case COSY_OP_UREM:
	case COSY_OP_SREM:
		/* Odd, so not 0 at any width, and not -1. */
		op.imm = (int64_t)(value() & 0x7f7f7f7f7f7f7f3f) | 1;
		op.b = COSY_NONE;
		op.width = width;
		return op;
	case COSY_OP_BR:
		op.dst = 0;
		op.target = pc + 1 + any() % left % 4;
		/* fall through */
	case COSY_OP_SET:
		op.cond = any() % COSY_NR_CONDS;
		break;
	default:
		break;
	}
	op.width = width;
	op.b = any() % 2 ? COSY_NONE : any() % NRANDOM;
	if (op.b == COSY_NONE)
		op.imm = (int64_t)value();
	return op;
}

static void make(struct image *image)
{
	memset(image, 0, sizeof(*image));
	image->h = (struct cosy_header){
		.magic = COSY_MAGIC, .version = COSY_VERSION, .nregs = NREGS,
		.size = sizeof(*image), .nops = NOPS, .strings_size = 8,
		.ninputs = NREGS, .nout = NREGS, .nexits = 1,
		.limit = COSY_DEFAULT_LIMIT,
	};
	for (uint32_t pc = 0; pc < NOPS - 2; pc++)
		image->ops[pc] = random_op(pc);
	image->ops[NOPS - 2] = (struct cosy_op){
		.code = COSY_OP_LOOP, .width = 8, .dst = 8, .b = 9, .imm = 1,
		.cond = COSY_COND_ULT,
	};
	image->ops[NOPS - 1] = (struct cosy_op){ .code = COSY_OP_EXIT };
}

int main(void)
{
	static struct image image;

	for (int i = 0; i < COMPOUNDS; i++) {
		uint64_t regs[NREGS], hash = 0;
		struct cosy *compound;

		make(&image);
		for (int r = 0; r < NRANDOM; r++)
			regs[r] = value();
		regs[8] = 0;
		regs[9] = TURNS;
		compound = cosy_init(&image, sizeof(image));
		if (!compound || cosy_run(compound, regs)) {
			printf("%d: %s\n", i, cosy_error());
			return 1;
		}
		cosy_free(compound);
		for (int r = 0; r < NREGS; r++)
			hash = (hash ^ regs[r]) * 0x9e3779b97f4a7c15;
		printf("%d: %" PRIx64 "\n", i, hash);
	}
	return 0;
}
