// SPDX-License-Identifier: GPL-2.0
/*
 * fast.c - which calls have a fast path.
 */
#include <linux/unistd.h>

#include <cosy/format.h>

#include "fast/fast.h"

/* Another one needs but a line here: FAST(function, number, what it needs). */
#define COSY_FAST_PATHS(FAST)						\
	FAST(cosy_fast_stat, __NR_stat, cosy_has_lookup)		\
	FAST(cosy_fast_lstat, __NR_lstat, cosy_has_lookup)		\
	FAST(cosy_fast_newfstatat, __NR_newfstatat, cosy_has_lookup)

cosy_fast_call_fn * const cosy_fast_calls[] = {
#define FAST(function, nr, needs) function,
	COSY_FAST_PATHS(FAST)
#undef FAST
};

static const struct {
	unsigned int nr;
	const bool *needs;
} cosy_fast_paths[] = {
#define FAST(function, nr, needs) { nr, &needs },
	COSY_FAST_PATHS(FAST)
#undef FAST
};

/* How many arguments a call has, by its number. */
static const u8 cosy_call_args[] = {
#define COSY_SYSCALL(nr, name, args, nested) [nr] = sizeof(args) - 1,
#include <syscalls.def>
};

/**
 * cosy_fast_find() - see cosy_fast_find_fn
 *
 * A call that is not given all its arguments has none.
 */
s32 cosy_fast_find(const struct cosy_op *op)
{
	unsigned int i;

	if (op->c & COSY_HINT_PLAIN)
		return -1;
	for (i = 0; i < ARRAY_SIZE(cosy_fast_paths); i++) {
		if (cosy_fast_paths[i].nr == op->imm)
			return *cosy_fast_paths[i].needs &&
			       op->width >= cosy_call_args[op->imm] ? i : -1;
	}
	return -1;
}

static void cosy_fast_set_args(struct cosy_state *st, const struct cosy_insn *ip)
{
	unsigned int i, n = ip->c & 0xff;

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
	return cosy_env_watched(&st->env, ip->imm);
}

/**
 * cosy_fast_plain() - make a call as it is
 * @st: the run
 * @ip: the call's slot
 */
noinline struct cosy_made cosy_fast_plain(struct cosy_state *st,
					  const struct cosy_insn *ip)
{
	cosy_fast_set_args(st, ip);
	return cosy_made(ip, cosy_env_call(&st->env, ip->imm));
}

/**
 * cosy_fast_init() - find what the fast paths need
 *
 * Those whose needs are not met are not used.
 */
void cosy_fast_init(void)
{
	cosy_name_init();
	cosy_child_init();
}
