// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * check.c - compare the executor with the reference for a compound.
 */
#include "check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cosy/asm.h>
#include <cosy/exec.h>

#include "reference.h"

#define MAX_STEPS 3000

struct run {
	struct cosy_state st;
	uint64_t regs[COSY_MAX_REGS + 1];
	const struct cosy_code *whole;	/* makes all calls */
	const struct cosy_code *nested;	/* leaves for some */
	bool interrupt;
	uint64_t entries;
};

static void fail(const void *image, size_t size, const char *what)
{
	struct cosy_diag diag;

	fprintf(stderr, "executor and reference differ: %s\n", what);
	cosy_disassemble(image, size, COSY_DIS_PC, stderr, &diag);
	abort();
}

#define CHECK(condition) do {						\
	if (!(condition))						\
		fail(image, size, #condition);				\
} while (0)

static void init_world(uint64_t *regs, unsigned int nregs, struct cosy_env *env,
		       uint64_t seed)
{
	unsigned int i;

	memset(env, 0, sizeof(*env));
	for (i = 0; i < MOCK_SIZE; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		env->memory[i] = seed >> 62 ? (uint8_t)(seed >> 33) : 0;
	}
	for (i = 0; i < nregs; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		regs[i] = seed >> 62 == 0 ? MOCK_BASE + (seed >> 40) % MOCK_SIZE :
			  seed >> 62 == 1 ? (seed >> 40) % 64 : seed;
	}
	env->random = seed;
}

static void init_run(struct run *run, const struct cosy_header *h, uint64_t seed)
{
	memset(&run->st, 0, sizeof(run->st));
	init_world(run->regs, h->nregs, &run->st.env, seed);
	run->regs[h->nregs] = 0;
	run->st.regs = run->regs;
	run->st.errno_addr = MOCK_ERRNO;
}

/* Return, for some operations, a fast path with a large number. */
static cosy_s32 find_fast(const struct cosy_op *op)
{
	return op->imm & 1 ? 255 : -1;
}

/*
 * Any handler may be executed speculatively on any slot. Check that it stays inside the
 * registers and the slots.
 */
static void check_slot(const void *image, size_t size,
		       const struct cosy_code *code, uint32_t pc)
{
	const struct cosy_insn *in = &code->insns[pc];
	const uint32_t end = code->ninsns + COSY_GUARD_SLOTS;
	const int64_t bytes = sizeof(*in);
	int64_t target = (int64_t)(pc + 1) * bytes + in->disp;

	CHECK(in->dst <= code->nregs && in->a <= code->nregs);
	CHECK(in->b <= code->nregs && in->c <= code->nregs);
	CHECK(target >= 0 && target < code->ninsns * bytes);
	CHECK(target % bytes == 0);
	CHECK(in->nargs <= COSY_MAX_ARGS && in->cond < COSY_NR_CONDS);
	CHECK(in->kind <= COSY_INSN_LIBC);
	CHECK(!in->ncases || pc + in->ncases < code->ninsns);
	/* The guard slots themselves have no targets. */
	CHECK(pc >= code->ninsns || pc + 2 + 2 * COSY_MAX_ARGS < end);
}

/* Check that fields of certain operations are 0 in all others. */
static void check_fields(const void *image, size_t size,
			 const struct cosy_code *code)
{
	const struct cosy_op *op = (const void *)((const struct cosy_header *)
						  image + 1);
	uint32_t pc;

	for (pc = 0; pc < code->ninsns + COSY_GUARD_SLOTS; pc++) {
		const struct cosy_insn *in = &code->insns[pc];
		bool call = pc < code->ninsns && (op[pc].code == COSY_OP_SYS ||
						  op[pc].code == COSY_OP_LIBC);

		check_slot(image, size, code, pc);
		CHECK(call || (!in->callee && !in->fast && !in->hints));
		CHECK(!in->fast || in->fast == 255);
	}
}

static struct cosy_code *decode(const void *image, size_t size,
				unsigned int flags)
{
	struct cosy_code *code = malloc(cosy_code_size(image));

	if (!code)
		abort();
	cosy_decode(image, code, flags, find_fast);
	check_fields(image, size, code);
	cosy_decode(image, code, flags, NULL);
	check_fields(image, size, code);
	return code;
}

/* Return the operation before @pc if it is a CALL, otherwise NULL. */
static const struct cosy_op *call_before(const struct cosy_header *h,
					 uint32_t pc)
{
	const struct cosy_op *ops = (const void *)(h + 1), *last = NULL;
	uint32_t i;

	for (i = 0; i < pc; i++)
		if (ops[i].code != COSY_OP_ARG && ops[i].code != COSY_OP_CASE)
			last = &ops[i];
	return last && last->code == COSY_OP_CALL ? last : NULL;
}

/* Run the native code of an up-call, or of a function that was left as one. */
static void call_up(const void *image, struct cosy_state *st)
{
	const struct cosy_op *op = call_before(image, st->pc);

	if (!op)
		mock_upcall(st->regs, st->value);
	else if (st->value == op->c)
		reference_function(op, st->regs);
	else
		abort();
}

/*
 * Make one entry, and do what libcosy does after it. Return false when the compound is done
 * or a fault has ended it; then status says which.
 */
static bool enter(const void *image, struct run *run, enum cosy_status *status)
{
	struct cosy_state *st = &run->st;
	const struct cosy_code *code = run->interrupt ? run->nested : run->whole;

	st->env.refuse = run->interrupt;
	st->env.single = false;
	st->budget = run->interrupt ? (int64_t)(st->env.random >> 40 & 7) :
				      INT64_MAX;
	*status = cosy_exec(code, st);
	run->entries++;
	if (*status == COSY_STEP && run->interrupt) {
		/* In user mode, nothing is refused, and the run is left soon. */
		st->env.refuse = false;
		st->env.single = true;
		*status = cosy_exec(run->whole, st);
		run->entries++;
	}
	switch (*status) {
	case COSY_DONE:
	case COSY_STEP:
		return false;
	case COSY_UPCALL:
		call_up(image, st);
		return true;
	case COSY_RESULT:
		st->env.refuse = false;
		if (st->value == (uint64_t)-MOCK_RESTART)
			st->value = (uint64_t)-EINTR;
		if (!cosy_exec_result(code, st, (long)st->value))
			abort();
		return true;
	default:
		return true;
	}
}

static void compare(const void *image, size_t size, const struct reference *ref,
		    enum reference_end end, struct run *run)
{
	const struct cosy_header *h = image;
	struct cosy_state *st = &run->st;
	enum cosy_status status;

	run->entries = 0;
	while (enter(image, run, &status)) {
		CHECK(cosy_pc_valid(run->whole, st->pc));
		CHECK(!st->regs[h->nregs]);
		/* Each entry makes progress, which bounds their number. */
		CHECK(run->entries < 3 * ref->steps + 8);
	}
	CHECK(end == REFERENCE_DONE ? status == COSY_DONE : status == COSY_STEP);
	if (end == REFERENCE_DONE) {
		CHECK(st->value == ref->value);
	} else {
		CHECK(st->value == COSY_STEP_FAULT);
		CHECK(st->pc == ref->pc);
	}
	CHECK(!memcmp(st->regs, ref->regs, h->nregs * sizeof(*st->regs)));
	CHECK(!memcmp(st->env.memory, ref->env.memory, MOCK_SIZE));
	CHECK(st->env.log == ref->env.log);
	CHECK(st->env.ncalls == ref->env.ncalls);
	CHECK(st->calls == ref->env.ncalls);
}

/* Check that a limit is reached exactly where the charges reach it. */
static void check_limit(const void *image, size_t size, uint64_t seed,
			uint64_t limit, const struct cosy_code *code,
			struct reference *ref, struct run *run)
{
	const struct cosy_header *h = image;
	struct cosy_state *st = &run->st;

	init_world(ref->regs, h->nregs, &ref->env, seed);
	ref->pc = 0;
	ref->limit = limit;
	CHECK(reference_run(image, ref, MAX_STEPS) == REFERENCE_LIMIT);

	init_run(run, h, seed);
	st->budget = (int64_t)limit;
	for (;;) {
		enum cosy_status status = cosy_exec(code, st);

		if (status == COSY_LIMIT)
			break;
		if (status == COSY_RESULT)
			cosy_exec_result(code, st, -EINTR);
		else if (status == COSY_UPCALL)
			call_up(image, st);
		else
			fail(image, size, "limit not reached");
	}
	CHECK(st->value == COSY_LIMIT_OPS);
	CHECK(st->pc == ref->pc);
	CHECK(st->budget == (int64_t)limit - (int64_t)ref->charged);
	CHECK(!memcmp(st->regs, ref->regs, h->nregs * sizeof(*st->regs)));
}

uint64_t check_compound(const void *image, size_t size, uint64_t seed)
{
	const struct cosy_header *h = image;
	static struct reference ref;	/* large */
	static struct run run;
	struct cosy_code *whole, *nested;
	enum reference_end end;
	struct cosy_diag diag;
	uint64_t steps;
	int i;

	if (cosy_verify(image, size, &diag))
		return 0;
	init_world(ref.regs, h->nregs, &ref.env, seed);
	ref.pc = 0;
	ref.limit = UINT64_MAX;
	end = reference_run(image, &ref, MAX_STEPS);
	if (end == REFERENCE_ENDLESS)
		return 0;
	whole = decode(image, size, 0);
	nested = decode(image, size, COSY_DECODE_NESTED);
	for (i = 0; i < 2; i++) {
		init_run(&run, h, seed);
		run.whole = whole;
		run.nested = nested;
		run.interrupt = i;
		compare(image, size, &ref, end, &run);
	}
	steps = ref.steps;
	if (ref.charged)
		check_limit(image, size, seed, seed % ref.charged, whole, &ref,
			    &run);
	free(whole);
	free(nested);
	return steps;
}
