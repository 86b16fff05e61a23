/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * close_range() asks for SO_LINGER, with the loop's lock held. In a large range it asks the descriptors that are open.
 */
// RUN: %compile
// RUN: COSY_EXECUTOR=user %bounded %t
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <ucontext.h>

#include "filter.h"

static volatile sig_atomic_t asked;

/* A call of getsockopt(), which fails. */
static void asks(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	asked++;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -ENOTSOCK;
}

/* Let asks() be called in place of each getsockopt(). */
static void count_getsockopt(void)
{
	const struct sigaction action = { .sa_sigaction = asks, .sa_flags = SA_SIGINFO };
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsockopt, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	EQUAL(sigaction(SIGSYS, &action, NULL), 0);
	EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	EQUAL(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program), 0);
}

/* Close @size numbers from @first on, and return how many sockets were asked. */
static int close_of(struct cosy_loop *loop, int first, int size)
{
	struct cosy_async op = { 0 };

	asked = 0;
	EQUAL(cosy_async_close_range(loop, &op, first, first + size - 1, 0), 0);
	EQUAL(result_of(loop, &op), 0);
	return asked;
}

int main(void)
{
	struct cosy_async op = { 0 };
	struct cosy_loop *loop;
	struct rlimit limit;
	int pair[2], fd, last;
	char byte;

	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	/* The larger this is, the more calls are saved. */
	last = limit.rlim_max > 20000 ? 20000 : (int)limit.rlim_max - 1;
	CHECK(last >= 4000);
	limit.rlim_cur = (rlim_t)last + 1;
	EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	loop = make_loop();
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	fd = dup2(pair[0], last);
	EQUAL(fd, last);
	EQUAL(send(pair[1], "x", 1, 0), 1);
	EQUAL(cosy_async_recv(loop, &op, fd, &byte, 1, 0), 0);
	EQUAL(result_of(loop, &op), 1);
	count_getsockopt();
	/* The filter counts. */
	EQUAL(close_of(loop, 100, 2), 2);
	/* The test may have inherited some. */
	CHECK(close_of(loop, 100, last - 99) < 32);
	CHECK(asked > 0);
	EQUAL(fcntl(fd, F_GETFD), -1);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
