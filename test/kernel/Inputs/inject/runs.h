/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * runs.h - runs of compounds.
 */
#ifndef RUNS_H
#define RUNS_H

#include "operation.h"

static void run_begins(void)
{
	memset(frame, 0, sizeof(frame));
	memset(&run, 0, sizeof(run));
	memset(buffer, 1, 4096);
	for (int i = 1; i < 4; i++)
		buffer[1000 * i + LENGTH] = 0;
	run.handle = handle;
	run.frame = (uintptr_t)frame;
	run.errno_addr = (uintptr_t)&errno;
	for (int i = 1; i < 4; i++)
		frame[i] = (uintptr_t)buffer + 1000 * i;
	frame[4] = LENGTH;
}

/*
 * A run is entered again until it is done: after up-calls, and after faults and denials, which are
 * not repeated.
 */
static long run_it(void)
{
	long ret;

	for (int entries = 0; entries < 1000; entries++) {
		ret = enter(dev, &run);
		if (entries && (ret == -EFAULT || ret == -ENOMEM))
			ret = COSY_RUN_LEFT;
		if (ret != COSY_RUN_LEFT || run.status == COSY_FAILED)
			return ret;
		run.status = COSY_AGAIN;
	}
	return ret;
}

static __u64 arithmetic, counted, many_registers, memory, strings, upcalls;

static void run_arithmetic(void)
{
	handle = arithmetic;
	run_begins();
}

static void run_counted(void)
{
	handle = counted;
	run_begins();
	run.flags = COSY_RUN_COUNT | COSY_RUN_LIMIT;
	run.limit = 40;
}

static void run_many(void)
{
	handle = many_registers;
	run_begins();
}

static void run_memory(void)
{
	handle = memory;
	run_begins();
}

static void run_strings(void)
{
	handle = strings;
	run_begins();
}

static void run_upcalls(void)
{
	handle = upcalls;
	run_begins();
}

static void load_programs(void)
{
	struct cosy_op ops[100];

	arithmetic = must_load(dev, 7, ADDI(0, 0, 5), MOV(1, 0), ADDI(6, 1, 5), EXIT(0));
	counted = must_load(dev, 7, CONST(5, 100), CONST(6, 0), ADDI(0, 0, 1),
			    LOOP(6, 5, 2), EXIT(0));
	for (int i = 0; i < 99; i++)
		ops[i] = (struct cosy_op)ADDI(i, i + 1, 1);
	ops[99] = (struct cosy_op)EXIT(0);
	many_registers = must_load_ops(dev, ops, 100, 100);
	memory = must_load(dev, 7, LOAD(1, 5, 1), LOAD(2, 5, 1), LOAD(4, 5, 1), LOAD(8, 5, 1),
			   STORE(1, 2, 5), STORE(2, 2, 5), STORE(4, 2, 5), STORE(8, 2, 5),
			   COPY(2, 1, 4), FILL(3, 4, 4), COMPARE(5, 1, 2, 4),
			   FIND(6, 1, 5, 4), EXIT(0));
	strings = must_load(dev, 7, STRLEN(5, 1), EXIT(0));
	upcalls = must_load(dev, 7, ADDI(0, 0, 5), UPCALL(1), ADDI(0, 0, 1), UPCALL(2),
			    ADDI(0, 0, 1), EXIT(0));
}

static void try_runs(void)
{
	static const struct operation ops[] = {
		OPERATION("run", run_arithmetic, run_it, NULL, COSY_RUN_DONE, .exact = true),
		OPERATION("run, counted, with a limit", run_counted, run_it, NULL, COSY_RUN_DONE,
			  .exact = true),
		OPERATION("run with many registers", run_many, run_it, NULL, COSY_RUN_DONE, .exact = true),
		OPERATION("run with memory", run_memory, run_it, NULL, COSY_RUN_DONE, .exact = true),
		OPERATION("run with strings", run_strings, run_it, NULL, COSY_RUN_DONE, .exact = true),
		OPERATION("run with up-calls", run_upcalls, run_it, NULL, COSY_RUN_DONE, .exact = true),
	};

	load_programs();
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		try(&ops[i]);
	write_number("/sys/module/cosy/parameters/max_run_operations", 1000000);
	try(&(struct operation)OPERATION("run, limited by the administrator", run_counted, run_it,
					 NULL, COSY_RUN_DONE, .exact = true));
	try(&(struct operation)OPERATION("the same with up-calls", run_upcalls, run_it, NULL,
					 COSY_RUN_DONE, .exact = true));
	write_number("/sys/module/cosy/parameters/max_run_operations", 0);
}

#endif /* RUNS_H */
