// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A run that consists of bulk operations in a straight line leaves when its time slice is over, as one that
 * loops does. Otherwise it would take hours in one entry, and the limits of an administrator would not hold.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#define LENGTH	(512u << 10)
#define OPERATIONS 4096

enum { RESULT, STRING, NREGS };

int main(void)
{
	static struct cosy_op ops[OPERATIONS + 1];
	static __u64 frame[NREGS];
	struct cosy_run run = { .frame = (uintptr_t)frame };
	int dev = open_device();
	char *string = must_map(LENGTH + 1);
	long ret;

	memset(string, 'x', LENGTH);
	for (unsigned int i = 0; i < OPERATIONS; i++)
		ops[i] = (struct cosy_op)STRLEN(RESULT, STRING);
	ops[OPERATIONS] = (struct cosy_op)EXIT(0);
	frame[STRING] = (uintptr_t)string;
	run.handle = must_load_ops(dev, ops, OPERATIONS + 1, NREGS);
	/* The kernel's own work is no reason to begin anew. */
	do
		ret = enter(dev, &run);
	while (ret == COSY_RUN_LEFT && run.status == COSY_AGAIN);
	check(ret == COSY_RUN_LEFT && run.status == COSY_STEP && run.value == COSY_STEP_BULK,
	      "it leaves in an operation: %lx, status %u, value %llu, pc %u", (unsigned long)ret, run.status,
	      (unsigned long long)run.value, run.pc);
	check(run.pc < OPERATIONS && (!run.pc || frame[RESULT] == LENGTH), "what it has done is right");
	frame[RESULT] = 0;
	run.pc = OPERATIONS - 1;
	run.status = COSY_AGAIN;
	check(run_on(dev, &run) == done(0) && frame[RESULT] == LENGTH, "it goes on");
	return finish();
}
