// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * asm.c - assemble a text to an image.
 *
 * One pass over the text, statement by statement. Labels are resolved at the end.
 * cosy_verify() checks the rules of the format; its error is reported at the line that
 * caused it.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cosy/asm.h>

#include "text.h"

/* A growing array of any type. */
struct array {
	char *items;
	size_t count;	/* items */
	size_t room;
};

struct place {
	unsigned int line;
	unsigned int column;
};

struct label {
	const char *name;
	size_t len;
	cosy_u32 pc;
	struct place place;
};

/* A target to be resolved: the slot that has it, and the label's name. */
struct fixup {
	const char *name;
	size_t len;
	cosy_u32 slot;
	struct place place;
};

struct assembler {
	const char *at;
	const char *end;
	const char *line_start;
	unsigned int line;
	struct cosy_asm_error *error;

	struct cosy_header h;
	struct place field[sizeof(struct cosy_header)];	/* by its offset */
	struct array ops;	/* struct cosy_op */
	struct array places;	/* struct place, one for each slot */
	struct array lines;	/* struct cosy_line */
	struct array strings;	/* char */
	struct array data;	/* unsigned char */
	struct array labels;	/* struct label */
	struct array fixups;	/* struct fixup */

	bool have_regs, have_exits, have_upcalls, have_functions;
	bool line_pending;	/* a .line applies to the next operation */
	bool in_data;
	cosy_u32 open_switch;	/* slot of the SWITCH a .case belongs to + 1 */
};

/* Errors. The functions below return false after one has been set. */

static struct place place_of(const struct assembler *as, const char *at)
{
	struct place place = { as->line, (unsigned int)(at - as->line_start) + 1 };

	return place;
}

__attribute__((format(printf, 3, 4)))
static bool error_at(struct assembler *as, struct place place,
		     const char *format, ...)
{
	va_list args;

	as->error->line = place.line;
	as->error->column = place.column;
	va_start(args, format);
	vsnprintf(as->error->text, sizeof(as->error->text), format, args);
	va_end(args);
	return false;
}

#define ERROR(as, at, ...) error_at(as, place_of(as, at), __VA_ARGS__)

static void *grow(struct assembler *as, struct array *array, size_t item,
		  size_t count)
{
	if (!array->items || array->count + count > array->room) {
		size_t room = 2 * array->room + count + 16;
		char *items = realloc(array->items, room * item);

		if (!items) {
			ERROR(as, as->at, "out of memory");
			return NULL;
		}
		array->items = items;
		array->room = room;
	}
	array->count += count;
	return array->items + (array->count - count) * item;
}

static struct cosy_op *op_at(struct assembler *as, cosy_u32 slot)
{
	return (struct cosy_op *)as->ops.items + slot;
}

/* Characters and words. */

static void skip_blank(struct assembler *as)
{
	while (as->at < as->end && (*as->at == ' ' || *as->at == '\t' ||
				    *as->at == '\r'))
		as->at++;
}

static bool at_line_end(struct assembler *as)
{
	skip_blank(as);
	return as->at == as->end || *as->at == '\n' || *as->at == ';';
}

static bool accept(struct assembler *as, char c)
{
	skip_blank(as);
	if (as->at == as->end || *as->at != c)
		return false;
	as->at++;
	return true;
}

static bool expect(struct assembler *as, char c, const char *what)
{
	if (accept(as, c))
		return true;
	return ERROR(as, as->at, "expected '%c' %s", c, what);
}

static bool expect_comma(struct assembler *as)
{
	return expect(as, ',', "between operands");
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Return the length of the word here, which may be 0. */
static size_t word_length(struct assembler *as)
{
	const char *p;

	skip_blank(as);
	p = as->at;
	while (p < as->end && is_word(*p))
		p++;
	return (size_t)(p - as->at);
}

static bool same(const char *word, size_t len, const char *text)
{
	return strlen(text) == len && !memcmp(word, text, len);
}

/* Return the length of a word that a message shows. */
static int shown(size_t len)
{
	return len > 40 ? 40 : (int)len;
}

static bool is_register(const char *word, size_t len)
{
	size_t i;

	if (len < 2 || word[0] != 'r')
		return false;
	for (i = 1; i < len; i++)
		if (!isdigit((unsigned char)word[i]))
			return false;
	return true;
}

/* Numbers. */

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

/* Parse a number from -2^63 to 2^64-1, decimal or 0x…; values above 2^63-1 wrap. */
static bool parse_number(struct assembler *as, cosy_s64 *out)
{
	const char *start;
	cosy_u64 value = 0;
	bool negative, digits = false;
	int base = 10;

	skip_blank(as);
	start = as->at;
	negative = accept(as, '-');
	if (!negative)
		accept(as, '+');
	skip_blank(as);
	if (as->end - as->at > 2 && as->at[0] == '0' &&
	    (as->at[1] == 'x' || as->at[1] == 'X')) {
		base = 16;
		as->at += 2;
	}
	for (; as->at < as->end && digit(*as->at) < base; as->at++) {
		if (__builtin_mul_overflow(value, (cosy_u64)base, &value) ||
		    __builtin_add_overflow(value, (cosy_u64)digit(*as->at),
					   &value))
			return ERROR(as, start, "number needs more than 64 bits");
		digits = true;
	}
	if (!digits || (as->at < as->end && is_word(*as->at)))
		return ERROR(as, start, "expected a number: 12, -12 or 0xc");
	if (negative && value > (cosy_u64)1 << 63)
		return ERROR(as, start, "number below -2^63");
	*out = (cosy_s64)(negative ? -value : value);
	return true;
}

static bool parse_below(struct assembler *as, cosy_u64 max, const char *what,
			cosy_u64 *out)
{
	const char *start;
	cosy_s64 value;

	skip_blank(as);
	start = as->at;
	if (!parse_number(as, &value))
		return false;
	if (*start == '-' || (cosy_u64)value > max)
		return ERROR(as, start, "%s must be from 0 to %" PRIu64, what,
			     max);
	*out = (cosy_u64)value;
	return true;
}

static bool parse_register(struct assembler *as, cosy_u16 *out)
{
	size_t len = word_length(as), i;
	unsigned int number = 0;

	if (!is_register(as->at, len))
		return ERROR(as, as->at, "expected a register: r0, r1, ...");
	for (i = 1; i < len && number <= COSY_MAX_REGS; i++)
		number = number * 10 + (unsigned int)digit(as->at[i]);
	if (number >= COSY_MAX_REGS)
		return ERROR(as, as->at, "registers are r0 to r%u",
			     COSY_MAX_REGS - 1);
	if (number >= as->h.nregs) {
		if (as->have_regs)
			return ERROR(as, as->at,
				     "r%u is not there: .regs says %u", number,
				     as->h.nregs);
		as->h.nregs = (cosy_u16)(number + 1);
	}
	as->at += len;
	*out = (cosy_u16)number;
	return true;
}

static bool next_is_register(struct assembler *as)
{
	size_t len = word_length(as);

	return len && as->at[0] == 'r';
}

static bool parse_operand(struct assembler *as, cosy_u16 *reg, cosy_s64 *imm)
{
	if (next_is_register(as))
		return parse_register(as, reg);
	*reg = COSY_NONE;
	return parse_number(as, imm);
}

/* Parse a register, a constant, or the sum of both. */
static bool parse_sum(struct assembler *as, cosy_u16 *reg, cosy_s64 *imm)
{
	if (!parse_operand(as, reg, imm))
		return false;
	skip_blank(as);
	if (*reg != COSY_NONE && as->at < as->end &&
	    (*as->at == '+' || *as->at == '-'))
		return parse_number(as, imm);
	return true;
}

/* Strings. */

static bool parse_escape(struct assembler *as, char *out)
{
	const char *start = as->at++;

	if (as->at == as->end)
		return ERROR(as, start, "string is not closed");
	switch (*as->at++) {
	case 'n':
		*out = '\n';
		return true;
	case 't':
		*out = '\t';
		return true;
	case '\\':
	case '"':
		*out = as->at[-1];
		return true;
	case 'x':
		if (as->end - as->at >= 2 && digit(as->at[0]) < 16 &&
		    digit(as->at[1]) < 16) {
			*out = (char)(digit(as->at[0]) << 4 | digit(as->at[1]));
			as->at += 2;
			return true;
		}
		break;
	default:
		break;
	}
	return ERROR(as, start,
		     "unknown escape; there are \\n \\t \\\\ \\\" and \\xHH");
}

/* Append a string in quotes to @out. */
static bool parse_string(struct assembler *as, struct array *out, bool nul_ok)
{
	const char *start;
	char c = 0, *p;

	if (!expect(as, '"', "to begin a string"))
		return false;
	start = as->at - 1;
	for (;;) {
		const char *here = as->at;

		if (as->at == as->end || *as->at == '\n')
			return ERROR(as, start, "string is not closed");
		if (*as->at == '"')
			break;
		if (*as->at == '\\') {
			if (!parse_escape(as, &c))
				return false;
		} else {
			c = *as->at++;
		}
		if (!c && !nul_ok)
			return ERROR(as, here, "a name cannot contain a zero byte");
		p = grow(as, out, 1, 1);
		if (!p)
			return false;
		*p = c;
	}
	as->at++;
	return true;
}

static bool append_byte(struct assembler *as, struct array *out, char c)
{
	char *p = grow(as, out, 1, 1);

	if (p)
		*p = c;
	return p != NULL;
}

/*
 * Parse a reference to a string: the first equal one in the table, or a new one if there is
 * none; or @offset.
 */
static bool parse_reference(struct assembler *as, cosy_u32 *out)
{
	struct array *strings = &as->strings;
	size_t old = strings->count, at = 0;
	cosy_u64 offset;

	if (accept(as, '@')) {
		if (!parse_below(as, COSY_MAX_SIZE, "offset of a string",
				 &offset))
			return false;
		*out = (cosy_u32)offset;
		return true;
	}
	if (!parse_string(as, strings, false) || !append_byte(as, strings, 0))
		return false;
	while (strcmp(strings->items + at, strings->items + old))
		at += strlen(strings->items + at) + 1;
	if (at < old)
		strings->count = old;
	*out = (cosy_u32)at;
	return true;
}

/* Directives. */

static bool parse_u16(struct assembler *as, cosy_u16 max, const char *what,
		      cosy_u16 *out)
{
	cosy_u64 value;

	if (!parse_below(as, max, what, &value))
		return false;
	*out = (cosy_u16)value;
	return true;
}

static bool parse_u32(struct assembler *as, cosy_u32 max, const char *what,
		      cosy_u32 *out)
{
	cosy_u64 value;

	if (!parse_below(as, max, what, &value))
		return false;
	*out = (cosy_u32)value;
	return true;
}

/* If there are no outputs, the first one may be the register after the last. */
static bool parse_outputs(struct assembler *as)
{
	if (!expect(as, 'r', "to begin a register") ||
	    !parse_u16(as, COSY_MAX_REGS, "register number", &as->h.out_first) ||
	    !expect_comma(as) ||
	    !parse_u16(as, COSY_MAX_REGS, "number of outputs", &as->h.nout))
		return false;
	if (!as->have_regs && as->h.out_first + as->h.nout > as->h.nregs)
		as->h.nregs = as->h.out_first + as->h.nout;
	return true;
}

static bool parse_line(struct assembler *as, const char *start)
{
	struct cosy_line line = { .pc = (cosy_u32)as->ops.count };
	struct cosy_line *p;

	if (as->line_pending)
		return ERROR(as, start,
			     ".line without an operation since the last one");
	if (!parse_reference(as, &line.file) || !expect_comma(as) ||
	    !parse_u32(as, UINT32_MAX, "line number", &line.line))
		return false;
	p = grow(as, &as->lines, sizeof(*p), 1);
	if (!p)
		return false;
	*p = line;
	as->line_pending = true;
	return true;
}

static bool need_data(struct assembler *as, const char *start)
{
	return as->in_data || ERROR(as, start, "belongs after .data");
}

static bool parse_bytes(struct assembler *as)
{
	cosy_u64 value;

	do {
		if (!parse_below(as, 255, "byte", &value) ||
		    !append_byte(as, &as->data, (char)value))
			return false;
	} while (accept(as, ','));
	return true;
}

static bool parse_space(struct assembler *as)
{
	cosy_u64 n;
	char *p;

	if (!parse_below(as, COSY_MAX_SIZE, "size", &n))
		return false;
	if (as->data.count + n > COSY_MAX_SIZE)
		return ERROR(as, as->at, "more than %u bytes of data",
			     COSY_MAX_SIZE);
	p = grow(as, &as->data, 1, n);
	if (!p)
		return false;
	memset(p, 0, n);
	return true;
}

/*
 * Record that @word sets @field of the header, so that errors of the field are reported at
 * the word.
 */
#define SETS(as, name, word) \
	((as)->field[offsetof(struct cosy_header, name)] = place_of(as, word))

/* Parse a directive other than .case, which is a slot. */
static bool parse_directive(struct assembler *as, const char *word, size_t len)
{
	if (same(word, len, ".compound")) {
		SETS(as, name, word);
		return parse_reference(as, &as->h.name);
	}
	if (same(word, len, ".string"))
		return parse_string(as, &as->strings, false) &&
		       append_byte(as, &as->strings, 0);
	if (same(word, len, ".regs")) {
		if (as->ops.count)
			return ERROR(as, word, ".regs belongs before the operations");
		as->have_regs = true;
		SETS(as, nregs, word);
		return parse_u16(as, COSY_MAX_REGS, "number of registers",
				 &as->h.nregs);
	}
	if (same(word, len, ".inputs")) {
		SETS(as, ninputs, word);
		if (!parse_u16(as, COSY_MAX_REGS, "number of inputs",
			       &as->h.ninputs))
			return false;
		if (!as->have_regs && as->h.ninputs > as->h.nregs)
			as->h.nregs = as->h.ninputs;
		return true;
	}
	if (same(word, len, ".outputs")) {
		SETS(as, out_first, word);
		SETS(as, nout, word);
		return parse_outputs(as);
	}
	if (same(word, len, ".exits")) {
		as->have_exits = true;
		return parse_u32(as, COSY_MAX_EXITS, "number of exits",
				 &as->h.nexits);
	}
	if (same(word, len, ".upcalls")) {
		as->have_upcalls = true;
		return parse_u32(as, COSY_MAX_UPCALLS, "number of up-calls",
				 &as->h.nupcalls);
	}
	if (same(word, len, ".functions")) {
		as->have_functions = true;
		return parse_u16(as, COSY_MAX_FUNCTIONS, "number of functions",
				 &as->h.nfunctions);
	}
	if (same(word, len, ".limit")) {
		SETS(as, limit, word);
		return parse_below(as, COSY_MAX_LIMIT, "limit", &as->h.limit);
	}
	if (same(word, len, ".line"))
		return parse_line(as, word);
	if (same(word, len, ".data")) {
		as->in_data = true;
		return true;
	}
	if (same(word, len, ".bytes"))
		return need_data(as, word) && parse_bytes(as);
	if (same(word, len, ".ascii"))
		return need_data(as, word) && parse_string(as, &as->data, true);
	if (same(word, len, ".asciz"))
		return need_data(as, word) &&
		       parse_string(as, &as->data, true) &&
		       append_byte(as, &as->data, 0);
	if (same(word, len, ".space"))
		return need_data(as, word) && parse_space(as);
	return ERROR(as, word, "unknown directive '%.*s'; there are .compound "
		     ".regs .inputs .outputs .exits .upcalls .functions "
		     ".limit .string .line .case .data .bytes .ascii "
		     ".asciz .space",
		     shown(len), word);
}

/* Operations. */

static bool add_slot(struct assembler *as, const struct cosy_op *op,
		     struct place place)
{
	struct cosy_op *slot = grow(as, &as->ops, sizeof(*slot), 1);
	struct place *where = grow(as, &as->places, sizeof(*where), 1);

	if (!slot || !where)
		return false;
	if (as->ops.count > COSY_MAX_OPS)
		return error_at(as, place, "more than %u slots", COSY_MAX_OPS);
	*slot = *op;
	*where = place;
	return true;
}

/* Parse a label as an operand of the slot that is added next. */
static bool parse_target(struct assembler *as)
{
	struct fixup *fixup;
	size_t len = word_length(as);

	if (!len || isdigit((unsigned char)as->at[0]) ||
	    is_register(as->at, len))
		return ERROR(as, as->at, "expected a label");
	fixup = grow(as, &as->fixups, sizeof(*fixup), 1);
	if (!fixup)
		return false;
	fixup->name = as->at;
	fixup->len = len;
	fixup->slot = (cosy_u32)as->ops.count;
	fixup->place = place_of(as, as->at);
	as->at += len;
	return true;
}

/*
 * Find an operation by its name, up to the first dot, or by the whole word if that begins
 * with a dot.
 */
static bool find_op(const char *word, size_t len, struct cosy_op *op,
		    size_t *used)
{
	const char *dot = len ? memchr(word + 1, '.', len - 1) : NULL;
	unsigned int i;

	*used = dot ? (size_t)(dot - word) : len;
	for (i = 0; i < COSY_NR_OPS; i++) {
		if (same(word, *used, cosy_op_texts[i].name)) {
			op->code = (cosy_u8)i;
			return true;
		}
	}
	return false;
}

enum { SUFFIX_WIDTH = 1, SUFFIX_TO = 2, SUFFIX_COND = 4, SUFFIX_HINTS = 8 };

static unsigned int suffixes_of(enum cosy_form form)
{
	switch (form) {
	case COSY_FORM_EXTEND:
		return SUFFIX_WIDTH | SUFFIX_TO;
	case COSY_FORM_MOVW:
	case COSY_FORM_ALU:
	case COSY_FORM_SWITCH:
	case COSY_FORM_LOAD:
	case COSY_FORM_STORE:
	case COSY_FORM_CMPXCHG:
		return SUFFIX_WIDTH;
	case COSY_FORM_SET:
	case COSY_FORM_BRANCH:
	case COSY_FORM_LOOP:
		return SUFFIX_WIDTH | SUFFIX_COND;
	case COSY_FORM_CALL:
		return SUFFIX_HINTS;
	default:
		return 0;
	}
}

/* Return the next suffix: the text between a dot and the next one. */
static size_t next_suffix(const char **at, const char *end)
{
	const char *start = *at, *dot;

	if (start == end)
		return 0;
	start++;	/* the dot */
	dot = memchr(start, '.', (size_t)(end - start));
	*at = start;
	return (size_t)((dot ? dot : end) - start);
}

static int width_of(const char *s, size_t len)
{
	if (len == 1 && (*s == '1' || *s == '2' || *s == '4' || *s == '8'))
		return *s - '0';
	return 0;
}

/* Return the hint with a name, or 0. */
static unsigned int hint_of(const char *s, size_t len)
{
	unsigned int i;

	for (i = 0; i < COSY_NR_HINTS; i++)
		if (same(s, len, cosy_hint_texts[i]))
			return 1u << i;
	return 0;
}

static bool parse_suffixes(struct assembler *as, const char *word, size_t used,
			   size_t len, struct cosy_op *op)
{
	unsigned int want = suffixes_of(cosy_op_texts[op->code].form);
	const char *at = word + used, *end = word + len;
	size_t n;

	if (want & SUFFIX_WIDTH) {
		n = next_suffix(&at, end);
		op->width = (cosy_u8)width_of(at, n);
		if (!op->width)
			return ERROR(as, at, "'%.*s' needs a width: .1, .2, .4 or .8",
				     (int)used, word);
		at += n;
	}
	if (want & SUFFIX_TO) {
		n = next_suffix(&at, end);
		op->imm = width_of(at, n);
		if (op->imm <= op->width)
			return ERROR(as, at, "'%.*s' needs a second width, larger "
				     "than the first, as in %.*s.1.4",
				     (int)used, word, (int)used, word);
		at += n;
	}
	if (want & SUFFIX_COND) {
		n = next_suffix(&at, end);
		for (op->cond = 0; op->cond < COSY_NR_CONDS; op->cond++)
			if (same(at, n, cosy_cond_texts[op->cond]))
				break;
		if (op->cond == COSY_NR_CONDS)
			return ERROR(as, at, "'%.*s' needs a condition: .eq .ne "
				     ".ult .ule .ugt .uge .slt .sle .sgt .sge",
				     (int)used, word);
		at += n;
	}
	while (want & SUFFIX_HINTS && at < end) {
		const char *start = at;
		unsigned int hint;

		n = next_suffix(&at, end);
		hint = hint_of(at, n);
		if (!hint || op->c & hint) {
			at = start;
			break;
		}
		op->c |= (cosy_u16)hint;
		at += n;
	}
	if (at < end)
		return ERROR(as, at, "'%.*s' does not take the suffix '%.*s'",
			     (int)used, word, shown((size_t)(end - at)), at);
	return true;
}

static void use_upcall(struct assembler *as, cosy_u64 number)
{
	if (!as->have_upcalls && number >= as->h.nupcalls)
		as->h.nupcalls = (cosy_u32)number + 1;
}

static bool parse_call_number(struct assembler *as, cosy_s64 *nr)
{
	size_t len = word_length(as);
	cosy_u64 value;

	if (len && !isdigit((unsigned char)as->at[0])) {
		*nr = cosy_call_number(as->at, len);
		if (*nr < 0)
			return ERROR(as, as->at,
				     "unknown system call '%.*s'; give its number",
				     shown(len), as->at);
		as->at += len;
		return true;
	}
	if (!parse_below(as, COSY_MAX_CALL_NR, "system-call number", &value))
		return false;
	*nr = (cosy_s64)value;
	return true;
}

/* Parse the functions of a CALL: its number, and that of the up-call. */
static bool parse_function(struct assembler *as, struct cosy_op *op)
{
	cosy_u64 function, upcall;

	if (!parse_below(as, COSY_MAX_FUNCTIONS - 1, "function number",
			 &function) ||
	    !expect_comma(as) ||
	    !parse_below(as, COSY_MAX_UPCALLS - 1, "up-call number", &upcall))
		return false;
	op->imm = (cosy_s64)function;
	op->c = (cosy_u16)upcall;
	if (!as->have_functions && function >= as->h.nfunctions)
		as->h.nfunctions = (cosy_u16)(function + 1);
	use_upcall(as, upcall);
	return true;
}

/* Parse the operation and its ARG slots. */
static bool parse_call(struct assembler *as, struct cosy_op *op,
		       struct place place)
{
	struct cosy_op args[COSY_MAX_ARGS];
	struct place places[COSY_MAX_ARGS];
	unsigned int i;

	if (!parse_register(as, &op->dst) || !expect_comma(as))
		return false;
	if (op->code == COSY_OP_CALL ? !parse_function(as, op) :
				       !parse_call_number(as, &op->imm))
		return false;
	while (accept(as, ',')) {
		struct cosy_op arg = { .code = COSY_OP_ARG };

		skip_blank(as);
		if (op->width == COSY_MAX_ARGS)
			return ERROR(as, as->at,
				     "a call has at most %u arguments",
				     COSY_MAX_ARGS);
		places[op->width] = place_of(as, as->at);
		if (!parse_sum(as, &arg.a, &arg.imm))
			return false;
		args[op->width++] = arg;
	}
	if (!add_slot(as, op, place))
		return false;
	for (i = 0; i < op->width; i++)
		if (!add_slot(as, &args[i], places[i]))
			return false;
	return true;
}

static bool parse_case(struct assembler *as, const struct cosy_op *op,
		       struct place place)
{
	struct cosy_op slot = *op;
	struct cosy_op *of;

	if (!as->open_switch)
		return error_at(as, place, ".case belongs directly after a switch");
	if (!parse_number(as, &slot.imm) || !expect_comma(as) ||
	    !parse_target(as) || !add_slot(as, &slot, place))
		return false;
	of = op_at(as, as->open_switch - 1);
	if (of->c == UINT16_MAX)
		return error_at(as, place, "a switch has at most %u cases",
				UINT16_MAX);
	of->c++;
	return true;
}

static bool parse_three(struct assembler *as, cosy_u16 *a, cosy_u16 *b,
			cosy_u16 *c)
{
	return parse_register(as, a) && expect_comma(as) &&
	       parse_register(as, b) && expect_comma(as) &&
	       parse_register(as, c);
}

static bool parse_fields(struct assembler *as, struct cosy_op *op)
{
	cosy_u64 number;

	switch (cosy_op_texts[op->code].form) {
	case COSY_FORM_CONST:
		return parse_register(as, &op->dst) && expect_comma(as) &&
		       parse_number(as, &op->imm);
	case COSY_FORM_MOV:
	case COSY_FORM_EXTEND:
	case COSY_FORM_MOVW:
		return parse_register(as, &op->dst) && expect_comma(as) &&
		       parse_register(as, &op->a);
	case COSY_FORM_ALU:
	case COSY_FORM_SET:
		return parse_register(as, &op->dst) && expect_comma(as) &&
		       parse_register(as, &op->a) && expect_comma(as) &&
		       parse_operand(as, &op->b, &op->imm);
	case COSY_FORM_SELECT:
	case COSY_FORM_BULKR:
	case COSY_FORM_CMPXCHG:
		return parse_register(as, &op->dst) && expect_comma(as) &&
		       parse_three(as, &op->a, &op->b, &op->c);
	case COSY_FORM_STRING:
		return parse_three(as, &op->dst, &op->a, &op->b);
	case COSY_FORM_RESULT:
		return parse_register(as, &op->dst);
	case COSY_FORM_BULK:
		return parse_three(as, &op->a, &op->b, &op->c);
	case COSY_FORM_JUMP:
		return parse_target(as);
	case COSY_FORM_BRANCH:
		return parse_register(as, &op->a) && expect_comma(as) &&
		       parse_operand(as, &op->b, &op->imm) &&
		       expect_comma(as) && parse_target(as);
	case COSY_FORM_LOOP:
		return parse_register(as, &op->dst) && expect_comma(as) &&
		       parse_number(as, &op->imm) && expect_comma(as) &&
		       parse_register(as, &op->b) && expect_comma(as) &&
		       parse_target(as);
	case COSY_FORM_SWITCH:
		return parse_register(as, &op->a) && expect_comma(as) &&
		       parse_target(as);
	case COSY_FORM_EXIT:
		if (!parse_below(as, COSY_MAX_EXITS - 1, "exit number", &number))
			return false;
		op->imm = (cosy_s64)number;
		if (!as->have_exits && number >= as->h.nexits)
			as->h.nexits = (cosy_u32)number + 1;
		return true;
	case COSY_FORM_UPCALL:
		if (!parse_below(as, COSY_MAX_UPCALLS - 1, "up-call number",
				 &number))
			return false;
		op->imm = (cosy_s64)number;
		use_upcall(as, number);
		if (!accept(as, ','))
			return true;
		if (!parse_register(as, &op->a) || !expect_comma(as) ||
		    !parse_below(as, COSY_MAX_REGS, "number of registers",
				 &number))
			return false;
		op->c = (cosy_u16)number;
		if (!as->have_regs && op->a + number > as->h.nregs)
			as->h.nregs = (cosy_u16)(op->a + number);
		return true;
	case COSY_FORM_LOAD:
		return parse_register(as, &op->dst) && expect_comma(as) &&
		       expect(as, '[', "before the address") &&
		       parse_sum(as, &op->a, &op->imm) &&
		       expect(as, ']', "after the address");
	case COSY_FORM_STORE:
		return expect(as, '[', "before the address") &&
		       parse_sum(as, &op->a, &op->imm) &&
		       expect(as, ']', "after the address") &&
		       expect_comma(as) && parse_register(as, &op->b);
	default:	/* ARG, CASE and calls have their own functions */
		return false;
	}
}

static bool parse_op(struct assembler *as, const char *word, size_t len)
{
	struct cosy_op op = { 0 };
	struct place place = place_of(as, word);
	size_t used;

	if (!find_op(word, len, &op, &used))
		return error_at(as, place, "unknown operation '%.*s'",
				shown(used), word);
	if (as->in_data)
		return error_at(as, place, "operations belong before .data");
	if (!parse_suffixes(as, word, used, len, &op))
		return false;
	if (op.code == COSY_OP_CASE)
		return parse_case(as, &op, place);
	as->open_switch = 0;
	as->line_pending = false;
	if (op.code == COSY_OP_SYS || op.code == COSY_OP_LIBC ||
	    op.code == COSY_OP_CALL)
		return parse_call(as, &op, place);
	if (!parse_fields(as, &op) || !add_slot(as, &op, place))
		return false;
	if (op.code == COSY_OP_SWITCH)
		as->open_switch = (cosy_u32)as->ops.count;
	return true;
}

static bool add_label(struct assembler *as, const char *word, size_t len)
{
	struct label *label;

	if (isdigit((unsigned char)word[0]) || is_register(word, len))
		return ERROR(as, word, "'%.*s' cannot be a label",
			     shown(len), word);
	label = grow(as, &as->labels, sizeof(*label), 1);
	if (!label)
		return false;
	label->name = word;
	label->len = len;
	label->pc = (cosy_u32)as->ops.count;
	label->place = place_of(as, word);
	return true;
}

/* Parse one line: labels, then an optional directive or operation. */
static bool parse_statement(struct assembler *as)
{
	const char *word;
	size_t len;

	for (;;) {
		if (at_line_end(as))
			return true;
		len = word_length(as);
		word = as->at;
		if (!len)
			return ERROR(as, word, "expected an operation, a "
				     "directive or a label");
		as->at += len;
		if (!accept(as, ':'))
			break;
		if (!add_label(as, word, len))
			return false;
	}
	if (word[0] == '.' && !same(word, len, ".case")) {
		if (!parse_directive(as, word, len))
			return false;
	} else if (!parse_op(as, word, len)) {
		return false;
	}
	if (!at_line_end(as))
		return ERROR(as, as->at, "expected the end of the line");
	return true;
}

static bool parse_text(struct assembler *as)
{
	while (as->at < as->end) {
		if (!parse_statement(as))
			return false;
		while (as->at < as->end && *as->at != '\n')
			as->at++;	/* a comment */
		if (as->at < as->end) {
			as->at++;
			as->line++;
			as->line_start = as->at;
		}
	}
	return true;
}

/* Labels. */

static int compare_labels(const void *x, const void *y)
{
	const struct label *a = x, *b = y;
	int order = memcmp(a->name, b->name, a->len < b->len ? a->len : b->len);

	if (order)
		return order;
	return (a->len > b->len) - (a->len < b->len);
}

static bool resolve_labels(struct assembler *as)
{
	struct label *labels = (struct label *)as->labels.items;
	struct fixup *fixups = (struct fixup *)as->fixups.items;
	size_t i;

	if (as->labels.count)
		qsort(labels, as->labels.count, sizeof(*labels), compare_labels);
	for (i = 1; i < as->labels.count; i++)
		if (!compare_labels(&labels[i - 1], &labels[i])) {
			bool first = labels[i].place.line <
				     labels[i - 1].place.line;

			return error_at(as, labels[i - first].place,
					"label '%.*s' is here twice",
					shown(labels[i].len), labels[i].name);
		}
	for (i = 0; i < as->fixups.count; i++) {
		struct label key = { .name = fixups[i].name,
				     .len = fixups[i].len };
		struct label *label = NULL;

		if (as->labels.count)
			label = bsearch(&key, labels, as->labels.count,
					sizeof(*labels), compare_labels);
		if (!label)
			return error_at(as, fixups[i].place,
					"there is no label '%.*s'",
					shown(key.len), key.name);
		if (label->pc >= as->ops.count)
			return error_at(as, label->place, "label '%.*s' has no "
					"operation after it",
					shown(key.len), key.name);
		op_at(as, fixups[i].slot)->target = label->pc;
	}
	return true;
}

/* The image. */

static char *put(char *to, const struct array *array, size_t item)
{
	if (array->count)
		memcpy(to, array->items, array->count * item);
	return to + array->count * item;
}

static void *build_image(struct assembler *as, size_t *size)
{
	size_t bytes = sizeof(as->h) + as->ops.count * sizeof(struct cosy_op) +
		       as->lines.count * sizeof(struct cosy_line) +
		       as->strings.count + as->data.count;
	char *image, *to;

	if (bytes > COSY_MAX_SIZE) {
		ERROR(as, as->at, "compound larger than %u bytes", COSY_MAX_SIZE);
		return NULL;
	}
	image = malloc(bytes);
	if (!image) {
		ERROR(as, as->at, "out of memory");
		return NULL;
	}
	as->h.size = (cosy_u32)bytes;
	as->h.nops = (cosy_u32)as->ops.count;
	as->h.nlines = (cosy_u32)as->lines.count;
	as->h.strings_size = (cosy_u32)as->strings.count;
	as->h.data_size = (cosy_u32)as->data.count;
	memcpy(image, &as->h, sizeof(as->h));
	to = put(image + sizeof(as->h), &as->ops, sizeof(struct cosy_op));
	to = put(to, &as->lines, sizeof(struct cosy_line));
	to = put(to, &as->strings, 1);
	put(to, &as->data, 1);
	*size = bytes;
	return image;
}

/* Verify the image, and report an error at the line of the text that caused it. */
static bool check_image(struct assembler *as, const void *image, size_t size)
{
	struct cosy_diag diag;
	struct place place = { 1, 1 };
	size_t slot;

	if (!cosy_verify(image, size, &diag))
		return true;
	if (diag.offset < sizeof(as->h)) {
		if (as->field[diag.offset].line)
			place = as->field[diag.offset];
	} else {
		slot = (diag.offset - sizeof(as->h)) / sizeof(struct cosy_op);
		if (slot < as->places.count)
			place = ((struct place *)as->places.items)[slot];
	}
	return error_at(as, place, "%s", diag.reason);
}

void *cosy_assemble(const char *text, size_t len, size_t *size,
		    struct cosy_asm_error *error)
{
	struct assembler as = {
		.at = text, .end = text + len, .line_start = text, .line = 1,
		.error = error,
		.h = { .magic = COSY_MAGIC, .version = COSY_VERSION,
		       .limit = COSY_DEFAULT_LIMIT },
	};
	void *image = NULL;

	if (append_byte(&as, &as.strings, 0) && parse_text(&as) &&
	    resolve_labels(&as))
		image = build_image(&as, size);
	if (image && !check_image(&as, image, *size)) {
		free(image);
		image = NULL;
	}
	free(as.ops.items);
	free(as.places.items);
	free(as.lines.items);
	free(as.strings.items);
	free(as.data.items);
	free(as.labels.items);
	free(as.fixups.items);
	return image;
}
