/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Corrupt images: every field of the header, of every operation and of the tables is set to the
 * nearest invalid value. It must be rejected with the reason and the offset of that field.
 */
// RUN: %cc -g -fsanitize=address,undefined -I%root/compound-ir/include %s %root/compound-ir/src/verify.c -o %t
// RUN: %t

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cosy/verify.h>

/*
 * The image that is corrupted, created for each case: all forms of operations, two lines, strings
 * and data.
 */
enum { NREGS = 4, NLINES = 2 };

enum slot {
	ADD_REG, ADD_IMM, SEXT, CONST, SET, SELECT, CALL, ARG1, ARG2, BRANCH, LOOP,
	SWITCH, CASE1, CASE2, LOAD, STORE, COPY, FIND, STRCHR, CMPXCHG, TID, FUNCTION, UPCALL, MOV, EXIT, NOPS
};

static const struct cosy_op good_ops[NOPS] = {
	[ADD_REG] = { .code = COSY_OP_ADD, .width = 8, .dst = 3, .a = 1, .b = 2 },
	[ADD_IMM] = { .code = COSY_OP_ADD, .width = 1, .b = COSY_NONE, .imm = 9 },
	[SEXT] = { .code = COSY_OP_SEXT, .width = 2, .dst = 1, .imm = 4 },
	[CONST] = { .code = COSY_OP_CONST, .dst = 2, .imm = -5 },
	[SET] = { .code = COSY_OP_SET, .width = 4, .b = 3, .cond = 9 },
	[SELECT] = { .code = COSY_OP_SELECT, .dst = 1, .a = 2, .b = 3, .c = 3 },
	[CALL] = { .code = COSY_OP_SYS, .width = 2, .dst = 1, .imm = 39 },
	[ARG1] = { .code = COSY_OP_ARG, .a = 3, .imm = 8 },
	[ARG2] = { .code = COSY_OP_ARG, .a = COSY_NONE },
	[BRANCH] = { .code = COSY_OP_BR, .width = 4, .b = 1, .target = EXIT },
	[LOOP] = { .code = COSY_OP_LOOP, .width = 8, .dst = 1, .imm = 1, .cond = 2 },
	[SWITCH] = { .code = COSY_OP_SWITCH, .width = 4, .c = 2, .target = EXIT },
	[CASE1] = { .code = COSY_OP_CASE, .imm = 3 },
	[CASE2] = { .code = COSY_OP_CASE, .imm = -3, .target = EXIT },
	[LOAD] = { .code = COSY_OP_LOAD, .width = 8, .a = COSY_NONE, .imm = 8 },
	[STORE] = { .code = COSY_OP_STORE, .width = 1, .a = 2, .b = 3 },
	[COPY] = { .code = COSY_OP_COPY, .a = 1, .b = 2, .c = 3 },
	[FIND] = { .code = COSY_OP_FIND, .dst = 1, .a = 1, .b = 2, .c = 3 },
	[STRCHR] = { .code = COSY_OP_STRCHR, .dst = 1, .a = 1, .b = 2 },
	[CMPXCHG] = { .code = COSY_OP_CMPXCHG, .width = 4, .dst = 1, .a = 1, .b = 2, .c = 3 },
	[TID] = { .code = COSY_OP_TID, .dst = 2 },
	[UPCALL] = { .code = COSY_OP_UPCALL, .imm = 1 },
	[FUNCTION] = { .code = COSY_OP_CALL, .dst = 3, .imm = 4, .c = 1 },
	[MOV] = { .code = COSY_OP_MOV, .dst = 3, .a = 3 },
	[EXIT] = { .code = COSY_OP_EXIT, .imm = 2 },
};

struct image {
	struct cosy_header h;
	struct cosy_op ops[NOPS];
	struct cosy_line lines[NLINES];
	char strings[8];
	unsigned char data[16];
};

static const struct image good = {
	.h = {
		.magic = COSY_MAGIC, .version = COSY_VERSION, .nregs = NREGS,
		.size = sizeof(struct cosy_header) + sizeof(good_ops) +
			NLINES * sizeof(struct cosy_line) + 8 + 16,
		.nops = NOPS, .nlines = NLINES, .strings_size = 8,
		.data_size = 16, .ninputs = 2, .out_first = 1, .nout = 3,
		.nexits = 3, .nupcalls = 2, .nfunctions = 5, .name = 1, .limit = 1,
	},
	.lines = { { ADD_REG, 1, 7 }, { CALL, 5, 0 } },
	.strings = "\0abc\0de",
};

static int failures, checks;

/* On the heap, of exactly this size, so that the sanitizer detects accesses outside it. */
static int verify(const struct image *image, size_t size, struct cosy_diag *diag)
{
	void *copy = malloc(size ? size : 1);
	int result;

	memcpy(copy, image, size < sizeof(*image) ? size : sizeof(*image));
	diag->reason = NULL;
	diag->offset = 0;
	result = cosy_verify(copy, size, diag);
	free(copy);
	return result;
}

static struct image fresh(void)
{
	struct image image = good;

	memcpy(image.ops, good_ops, sizeof(good_ops));
	return image;
}

static void rejected(const struct image *image, size_t size, size_t offset,
		     const char *reason, const char *what)
{
	struct cosy_diag diag;

	checks++;
	if (!verify(image, size, &diag))
		printf("%s: accepted\n", what);
	else if (strcmp(diag.reason, reason) || diag.offset != offset)
		printf("%s: expected offset %zu: %s\n     got offset %u: %s\n",
		       what, offset, reason, diag.offset, diag.reason);
	else
		return;
	failures++;
}

static void accepted(const struct image *image, const char *what)
{
	struct cosy_diag diag;

	checks++;
	if (!verify(image, good.h.size, &diag))
		return;
	printf("%s: rejected, offset %u: %s\n", what, diag.offset, diag.reason);
	failures++;
}

#define BAD(field, value, reason) do {					\
	struct image bad = fresh();					\
									\
	bad.field = value;						\
	rejected(&bad, good.h.size, offsetof(struct image, field), reason, \
		 #field " = " #value);					\
} while (0)

#define GOOD(field, value) do {						\
	struct image fine = fresh();					\
									\
	fine.field = value;						\
	accepted(&fine, #field " = " #value);				\
} while (0)

/* An error that is reported at another field than the changed one. */
#define BAD_AT(field, value, at, reason) do {				\
	struct image bad = fresh();					\
									\
	bad.field = value;						\
	rejected(&bad, good.h.size, offsetof(struct image, at), reason,	\
		 #field " = " #value);					\
} while (0)

static void check_header(void)
{
	struct image image = fresh();
	size_t size;

	for (size = 0; size < sizeof(image.h); size++)
		rejected(&image, size, size, "image shorter than its header",
			 "size of the image");
	for (; size < good.h.size; size++)
		rejected(&image, size, offsetof(struct image, h.size),
			 "size is not the size of the image",
			 "size of the image");
	BAD(h.magic, COSY_MAGIC ^ 1, "not a compound");
	BAD(h.magic, 0, "not a compound");
	BAD(h.version, 0, "unknown format version");
	BAD(h.version, COSY_VERSION + 1, "unknown format version");
	BAD(h.nregs, COSY_MAX_REGS + 1, "too many registers");
	BAD(h.nregs, 0xffff, "too many registers");
	BAD_AT(h.nregs, 3, h.nout, "output is not a register");
	BAD_AT(h.nregs, 1, h.ninputs, "more inputs than registers");
	GOOD(h.nregs, 5);
	GOOD(h.nregs, COSY_MAX_REGS);
	BAD(h.size, good.h.size - 1, "size is not the size of the image");
	BAD(h.size, good.h.size + 1, "size is not the size of the image");
	BAD(h.size, COSY_MAX_SIZE + 1, "image too large");
	BAD(h.size, 0xffffffff, "image too large");
	BAD(h.nops, 0, "no operations");
	BAD(h.nops, COSY_MAX_OPS + 1, "too many operations");
	BAD(h.nops, 0xffffffff, "too many operations");
	BAD_AT(h.nops, NOPS - 1, h.size, "tables do not add up to the size");
	BAD_AT(h.nops, NOPS + 1, h.size, "tables do not add up to the size");
	BAD(h.nlines, NOPS + 1, "more lines than operations");
	BAD(h.nlines, 0xffffffff, "more lines than operations");
	BAD_AT(h.nlines, 1, h.size, "tables do not add up to the size");
	BAD_AT(h.strings_size, 0xffffffff, h.size,
	       "tables do not add up to the size");
	BAD_AT(h.data_size, 0xfffffff0, h.size,
	       "tables do not add up to the size");
	/* Sums that would overflow 32 bits to the correct size. */
	image.h.strings_size = 0x80000000u + 8;
	image.h.data_size = 0x80000000u + 16;
	rejected(&image, good.h.size, offsetof(struct image, h.size),
		 "tables do not add up to the size", "overflow");
	image = fresh();
	image.h.strings_size = 0;
	image.h.data_size += 8;
	rejected(&image, good.h.size, offsetof(struct image, h.strings_size),
		 "no strings", "no strings");
	BAD(h.ninputs, 0, "no input for the address of the data");
	BAD(h.ninputs, NREGS + 1, "more inputs than registers");
	BAD(h.ninputs, 0xffff, "more inputs than registers");
	GOOD(h.ninputs, NREGS);
	BAD(h.out_first, NREGS + 1, "output is not a register");
	BAD(h.out_first, 0xffff, "output is not a register");
	BAD(h.nout, 4, "output is not a register");
	BAD(h.nout, 0xffff, "output is not a register");
	GOOD(h.nout, 0);
	BAD(h.nexits, COSY_MAX_EXITS + 1, "too many exits");
	BAD(h.nexits, 0xffffffff, "too many exits");
	BAD_AT(h.nexits, 2, ops[EXIT].imm, "exit number too large");
	BAD_AT(h.nexits, 0, ops[EXIT].imm, "exit number too large");
	GOOD(h.nexits, COSY_MAX_EXITS);
	BAD(h.nupcalls, COSY_MAX_UPCALLS + 1, "too many up-calls");
	BAD_AT(h.nupcalls, 1, ops[FUNCTION].c, "up-call number too large");
	GOOD(h.nupcalls, COSY_MAX_UPCALLS);
	BAD(h.name, 8, "name outside the strings");
	BAD(h.name, 0xffffffff, "name outside the strings");
	GOOD(h.name, 7);
	BAD(h.limit, 0, "operation limit is zero");
	BAD(h.limit, COSY_MAX_LIMIT + 1, "operation limit too large");
	BAD(h.limit, ~0ull, "operation limit too large");
	GOOD(h.limit, COSY_MAX_LIMIT);
}

static void check_ops(void)
{
	struct image image;

	BAD(ops[MOV].code, COSY_NR_OPS, "unknown operation");
	BAD(ops[MOV].code, 255, "unknown operation");
	BAD(ops[MOV].code, COSY_OP_ARG, "slot belongs to no operation");
	BAD(ops[MOV].code, COSY_OP_CASE, "slot belongs to no operation");

	BAD(ops[ADD_REG].width, 0, "width is not 1, 2, 4 or 8");
	BAD(ops[ADD_REG].width, 3, "width is not 1, 2, 4 or 8");
	BAD(ops[ADD_REG].width, 16, "width is not 1, 2, 4 or 8");
	BAD(ops[ADD_REG].width, 255, "width is not 1, 2, 4 or 8");
	BAD(ops[ADD_REG].dst, NREGS, "register number too large");
	BAD(ops[ADD_REG].dst, COSY_NONE, "register number too large");
	BAD(ops[ADD_REG].a, NREGS, "register number too large");
	BAD(ops[ADD_REG].a, COSY_NONE, "register number too large");
	BAD(ops[ADD_REG].b, NREGS, "register number too large");
	BAD(ops[ADD_REG].b, COSY_NONE - 1, "register number too large");
	BAD(ops[ADD_REG].c, 1, "unused field is not zero");
	BAD(ops[ADD_REG].cond, 1, "unused field is not zero");
	BAD(ops[ADD_REG].target, 1, "unused field is not zero");
	BAD(ops[ADD_REG].imm, 1, "unused field is not zero");
	GOOD(ops[ADD_REG].b, COSY_NONE);
	GOOD(ops[ADD_IMM].imm, INT64_MIN);

	BAD_AT(ops[SEXT].width, 8, ops[SEXT].imm, "does not extend");
	BAD(ops[SEXT].imm, 1, "width is not 2, 4 or 8");
	BAD(ops[SEXT].imm, -4, "width is not 2, 4 or 8");
	BAD(ops[SEXT].imm, 2, "does not extend");
	BAD(ops[SEXT].b, 1, "unused field is not zero");

	BAD(ops[CONST].width, 8, "unused field is not zero");
	BAD(ops[CONST].a, 1, "unused field is not zero");
	BAD(ops[MOV].imm, 1, "unused field is not zero");
	BAD(ops[MOV].b, 1, "unused field is not zero");

	BAD(ops[SET].cond, COSY_NR_CONDS, "unknown condition");
	BAD(ops[SET].cond, 0xffff, "unknown condition");
	BAD(ops[SET].imm, 1, "unused field is not zero");
	BAD(ops[SELECT].c, NREGS, "register number too large");
	BAD(ops[SELECT].c, COSY_NONE, "register number too large");
	BAD(ops[SELECT].b, COSY_NONE, "register number too large");

	BAD(ops[CALL].width, 7, "too many arguments");
	BAD(ops[CALL].width, 3, "argument slot missing");
	BAD_AT(ops[CALL].width, 1, ops[ARG2].code, "slot belongs to no operation");
	BAD(ops[CALL].imm, -1, "not a system-call number");
	BAD(ops[CALL].imm, COSY_MAX_CALL_NR + 1ll, "not a system-call number");
	GOOD(ops[CALL].imm, COSY_MAX_CALL_NR);
	GOOD(ops[CALL].c, COSY_HINT_PRIVATE);
	BAD(ops[CALL].c, 1 << COSY_NR_HINTS, "unknown hint");
	BAD(ops[CALL].c, 0x8000, "unknown hint");
	BAD(ops[CALL].a, 1, "unused field is not zero");
	BAD(ops[ARG1].a, NREGS, "register number too large");
	BAD(ops[ARG1].dst, 1, "unused field is not zero");
	BAD_AT(ops[ARG1].code, COSY_OP_CASE, ops[CALL].width,
	       "argument slot missing");
	BAD_AT(ops[ARG2].code, COSY_OP_MOV, ops[CALL].width,
	       "argument slot missing");

	BAD(ops[BRANCH].target, NOPS, "target outside the operations");
	BAD(ops[BRANCH].target, 0xffffffff, "target outside the operations");
	BAD(ops[BRANCH].target, ARG1, "target is not an operation");
	BAD(ops[BRANCH].target, CASE2, "target is not an operation");
	BAD(ops[BRANCH].dst, 1, "unused field is not zero");
	BAD(ops[LOOP].b, COSY_NONE, "register number too large");
	BAD(ops[LOOP].a, 1, "unused field is not zero");
	BAD(ops[LOOP].target, NOPS, "target outside the operations");

	BAD(ops[SWITCH].c, 3, "case slot missing");
	BAD(ops[SWITCH].c, 0xffff, "case slot missing");
	BAD_AT(ops[SWITCH].c, 1, ops[CASE2].code, "slot belongs to no operation");
	BAD(ops[SWITCH].width, 0, "width is not 1, 2, 4 or 8");
	BAD(ops[SWITCH].target, CASE1, "target is not an operation");
	BAD(ops[CASE1].target, NOPS, "target outside the operations");
	BAD(ops[CASE1].a, 1, "unused field is not zero");
	BAD(ops[CASE2].imm, 3, "cases not ascending");
	BAD(ops[CASE2].imm, 2, "cases not ascending");
	BAD_AT(ops[CASE1].imm, -2, ops[CASE2].imm, "cases not ascending");

	BAD(ops[LOAD].width, 5, "width is not 1, 2, 4 or 8");
	BAD(ops[LOAD].a, NREGS, "register number too large");
	BAD(ops[LOAD].b, 1, "unused field is not zero");
	BAD(ops[STORE].b, COSY_NONE, "register number too large");
	BAD(ops[STORE].dst, 1, "unused field is not zero");
	BAD(ops[COPY].a, COSY_NONE, "register number too large");
	BAD(ops[COPY].imm, 1, "unused field is not zero");
	BAD(ops[FIND].c, NREGS, "register number too large");
	BAD(ops[FIND].dst, NREGS, "register number too large");
	BAD(ops[STRCHR].dst, NREGS, "register number too large");
	BAD(ops[STRCHR].a, NREGS, "register number too large");
	BAD(ops[STRCHR].b, NREGS, "register number too large");
	BAD(ops[STRCHR].c, 1, "unused field is not zero");
	BAD(ops[STRCHR].width, 1, "unused field is not zero");

	BAD(ops[CMPXCHG].width, 0, "width is not 1, 2, 4 or 8");
	BAD(ops[CMPXCHG].width, 16, "width is not 1, 2, 4 or 8");
	BAD(ops[CMPXCHG].dst, NREGS, "register number too large");
	BAD(ops[CMPXCHG].a, COSY_NONE, "register number too large");
	BAD(ops[CMPXCHG].b, COSY_NONE, "register number too large");
	BAD(ops[CMPXCHG].c, NREGS, "register number too large");
	BAD(ops[CMPXCHG].imm, 1, "unused field is not zero");
	BAD(ops[TID].dst, NREGS, "register number too large");
	BAD(ops[TID].a, 1, "unused field is not zero");
	BAD(ops[TID].width, 4, "unused field is not zero");
	BAD(ops[TID].imm, 1, "unused field is not zero");

	BAD(ops[UPCALL].imm, -1, "up-call number too large");
	BAD(ops[UPCALL].imm, 2, "up-call number too large");
	BAD(ops[UPCALL].a, 1, "unused field is not zero");
	BAD(ops[UPCALL].b, 1, "unused field is not zero");
	GOOD(ops[UPCALL].c, NREGS);
	BAD(ops[UPCALL].c, NREGS + 1, "register number too large");
	BAD(ops[UPCALL].c, 0xffff, "register number too large");
	image = fresh();
	image.ops[UPCALL].a = NREGS - 1;
	image.ops[UPCALL].c = 2;
	rejected(&image, good.h.size, offsetof(struct image, ops[UPCALL].c),
		 "register number too large", "the last register and one behind it");
	image.ops[UPCALL].a = NREGS + 1;
	rejected(&image, good.h.size, offsetof(struct image, ops[UPCALL].a),
		 "register number too large", "registers behind the last");
	BAD_AT(h.nfunctions, 4, ops[FUNCTION].imm, "function number too large");
	BAD(ops[FUNCTION].imm, -1, "function number too large");
	BAD(ops[FUNCTION].imm, 5, "function number too large");
	BAD(ops[FUNCTION].c, 2, "up-call number too large");
	BAD(ops[FUNCTION].dst, NREGS, "register number too large");
	BAD(ops[FUNCTION].a, 1, "unused field is not zero");
	BAD(ops[FUNCTION].width, 7, "too many arguments");
	BAD(ops[FUNCTION].width, 1, "argument slot missing");
	BAD(ops[EXIT].imm, -1, "exit number too large");
	BAD(ops[EXIT].imm, 3, "exit number too large");
	BAD(ops[EXIT].dst, 1, "unused field is not zero");
}

static void check_end(void)
{
	struct image image = fresh();

	image.ops[EXIT] = good_ops[MOV];
	rejected(&image, good.h.size, offsetof(struct image, ops[EXIT]),
		 "runs off the end", "last operation");
	/* Slots at the end belong to an operation that exceeds the end. */
	image = fresh();
	image.ops[UPCALL] = good_ops[CALL];
	image.ops[MOV] = image.ops[EXIT] = good_ops[ARG2];
	image.ops[BRANCH].target = image.ops[SWITCH].target = 0;
	image.ops[CASE2].target = 0;
	rejected(&image, good.h.size, offsetof(struct image, ops[UPCALL]),
		 "runs off the end", "last call");
	/* And with one slot too few. */
	image.ops[UPCALL].width = 3;
	rejected(&image, good.h.size, offsetof(struct image, ops[UPCALL].width),
		 "argument slot missing", "last call's arguments");
	image = fresh();
	image.ops[EXIT] = (struct cosy_op){ .code = COSY_OP_JMP };
	accepted(&image, "ends with JMP");
	image.ops[EXIT] = (struct cosy_op){ .code = COSY_OP_SWITCH, .width = 8 };
	accepted(&image, "ends with SWITCH");
	image.ops[EXIT].c = 1;
	rejected(&image, good.h.size, offsetof(struct image, ops[EXIT].c),
		 "case slot missing", "last switch's case");
}

static void check_tables(void)
{
	BAD(lines[1].pc, NOPS, "line outside the operations");
	BAD(lines[1].pc, 0xffffffff, "line outside the operations");
	BAD(lines[1].pc, ARG1, "line is not at an operation");
	BAD(lines[1].pc, CASE2, "line is not at an operation");
	BAD(lines[1].pc, ADD_REG, "lines not ascending");
	BAD_AT(lines[0].pc, MOV, lines[1].pc, "lines not ascending");
	BAD(lines[0].file, 8, "file name outside the strings");
	BAD(lines[0].file, 0xffffffff, "file name outside the strings");
	GOOD(lines[0].file, 7);
	GOOD(lines[0].line, 0xffffffff);
	BAD(strings[0], 'x', "first string is not empty");
	BAD(strings[7], 'x', "last string is not terminated");
	GOOD(strings[4], 'x');
	GOOD(data[15], 0xff);
}

int main(void)
{
	struct image image = fresh();

	accepted(&image, "the good image");
	check_header();
	check_ops();
	check_end();
	check_tables();
	printf("%d images checked, %d wrong\n", checks, failures);
	return failures ? 1 : 0;
}
