// SPDX-License-Identifier: GPL-2.0
/*
 * fast.c - chooses the fast paths of calls.
 */
#include <linux/unistd.h>

#include <cosy/format.h>

#include "call/history.h"
#include "fast/cached.h"
#include "fast/calls.h"
#include "kernel/fput.h"
#include "kernel/internals.h"

enum {
#define COSY_FAST(function, nr, hints, needs) COSY_NR_##function,
#include "fast/paths.def"
#undef COSY_FAST
};

static cosy_fast_call_fn * const cosy_fast_functions[] = {
#define COSY_FAST(function, nr, hints, needs) function,
#include "fast/paths.def"
#undef COSY_FAST
};

/* The same functions; cosy_fast_cleared() in each entry on CPUs that need it. */
cosy_fast_call_fn *cosy_fast_calls[ARRAY_SIZE(cosy_fast_functions)] __ro_after_init;

/* Used only on CPUs that need it, so that calls on others cost nothing more. */
static struct cosy_made cosy_fast_cleared(struct cosy_state *st,
					  const struct cosy_insn *ip)
{
	cosy_history_clear();
	return cosy_fast_functions[ip->fast](st, ip);
}

static const struct {
	u64 needs;
	unsigned int nr;
	u16 hints;
} cosy_fast_paths[] = {
#define COSY_FAST(function, nr, hints, needs) { needs, nr, hints },
#include "fast/paths.def"
#undef COSY_FAST
};

/* The number of arguments of each call. */
static const u8 cosy_call_args[] = {
#define COSY_SYSCALL(nr, name, args, nested) [nr] = sizeof(args) - 1,
#include <syscalls.def>
};

/*
 * Return the fast path that joins the lseek at @op with the call after it, -1 if there is
 * none. Both must use the same descriptor, and the call must not use the result of the lseek.
 * The only operation between them may be a branch that is taken if the lseek fails.
 */
static s32 cosy_find_join(const struct cosy_op *op)
{
	const struct cosy_op *next = op + 1 + op->width;
	s32 found = COSY_NR_cosy_fast_seek_next;
	unsigned int i;

	if (op->width < 3 || op[3].a != COSY_NONE || op[3].imm != SEEK_SET)
		return -1;
	if (next->code == COSY_OP_BR && next->width == 8 &&
	    next->a == op->dst && next->b == COSY_NONE &&
	    ((next->cond == COSY_COND_EQ && next->imm == -1) ||
	     (next->cond == COSY_COND_SLT && next->imm == 0))) {
		found = COSY_NR_cosy_fast_seek_branch_next;
		next++;
	}
	if ((next->code != COSY_OP_SYS && next->code != COSY_OP_LIBC) ||
	    (next->imm != __NR_read && next->imm != __NR_write) ||
	    next->width < 3 ||
	    next->c & COSY_HINT_PLAIN)
		return -1;
	if (next[1].a != op[1].a || next[1].imm != op[1].imm)
		return -1;
	/* Filters evaluate the arguments of the second call before the first is made. */
	for (i = 1; i <= next->width; i++)
		if (next[i].a == op->dst)
			return -1;
	return found;
}

/* Like cosy_fast_find_fn. A call with too few arguments has no fast path. */
static s32 cosy_fast_find(const struct cosy_op *op)
{
	unsigned int i;

	if (op->c & COSY_HINT_PLAIN)
		return -1;
	if (op->imm == __NR_lseek && op->c & COSY_HINT_JOIN) {
		s32 found = cosy_find_join(op);

		if (found >= 0 && cosy_has(cosy_fast_paths[found].needs))
			return found;
	}
	if (op->imm == __NR_read && op->c & COSY_HINT_REST &&
	    !(op->c & COSY_HINT_BORROW) && op->width >= 3 &&
	    cosy_has(cosy_fast_paths[COSY_NR_cosy_fast_read_ahead].needs))
		return COSY_NR_cosy_fast_read_ahead;
	/* Fast paths with hints follow those without, so search from the end. */
	for (i = ARRAY_SIZE(cosy_fast_paths); i-- > 0;) {
		if (cosy_fast_paths[i].nr == op->imm &&
		    !(cosy_fast_paths[i].hints & ~op->c))
			return cosy_has(cosy_fast_paths[i].needs) &&
			       op->width >= cosy_call_args[op->imm] ? i : -1;
	}
	return -1;
}

/**
 * cosy_fast_path() - find the fast path of a call without hints
 * @nr:    number of the call, one of syscalls.def
 * @nargs: out: the number of its arguments
 *
 * Return: the index in cosy_fast_calls, -1 if the call has no fast path.
 */
s32 cosy_fast_path(unsigned int nr, unsigned int *nargs)
{
	struct cosy_op op = {
		.code = COSY_OP_SYS,
		.width = cosy_call_args[nr],
		.imm = nr,
	};

	*nargs = op.width;
	return cosy_fast_find(&op);
}

/**
 * cosy_fast_path_of_realpath() - find the fast path of COSY_CALL_REALPATH
 *
 * Return: as cosy_fast_path().
 */
s32 cosy_fast_path_of_realpath(void)
{
	const u32 path = COSY_NR_cosy_fast_realpath;

	return cosy_has(cosy_fast_paths[path].needs) ? path : -1;
}

/* With private files, every call has a fast path: cosy_fast_plain() installs the files first. */
static s32 cosy_fast_find_all(const struct cosy_op *op)
{
	s32 found = cosy_fast_find(op);

	return found < 0 ? COSY_NR_cosy_fast_plain : found;
}

static bool cosy_has_private_hints(const void *image)
{
	const struct cosy_header *h = image;
	const struct cosy_op *ops = (const void *)(h + 1);
	u32 pc;

	for (pc = 0; pc < h->nops; pc++) {
		if (!(pc & 0xfff))
			cond_resched();
		if ((ops[pc].code == COSY_OP_SYS ||
		     ops[pc].code == COSY_OP_LIBC) &&
		    ops[pc].c & COSY_HINT_PRIVATE)
			return true;
	}
	return false;
}

/**
 * cosy_fast_finder() - return the function that finds the fast paths of a compound
 * @image: a verified image
 * @plain: the process wants no fast paths
 *
 * Return: the function for cosy_decode(), or NULL.
 */
cosy_fast_find_fn *cosy_fast_finder(const void *image, bool plain)
{
	/* Numbers are stored in a byte. */
	BUILD_BUG_ON(ARRAY_SIZE(cosy_fast_paths) > 256);
	if (plain)
		return NULL;
	return cosy_has_private_hints(image) ? cosy_fast_find_all :
					       cosy_fast_find;
}

static void cosy_fast_set_args(struct cosy_state *st, const struct cosy_insn *ip)
{
	unsigned int i, n = ip->nargs;

	for (i = 0; i < n; i++)
		cosy_env_arg(&st->env, i, cosy_fast_arg(st, ip, i));
}

/**
 * cosy_fast_watched() - the slow path of cosy_env_may_fast()
 * @st: the run
 * @ip: the call's slot
 *
 * Return: true if the call must be made from user mode.
 */
bool cosy_fast_watched(struct cosy_state *st, const struct cosy_insn *ip)
{
	cosy_fast_set_args(st, ip);
	return cosy_env_watched(st, ip->imm);
}

/**
 * cosy_fast_plain() - make the plain call
 * @st: the run
 * @ip: the call's slot
 *
 * Installs private files in the process's table first, so that the call finds them.
 *
 * Return: the result of the system call.
 */
noinline struct cosy_made cosy_fast_plain(struct cosy_state *st,
					  const struct cosy_insn *ip)
{
	cosy_private_install(&st->env);
	cosy_fast_set_args(st, ip);
	return cosy_made(ip, cosy_env_call(&st->env, ip->imm,
					   ip->callee));
}

/**
 * cosy_fast_trace() - emit the tracepoint cosy:fast if it is on
 * @made: the call and its result
 *
 * Not inline, because a tracepoint takes registers from its caller.
 */
noinline __cold void cosy_fast_trace(struct cosy_made made)
{
	trace_fast(made.ip->imm, made.result);
}

/**
 * cosy_fast_init() - prepare the fast paths
 *
 * Must be called after cosy_internals_init().
 */
void cosy_fast_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cosy_fast_calls); i++)
		cosy_fast_calls[i] = static_key_enabled(&cosy_history_clears) ?
					     cosy_fast_cleared :
					     cosy_fast_functions[i];
	cosy_child_init();
	cosy_cached_init();
	cosy_overwrite_init();
}

/**
 * cosy_fast_exit() - the reverse of cosy_fast_init()
 */
void cosy_fast_exit(void)
{
	cosy_cached_exit();
}
