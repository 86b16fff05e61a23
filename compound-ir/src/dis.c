// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * dis.c - disassemble an image to text.
 *
 * The assembler orders the strings by their first use. If an image has another order, its
 * strings are listed with .string. A reference into the middle of a string is written as an
 * offset. So no data is lost.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cosy/asm.h>

#include "text.h"

struct dis {
	const struct cosy_header *h;
	const struct cosy_op *ops;
	const struct cosy_line *lines;
	const char *strings;
	const unsigned char *data;
	unsigned char *is_target;	/* by slot */
	unsigned int flags;
	FILE *out;
};

/* Write @s in quotes. Bytes that are not plain ASCII are escaped. */
static void put_bytes(FILE *out, const unsigned char *s, size_t len)
{
	size_t i;

	fputc('"', out);
	for (i = 0; i < len; i++) {
		if (s[i] == '"' || s[i] == '\\')
			fprintf(out, "\\%c", s[i]);
		else if (s[i] == '\n')
			fputs("\\n", out);
		else if (s[i] == '\t')
			fputs("\\t", out);
		else if (s[i] < 0x20 || s[i] > 0x7e)
			fprintf(out, "\\x%02x", s[i]);
		else
			fputc(s[i], out);
	}
	fputc('"', out);
}

static void put_string(FILE *out, const char *s)
{
	put_bytes(out, (const unsigned char *)s, strlen(s));
}

/* Return where the assembler finds @s when the strings are listed with .string. */
static cosy_u32 first_match(const struct dis *d, const char *s)
{
	cosy_u32 at = 0;

	while (at < d->h->strings_size) {
		if (!strcmp(d->strings + at, s))
			break;
		at += strlen(d->strings + at) + 1;
	}
	return at;
}

static void put_reference(const struct dis *d, cosy_u32 offset)
{
	if (first_match(d, d->strings + offset) == offset)
		put_string(d->out, d->strings + offset);
	else
		fprintf(d->out, "@%" PRIu32, offset);
}

/*
 * Return true if the assembler, which adds strings in the order of the references, would
 * place the string at @offset there, too. @next is the place of the next new string.
 */
static bool follows(const struct dis *d, cosy_u32 offset, cosy_u32 *next)
{
	if (offset == *next) {
		*next += strlen(d->strings + offset) + 1;
		return first_match(d, d->strings + offset) == offset;
	}
	return offset < *next && first_match(d, d->strings + offset) == offset;
}

static bool strings_by_use(const struct dis *d)
{
	cosy_u32 next = 1, i;

	if (!follows(d, d->h->name, &next))
		return false;
	for (i = 0; i < d->h->nlines; i++) {
		if (i && d->lines[i].file == d->lines[i - 1].file)
			continue;
		if (!follows(d, d->lines[i].file, &next))
			return false;
	}
	return next == d->h->strings_size;
}

static void put_header(const struct dis *d)
{
	const struct cosy_header *h = d->h;
	cosy_u32 at;

	if (!strings_by_use(d))
		for (at = 1; at < h->strings_size;
		     at += strlen(d->strings + at) + 1) {
			fputs(".string ", d->out);
			put_string(d->out, d->strings + at);
			fputc('\n', d->out);
		}
	fputs(".compound ", d->out);
	put_reference(d, h->name);
	fprintf(d->out, "\n.regs %u\n.inputs %u\n.outputs r%u, %u\n"
		".exits %" PRIu32 "\n.upcalls %" PRIu32 "\n",
		h->nregs, h->ninputs, h->out_first, h->nout, h->nexits,
		h->nupcalls);
	if (h->nfunctions)
		fprintf(d->out, ".functions %u\n", h->nfunctions);
	fprintf(d->out, ".limit %" PRIu64 "\n", h->limit);
}

static void put_operand(const struct dis *d, cosy_u16 reg, cosy_s64 imm)
{
	if (reg == COSY_NONE)
		fprintf(d->out, "%" PRId64, imm);
	else
		fprintf(d->out, "r%u", reg);
}

/* Write an argument or address: a register and a constant, or one of them. */
static void put_sum(const struct dis *d, cosy_u16 reg, cosy_s64 imm)
{
	if (reg == COSY_NONE)
		fprintf(d->out, "%" PRId64, imm);
	else if (imm)
		fprintf(d->out, "r%u%+" PRId64, reg, imm);
	else
		fprintf(d->out, "r%u", reg);
}

static void put_call(const struct dis *d, const struct cosy_op *op)
{
	const char *name = NULL;
	unsigned int i;

	if (op->code != COSY_OP_CALL) {
		name = cosy_call_name(op->imm);
		for (i = 0; i < COSY_NR_HINTS; i++)
			if (op->c >> i & 1)
				fprintf(d->out, ".%s", cosy_hint_texts[i]);
	}
	fprintf(d->out, " r%u, ", op->dst);
	if (name)
		fputs(name, d->out);
	else
		fprintf(d->out, "%" PRId64, op->imm);
	if (op->code == COSY_OP_CALL)
		fprintf(d->out, ", %u", op->c);
	for (i = 1; i <= op->width; i++) {
		fputs(", ", d->out);
		put_sum(d, op[i].a, op[i].imm);
	}
}

/* Write everything after the operation's name. */
static void put_fields(const struct dis *d, const struct cosy_op *op)
{
	const char *cond = cosy_cond_texts[op->cond];
	FILE *out = d->out;

	switch (cosy_op_texts[op->code].form) {
	case COSY_FORM_ARG:	/* printed with its call */
		break;
	case COSY_FORM_CASE:
		fprintf(out, " %" PRIu64 ", L%" PRIu32, (cosy_u64)op->imm,
			op->target);
		break;
	case COSY_FORM_CONST:
		fprintf(out, " r%u, %" PRId64, op->dst, op->imm);
		break;
	case COSY_FORM_MOV:
		fprintf(out, " r%u, r%u", op->dst, op->a);
		break;
	case COSY_FORM_EXTEND:
		fprintf(out, ".%u.%" PRId64 " r%u, r%u", op->width, op->imm,
			op->dst, op->a);
		break;
	case COSY_FORM_MOVW:
		fprintf(out, ".%u r%u, r%u", op->width, op->dst, op->a);
		break;
	case COSY_FORM_ALU:
		fprintf(out, ".%u r%u, r%u, ", op->width, op->dst, op->a);
		put_operand(d, op->b, op->imm);
		break;
	case COSY_FORM_SET:
		fprintf(out, ".%u.%s r%u, r%u, ", op->width, cond, op->dst,
			op->a);
		put_operand(d, op->b, op->imm);
		break;
	case COSY_FORM_SELECT:
	case COSY_FORM_BULKR:
		fprintf(out, " r%u, r%u, r%u, r%u", op->dst, op->a, op->b,
			op->c);
		break;
	case COSY_FORM_STRING:
		fprintf(out, " r%u, r%u, r%u", op->dst, op->a, op->b);
		break;
	case COSY_FORM_CMPXCHG:
		fprintf(out, ".%u r%u, r%u, r%u, r%u", op->width, op->dst, op->a,
			op->b, op->c);
		break;
	case COSY_FORM_RESULT:
		fprintf(out, " r%u", op->dst);
		break;
	case COSY_FORM_JUMP:
		fprintf(out, " L%" PRIu32, op->target);
		break;
	case COSY_FORM_BRANCH:
		fprintf(out, ".%u.%s r%u, ", op->width, cond, op->a);
		put_operand(d, op->b, op->imm);
		fprintf(out, ", L%" PRIu32, op->target);
		break;
	case COSY_FORM_LOOP:
		fprintf(out, ".%u.%s r%u, %" PRId64 ", r%u, L%" PRIu32,
			op->width, cond, op->dst, op->imm, op->b, op->target);
		break;
	case COSY_FORM_SWITCH:
		fprintf(out, ".%u r%u, L%" PRIu32, op->width, op->a, op->target);
		break;
	case COSY_FORM_EXIT:
		fprintf(out, " %" PRId64, op->imm);
		break;
	case COSY_FORM_UPCALL:
		fprintf(out, " %" PRId64, op->imm);
		if (op->c)
			fprintf(out, ", r%u, %u", op->a, op->c);
		break;
	case COSY_FORM_LOAD:
		fprintf(out, ".%u r%u, [", op->width, op->dst);
		put_sum(d, op->a, op->imm);
		fputc(']', out);
		break;
	case COSY_FORM_STORE:
		fprintf(out, ".%u [", op->width);
		put_sum(d, op->a, op->imm);
		fprintf(out, "], r%u", op->b);
		break;
	case COSY_FORM_BULK:
		fprintf(out, " r%u, r%u, r%u", op->a, op->b, op->c);
		break;
	case COSY_FORM_CALL:
	case COSY_FORM_FUNCTION:
		put_call(d, op);
		break;
	}
}

static void put_line(const struct dis *d, const struct cosy_line *line)
{
	fputs("\t.line ", d->out);
	put_reference(d, line->file);
	fprintf(d->out, ", %" PRIu32 "\n", line->line);
}

/*
 * The compound names the file, so opening and reading it must not block or read a device.
 */
static FILE *open_source(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	FILE *file;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return NULL;
	}
	file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

/* Write the source line, if the file can be read. */
static void put_source(const struct dis *d, const struct cosy_line *line)
{
	FILE *file = open_source(d->strings + line->file);
	char text[200];
	cosy_u32 at = 0;

	if (!file)
		return;
	while (at < line->line && fgets(text, sizeof(text), file))
		if (strchr(text, '\n') || feof(file))
			at++;
	if (line->line && at == line->line) {
		text[strcspn(text, "\r\n")] = 0;
		fprintf(d->out, "\t; %s\n", text + strspn(text, " \t"));
	}
	fclose(file);
}

static void put_ops(const struct dis *d)
{
	cosy_u32 pc, line = 0;

	for (pc = 0; pc < d->h->nops; pc++) {
		const struct cosy_op *op = &d->ops[pc];

		if (op->code == COSY_OP_ARG)
			continue;
		if (line < d->h->nlines && d->lines[line].pc == pc) {
			put_line(d, &d->lines[line]);
			if (d->flags & COSY_DIS_SOURCE)
				put_source(d, &d->lines[line]);
			line++;
		}
		if (d->is_target[pc])
			fprintf(d->out, "L%" PRIu32 ":\n", pc);
		fprintf(d->out, "\t%s", cosy_op_texts[op->code].name);
		put_fields(d, op);
		if (d->flags & COSY_DIS_PC)
			fprintf(d->out, "\t; %" PRIu32, pc);
		fputc('\n', d->out);
	}
}

static cosy_u32 count_zeros(const struct dis *d, cosy_u32 at)
{
	cosy_u32 n = 0;

	while (at + n < d->h->data_size && !d->data[at + n])
		n++;
	return n;
}

static bool is_text(unsigned char c)
{
	return (c >= 0x20 && c <= 0x7e) || c == '\n' || c == '\t';
}

/*
 * Return how many bytes from @at on are printable as a string, with the NUL if there is
 * one.
 */
static cosy_u32 count_text(const struct dis *d, cosy_u32 at, bool *nul)
{
	cosy_u32 n = 0;

	while (at + n < d->h->data_size && is_text(d->data[at + n]))
		n++;
	*nul = at + n < d->h->data_size && !d->data[at + n];
	return n;
}

static void put_data(const struct dis *d)
{
	enum { MIN_SPACE = 8, MIN_TEXT = 3, BYTES_PER_LINE = 12 };
	cosy_u32 at = 0, n, in_line = 0;
	bool nul;

	if (!d->h->data_size)
		return;
	fputs("\t.data", d->out);
	while (at < d->h->data_size) {
		n = count_zeros(d, at);
		if (n >= MIN_SPACE) {
			fprintf(d->out, "\n\t.space %" PRIu32, n);
			at += n;
			in_line = 0;
			continue;
		}
		n = count_text(d, at, &nul);
		if (n >= MIN_TEXT) {
			fputs(nul ? "\n\t.asciz " : "\n\t.ascii ", d->out);
			put_bytes(d->out, d->data + at, n);
			at += n + nul;
			in_line = 0;
			continue;
		}
		fputs(in_line ? ", " : "\n\t.bytes ", d->out);
		fprintf(d->out, "0x%02x", d->data[at]);
		at++;
		in_line = (in_line + 1) % BYTES_PER_LINE;
	}
	fputc('\n', d->out);
}

int cosy_disassemble(const void *image, size_t size, unsigned int flags,
		     FILE *out, struct cosy_diag *diag)
{
	struct dis d = { .h = image, .flags = flags, .out = out };
	cosy_u32 pc;

	if (cosy_verify(image, size, diag))
		return -1;
	d.ops = (const void *)(d.h + 1);
	d.lines = (const void *)(d.ops + d.h->nops);
	d.strings = (const char *)(d.lines + d.h->nlines);
	d.data = (const unsigned char *)d.strings + d.h->strings_size;
	d.is_target = calloc(d.h->nops, 1);
	if (!d.is_target) {
		diag->reason = "out of memory";
		diag->offset = 0;
		return -1;
	}
	/* An unused field is 0, so its form tells whether it is used. */
	for (pc = 0; pc < d.h->nops; pc++) {
		switch (cosy_op_texts[d.ops[pc].code].form) {
		case COSY_FORM_JUMP:
		case COSY_FORM_BRANCH:
		case COSY_FORM_LOOP:
		case COSY_FORM_SWITCH:
		case COSY_FORM_CASE:
			d.is_target[d.ops[pc].target] = 1;
			break;
		default:
			break;
		}
	}
	put_header(&d);
	put_ops(&d);
	put_data(&d);
	free(d.is_target);
	return 0;
}
