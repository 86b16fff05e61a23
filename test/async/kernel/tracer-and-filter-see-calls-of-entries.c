// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The calls of a traced process, and those that a seccomp filter does not allow, are made in user
 * mode.
 */
// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

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
			char byte;
			int sv[2], bad = 0;

			if (create(&loop, 64) || socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
				_exit(100);
			submit_recv(&loop, 2, sv[0], &byte);
			execute(&loop);
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
			send(sv[1], "x", 1, 0);
			bad |= (execute(&loop) != 1) << 3;
			bad |= (loop.entries[2].status !=
				(traced ? COSY_ENTRY_USER : COSY_ENTRY_DONE)) << 4;
			_exit(bad);
		}
		waitpid(child, &status, 0);
		check(status == 0, "%s sees calls from user mode: %#x",
		      traced ? "who traces" : "a filter", status);
	}
}

int main(void)
{
	device = open_device();
	watched();
	return finish();
}
