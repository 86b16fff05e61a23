// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * reference.c - a second implementation of the compound IR.
 */
#include "reference.h"

#include <errno.h>

#define ERRNO_ADDR	MOCK_ERRNO

typedef __int128 wide;

/* Return the unsigned value of the low @width bytes of @v. */
static wide unsigned_of(uint64_t v, unsigned int width)
{
	wide value = 0, weight = 1;
	unsigned int i;

	for (i = 0; i < 8 * width; i++, weight *= 2)
		if (v >> i & 1)
			value += weight;
	return value;
}

static wide power_of_two(unsigned int n)
{
	wide value = 1;

	while (n--)
		value *= 2;
	return value;
}

static wide signed_of(uint64_t v, unsigned int width)
{
	wide value = unsigned_of(v, width);

	return value >= power_of_two(8 * width - 1) ?
	       value - power_of_two(8 * width) : value;
}

/* Return @value modulo 2^(8 width). */
static uint64_t cut(wide value, unsigned int width)
{
	wide modulus = power_of_two(8 * width);

	value %= modulus;
	return (uint64_t)(value < 0 ? value + modulus : value);
}

static bool holds(unsigned int cond, uint64_t a, uint64_t b, unsigned int width)
{
	wide ua = unsigned_of(a, width), ub = unsigned_of(b, width);
	wide sa = signed_of(a, width), sb = signed_of(b, width);

	switch (cond) {
	case COSY_COND_EQ: return ua == ub;
	case COSY_COND_NE: return ua != ub;
	case COSY_COND_ULT: return ua < ub;
	case COSY_COND_ULE: return ua <= ub;
	case COSY_COND_UGT: return ua > ub;
	case COSY_COND_UGE: return ua >= ub;
	case COSY_COND_SLT: return sa < sb;
	case COSY_COND_SLE: return sa <= sb;
	case COSY_COND_SGT: return sa > sb;
	default: return sa >= sb;
	}
}

/* Compute AND, OR or XOR bit by bit. */
static uint64_t bitwise(unsigned int code, uint64_t a, uint64_t b,
			unsigned int width)
{
	uint64_t result = 0;
	unsigned int i, bits;

	for (i = 0; i < 8 * width; i++) {
		bits = (a >> i & 1) + (b >> i & 1);
		if (code == COSY_OP_AND ? bits == 2 :
		    code == COSY_OP_OR ? bits > 0 : bits == 1)
			result |= (uint64_t)1 << i;
	}
	return result;
}

static bool arithmetic(const struct cosy_op *op, uint64_t a, uint64_t b,
		       uint64_t *result)
{
	unsigned int width = op->width;
	wide ua = unsigned_of(a, width), ub = unsigned_of(b, width);
	wide sa = signed_of(a, width), sb = signed_of(b, width);
	wide shift = power_of_two((unsigned int)(ub % (8 * width)));
	wide value;

	switch (op->code) {
	case COSY_OP_ADD:
		value = ua + ub;
		break;
	case COSY_OP_SUB:
		value = ua - ub;
		break;
	case COSY_OP_MUL:
		value = (wide)(uint64_t)((unsigned __int128)ua *
					 (unsigned __int128)ub);
		break;
	case COSY_OP_UDIV:
	case COSY_OP_UREM:
		if (!ub)
			return false;
		value = op->code == COSY_OP_UDIV ? ua / ub : ua % ub;
		break;
	case COSY_OP_SDIV:
	case COSY_OP_SREM:
		if (!sb || (width >= 4 && sa / sb == power_of_two(8 * width - 1)))
			return false;
		value = op->code == COSY_OP_SDIV ? sa / sb : sa % sb;
		break;
	case COSY_OP_SHL:
		value = (wide)(uint64_t)((unsigned __int128)ua *
					 (unsigned __int128)shift);
		break;
	case COSY_OP_LSHR:
		value = ua / shift;
		break;
	case COSY_OP_ASHR:	/* the quotient rounded down */
		value = sa / shift - (sa % shift < 0);
		break;
	default:
		*result = bitwise(op->code, a, b, width);
		return true;
	}
	*result = cut(value, width);
	return true;
}

/* Compare two mapped blocks. */
static int64_t sign_of_difference(struct cosy_env *env, const uint64_t *r,
				  const struct cosy_op *op)
{
	uint64_t x, y, i;

	for (i = 0; i < r[op->c]; i++) {
		cosy_env_load(env, r[op->a] + i, 1, &x);
		cosy_env_load(env, r[op->b] + i, 1, &y);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

/* Return true if all of [addr, addr + len) is mapped. An empty range is checked too. */
static bool there(struct cosy_env *env, uint64_t addr, uint64_t len)
{
	uint64_t byte;

	(void)env;
	if (!len)
		return addr >= MOCK_BASE && addr <= MOCK_BASE + MOCK_SIZE;
	return len <= MOCK_SIZE && cosy_env_load(env, addr, 1, &byte) &&
	       cosy_env_load(env, addr + len - 1, 1, &byte);
}

/* Execute an operation on one string, byte by byte. Return false for a fault. */
static bool string(const struct cosy_op *op, uint64_t *r, struct cosy_env *env)
{
	uint64_t bytes[MOCK_SIZE], last = 0, x = 0, i;
	uint64_t a = r[op->a], b = r[op->b];
	uint64_t from = op->code == COSY_OP_STPCPY ? b : a;

	for (i = 0; op->code != COSY_OP_STRNLEN || i < b; i++) {
		if (!cosy_env_load(env, from + i, 1, &x))
			return false;
		if (x == (b & 0xff))
			last = a + i;
		if (!x || (last && op->code == COSY_OP_STRCHR))
			break;
	}
	switch (op->code) {
	case COSY_OP_STRCHR:
	case COSY_OP_STRRCHR:
		r[op->dst] = last;
		return true;
	case COSY_OP_STPCPY:
		if (!there(env, a, i + 1))
			return false;
		for (x = 0; x <= i; x++)
			cosy_env_load(env, b + x, 1, &bytes[x]);
		for (x = 0; x <= i; x++)
			cosy_env_store(env, a + x, 1, bytes[x]);
		r[op->dst] = a + i;
		return true;
	default:	/* STRLEN, STRNLEN */
		r[op->dst] = i;
		return true;
	}
}

/* Execute an operation on many bytes. Return false for a fault. */
static bool bulk(const struct cosy_op *op, uint64_t *r, struct cosy_env *env)
{
	uint64_t bytes[MOCK_SIZE], a = r[op->a], b = r[op->b], c = r[op->c], i;
	uint64_t x, y;

	switch (op->code) {
	case COSY_OP_COPY:
		if (!there(env, a, c) || !there(env, b, c))
			return false;
		for (i = 0; i < c; i++)
			cosy_env_load(env, b + i, 1, &bytes[i]);
		for (i = 0; i < c; i++)
			cosy_env_store(env, a + i, 1, bytes[i]);
		return true;
	case COSY_OP_FILL:
		if (!there(env, a, c))
			return false;
		for (i = 0; i < c; i++)
			cosy_env_store(env, a + i, 1, b);
		return true;
	case COSY_OP_COMPARE:
		if (!there(env, a, c) || !there(env, b, c))
			return false;
		r[op->dst] = cut(sign_of_difference(env, r, op), 4);
		return true;
	case COSY_OP_FIND:
		if (!there(env, a, c))
			return false;
		for (i = 0; i < c; i++) {
			cosy_env_load(env, a + i, 1, &bytes[0]);
			if (bytes[0] == (b & 0xff)) {
				r[op->dst] = a + i;
				return true;
			}
		}
		r[op->dst] = 0;
		return true;
	case COSY_OP_STRCMP:
		for (i = 0; i < c; i++) {
			if (!cosy_env_load(env, a + i, 1, &x) ||
			    !cosy_env_load(env, b + i, 1, &y))
				return false;
			if (x != y || !x) {
				r[op->dst] = cut((wide)x - (wide)y, 4);
				return true;
			}
		}
		r[op->dst] = 0;
		return true;
	default:
		return string(op, r, env);
	}
}

static void call(const struct cosy_op *op, uint64_t *r, struct cosy_env *env)
{
	long result;
	unsigned int i;

	for (i = 1; i <= op->width; i++)
		cosy_env_arg(env, i - 1, (uint64_t)op[i].imm +
			     (op[i].a == COSY_NONE ? 0 : r[op[i].a]));
	result = cosy_env_call(env, (unsigned int)op->imm,
			       cosy_env_callee((unsigned int)op->imm));
	if (result == -MOCK_RESTART)
		result = -EINTR;
	if (op->code == COSY_OP_LIBC && result < 0 && result >= -4095) {
		cosy_env_store(env, ERRNO_ADDR, 4, (uint64_t)-result);
		result = -1;
	}
	r[op->dst] = (uint64_t)result;
}

void reference_function(const struct cosy_op *op, uint64_t *r)
{
	uint64_t args[COSY_MAX_ARGS];
	unsigned int i;

	for (i = 1; i <= op->width; i++)
		args[i - 1] = (uint64_t)op[i].imm +
			      (op[i].a == COSY_NONE ? 0 : r[op[i].a]);
	r[op->dst] = mock_function((unsigned int)op->imm, args, op->width);
}

enum reference_end reference_run(const void *image, struct reference *ref,
				 uint64_t max_steps)
{
	const struct cosy_header *h = image;
	const struct cosy_op *ops = (const void *)(h + 1);
	uint64_t *r = ref->regs;

	ref->charged = 0;
	for (ref->steps = 0; ref->steps < max_steps; ref->steps++) {
		const struct cosy_op *op = &ops[ref->pc];
		uint64_t second = op->b == COSY_NONE ? (uint64_t)op->imm :
						       r[op->b];
		uint64_t addr = (uint64_t)op->imm +
				(op->a == COSY_NONE ? 0 : r[op->a]);
		uint32_t next = ref->pc + 1, i;
		bool ok = true;

		switch (op->code) {
		case COSY_OP_CONST:
			r[op->dst] = (uint64_t)op->imm;
			break;
		case COSY_OP_MOV:
			r[op->dst] = r[op->a];
			break;
		case COSY_OP_SEXT:
			r[op->dst] = cut(signed_of(r[op->a], op->width),
					 (unsigned int)op->imm);
			break;
		case COSY_OP_ZEXT:
			r[op->dst] = (uint64_t)unsigned_of(r[op->a], op->width);
			break;
		case COSY_OP_SET:
			r[op->dst] = holds(op->cond, r[op->a], second, op->width);
			break;
		case COSY_OP_SELECT:
			r[op->dst] = r[op->a] ? r[op->b] : r[op->c];
			break;
		case COSY_OP_JMP:
			next = op->target;
			break;
		case COSY_OP_BR:
			if (holds(op->cond, r[op->a], second, op->width))
				next = op->target;
			break;
		case COSY_OP_LOOP:
			r[op->dst] = cut((wide)r[op->dst] + op->imm, op->width);
			if (holds(op->cond, r[op->dst], r[op->b], op->width))
				next = op->target;
			break;
		case COSY_OP_SWITCH:
			next = op->target;
			for (i = 1; i <= op->c; i++)
				if (unsigned_of(r[op->a], op->width) ==
				    (wide)(uint64_t)op[i].imm)
					next = op[i].target;
			break;
		case COSY_OP_EXIT:
			ref->value = (uint64_t)op->imm;
			return REFERENCE_DONE;
		case COSY_OP_LOAD:
			ok = cosy_env_load(&ref->env, addr, op->width, &addr);
			if (ok)
				r[op->dst] = addr;
			break;
		case COSY_OP_STORE:
			ok = cosy_env_store(&ref->env, addr, op->width,
					    r[op->b]);
			break;
		case COSY_OP_CMPXCHG:
			addr = r[op->a];
			ok = cosy_env_load(&ref->env, addr, op->width, &second);
			if (!ok)
				break;
			if (second == unsigned_of(r[op->b], op->width))
				cosy_env_store(&ref->env, addr, op->width, r[op->c]);
			r[op->dst] = second;
			break;
		case COSY_OP_TID:
			r[op->dst] = MOCK_TID;
			break;
		case COSY_OP_COPY:
		case COSY_OP_FILL:
		case COSY_OP_COMPARE:
		case COSY_OP_FIND:
		case COSY_OP_STRLEN:
		case COSY_OP_STRCMP:
		case COSY_OP_STRNLEN:
		case COSY_OP_STRCHR:
		case COSY_OP_STRRCHR:
		case COSY_OP_STPCPY:
			ok = bulk(op, r, &ref->env);
			break;
		case COSY_OP_SYS:
		case COSY_OP_LIBC:
			call(op, r, &ref->env);
			next += op->width;
			break;
		case COSY_OP_UPCALL:
			mock_upcall(r, (uint64_t)op->imm);
			break;
		case COSY_OP_CALL:
			reference_function(op, r);
			next += op->width;
			break;
		default:
			ok = arithmetic(op, r[op->a], second, &r[op->dst]);
			break;
		}
		if (!ok)
			return REFERENCE_FAULT;
		if (next <= ref->pc) {
			ref->charged += ref->pc - next + 1;
			ref->pc = next;
			if (ref->charged > ref->limit)
				return REFERENCE_LIMIT;
		}
		ref->pc = next;
	}
	return REFERENCE_ENDLESS;
}
