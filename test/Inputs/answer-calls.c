// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * answer-calls.c - run a program with a file system that fails, by a seccomp filter.
 *
 * answer-calls read|write|getdents64 SIZE ERRNO PROGRAM... - calls for at least SIZE bytes of descriptors
 * after 2 fail with ERRNO. If that is 0, they return 0.
 */
#include <err.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

/* The lower half of an argument. */
#define ARGUMENT(i) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[i]))

static unsigned int number(const char *call)
{
	if (!strcmp(call, "read"))
		return SYS_read;
	if (!strcmp(call, "write"))
		return SYS_write;
	if (!strcmp(call, "getdents64"))
		return SYS_getdents64;
	errx(1, "unknown call %s", call);
}

int main(int argc, char **argv)
{
	if (argc < 5)
		errx(1, "too few arguments");
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number(argv[1]), 0, 5),
		ARGUMENT(0),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, STDERR_FILENO, 0, 3),
		ARGUMENT(2),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (unsigned int)atoi(argv[2]), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)atoi(argv[3])),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		err(1, "cannot filter");
	execvp(argv[4], argv + 4);
	err(1, "cannot run %s", argv[4]);
}
