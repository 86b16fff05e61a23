// SPDX-License-Identifier: GPL-2.0
/*
 * fast.c - which calls have a fast path.
 */
#include <linux/unistd.h>

#include <cosy/format.h>

#include "call/history.h"
#include "fast/cached.h"
#include "fast/calls.h"

/* FAST(function, number, what it needs); those without number are special */
#define COSY_FAST_PATHS(FAST)						\
	FAST(cosy_fast_plain, -1, cosy_fast_always)			\
	FAST(cosy_fast_read, __NR_read, cosy_has_io)			\
	FAST(cosy_fast_write, __NR_write, cosy_has_io)			\
	FAST(cosy_fast_pread64, __NR_pread64, cosy_has_io)		\
	FAST(cosy_fast_pwrite64, __NR_pwrite64, cosy_has_io)		\
	FAST(cosy_fast_seek_next, -1, cosy_has_io)			\
	FAST(cosy_fast_seek_branch_next, -1, cosy_has_io)		\
	FAST(cosy_fast_read_ahead, -1, cosy_has_io)			\
	FAST(cosy_fast_lseek, __NR_lseek, cosy_has_io)			\
	FAST(cosy_fast_fstat, __NR_fstat, cosy_has_io)			\
	FAST(cosy_fast_open, __NR_open, cosy_has_open)			\
	FAST(cosy_fast_openat, __NR_openat, cosy_has_open)		\
	FAST(cosy_fast_close, __NR_close, cosy_has_open)		\
	FAST(cosy_fast_stat, __NR_stat, cosy_has_lookup)		\
	FAST(cosy_fast_lstat, __NR_lstat, cosy_has_lookup)		\
	FAST(cosy_fast_newfstatat, __NR_newfstatat, cosy_has_lookup)	\
	FAST(cosy_fast_statx, __NR_statx, cosy_has_statx)		\
	FAST(cosy_fast_unlink, __NR_unlink, cosy_has_paths)		\
	FAST(cosy_fast_unlinkat, __NR_unlinkat, cosy_has_paths)		\
	FAST(cosy_fast_rmdir, __NR_rmdir, cosy_has_paths)		\
	FAST(cosy_fast_mkdir, __NR_mkdir, cosy_has_paths)		\
	FAST(cosy_fast_mkdirat, __NR_mkdirat, cosy_has_paths)		\
	FAST(cosy_fast_rename, __NR_rename, cosy_has_paths)		\
	FAST(cosy_fast_renameat, __NR_renameat, cosy_has_paths)		\
	FAST(cosy_fast_renameat2, __NR_renameat2, cosy_has_paths)	\
	FAST(cosy_fast_link, __NR_link, cosy_has_paths)			\
	FAST(cosy_fast_linkat, __NR_linkat, cosy_has_paths)		\
	FAST(cosy_fast_symlink, __NR_symlink, cosy_has_paths)		\
	FAST(cosy_fast_symlinkat, __NR_symlinkat, cosy_has_paths)	\
	FAST(cosy_fast_access, __NR_access, cosy_has_paths)		\
	FAST(cosy_fast_faccessat, __NR_faccessat, cosy_has_paths)	\
	FAST(cosy_fast_faccessat2, __NR_faccessat2, cosy_has_paths)	\
	FAST(cosy_fast_readlink, __NR_readlink, cosy_has_paths)		\
	FAST(cosy_fast_readlinkat, __NR_readlinkat, cosy_has_paths)	\
	FAST(cosy_fast_chmod, __NR_chmod, cosy_has_paths)		\
	FAST(cosy_fast_fchmodat, __NR_fchmodat, cosy_has_paths)		\
	FAST(cosy_fast_chown, __NR_chown, cosy_has_paths)		\
	FAST(cosy_fast_lchown, __NR_lchown, cosy_has_paths)		\
	FAST(cosy_fast_fchownat, __NR_fchownat, cosy_has_paths)		\
	FAST(cosy_fast_truncate, __NR_truncate, cosy_has_paths)

/* For calls with the hint BORROW, by FAST(function, number, what it needs). */
#define COSY_BORROW_PATHS(FAST)						\
	FAST(cosy_fast_borrow_read, __NR_read, cosy_has_io)		\
	FAST(cosy_fast_borrow_pread64, __NR_pread64, cosy_has_io)	\
	FAST(cosy_fast_borrow_write, __NR_write, cosy_has_io)		\
	FAST(cosy_fast_borrow_pwrite64, __NR_pwrite64, cosy_has_io)	\
	FAST(cosy_fast_borrow_sendto, __NR_sendto, cosy_has_io)

enum {
#define FAST(function, nr, needs) COSY_NR_##function,
	COSY_FAST_PATHS(FAST)
#undef FAST
};

static const bool cosy_fast_always = true;

static cosy_fast_call_fn * const cosy_fast_functions[] = {
#define FAST(function, nr, needs) function,
	COSY_FAST_PATHS(FAST)
	COSY_BORROW_PATHS(FAST)
#undef FAST
};

/* The same, or cosy_fast_cleared() everywhere. */
cosy_fast_call_fn *cosy_fast_calls[ARRAY_SIZE(cosy_fast_functions)] __ro_after_init;

/* On CPUs that need it, so that the others pay nothing. */
static struct cosy_made cosy_fast_cleared(struct cosy_state *st,
					  const struct cosy_insn *ip)
{
	cosy_history_clear();
	return cosy_fast_functions[ip->fast](st, ip);
}

static const struct {
	unsigned int nr;
	u16 hint;
	const bool *needs;
} cosy_fast_paths[] = {
#define FAST(function, nr, needs) { nr, 0, &needs },
	COSY_FAST_PATHS(FAST)
#undef FAST
#define FAST(function, nr, needs) { nr, COSY_HINT_BORROW, &needs },
	COSY_BORROW_PATHS(FAST)
#undef FAST
};

/* How many arguments a call has, by its number. */
static const u8 cosy_call_args[] = {
#define COSY_SYSCALL(nr, name, args, nested) [nr] = sizeof(args) - 1,
#include <syscalls.def>
};

/*
 * Can the lseek at @op be joined with the call behind it? They are given the
 * same descriptor, nothing that the lseek returns, and between them is at most a
 * branch that is taken if the lseek fails. Return: the fast path, -1 if they cannot.
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
	/* Who has to see the second call looks at its arguments before the first is made. */
	for (i = 1; i <= next->width; i++)
		if (next[i].a == op->dst)
			return -1;
	return found;
}

/* As cosy_fast_find_fn; a call that is not given all its arguments has none. */
static s32 cosy_fast_find(const struct cosy_op *op)
{
	unsigned int i;

	if (op->c & COSY_HINT_PLAIN)
		return -1;
	if (op->imm == __NR_lseek && op->c & COSY_HINT_JOIN && cosy_has_io) {
		s32 found = cosy_find_join(op);

		if (found >= 0)
			return found;
	}
	if (op->imm == __NR_read && op->c & COSY_HINT_REST && cosy_has_io &&
	    !(op->c & COSY_HINT_BORROW) && op->width >= 3)
		return COSY_NR_cosy_fast_read_ahead;
	/* Those for hints are behind those for all. */
	for (i = ARRAY_SIZE(cosy_fast_paths); i-- > 0;) {
		if (cosy_fast_paths[i].nr == op->imm &&
		    !(cosy_fast_paths[i].hint & ~op->c))
			return *cosy_fast_paths[i].needs &&
			       op->width >= cosy_call_args[op->imm] ? i : -1;
	}
	return -1;
}

/**
 * cosy_fast_path() - the fast path of a call without hints
 * @nr:    its number, one of syscalls.def
 * @nargs: out: how many arguments it has
 *
 * Return: which of cosy_fast_calls, -1 if it has none.
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

/* With private files all calls have one: the plain ones install them first. */
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
 * cosy_fast_finder() - how to find the fast paths of a compound
 * @image: a verified image
 * @plain: whoever loads it wants none
 *
 * Return: what cosy_decode() is to be given.
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
	return cosy_env_watched(st, ip);
}

/**
 * cosy_fast_plain() - make a call as it is
 * @st: the run
 * @ip: the call's slot
 *
 * It finds all files where they should be: none is private any more.
 *
 * Return: what the system call returns.
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
 * cosy_fast_init() - find what the fast paths need
 *
 * Those whose needs are not met are not used. A kernel whose inner functions
 * may be others than those we know has none.
 */
void cosy_fast_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cosy_fast_calls); i++)
		cosy_fast_calls[i] = static_key_enabled(&cosy_history_clears) ?
					     cosy_fast_cleared :
					     cosy_fast_functions[i];
	cosy_cached_init();
	if (!COSY_INTERNALS_KNOWN)
		return;
	cosy_name_init();
	cosy_child_init();
	cosy_stat_init();
	cosy_path_init();
	cosy_open_init();
	cosy_io_init();
	cosy_overwrite_init();
}

/**
 * cosy_fast_exit() - the reverse of cosy_fast_init()
 */
void cosy_fast_exit(void)
{
	cosy_cached_exit();
}
