/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * costs.h - what a compound costs and saves, in guest instructions.
 *
 * The plugin predicts with these figures, and libcosy decides with them whether a
 * region runs as a compound. Each figure is the difference to native code that
 * ./cosy bench --instructions NAME measures (Linux 6.12, mitigations=off);
 * docs/porting.md has the table.
 */
#ifndef COSY_COSTS_H
#define COSY_COSTS_H

/* Entering and leaving: bench fit, 592 - 16. */
#define COSY_COST_ENTRY		576
/* Leaving for an up-call and entering again: bench upcall, 687 - 6. */
#define COSY_COST_UPCALL	681

/* Bench op: an operation, a load or store, a jump back. */
#define COSY_COST_OPERATION	7
#define COSY_COST_MEMORY	15
#define COSY_COST_LOOP		16

/* The crossing that a call saves: bench fit, 305.4 - 108.5. */
#define COSY_CALL_SAVES		197

/*
 * The most that a call saves for which there may be a fast path: per name among its
 * arguments, bench newfstatat, 3391 - 1368; of COSY_FILE_CALLS, a third of bench
 * smallfile, 10578 - 6853, without openclose, 5542 - 3926.
 */
#define COSY_NAME_CALL_SAVES	2000
#define COSY_FILE_CALL_SAVES	700

/* Calls with a fast path that have no name among their arguments. */
#define COSY_FILE_CALLS(CALL) \
	CALL(close) CALL(fstat) CALL(getdents64) CALL(pread64) CALL(pwrite64) \
	CALL(read) CALL(write)

#endif /* COSY_COSTS_H */
