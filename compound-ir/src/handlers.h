/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * handlers.h - the names of the executor's handlers. The decoder chooses from them and the
 * executor defines them.
 *
 * Suffixes: 4, 8 and N are the width (N: 1 or 2, known at run time). RR means register and
 * register, RI register and constant. DR and DI mean the same with dst as the first
 * operand. An N handler's second operand is b + imm.
 */
#ifndef COSY_HANDLERS_H
#define COSY_HANDLERS_H

#include <cosy/decode.h>

#define COSY_ALU_HANDLERS(H, OP) \
	H(OP##_RR4) H(OP##_RI4) H(OP##_DR4) H(OP##_DI4) \
	H(OP##_RR8) H(OP##_RI8) H(OP##_DR8) H(OP##_DI8) \
	H(OP##_N)

/* Two registers can be exchanged, so GT and GE become LT and LE. */
#define COSY_RR_CONDS(H, OP) \
	H(OP##_EQ) H(OP##_NE) H(OP##_ULT) H(OP##_ULE) H(OP##_SLT) H(OP##_SLE)

#define COSY_ALL_CONDS(H, OP) \
	H(OP##_EQ) H(OP##_NE) \
	H(OP##_ULT) H(OP##_ULE) H(OP##_UGT) H(OP##_UGE) \
	H(OP##_SLT) H(OP##_SLE) H(OP##_SGT) H(OP##_SGE)

#define COSY_COMPARE_HANDLERS(H, OP) \
	COSY_RR_CONDS(H, OP##_RR4) COSY_RR_CONDS(H, OP##_RR8) \
	COSY_ALL_CONDS(H, OP##_RI4) COSY_ALL_CONDS(H, OP##_RI8) \
	H(OP##_N)

/*
 * Pairs of operations that are frequent in compiled code - copies, constants, addresses and
 * counters - have one handler, which halves the dispatches. None of them can leave.
 */
#define COSY_PAIR_FIRSTS(X, H) \
	X(CONST, H) X(MOV, H) \
	X(ADD_RR4, H) X(ADD_RI4, H) X(ADD_DR4, H) X(ADD_DI4, H) \
	X(ADD_RR8, H) X(ADD_RI8, H) X(ADD_DR8, H) X(ADD_DI8, H)
#define COSY_PAIR_SECONDS(X, FIRST, H) \
	X(FIRST, CONST, H) X(FIRST, MOV, H) \
	X(FIRST, ADD_RR4, H) X(FIRST, ADD_RI4, H) \
	X(FIRST, ADD_DR4, H) X(FIRST, ADD_DI4, H) \
	X(FIRST, ADD_RR8, H) X(FIRST, ADD_RI8, H) \
	X(FIRST, ADD_DR8, H) X(FIRST, ADD_DI8, H)
#define COSY_PAIR_NAME(FIRST, SECOND, H)	H(FIRST##_##SECOND)
#define COSY_PAIRS_WITH(FIRST, H) \
	COSY_PAIR_SECONDS(COSY_PAIR_NAME, FIRST, H)
#define COSY_PAIR_HANDLERS(H)	COSY_PAIR_FIRSTS(COSY_PAIRS_WITH, H)

#define COSY_HANDLERS(H) \
	H(SLOT)		/* ARG or CASE, not an operation */ \
	H(CONST) H(MOV) \
	H(SEXT_1_2) H(SEXT_1_4) H(SEXT_1_8) \
	H(SEXT_2_4) H(SEXT_2_8) H(SEXT_4_8) \
	H(ZEXT_1) H(ZEXT_2) H(ZEXT_4) \
	COSY_ALU_HANDLERS(H, ADD) COSY_ALU_HANDLERS(H, SUB) \
	COSY_ALU_HANDLERS(H, MUL) \
	COSY_ALU_HANDLERS(H, UDIV) COSY_ALU_HANDLERS(H, SDIV) \
	COSY_ALU_HANDLERS(H, UREM) COSY_ALU_HANDLERS(H, SREM) \
	COSY_ALU_HANDLERS(H, AND) COSY_ALU_HANDLERS(H, OR) \
	COSY_ALU_HANDLERS(H, XOR) \
	COSY_ALU_HANDLERS(H, SHL) COSY_ALU_HANDLERS(H, LSHR) \
	COSY_ALU_HANDLERS(H, ASHR) \
	COSY_COMPARE_HANDLERS(H, SET) \
	H(SELECT) \
	H(JMP_F) H(JMP_B)	/* forward, backward */ \
	COSY_COMPARE_HANDLERS(H, BR_F) COSY_COMPARE_HANDLERS(H, BR_B) \
	COSY_ALL_CONDS(H, LOOP_B4) COSY_ALL_CONDS(H, LOOP_B8) \
	H(LOOP_N)	/* narrow, or forward */ \
	H(SWITCH) H(EXIT) \
	H(LOAD_1) H(LOAD_2) H(LOAD_4) H(LOAD_8) \
	H(STORE_1) H(STORE_2) H(STORE_4) H(STORE_8) \
	H(COPY) H(FILL) H(COMPARE) H(FIND) H(STRLEN) \
	H(STRCMP) H(STRNLEN) H(STRCHR) H(STRRCHR) H(STPCPY) \
	H(CMPXCHG_1) H(CMPXCHG_2) H(CMPXCHG_4) H(CMPXCHG_8) \
	H(TID) \
	H(SYS_0) H(SYS_1) H(SYS_2) H(SYS_3) H(SYS_4) H(SYS_5) H(SYS_6) \
	H(LIBC_0) H(LIBC_1) H(LIBC_2) H(LIBC_3) H(LIBC_4) H(LIBC_5) H(LIBC_6) \
	H(FAST)		/* a call by a fast path of the module */ \
	H(STEP_CALL)	/* a call that may not be made here */ \
	H(UPCALL) \
	H(FUNCTION) \
	COSY_PAIR_HANDLERS(H)

enum cosy_handler {
#define COSY_H(name) COSY_H_##name,
	COSY_HANDLERS(COSY_H)
#undef COSY_H
	COSY_NR_HANDLERS
};

/* Distances between the handlers of the lists above. */
#define COSY_H_PER_ALU	(COSY_H_SUB_RR4 - COSY_H_ADD_RR4)
#define COSY_H_ALU_8	(COSY_H_ADD_RR8 - COSY_H_ADD_RR4)
#define COSY_H_ALU_RI	(COSY_H_ADD_RI4 - COSY_H_ADD_RR4)
#define COSY_H_ALU_DST	(COSY_H_ADD_DR4 - COSY_H_ADD_RR4)
#define COSY_H_ALU_N	(COSY_H_ADD_N - COSY_H_ADD_RR4)
#define COSY_H_PER_FIRST (COSY_H_MOV_CONST - COSY_H_CONST_CONST)

#define COSY_INSN_FUNCTION(in)	((in)->imm & 0xffff)
#define COSY_INSN_UPCALL_NR(in)	((in)->imm >> 16)

/*
 * Replace the numbers of enum cosy_handler that cosy_decode() has set by the places of the
 * handlers, and look up the calls.
 */
void cosy_exec_link(struct cosy_code *code);

#endif /* COSY_HANDLERS_H */
