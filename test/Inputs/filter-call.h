/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * filter-call.h - a seccomp filter for one call, of the thread. Included after check.h.
 */
#ifndef FILTER_CALL_H
#define FILTER_CALL_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

/* Return @action for the call @nr, and allow all others. SECCOMP_RET_LOG does not change what the call does. */
static void filter_call(unsigned int nr, unsigned int action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

#endif /* FILTER_CALL_H */
