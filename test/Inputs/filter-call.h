/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * filter-call.h - a seccomp filter for one call. Included after check.h.
 */
#ifndef FILTER_CALL_H
#define FILTER_CALL_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/*
 * Return @action for the call @nr of this thread, and allow all others. SECCOMP_RET_LOG does not change what the call
 * does. @flags: SECCOMP_FILTER_FLAG_TSYNC: of all threads.
 */
static void filter_call_with(unsigned int nr, unsigned int action, unsigned int flags)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	EQUAL(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program), 0);
}

__attribute__((unused)) static void filter_call(unsigned int nr, unsigned int action)
{
	filter_call_with(nr, action, 0);
}

#endif /* FILTER_CALL_H */
