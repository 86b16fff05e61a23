// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A run that consists of bulk operations in a straight line leaves when its time slice is over, and its time
 * is counted, as that of one that loops. Otherwise the limits of an administrator would not hold, and it
 * could take hours.
 */
// RUN: %compile %s -o %t
// In a VM of its own, because the limit applies to all processes.
// RUN: %root/scripts/vm/run -- sh -c 'echo 20 >/sys/module/cosy/parameters/max_run_ms && timeout 600 %t'
#include "compound.h"

#define LENGTH	(512u << 10)
#define OPERATIONS 4096

enum { RESULT, STRING, NREGS };

/* Enter until a limit is exceeded, or the end. Make an operation that is left, as user mode does. */
static long run_all(int dev, struct cosy_run *run, __u64 *frame)
{
	long ret;

	do {
		ret = enter(dev, run);
		if (ret == COSY_RUN_LEFT && run->status == COSY_STEP && run->value == COSY_STEP_BULK) {
			frame[RESULT] = LENGTH;
			run->pc++;
			run->status = COSY_AGAIN;
		}
	} while (ret == COSY_RUN_LEFT && run->status == COSY_AGAIN && !(run->flags & COSY_RUN_CAPPED));
	return ret;
}

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
	ret = run_all(dev, &run, frame);
	check(ret == COSY_RUN_LEFT && run.flags & COSY_RUN_CAPPED && run.pc < OPERATIONS &&
	      frame[RESULT] == LENGTH, "it exceeds max_run_ms before its end: %lx, flags %x, pc %u of %u",
	      (unsigned long)ret, run.flags, run.pc, OPERATIONS);
	return finish();
}
