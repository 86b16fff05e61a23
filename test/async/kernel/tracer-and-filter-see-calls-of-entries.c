// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The calls of a traced process, and those that a seccomp filter does not allow, are made in user
 * mode.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/entries.h"

#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

static void watched(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { 4, filter };
	struct loop loop;
	int status;

	for (int traced = 0; traced < 2; traced++) {
		pid_t child = fork();

		if (!child) {
			int bad = 0;

			if (create(&loop, 64))
				_exit(100);
			if (traced) {
				if (ptrace(PTRACE_TRACEME, 0, 0, 0))
					_exit(101);
			} else if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
				   prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
				_exit(102);
			}
			submit(&loop, 0, 0, SYS_getppid, 0, 0, 0, 0);
			submit(&loop, 1, 0, SYS_getpid, 0, 0, 0, 0);
			bad |= (execute(&loop) != 2) << 0;
			bad |= (loop.entries[0].status != COSY_ENTRY_USER) << 1;
			bad |= (loop.entries[1].status !=
				(traced ? COSY_ENTRY_USER : COSY_ENTRY_DONE)) << 2;
			_exit(bad);
		}
		waitpid(child, &status, 0);
		check(status == 0, "%s sees the calls in user mode: %#x",
		      traced ? "a tracer" : "a filter", status);
	}
}

int main(void)
{
	device = open_device();
	watched();
	return finish();
}
