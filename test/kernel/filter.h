/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * filter.h - a seccomp filter for one call. Included after compound.h.
 */
#ifndef COSY_TEST_FILTER_H
#define COSY_TEST_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* The same as filter_argument(), with @flags of seccomp(). */
static inline void filter_with(int nr, unsigned int arg, long value, unsigned int action, unsigned int flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned int)offsetof(struct seccomp_data, args) + 8 * arg),
		BPF_JUMP(value < 0 ? BPF_JMP | BPF_JGE | BPF_K : BPF_JMP | BPF_JEQ | BPF_K,
			 value < 0 ? 0 : value, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog))
		die("seccomp");
}

/* Return @action for the call @nr whose argument number @arg is @value (-1: any), and allow all others. */
static inline void filter_argument(int nr, unsigned int arg, long value, unsigned int action)
{
	filter_with(nr, arg, value, action, 0);
}

/* The same for the first argument. */
static inline void filter(int nr, long first, unsigned int action)
{
	filter_argument(nr, 0, first, action);
}

#endif /* COSY_TEST_FILTER_H */
