// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * pending.c - work that a call leaves for the return to user mode is done before the compound's
 * next operation, as natively before the program's next instruction: the last reference to a file
 * is dropped, signals are delivered, a temporary signal mask is restored.
 *
 *	pending FILE		FILE is created
 */
#include "../../kernel/compound.h"

#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/wait.h>

static int dev;
static volatile __u64 handled;

static void handler(int sig)
{
	handled += sig;
}

/* Loads and runs @ops with registers that are all inputs and outputs. */
static long run_ops(const struct cosy_op *ops, unsigned int nops, __u64 *regs,
		    unsigned int nregs, struct cosy_run *run)
{
	__u64 handle = must_load_ops(dev, ops, nops, nregs);
	long ret = run_frame(dev, handle, regs, run);

	if (ioctl(dev, COSY_IOC_UNLOAD, &handle))
		die("unload");
	return ret;
}

#define RUN(regs, run, ...) ({						\
	const struct cosy_op ops__[] = { __VA_ARGS__ };			\
	run_ops(ops__, sizeof(ops__) / sizeof(*ops__), regs,		\
		sizeof(regs) / sizeof(*(regs)), run); })

/* Call @nr closes the pipe's only writer. Then a read sees the end. */
static void test_pipe(const char *how, long nr, __u64 arg0, __u64 arg1, int p[2])
{
	struct cosy_run run;
	__u64 regs[6] = { arg0, arg1, p[0], (uintptr_t)&run, 0, 1 };
	long ret;

	alarm(300);
	ret = RUN(regs, &run,
		  SYS(4, nr, 3), ARG(0), ARG(1), ARGI(0),
		  SYS(5, SYS_read, 3), ARG(2), ARG(3), ARGI(1),
		  EXIT(0));
	alarm(0);
	check(ret == done(0) && (long)regs[4] >= 0 && regs[5] == 0,
	      "a pipe ends with %s of its last writer", how);
}

static void test_pipes(void)
{
	int null = open("/dev/null", O_RDWR);
	int p[2];

	if (null < 0 || pipe(p))
		die("pipe");
	test_pipe("close()", SYS_close, p[1], 0, p);
	if (pipe(p))
		die("pipe");
	test_pipe("dup2()", SYS_dup2, null, p[1], p);
	if (pipe(p))
		die("pipe");
	test_pipe("close_range()", SYS_close_range, p[1], p[1], p);
}

/* A lock belongs to the open file, and is released when that is closed. */
static void test_lock(const char *file)
{
	int null = open("/dev/null", O_RDWR);
	int fd = open(file, O_RDWR | O_CREAT, 0600), other = open(file, O_RDWR);
	struct cosy_run run;
	__u64 regs[6] = { fd, other, null };
	long ret;

	if (fd < 0 || other < 0 || null < 0)
		die(file);
	ret = RUN(regs, &run,
		  SYS(3, SYS_flock, 2), ARG(0), ARGI(LOCK_EX),
		  SYS(4, SYS_flock, 2), ARG(1), ARGI(LOCK_EX | LOCK_NB),
		  SYS(5, SYS_dup2, 2), ARG(2), ARG(0),
		  SYS(5, SYS_flock, 2), ARG(1), ARGI(LOCK_EX | LOCK_NB),
		  EXIT(0));
	check(ret == done(0) && regs[3] == 0 && (long)regs[4] == -EWOULDBLOCK &&
	      regs[5] == 0, "a lock goes with the last reference to its file");
}

static void test_signals(void)
{
	const __u64 usr1 = 1ull << (SIGUSR1 - 1);
	struct cosy_run run;
	__u64 regs[6] = { getpid(), SIGUSR1, (uintptr_t)&handled,
			  (uintptr_t)&usr1, gettid() };
	long ret;

	handled = 0;
	ret = RUN(regs, &run,
		  SYS(5, SYS_kill, 2), ARG(0), ARG(1),
		  LOAD(8, 5, 2), EXIT(0));
	check(ret == done(0) && regs[5] == SIGUSR1,
	      "kill() of itself: the handler has run before the next operation");

	handled = 0;
	ret = RUN(regs, &run,
		  SYS(5, SYS_tgkill, 3), ARG(0), ARG(4), ARG(1),
		  LOAD(8, 5, 2), EXIT(0));
	check(ret == done(0) && regs[5] == SIGUSR1, "so it has after tgkill()");

	handled = 0;
	ret = RUN(regs, &run,
		  SYS(5, SYS_rt_sigprocmask, 4), ARGI(SIG_BLOCK), ARG(3), ARGI(0), ARGI(8),
		  SYS(5, SYS_kill, 2), ARG(0), ARG(1),
		  LOAD(8, 4, 2),
		  SYS(5, SYS_rt_sigprocmask, 4), ARGI(SIG_UNBLOCK), ARG(3), ARGI(0), ARGI(8),
		  LOAD(8, 5, 2), EXIT(0));
	check(ret == done(0) && regs[4] == 0 && regs[5] == SIGUSR1,
	      "a blocked signal waits until it is unblocked, but no longer");
}

/* A call that unblocks a pending signal while it waits is interrupted by it. */
static void test_mask(const char *name, const struct cosy_op *ops,
		      unsigned int nops)
{
	const __u64 usr1 = 1ull << (SIGUSR1 - 1);
	__u64 none = 0, mask = 0;
	struct timespec second = { 1, 0 };
	struct epoll_event event;
	struct { __u64 set, size; } sixth = { (uintptr_t)&none, 8 };
	struct cosy_run run;
	__u64 regs[6] = { (uintptr_t)&second, (uintptr_t)&none,
			  epoll_create1(0), (uintptr_t)&event,
			  (uintptr_t)&sixth };
	long ret;

	handled = 0;
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &usr1, NULL, 8);
	kill(getpid(), SIGUSR1);
	ret = run_ops(ops, nops, regs, 6, &run);
	/* By a restart code, or with the result in the compound. */
	if (ret == done(0))
		ret = regs[5];
	else if (run.status != COSY_RESULT)
		ret = 0;
	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &usr1, &mask, 8);
	close(regs[2]);
	check(ret == -EINTR && handled == SIGUSR1 && (mask & usr1),
	      "%s() is interrupted by a signal that it unblocks, and blocks it again",
	      name);
}

#define MASK(name, ...) do {						\
	const struct cosy_op ops__[] = { __VA_ARGS__, EXIT(0) };	\
	test_mask(name, ops__, sizeof(ops__) / sizeof(*ops__));		\
} while (0)

static void test_masks(void)
{
	MASK("ppoll", SYS(5, SYS_ppoll, 5), ARGI(0), ARGI(0), ARG(0), ARG(1), ARGI(8));
	MASK("pselect6", SYS(5, SYS_pselect6, 6), ARGI(0), ARGI(0), ARGI(0),
	     ARGI(0), ARG(0), ARG(4));
	MASK("epoll_pwait", SYS(5, SYS_epoll_pwait, 6), ARG(2), ARG(3), ARGI(1),
	     ARGI(1000), ARG(1), ARGI(8));
	MASK("epoll_pwait2", SYS(5, SYS_epoll_pwait2, 6), ARG(2), ARG(3), ARGI(1),
	     ARG(0), ARG(1), ARGI(8));
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = handler };

	if (argc != 2) {
		fprintf(stderr, "usage: pending FILE\n");
		return 2;
	}
	dev = open_device();
	if (sigaction(SIGUSR1, &action, NULL))
		die("sigaction");
	test_pipes();
	test_lock(argv[1]);
	test_signals();
	test_masks();
	return finish();
}
