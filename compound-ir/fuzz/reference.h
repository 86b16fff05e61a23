/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * reference.h - a second implementation of the compound IR, as simple as possible.
 *
 * It follows compound-ir/README.md, slot by slot, in wide integers. It shares only the
 * environment for tests with the executor.
 */
#ifndef COSY_FUZZ_REFERENCE_H
#define COSY_FUZZ_REFERENCE_H

#include <cosy/format.h>
#include <cosy_env.h>

enum reference_end {
	REFERENCE_DONE,		/* by exit number value */
	REFERENCE_FAULT,	/* at pc */
	REFERENCE_LIMIT,	/* the limit was reached; pc is the next operation */
	REFERENCE_ENDLESS,	/* stopped after max_steps operations */
};

/**
 * struct reference - a run
 * @regs:  registers; set by the caller
 * @env:   set by the caller; nothing is refused
 * @pc:    in: where to begin; out: of a fault or limit
 * @limit: the maximum that back-edges may charge
 * @value: out: number of the exit
 * @steps: out: operations executed
 * @charged: out: charged by back-edges
 */
struct reference {
	uint64_t regs[COSY_MAX_REGS];
	struct cosy_env env;
	uint32_t pc;
	uint64_t limit;
	uint64_t value;
	uint64_t steps;
	uint64_t charged;
};

/**
 * reference_function() - call a user function
 * @op: a CALL, its ARG slots after it
 * @r:  the registers
 */
void reference_function(const struct cosy_op *op, uint64_t *r);

/* An up-call, the same for both implementations. */
static inline void mock_upcall(uint64_t *regs, uint64_t number)
{
	regs[0] = regs[0] * 3 + number;
}

/**
 * reference_run() - run a compound to its end
 * @image:     an image that verifies
 * @r:         the run
 * @max_steps: maximum number of operations
 */
enum reference_end reference_run(const void *image, struct reference *r,
				 uint64_t max_steps);

#endif /* COSY_FUZZ_REFERENCE_H */
