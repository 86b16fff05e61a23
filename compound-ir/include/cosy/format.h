/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * format.h - the wire format of a compound.
 *
 * A compound is one contiguous, position-independent image, little-endian:
 *
 *	struct cosy_header
 *	struct cosy_op	 ops[nops]
 *	struct cosy_line lines[nlines]		sorted by pc
 *	char		 strings[strings_size]	NUL-terminated; offset 0 is ""
 *	unsigned char	 data[data_size]
 *
 * in this order without gaps, header.size bytes in total. This header is freestanding. The
 * module, the library, the plugin (C++) and the tools use it. compound-ir/README.md is the
 * specification.
 */
#ifndef COSY_FORMAT_H
#define COSY_FORMAT_H

#ifdef __KERNEL__
#include <linux/types.h>
typedef u8 cosy_u8;
typedef u16 cosy_u16;
typedef u32 cosy_u32;
typedef u64 cosy_u64;
typedef s32 cosy_s32;
typedef s64 cosy_s64;
#else
#include <stdint.h>
typedef uint8_t cosy_u8;
typedef uint16_t cosy_u16;
typedef uint32_t cosy_u32;
typedef uint64_t cosy_u64;
typedef int32_t cosy_s32;
typedef int64_t cosy_s64;
#endif

#define COSY_MAGIC	0x59534f43u	/* "COSY" */
#define COSY_VERSION	1

/* Limits of a compound that verify; all are checked by cosy_verify(). */
#define COSY_MAX_OPS	(1u << 20)	/* slots */
#define COSY_MAX_REGS	4096u
#define COSY_MAX_EXITS	65536u
#define COSY_MAX_UPCALLS 65536u
#define COSY_MAX_FUNCTIONS 65535u
#define COSY_MAX_SIZE	(64u << 20)	/* bytes of the whole image */
#define COSY_MAX_ARGS	6u		/* of a system call or function */
#define COSY_MAX_CALL_NR 0x7fffffff	/* system-call number */
#define COSY_MAX_LIMIT	(1ull << 56)	/* operations of one entry */

/* "No register": operand b is imm instead, an ARG is the constant imm. */
#define COSY_NONE	0xffffu

enum cosy_opcode {
#define COSY_OP(NAME, text, form) COSY_OP_##NAME,
#include "ops.def"
	COSY_NR_OPS
};

/* The fields of struct cosy_op that an operation uses; the others are zero. */
enum cosy_form {
	COSY_FORM_ARG,		/* a|NONE, imm		value is a + imm */
	COSY_FORM_CASE,		/* imm, target		imm ascending, unsigned */
	COSY_FORM_CONST,	/* dst, imm */
	COSY_FORM_MOV,		/* dst, a */
	COSY_FORM_EXTEND,	/* dst, a, width, imm	width < imm, imm in 2, 4, 8 */
	COSY_FORM_MOVW,		/* dst, a, width */
	COSY_FORM_ALU,		/* dst, a, b|imm, width */
	COSY_FORM_SET,		/* dst, a, b|imm, width, cond */
	COSY_FORM_SELECT,	/* dst, a, b, c */
	COSY_FORM_JUMP,		/* target */
	COSY_FORM_BRANCH,	/* a, b|imm, width, cond, target */
	COSY_FORM_LOOP,		/* dst, b, imm, width, cond, target */
	COSY_FORM_SWITCH,	/* a, width, c = number of CASE slots, target */
	COSY_FORM_EXIT,		/* imm < nexits */
	COSY_FORM_LOAD,		/* dst, a|NONE, imm, width */
	COSY_FORM_STORE,	/* a|NONE, b, imm, width */
	COSY_FORM_BULK,		/* a, b, c */
	COSY_FORM_BULKR,	/* dst, a, b, c */
	COSY_FORM_STRING,	/* dst, a, b */
	COSY_FORM_CMPXCHG,	/* dst, a, b, c, width */
	COSY_FORM_RESULT,	/* dst */
	COSY_FORM_CALL,		/* dst, imm, width = number of ARG slots, c = hints */
	COSY_FORM_UPCALL,	/* imm < nupcalls, c registers from a on, or all */
	COSY_FORM_FUNCTION,	/* dst, imm < nfunctions, c < nupcalls, width =
				   number of ARG slots */
};

/* Conditions of SET, BR and LOOP: u unsigned, s signed. */
#define COSY_CONDS(X) \
	X(EQ, eq) X(NE, ne) X(ULT, ult) X(ULE, ule) X(UGT, ugt) X(UGE, uge) \
	X(SLT, slt) X(SLE, sle) X(SGT, sgt) X(SGE, sge)
enum cosy_cond {
#define COSY_COND(NAME, text) COSY_COND_##NAME,
	COSY_CONDS(COSY_COND)
#undef COSY_COND
	COSY_NR_CONDS
};

/*
 * Hints of SYS and LIBC: facts that the compiler knows about a call. The module may use
 * them to do the same with less work. It never trusts them: a wrong hint does nothing that
 * the process could not do itself.
 *
 * PLAIN:   use no fast path
 * PRIVATE: the compound closes the descriptor that is opened here, and uses it only
 *	    in calls and comparisons
 * BORROW:  of a read: until the buffer is read into again, only a write with this
 *	    hint reads it, namely all that was read; of a write: it is that write
 * JOIN:    of an lseek: only the read or write after it depends on it
 * REST:    of a read of a private file that is repeated as long as it returns as
 *	    much as requested; each repetition stores its data after the previous
 *	    data, and no other operation has an effect in between
 */
#define COSY_HINTS(X) \
	X(PLAIN, plain) X(PRIVATE, private) X(BORROW, borrow) \
	X(JOIN, join) X(REST, rest)
enum cosy_hint_number {
#define COSY_HINT(NAME, text) COSY_HINT_NR_##NAME,
	COSY_HINTS(COSY_HINT)
#undef COSY_HINT
	COSY_NR_HINTS
};
enum cosy_hint {
#define COSY_HINT(NAME, text) COSY_HINT_##NAME = 1 << COSY_HINT_NR_##NAME,
	COSY_HINTS(COSY_HINT)
#undef COSY_HINT
};

/**
 * struct cosy_op - one slot of a compound
 * @code:   enum cosy_opcode
 * @width:  operand width in bytes (1, 2, 4 or 8) or number of ARG slots
 * @dst:    register written
 * @a: @b: @c: registers read; b may be COSY_NONE where the form says so; c is a
 *	    number of slots or registers, or hints (enum cosy_hint), in some forms
 * @cond:   enum cosy_cond
 * @target: slot a branch goes to
 * @imm:    constant
 */
struct cosy_op {
	cosy_u8 code;
	cosy_u8 width;
	cosy_u16 dst;
	cosy_u16 a;
	cosy_u16 b;
	cosy_u16 c;
	cosy_u16 cond;
	cosy_u32 target;
	cosy_s64 imm;
};

/**
 * struct cosy_line - the source of the slots from @pc on, up to the next entry
 * @pc:   first slot
 * @file: offset of the file name in the strings
 * @line: line number, 0 if unknown
 */
struct cosy_line {
	cosy_u32 pc;
	cosy_u32 file;
	cosy_u32 line;
};

/**
 * struct cosy_header - the beginning of a compound
 * @magic:     COSY_MAGIC
 * @version:   COSY_VERSION
 * @nregs:     registers; they are r0 … r(nregs-1), 64 bits each
 * @size:      bytes of the whole image
 * @nops:      slots, at least 1
 * @nlines: @strings_size: @data_size: lengths of the tables after the ops
 * @ninputs:   r0 … r(ninputs-1) are set by the caller, the others start as 0.
 *	       If there is data, the last input is the address where it was placed.
 * @out_first: @nout: the registers that are returned when the compound is done
 * @nexits:    exits are numbered 0 … nexits-1
 * @nupcalls:  up-calls are numbered 0 … nupcalls-1
 * @name:      offset of the compound's name (its function) in the strings
 * @nfunctions: user functions are numbered 0 … nfunctions-1
 * @limit:     operations one entry may execute before it leaves with
 *	       COSY_LIMIT, at least 1; charged at back-edges
 */
struct cosy_header {
	cosy_u32 magic;
	cosy_u16 version;
	cosy_u16 nregs;
	cosy_u32 size;
	cosy_u32 nops;
	cosy_u32 nlines;
	cosy_u32 strings_size;
	cosy_u32 data_size;
	cosy_u16 ninputs;
	cosy_u16 out_first;
	cosy_u16 nout;
	cosy_u16 nfunctions;
	cosy_u32 nexits;
	cosy_u32 nupcalls;
	cosy_u32 name;
	cosy_u64 limit;
};

#define COSY_DEFAULT_LIMIT (1ull << 40)

#ifdef __cplusplus
static_assert(sizeof(struct cosy_op) == 24, "wire format");
static_assert(sizeof(struct cosy_header) == 56, "wire format");
#else
_Static_assert(sizeof(struct cosy_op) == 24, "wire format");
_Static_assert(sizeof(struct cosy_header) == 56, "wire format");
#endif

#endif /* COSY_FORMAT_H */
