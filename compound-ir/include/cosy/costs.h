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

/* Entering and leaving: bench fit, 585 - 18. */
#define COSY_COST_ENTRY		567
/* Leaving for an up-call and entering again: bench upcall, 755 - 6. */
#define COSY_COST_UPCALL	749

/* Bench op: an operation, a load or store, a jump back. */
#define COSY_COST_OPERATION	7
#define COSY_COST_MEMORY	15
#define COSY_COST_LOOP		16

/* The crossing that a call saves: bench fit, 306.2 - 109.1. */
#define COSY_CALL_SAVES		197

/*
 * The most that a call saves for which there may be a fast path: per name among its
 * arguments, bench newfstatat, 3389 - 1374; of COSY_FILE_CALLS, a third of bench
 * smallfile, 10586 - 6493, without openclose, 5548 - 3948.
 */
#define COSY_NAME_CALL_SAVES	2000
#define COSY_FILE_CALL_SAVES	831

/* Calls with a fast path that have no name among their arguments. */
#define COSY_FILE_CALLS(CALL) \
	CALL(close) CALL(fstat) CALL(getdents64) CALL(pread64) CALL(pwrite64) \
	CALL(read) CALL(write)

#endif /* COSY_COSTS_H */
