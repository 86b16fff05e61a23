// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * signals.c - calls in a compound that signals interrupt: with and without
 * SA_RESTART, with and without a handler, each as it would end natively.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>

static volatile int handled;

static void handler(int sig)
{
	(void)sig;
	handled++;
}

static void on(int sig, int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &sa, NULL);
}

static void alarm_ms(unsigned int ms)
{
	struct itimerval it = { .it_value = { .tv_sec = ms / 1000,
					      .tv_usec = ms % 1000 * 1000 } };

	handled = 0;
	setitimer(ITIMER_REAL, &it, NULL);
}

/* A child that does something in a moment. */
static pid_t later(unsigned int ms, void (*act)(void *), void *arg)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	usleep(ms * 1000);
	act(arg);
	_exit(0);
}

static void write_byte(void *fd)
{
	if (write(*(int *)fd, "x", 1) != 1)
		_exit(1);
}

static void stop_and_go(void *pid)
{
	kill(*(pid_t *)pid, SIGSTOP);
	usleep(100000);
	kill(*(pid_t *)pid, SIGCONT);
}

static char buf[16];

/* One call of three arguments, then r1 = 7: was it reached? */
static __u64 one_call(int dev, long nr)
{
	return must_load(dev, 8, SYS(0, nr, 6), ARG(2), ARG(3), ARG(4), ARG(5),
			 ARG(6), ARG(7), CONST(1, 7), EXIT(0));
}

static void test_read(int dev)
{
	__u64 handle = one_call(dev, SYS_read);
	__u64 frame[8] = { 0 };
	struct cosy_run run;
	int pipes[2], status;
	pid_t pid;
	long ret;

	if (pipe(pipes))
		die("pipe");
	frame[2] = pipes[0];
	frame[3] = (__u64)(uintptr_t)buf;
	frame[4] = 1;

	on(SIGALRM, 0);
	alarm_ms(50);
	ret = run_frame(dev, handle, frame, &run);
	check(ret == -EINTR && run.status == COSY_RESULT && run.pc == 0 &&
	      handled == 1 && frame[1] == 0,
	      "read, handler without SA_RESTART: EINTR is the call's result");

	on(SIGALRM, SA_RESTART);
	alarm_ms(50);
	pid = later(200, write_byte, &pipes[1]);
	ret = run_frame(dev, handle, frame, &run);
	check(ret == done(0) && handled == 1 &&
	      frame[0] == 1 && frame[1] == 7, "read, SA_RESTART: restarts, goes on");
	waitpid(pid, &status, 0);

	pid = getpid();
	later(50, stop_and_go, &pid);
	pid = later(400, write_byte, &pipes[1]);
	ret = run_frame(dev, handle, frame, &run);
	check(ret == done(0) && frame[0] == 1 && frame[1] == 7,
	      "read, stopped and continued: restarts");
	while (wait(&status) > 0)
		;

	/* A signal that is ignored in the end restarts by itself. */
	signal(SIGALRM, SIG_IGN);
	alarm_ms(50);
	pid = later(200, write_byte, &pipes[1]);
	ret = run_frame(dev, handle, frame, &run);
	check(ret == done(0) && frame[0] == 1, "read, signal ignored");
	waitpid(pid, &status, 0);
	close(pipes[0]);
	close(pipes[1]);
}

static void test_nanosleep(int dev)
{
	__u64 handle = one_call(dev, SYS_nanosleep);
	struct timespec want = { .tv_nsec = 300000000 }, rem = { 9, 9 };
	__u64 frame[8] = { 0, 0, (__u64)(uintptr_t)&want, (__u64)(uintptr_t)&rem };
	struct cosy_run run;
	double start;
	int status;
	pid_t pid;
	long ret;

	on(SIGALRM, 0);
	alarm_ms(100);
	ret = run_frame(dev, handle, frame, &run);
	check(ret == -EINTR && run.status == COSY_RESULT && handled == 1 &&
	      rem.tv_sec == 0 && rem.tv_nsec > 100000000 && rem.tv_nsec <= 210000000,
	      "nanosleep, handler: EINTR, %ld ns remain", rem.tv_nsec);

	on(SIGALRM, SA_RESTART);
	alarm_ms(100);
	ret = run_frame(dev, handle, frame, &run);
	check(ret == -EINTR && run.status == COSY_RESULT,
	      "nanosleep, SA_RESTART: EINTR all the same");

	pid = getpid();
	pid = later(50, stop_and_go, &pid);
	start = now();
	ret = run_frame(dev, handle, frame, &run);
	start = now() - start;
	check(ret == 0 && run.status == COSY_RESULT && run.pc == 0 && start > 0.29 &&
	      start < 0.6, "nanosleep, stopped: the time runs on, result 0 after %.2f s", start);
	waitpid(pid, &status, 0);
	/* What libcosy does then. */
	frame[0] = ret;
	run.pc = 7;
	run.status = COSY_AGAIN;
	check(run_on(dev, &run) == done(0) && frame[1] == 7 && frame[0] == 0,
	      "and the compound goes on");
}

static void test_poll(int dev)
{
	__u64 poll_handle = one_call(dev, SYS_poll);
	__u64 ppoll_handle = one_call(dev, SYS_ppoll);
	__u64 select_handle = one_call(dev, SYS_pselect6);
	struct timespec ts;
	struct pollfd pfd = { .events = POLLIN };
	__u64 frame[8] = { 0 };
	struct cosy_run run;
	int pipes[2], status;
	sigset_t mask, old, after;
	double start;
	pid_t pid;
	long ret;

	if (pipe(pipes))
		die("pipe");
	pfd.fd = pipes[0];
	frame[2] = (__u64)(uintptr_t)&pfd;
	frame[3] = 1;
	frame[4] = 300;
	on(SIGALRM, SA_RESTART);
	alarm_ms(50);
	ret = run_frame(dev, poll_handle, frame, &run);
	check(ret == -EINTR && run.status == COSY_RESULT && handled == 1,
	      "poll, handler: EINTR even with SA_RESTART");
	pid = getpid();
	pid = later(50, stop_and_go, &pid);
	start = now();
	ret = run_frame(dev, poll_handle, frame, &run);
	start = now() - start;
	check(ret == 0 && run.status == COSY_RESULT && start > 0.29 && start < 0.6,
	      "poll, stopped: the time runs on, 0 after %.2f s", start);
	waitpid(pid, &status, 0);

	/* The signal is let in by the call's own mask only. */
	sigemptyset(&mask);
	sigaddset(&mask, SIGALRM);
	sigprocmask(SIG_BLOCK, &mask, &old);
	ts = (struct timespec){ .tv_nsec = 300000000 };
	frame[4] = (__u64)(uintptr_t)&ts;
	frame[5] = (__u64)(uintptr_t)&old;
	frame[6] = 8;
	alarm_ms(100);
	ret = run_frame(dev, ppoll_handle, frame, &run);
	sigprocmask(SIG_BLOCK, NULL, &after);
	check(ret == -EINTR && run.status == COSY_RESULT && handled == 1 &&
	      sigismember(&after, SIGALRM) && ts.tv_nsec > 100000000 &&
	      ts.tv_nsec <= 210000000,
	      "ppoll with a mask: EINTR, mask restored, %ld ns left", ts.tv_nsec);

	frame[2] = frame[3] = frame[4] = frame[5] = 0;
	ts = (struct timespec){ .tv_nsec = 300000000 };
	frame[6] = (__u64)(uintptr_t)&ts;
	frame[7] = (__u64)(uintptr_t)&(__u64 [2]){ (__u64)(uintptr_t)&old, 8 };
	alarm_ms(100);
	ret = run_frame(dev, select_handle, frame, &run);
	sigprocmask(SIG_BLOCK, NULL, &after);
	check(ret == -EINTR && handled == 1 && sigismember(&after, SIGALRM) &&
	      ts.tv_nsec > 100000000 && ts.tv_nsec <= 210000000,
	      "pselect with a mask: EINTR, mask restored, %ld ns left", ts.tv_nsec);

	alarm_ms(50);
	usleep(100000);
	check(handled == 0, "the signal is blocked and pending");
	frame[2] = (__u64)(uintptr_t)&old;
	frame[3] = 8;
	ret = run_frame(dev, one_call(dev, SYS_rt_sigsuspend), frame, &run);
	sigprocmask(SIG_BLOCK, NULL, &after);
	if (run.status == COSY_STEP)
		check(run.value == COSY_STEP_CALL, "sigsuspend is left to user mode");
	else
		check(ret == -EINTR && run.status == COSY_RESULT && handled == 1 &&
		      sigismember(&after, SIGALRM), "sigsuspend: EINTR, mask restored");
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(pipes[0]);
	close(pipes[1]);
}

/* A signal between calls: the handler runs before the next one. */
static void test_between(int dev)
{
	__u64 frame[4] = { 0 };
	struct cosy_run run;
	unsigned int again = 0, tries;
	__u64 handle;
	long ret;

	/* for (;;) if (*r1) exit */
	handle = must_load(dev, 3, LOAD(4, 0, 1), BR(0, EQ, 0, 0), EXIT(2));
	on(SIGALRM, 0);
	/* Once in a while it comes between two entries, and nothing has to leave. */
	for (tries = 0; tries < 20 && !again; tries++) {
		frame[1] = (__u64)(uintptr_t)&handled;
		alarm_ms(50);
		memset(&run, 0, sizeof(run));
		run.handle = handle;
		run.frame = (__u64)(uintptr_t)frame;
		do {
			ret = enter(dev, &run);
			again += run.status == COSY_AGAIN;
			if (run.status == COSY_LIMIT)
				run.status = COSY_AGAIN;
		} while (ret == COSY_RUN_LEFT);
		if (ret != done(2) || !handled)
			break;
	}
	check(ret == done(2) && handled && again >= 1, "an endless loop sees the handler");

	/* kill(getpid(), SIGALRM); r1 = *handled */
	handle = must_load(dev, 4, SYS(0, SYS_kill, 2), ARG(2), ARGI(SIGALRM),
			   LOAD(4, 1, 3), EXIT(0));
	handled = 0;
	frame[2] = getpid();
	frame[3] = (__u64)(uintptr_t)&handled;
	ret = run_frame(dev, handle, frame, &run);
	check(ret == done(0) && frame[0] == 0 && frame[1] == 1,
	      "a handler runs before what comes after kill");
}

int main(void)
{
	int dev = open_device();

	test_read(dev);
	test_nanosleep(dev);
	test_poll(dev);
	test_between(dev);
	return finish();
}
