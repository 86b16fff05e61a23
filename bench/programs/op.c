// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * op: the cost of a simple operation. Loops with more and more operations are measured; the
 * slope is the cost of an operation. "op" is a mix of operations on registers, op-NAME has
 * operations of one kind, and op-loop is the loop without any.
 */

#include <stdlib.h>

#include "../common/bench.h"
#include "../common/image.h"

/* r0 counts up to r1; r2 points to memory; the operations work on r3 to r5. */
enum { R_I, R_END, R_MEMORY, R_X, R_Y, R_Z, NREGS };
#define NINPUTS 3

#define ITERATIONS 5000
/* Timer interrupts only add time, so the best of a few tries is the cost. */
#define TRIES 3
#define POINTS 4

static struct cosy_op op_add(unsigned int at)
{
	(void)at;
	return (struct cosy_op){ .code = COSY_OP_ADD, .width = 8, .dst = R_X, .a = R_X, .b = R_Y };
}

static struct cosy_op op_sub(unsigned int at)
{
	(void)at;
	return (struct cosy_op){ .code = COSY_OP_SUB, .width = 8, .dst = R_Y, .a = R_Z,
				 .b = COSY_NONE, .imm = 3 };
}

static struct cosy_op op_xor(unsigned int at)
{
	(void)at;
	return (struct cosy_op){ .code = COSY_OP_XOR, .width = 4, .dst = R_Z, .a = R_X, .b = R_Z };
}

static struct cosy_op op_mov(unsigned int at)
{
	(void)at;
	return (struct cosy_op){ .code = COSY_OP_MOV, .dst = R_Y, .a = R_X };
}

static struct cosy_op op_load(unsigned int at)
{
	(void)at;
	return (struct cosy_op){ .code = COSY_OP_LOAD, .width = 8, .dst = R_Z, .a = R_MEMORY, .imm = 8 };
}

static struct cosy_op op_store(unsigned int at)
{
	(void)at;
	return (struct cosy_op){ .code = COSY_OP_STORE, .width = 8, .a = R_MEMORY, .b = R_X, .imm = 16 };
}

/* Never taken: r2 is not NULL. */
static struct cosy_op op_branch(unsigned int at)
{
	return (struct cosy_op){ .code = COSY_OP_BR, .width = 8, .cond = COSY_COND_EQ, .a = R_MEMORY,
				 .b = COSY_NONE, .target = at + 1 };
}

typedef struct cosy_op make_op(unsigned int at);

/*
 * Return the cost of an iteration of a loop with @n operations. Nothing depends on the values
 * that the operations compute.
 */
static double iteration(make_op *const *kinds, unsigned int nkinds, unsigned int n)
{
	struct cosy_op *ops = calloc(n + 2, sizeof(*ops));
	uint64_t frame[NREGS] = { 0 }, memory[4] = { 0 };
	struct cosy *compound;
	uint64_t start, end, best = UINT64_MAX;

	if (!ops)
		bench_die("ops");
	for (unsigned int i = 0; i < n; i++)
		ops[i] = kinds[i % nkinds](i);
	ops[n] = (struct cosy_op){ .code = COSY_OP_LOOP, .width = 8, .dst = R_I, .b = R_END,
				   .imm = 1, .cond = COSY_COND_ULT, .target = 0 };
	ops[n + 1] = (struct cosy_op){ .code = COSY_OP_EXIT };
	compound = image_load(ops, n + 2, NREGS, NINPUTS);
	for (int i = 0; i < TRIES; i++) {
		frame[R_I] = 0;
		frame[R_END] = ITERATIONS;
		frame[R_MEMORY] = (uintptr_t)memory;
		start = bench_now();
		if (cosy_run(compound, frame) != 0)
			bench_die("cosy_run");
		end = bench_now();
		if (end - start < best)
			best = end - start;
	}
	cosy_free(compound);
	free(ops);
	return (double)best / ITERATIONS;
}

static double slope(make_op *const *kinds, unsigned int nkinds)
{
	double x[POINTS], y[POINTS];

	for (unsigned int point = 0; point < POINTS; point++) {
		x[point] = point * nkinds;
		y[point] = iteration(kinds, nkinds, point * nkinds);
	}
	return bench_fit(x, y, POINTS);
}

#define KIND_SLOPE(NAME)					\
	static double slope_##NAME(void)			\
	{							\
		make_op *const kinds[] = {			\
			op_##NAME, op_##NAME, op_##NAME,	\
			op_##NAME, op_##NAME, op_##NAME,	\
		};						\
		return slope(kinds, 6);				\
	}
KIND_SLOPE(add)
KIND_SLOPE(sub)
KIND_SLOPE(xor)
KIND_SLOPE(mov)
KIND_SLOPE(load)
KIND_SLOPE(store)
KIND_SLOPE(branch)

static double slope_mix(void)
{
	make_op *const kinds[] = { op_add, op_xor, op_sub, op_mov, op_branch };

	return slope(kinds, 5);
}

static double slope_loop(void)
{
	return iteration(NULL, 0, 0);
}

#define KIND(NAME) { .name = "op-" #NAME, .per = "operation", .measure = slope_##NAME }

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "op", .per = "operation", .measure = slope_mix },
		KIND(add), KIND(sub), KIND(xor), KIND(mov), KIND(load), KIND(store), KIND(branch),
		KIND(loop),
		{ 0 },
	};

	return bench_main(argc, argv, benches, NULL);
}
