/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * filter.h - set seccomp filters.
 */
#ifndef FILTER_H
#define FILTER_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define EQUAL(value, yes, no) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)(value), yes, no)
#define RETURN(verdict)	BPF_STMT(BPF_RET | BPF_K, verdict)

/* Returns the result of seccomp(): a descriptor with NEW_LISTENER. */
static inline int install(struct sock_filter *code, size_t size, unsigned int flags)
{
	struct sock_fprog prog = { (unsigned short)(size / sizeof(*code)), code };
	int ret;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	ret = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
	if (ret < 0) {
		perror("seccomp");
		exit(2);
	}
	return ret;
}

/* One call gets an action, all others are allowed. */
static inline int on_call(long nr, unsigned int verdict, unsigned int flags)
{
	struct sock_filter code[] = {
		LOAD(nr), EQUAL(nr, 0, 1), RETURN(verdict), RETURN(SECCOMP_RET_ALLOW),
	};

	return install(code, sizeof(code), flags);
}

#endif /* FILTER_H */
