// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * exec.c - the executor: threaded code over the register file in memory.
 *
 * Between two operations all values are in memory: the registers in st->regs, the number of
 * calls in st->calls. ip, the registers' address and the budget are in machine registers
 * and are written back on leaving. So an operation either has happened or has not, wherever
 * a signal, a fault or a limit occurs.
 *
 * A slot contains the address of its handler in 32 bits: in the module the address itself,
 * elsewhere the distance from the first handler.
 *
 * In the module this file needs -fno-gcse, like the kernel's BPF interpreter.
 */
#include <cosy/exec.h>

#include "compiler.h"
#include "handlers.h"

#define MAX_ERRNO_RESULT	4095

/*
 * The budget is kept in bytes of slots, so that a back-edge adds its
 * displacement to both ip and budget.
 */
#define SLOT_BYTES	((cosy_s64)sizeof(struct cosy_insn))

#ifndef cosy_env_divide_error
/* The environment may replace this: raise SIGFPE in the process, then continue. */
static inline bool cosy_env_divide_error(struct cosy_env *env)
{
	env->step = COSY_STEP_FAULT;
	return false;
}
#endif

#ifndef cosy_env_called
/* The environment may replace this. Called after each call and function. */
static inline void cosy_env_called(cosy_self *self)
{
	(void)self;
}
#endif

/* Values shifted to the top bits compare like 64-bit ones at any width. */
static bool narrow_compare(unsigned int cond, cosy_u64 a, cosy_u64 b,
			   unsigned int shift)
{
	a <<= shift;
	b <<= shift;
	switch (cond) {
	case COSY_COND_EQ:
		return a == b;
	case COSY_COND_NE:
		return a != b;
	case COSY_COND_ULT:
		return a < b;
	case COSY_COND_ULE:
		return a <= b;
	case COSY_COND_UGT:
		return a > b;
	case COSY_COND_UGE:
		return a >= b;
	case COSY_COND_SLT:
		return (cosy_s64)a < (cosy_s64)b;
	case COSY_COND_SLE:
		return (cosy_s64)a <= (cosy_s64)b;
	case COSY_COND_SGT:
		return (cosy_s64)a > (cosy_s64)b;
	default:
		return (cosy_s64)a >= (cosy_s64)b;
	}
}

/* Return the CASE slot after @ip whose constant is @val, or @ip for the default. */
static const struct cosy_insn *find_case(const struct cosy_insn *ip,
					 cosy_u64 val)
{
	cosy_u64 low = 1, high = (cosy_u64)ip->ncases + 1;

	while (low < high) {
		cosy_u64 mid = (low + high) / 2;
		cosy_u64 imm = (cosy_u64)ip[mid].imm;

		if (imm == val)
			return &ip[mid];
		if (imm < val)
			low = mid + 1;
		else
			high = mid;
	}
	return ip;
}

static inline const struct cosy_insn *target_of(const struct cosy_insn *ip)
{
	return (const void *)((const char *)(ip + 1) + ip->disp);
}

static inline bool is_failure(cosy_u64 result)
{
	return result >= (cosy_u64)-MAX_ERRNO_RESULT;
}

static bool store_result(const struct cosy_insn *ip, struct cosy_state *st,
			 cosy_u64 result)
{
	if (is_failure(result) && ip->kind == COSY_INSN_LIBC) {
		if (!cosy_env_store(&st->env, st->errno_addr, 4, -result))
			return false;
		result = (cosy_u64)-1;
	}
	st->regs[ip->dst] = result;
	return true;
}

_Bool cosy_exec_result(const struct cosy_code *code, struct cosy_state *st,
		       long result)
{
	const struct cosy_insn *ip = &code->insns[st->pc];

	if (!store_result(ip, st, (cosy_u64)result))
		return false;
	st->pc += 1 + ip->nargs;
	return true;
}

/*
 * objtool needs to know the table of an indirect jump. Here the table was read when the
 * compound was loaded, so each jump refers to it.
 */
#ifdef __KERNEL__
#define JUMP(place) do {					\
	long _to;						\
								\
	asm volatile(".reloc ., R_X86_64_NONE, .Lcosy_handlers\n\t" \
		     "movslq %1, %0" : "=r" (_to) : "m" (place)); \
	goto *(void *)_to;					\
} while (0)
#define NAME_TABLE(table) \
	asm volatile(".set .Lcosy_handlers, %c0" : : "i" (table))
typedef const void *place_entry;
#define PLACE_ENTRY(name)	&&do_##name,
#else
#define JUMP(place)	goto *((const char *)&&do_SLOT + (place))
#define NAME_TABLE(table)
/* Distances need no relocation at the start of a program, unlike addresses. */
typedef cosy_s32 place_entry;
#define PLACE_ENTRY(name)						\
	(cosy_s32)((const char *)&&do_##name - (const char *)&&do_SLOT),
#endif

/*
 * Some hooks return their result through a pointer. It must not point to a variable of
 * cosy_exec(), because that would have to be in memory. So they use st->value, which has no
 * other meaning before the end.
 */
static noinline enum cosy_function_end
call_function(struct cosy_state *st, const struct cosy_insn *ip)
{
	const unsigned int nargs = ip->nargs;
	cosy_u64 args[COSY_MAX_ARGS];
	unsigned int i;

	for (i = 0; i < nargs; i++)
		args[i] = st->regs[ip[1 + i].a] + (cosy_u64)ip[1 + i].imm;
	return cosy_env_function(&st->env, COSY_INSN_FUNCTION(ip), args, nargs,
				 &st->value);
}

/*
 * Store the result of a failing call. Without this, the compiler would move the result to
 * memory in all other cases, too.
 */
static inline void keep(struct cosy_state *st, cosy_u64 result)
{
	cosy_u64 kept = result;

	OPTIMIZER_HIDE_VAR(kept);
	st->value = kept;
}

/*
 * cosy_exec_link() calls this with @st NULL. Then it returns the addresses of the handlers.
 * It is not inlined there: NAME_TABLE() defines a symbol, which is possible only once.
 */
noinline enum cosy_status cosy_exec(const struct cosy_code *code, struct cosy_state *st)
{
	static const place_entry table[] __annotate_jump_table = {
		COSY_HANDLERS(PLACE_ENTRY)
	};
	const struct cosy_insn *ip;
	cosy_u64 *regs;
	cosy_self *self;
	cosy_s64 budget;
	enum cosy_status status;
	cosy_u64 result;

	NAME_TABLE(table);
	if (unlikely(!st)) {
		struct cosy_insn *in = (struct cosy_insn *)code->insns;
		cosy_u32 pc;

		for (pc = 0; pc < code->ninsns + COSY_GUARD_SLOTS; pc++) {
			cosy_s32 handler = in[pc].handler;

			if (pc % SLOTS_IN_A_GO == 0)
				relax();
			if (handler >= COSY_H_SYS_0 && handler <= COSY_H_FAST)
				in[pc].callee =
					cosy_env_callee((cosy_u32)in[pc].imm);
			in[pc].handler = (cosy_s32)(long)table[handler];
		}
		return COSY_DONE;
	}
	ip = &code->insns[st->pc];
	regs = st->regs;
	self = cosy_env_self(st);
	/* Keep the value, so that it is not computed again each time. */
	OPTIMIZER_HIDE_VAR(self);
	budget = st->budget;
	if (budget > (cosy_s64)COSY_MAX_LIMIT)
		budget = COSY_MAX_LIMIT;
	budget *= SLOT_BYTES;

#define DST	regs[ip->dst]
#define A	regs[ip->a]
#define B	regs[ip->b]
#define C	regs[ip->c]
#define IMM	((cosy_u64)ip->imm)
#define DISPATCH() JUMP(ip->handler)
#define NEXT() do { ip++; DISPATCH(); } while (0)

/* A back-edge: charge its slots, and check for pending work. */
#define BACK() do {						\
	budget += ip->disp;					\
	ip = target_of(ip);					\
	if (unlikely(budget < 0))				\
		goto limit;					\
	if (unlikely(cosy_env_leave(self)))			\
		goto again;					\
	DISPATCH();						\
} while (0)
#define FORWARD() do { ip = target_of(ip); DISPATCH(); } while (0)

	DISPATCH();

/* Operations that can be in pairs. */
#define DO_CONST	(DST = IMM)
#define DO_MOV		(DST = A)
#define DO_ADD_RR4	(DST = (cosy_u32)(A + B))
#define DO_ADD_RI4	(DST = (cosy_u32)(A + IMM))
#define DO_ADD_DR4	(DST = (cosy_u32)(DST + B))
#define DO_ADD_DI4	(DST = (cosy_u32)(DST + IMM))
#define DO_ADD_RR8	(DST = A + B)
#define DO_ADD_RI8	(DST = A + IMM)
#define DO_ADD_DR8	(DST += B)
#define DO_ADD_DI8	(DST += IMM)

#define PAIR(FIRST, SECOND, unused)				\
do_##FIRST##_##SECOND:						\
	DO_##FIRST;						\
	ip++;							\
	DO_##SECOND;						\
	NEXT();
#define PAIRS(FIRST, unused) COSY_PAIR_SECONDS(PAIR, FIRST, )

	COSY_PAIR_FIRSTS(PAIRS, )

do_SLOT:
	NEXT();
do_CONST:
	DO_CONST;
	NEXT();
do_MOV:
	DO_MOV;
	NEXT();

#define EXTEND(name, from, to)					\
do_##name:							\
	DST = (to)(from)A;					\
	NEXT()

	EXTEND(SEXT_1_2, signed char, unsigned short);
	EXTEND(SEXT_1_4, signed char, cosy_u32);
	EXTEND(SEXT_1_8, signed char, cosy_u64);
	EXTEND(SEXT_2_4, short, cosy_u32);
	EXTEND(SEXT_2_8, short, cosy_u64);
	EXTEND(SEXT_4_8, cosy_s32, cosy_u64);
	EXTEND(ZEXT_1, cosy_u8, cosy_u64);
	EXTEND(ZEXT_2, cosy_u16, cosy_u64);
	EXTEND(ZEXT_4, cosy_u32, cosy_u64);

/*
 * The operators: x and y are the operands, U and S their unsigned and signed
 * types, bits their width.
 */
#define DO_ADD(U, S, bits)	((U)(x + y))
#define DO_SUB(U, S, bits)	((U)(x - y))
#define DO_MUL(U, S, bits)	((U)(x * y))
#define DO_AND(U, S, bits)	((U)(x & y))
#define DO_OR(U, S, bits)	((U)(x | y))
#define DO_XOR(U, S, bits)	((U)(x ^ y))
#define DO_SHL(U, S, bits)	((U)(x << (y & ((bits) - 1))))
#define DO_LSHR(U, S, bits)	((U)(x >> (y & ((bits) - 1))))
#define DO_ASHR(U, S, bits)	((U)((S)x >> (y & ((bits) - 1))))
#define DO_UDIV(U, S, bits)	((U)(x / y))
#define DO_UREM(U, S, bits)	((U)(x % y))
#define DO_SDIV(U, S, bits)	((U)((S)x / (S)y))
#define DO_SREM(U, S, bits)	((U)((S)x % (S)y))

#define NO_CHECK(U, S)
#define CHECK_ZERO(U, S) do {					\
	if (unlikely(!y))					\
		goto divide_error;				\
} while (0)
#define CHECK_OVERFLOW(U, S) do {				\
	if (unlikely(!y || (y == (U)-1 &&			\
			    x == (U)1 << (sizeof(U) * 8 - 1)))) \
		goto divide_error;				\
} while (0)

#define ALU_ONE(name, OP, CHECK, U, S, first, second) \
do_##name: {							\
		const U x = (U)(first);				\
		const U y = (U)(second);			\
								\
		CHECK(U, S);					\
		DST = DO_##OP(U, S, (sizeof(U) * 8));		\
	}							\
	NEXT()

/* Narrow values are extended to 64 bits by EXT, and truncated again. */
#define ALU(OP, CHECK, EXT) \
	ALU_ONE(OP##_RR4, OP, CHECK, cosy_u32, cosy_s32, A, B);	\
	ALU_ONE(OP##_RI4, OP, CHECK, cosy_u32, cosy_s32, A, IMM); \
	ALU_ONE(OP##_DR4, OP, CHECK, cosy_u32, cosy_s32, DST, B); \
	ALU_ONE(OP##_DI4, OP, CHECK, cosy_u32, cosy_s32, DST, IMM); \
	ALU_ONE(OP##_RR8, OP, CHECK, cosy_u64, cosy_s64, A, B);	\
	ALU_ONE(OP##_RI8, OP, CHECK, cosy_u64, cosy_s64, A, IMM); \
	ALU_ONE(OP##_DR8, OP, CHECK, cosy_u64, cosy_s64, DST, B); \
	ALU_ONE(OP##_DI8, OP, CHECK, cosy_u64, cosy_s64, DST, IMM); \
do_##OP##_N: {							\
		const unsigned int shift = ip->above * 8;	\
		const cosy_u64 x = (cosy_u64)((EXT)(A << shift) >> shift); \
		const cosy_u64 y =				\
			(cosy_u64)((EXT)((B + IMM) << shift) >> shift); \
								\
		CHECK(cosy_u64, cosy_s64);			\
		DST = DO_##OP(cosy_u64, cosy_s64, (64 - shift)) << shift >> shift; \
	}							\
	NEXT()

	ALU(ADD, NO_CHECK, cosy_u64);
	ALU(SUB, NO_CHECK, cosy_u64);
	ALU(MUL, NO_CHECK, cosy_u64);
	ALU(UDIV, CHECK_ZERO, cosy_u64);
	ALU(SDIV, CHECK_OVERFLOW, cosy_s64);
	ALU(UREM, CHECK_ZERO, cosy_u64);
	ALU(SREM, CHECK_OVERFLOW, cosy_s64);
	ALU(AND, NO_CHECK, cosy_u64);
	ALU(OR, NO_CHECK, cosy_u64);
	ALU(XOR, NO_CHECK, cosy_u64);
	ALU(SHL, NO_CHECK, cosy_u64);
	ALU(LSHR, NO_CHECK, cosy_u64);
	ALU(ASHR, NO_CHECK, cosy_s64);

divide_error:
	if (!cosy_env_divide_error(&st->env))
		goto step;
	DST = 0;
	NEXT();

/* SET and BR for each condition. ACT(test) uses the result. */
#define COMPARE_ONE(name, ACT, T, op, second)			\
do_##name:							\
	ACT((T)A op (T)(second));				\
	NEXT()

#define COMPARE_RR(OP, ACT, U, S)				\
	COMPARE_ONE(OP##_EQ, ACT, U, ==, B);			\
	COMPARE_ONE(OP##_NE, ACT, U, !=, B);			\
	COMPARE_ONE(OP##_ULT, ACT, U, <, B);			\
	COMPARE_ONE(OP##_ULE, ACT, U, <=, B);			\
	COMPARE_ONE(OP##_SLT, ACT, S, <, B);			\
	COMPARE_ONE(OP##_SLE, ACT, S, <=, B)

#define COMPARE_ALL(OP, ONE, ACT, U, S, second)			\
	ONE(OP##_EQ, ACT, U, ==, second);			\
	ONE(OP##_NE, ACT, U, !=, second);			\
	ONE(OP##_ULT, ACT, U, <, second);			\
	ONE(OP##_ULE, ACT, U, <=, second);			\
	ONE(OP##_UGT, ACT, U, >, second);			\
	ONE(OP##_UGE, ACT, U, >=, second);			\
	ONE(OP##_SLT, ACT, S, <, second);			\
	ONE(OP##_SLE, ACT, S, <=, second);			\
	ONE(OP##_SGT, ACT, S, >, second);			\
	ONE(OP##_SGE, ACT, S, >=, second)

#define COMPARE(OP, ACT)					\
	COMPARE_RR(OP##_RR4, ACT, cosy_u32, cosy_s32);		\
	COMPARE_RR(OP##_RR8, ACT, cosy_u64, cosy_s64);		\
	COMPARE_ALL(OP##_RI4, COMPARE_ONE, ACT, cosy_u32, cosy_s32, IMM); \
	COMPARE_ALL(OP##_RI8, COMPARE_ONE, ACT, cosy_u64, cosy_s64, IMM); \
do_##OP##_N:							\
	ACT(narrow_compare(ip->cond, A, B + IMM,	\
			   ip->above * 8));	\
	NEXT()

#define ACT_SET(test)	(DST = (test))
#define ACT_FORWARD(test) do { if (test) FORWARD(); } while (0)
#define ACT_BACK(test)	do { if (test) BACK(); } while (0)

	COMPARE(SET, ACT_SET);
	COMPARE(BR_F, ACT_FORWARD);
	COMPARE(BR_B, ACT_BACK);

do_SELECT:
	DST = A ? B : C;
	NEXT();
do_JMP_F:
	FORWARD();
do_JMP_B:
	BACK();

#define LOOP_ONE(name, ACT, T, op, second)			\
do_##name: {							\
		const T x = (T)(DST + IMM);			\
								\
		DST = sizeof(T) == 4 ? (cosy_u32)x : (cosy_u64)x; \
		ACT(x op (T)(second));				\
	}							\
	NEXT()

	COMPARE_ALL(LOOP_B4, LOOP_ONE, ACT_BACK, cosy_u32, cosy_s32, B);
	COMPARE_ALL(LOOP_B8, LOOP_ONE, ACT_BACK, cosy_u64, cosy_s64, B);
do_LOOP_N:
	DST = (DST + IMM) << ip->above * 8 >> ip->above * 8;
	if (!narrow_compare(ip->cond, DST, B, ip->above * 8))
		NEXT();
	if (ip->disp < 0)
		BACK();
	FORWARD();

do_SWITCH: {
		const struct cosy_insn *from = ip;

		ip = find_case(ip, A << ip->above * 8 >> ip->above * 8);
		ip = target_of(ip);
		if (ip > from)
			DISPATCH();
		budget += (const char *)ip - (const char *)(from + 1);
	}
	if (unlikely(budget < 0))
		goto limit;
	if (unlikely(cosy_env_leave(self)))
		goto again;
	DISPATCH();

do_EXIT:
	/* The run cannot be resumed, so pc and budget are not computed. */
	st->value = IMM;
	return COSY_DONE;
do_UPCALL:
	st->value = IMM;
	status = COSY_UPCALL;
	ip++;
	goto leave;

do_FUNCTION:
	switch (call_function(st, ip)) {
	case COSY_FUNCTION_RETURNED:
		DST = st->value;
		ip += 1 + ip->nargs;
		cosy_env_called(self);
		if (unlikely(cosy_env_leave(self)))
			goto again;
		DISPATCH();
	case COSY_FUNCTION_NATIVE:
		st->value = (cosy_u64)COSY_INSN_UPCALL_NR(ip);
		status = COSY_UPCALL;
		ip += 1 + ip->nargs;
		goto leave;
	case COSY_FUNCTION_SUSPENDED:
		status = (enum cosy_status)st->value;
		goto leave;
	default:
		status = COSY_FAILED;
		goto leave;
	}

#define LOAD(width)						\
do_LOAD_##width:						\
	if (unlikely(!cosy_env_load(&st->env, A + IMM, width, &DST))) \
		goto fault;					\
	NEXT()

	LOAD(1);
	LOAD(2);
	LOAD(4);
	LOAD(8);

#define STORE(width)						\
do_STORE_##width:						\
	if (unlikely(!cosy_env_store(&st->env, A + IMM, width, B))) \
		goto fault;					\
	NEXT()

	STORE(1);
	STORE(2);
	STORE(4);
	STORE(8);

do_COPY:
	if (unlikely(!cosy_env_copy(&st->env, A, B, C)))
		goto step;
	NEXT();
do_FILL:
	if (unlikely(!cosy_env_fill(&st->env, A, (cosy_u8)B, C)))
		goto step;
	NEXT();
#define BULK_RESULT(name, hook, ...)				\
do_##name:							\
	if (unlikely(!hook(&st->env, __VA_ARGS__, &st->value)))	\
		goto step;					\
	DST = st->value;					\
	NEXT()

	BULK_RESULT(COMPARE, cosy_env_compare, A, B, C);
	BULK_RESULT(FIND, cosy_env_find, A, (cosy_u8)B, C);
	BULK_RESULT(STRLEN, cosy_env_strlen, A, ~0ull);
	BULK_RESULT(STRCMP, cosy_env_strcmp, A, B, C);
	BULK_RESULT(STRNLEN, cosy_env_strlen, A, B);
	BULK_RESULT(STRCHR, cosy_env_strchr, A, (cosy_u8)B);
	BULK_RESULT(STRRCHR, cosy_env_strrchr, A, (cosy_u8)B);
	BULK_RESULT(STPCPY, cosy_env_stpcpy, A, B);

#define CMPXCHG(width)						\
do_CMPXCHG_##width:						\
	if (unlikely(!cosy_env_cmpxchg(&st->env, A, width, B, C, &DST))) \
		goto fault;					\
	NEXT()

	CMPXCHG(1);
	CMPXCHG(2);
	CMPXCHG(4);
	CMPXCHG(8);

do_TID:
	DST = cosy_env_tid(&st->env);
	NEXT();

#define ARG(i)	cosy_env_arg(&st->env, i, regs[ip[1 + (i)].a] + \
					  (cosy_u64)ip[1 + (i)].imm)
#define ARGS_0
#define ARGS_1	ARG(0)
#define ARGS_2	ARGS_1; ARG(1)
#define ARGS_3	ARGS_2; ARG(2)
#define ARGS_4	ARGS_3; ARG(3)
#define ARGS_5	ARGS_4; ARG(4)
#define ARGS_6	ARGS_5; ARG(5)

#define CALL(name, nargs)					\
do_##name##_##nargs:						\
	ARGS_##nargs;						\
	if (unlikely(!cosy_env_may_call(self, st, ip)))			\
		goto step;					\
	st->calls++;						\
	result = (cosy_u64)cosy_env_call(&st->env, (unsigned int)ip->imm, \
					 ip->callee);			\
	if (unlikely(is_failure(result))) {			\
		keep(st, result);				\
		goto failure;					\
	}							\
	DST = result;						\
	ip += 1 + (nargs);					\
	cosy_env_called(self);					\
	if (unlikely(cosy_env_leave(self)))			\
		goto again;					\
	DISPATCH()

#define CALLS(name)						\
	CALL(name, 0);						\
	CALL(name, 1);						\
	CALL(name, 2);						\
	CALL(name, 3);						\
	CALL(name, 4);						\
	CALL(name, 5);						\
	CALL(name, 6)

	CALLS(SYS);
	CALLS(LIBC);

#ifdef cosy_env_fast
do_FAST:
	if (unlikely(!cosy_env_may_fast(self, st, ip)))
		goto step;
	st->calls++;
	{
		struct cosy_made made = cosy_env_fast(st, ip);

		ip = made.ip;
		result = made.result;
	}
	if (unlikely(is_failure(result))) {
		keep(st, result);
		goto failure;
	}
	DST = result;
	ip += 1 + ip->nargs;
	cosy_env_called(self);
	if (unlikely(cosy_env_leave(self)))
		goto again;
	DISPATCH();
#else
do_FAST:	/* cosy_decode() is given no fast paths */
#endif
do_STEP_CALL:
	st->value = COSY_STEP_CALL;
	status = COSY_STEP;
	goto leave;
failure:
	if (cosy_env_restart(&st->env, (long)st->value) ||
	    !store_result(ip, st, st->value)) {
		status = COSY_RESULT;
		goto leave;
	}
	ip += 1 + ip->nargs;
	cosy_env_called(self);
	if (cosy_env_leave(self))
		goto again;
	DISPATCH();

fault:
	st->value = COSY_STEP_FAULT;
	status = COSY_STEP;
	goto leave;
step:
	st->value = st->env.step;
	status = COSY_STEP;
	goto leave;
limit:
	st->value = COSY_LIMIT_OPS;
	status = COSY_LIMIT;
	goto leave;
again:
	/* Return 0, and not the previous contents. */
	st->value = 0;
	status = COSY_AGAIN;
leave:
	st->pc = (cosy_u32)(ip - code->insns);
	st->budget = budget / SLOT_BYTES;
	return status;
}

void cosy_exec_link(struct cosy_code *code)
{
	cosy_exec(code, NULL);
}
