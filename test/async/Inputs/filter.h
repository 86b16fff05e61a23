/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * filter.h - a seccomp filter for tests.
 */
#ifndef FILTER_H
#define FILTER_H

#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "loop.h"

/* Make a call fail from now on. @flags: SECCOMP_FILTER_FLAG_TSYNC, or 0 */
static inline void forbid(unsigned int nr, unsigned int error, unsigned int flags)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	EQUAL(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program), 0);
}

#endif /* FILTER_H */
