// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function whose pointers are into two segments runs natively, and no call of libcosy precedes it: each call that
// blocks signals raises SIGSYS here.
// RUN: %cosy-cc -O2 -Wall -Wextra -Werror %s -o %t
// RUN: %vm env COSY_EXECUTOR=kernel COSY_FUNCTIONS=kernel COSY_STATS=1 %t 2>&1 | FileCheck %s
// CHECK: function move: executor=kernel upcalls=101
#define _GNU_SOURCE
#include <cosy.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "../Inputs/check.h"

#define TIMES	100

COSY_FUNCTION void move(unsigned int *from, unsigned int *to)
{
	--*from;
	++*to;
}

static int blocked;

static void on_sigsys(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	blocked++;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = 0;
}

static void filter(void)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SIG_BLOCK, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	const struct sigaction action = { .sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO };

	EQUAL(sigaction(SIGSYS, &action, NULL), 0);
	EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static void run(unsigned int *from, unsigned int *to, int times)
{
	COSY_START;
	for (int i = 0; i < times; i++) {
		getppid();
		move(from, to);
	}
	COSY_END;
}

static unsigned int *number_in(struct cosy_segment *segment)
{
	unsigned int *number;

	CHECK(segment);
	cosy_segment_use(segment);
	number = cosy_calloc(1, sizeof(*number));
	CHECK(number);
	return number;
}

int main(void)
{
	struct cosy_segment *first = cosy_segment_create(0);
	unsigned int *from = number_in(first), *beside = number_in(first);
	unsigned int *to = number_in(cosy_segment_create(0));

	run(from, beside, TIMES);
	EQUAL(*beside, TIMES);
	filter();
	run(from, to, TIMES);
	EQUAL(*to, TIMES);
	EQUAL(*from, 0u - 2 * TIMES);
	EQUAL(blocked, 0);
	return 0;
}
