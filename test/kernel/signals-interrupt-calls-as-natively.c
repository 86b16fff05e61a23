// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Signals that interrupt calls in a compound, with and without SA_RESTART, with and
 * without a handler. Each call ends as natively.
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

/* State that this process shares with the child that sends signals to it. */
static volatile struct shared {
	int handled;
	bool over;		/* this process is no longer where the child expects it */
	double continued;	/* when the child continued this process */
} *shared;

static void handler(int sig)
{
	(void)sig;
	shared->handled++;
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

	shared->handled = 0;
	setitimer(ITIMER_REAL, &it, NULL);
}

/* --- actions of a child -------------------------------------------------------- */

#define HELD 0.05	/* minimum time in seconds that a call has been blocked */

/* Wait until a file of this process in /proc has this text at the start, or after @behind. */
static bool wait_for(pid_t pid, const char *file, const char *behind, const char *text)
{
	char name[40], found[200];

	snprintf(name, sizeof(name), "/proc/%d/%s", pid, file);
	while (!shared->over) {
		int fd = open(name, O_RDONLY);
		ssize_t n = read(fd, found, sizeof(found) - 1);
		const char *at;

		close(fd);
		found[n > 0 ? n : 0] = '\0';
		at = behind ? strstr(found, behind) : found;
		if (at && !strncmp(at + (behind ? strlen(behind) : 0), text, strlen(text)))
			return true;
		usleep(1000);
	}
	return false;
}

/* The entry of a compound is an lseek, which does not wait itself. */
static bool wait_blocked(pid_t pid)
{
	return wait_for(pid, "syscall", NULL, "8 ");
}

static void interrupt(pid_t pid, int fd)
{
	(void)fd;
	if (!wait_blocked(pid))
		return;
	usleep(HELD * 1e6);
	kill(pid, SIGALRM);
}

static void write_byte(pid_t pid, int fd)
{
	if (wait_blocked(pid) && write(fd, "x", 1) != 1)
		_exit(1);
}

static void interrupt_and_write(pid_t pid, int fd)
{
	interrupt(pid, fd);
	while (!shared->handled && !shared->over)
		usleep(1000);
	write_byte(pid, fd);
}

static void interrupt_in_vain_and_write(pid_t pid, int fd)
{
	interrupt(pid, fd);
	write_byte(pid, fd);
}

static void stop_and_go(pid_t pid, int fd)
{
	(void)fd;
	if (!wait_blocked(pid))
		return;
	kill(pid, SIGSTOP);
	wait_for(pid, "stat", ") ", "T");
	usleep(HELD * 1e7);
	shared->continued = now();
	kill(pid, SIGCONT);
}

static void stop_and_write(pid_t pid, int fd)
{
	stop_and_go(pid, fd);
	write_byte(pid, fd);
}

/* run_frame() while a child acts. */
static long run_while(void (*act)(pid_t, int), int fd, int dev, __u64 handle, __u64 *frame,
		      struct cosy_run *run)
{
	pid_t parent = getpid(), pid;
	int status;
	long ret;

	shared->handled = 0;
	shared->over = false;
	shared->continued = 0;
	pid = fork();
	if (!pid) {
		act(parent, fd);
		_exit(0);
	}
	ret = run_frame(dev, handle, frame, run);
	shared->over = true;
	waitpid(pid, &status, 0);
	return ret;
}

/*
 * Run for a second, with a stop: it must end before a second that began again would. A machine may
 * be slow, so one successful attempt is sufficient.
 */
static long run_stopped(int dev, __u64 handle, __u64 *frame, struct cosy_run *run, double *took,
			bool *runs_on)
{
	long ret;

	for (int i = 0; i < 20; i++) {
		double start = now();

		ret = run_while(stop_and_go, -1, dev, handle, frame, run);
		*took = now() - start;
		*runs_on = *took > 0.99 && *took < shared->continued - start + 1;
		if (*runs_on || ret)
			break;
	}
	return ret;
}

/* The remaining time of 100 s is correct, after @took in total. */
static bool remains(const struct timespec *ts, double took)
{
	double left = ts->tv_sec + ts->tv_nsec / 1e9;

	return left < 100 - HELD + 0.001 && left > 100 - took - 0.001;
}

/* --- tests --------------------------------------------------------------------- */

static char buf[16];

/* One call of three arguments, then r1 = 7, which shows whether that was reached. */
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
	int pipes[2];
	long ret;

	if (pipe(pipes))
		die("pipe");
	frame[2] = pipes[0];
	frame[3] = (__u64)(uintptr_t)buf;
	frame[4] = 1;

	on(SIGALRM, 0);
	ret = run_while(interrupt, -1, dev, handle, frame, &run);
	check(ret == -EINTR && run.status == COSY_RESULT && run.pc == 0 &&
	      shared->handled == 1 && frame[1] == 0,
	      "read, handler without SA_RESTART: EINTR is the call's result");

	on(SIGALRM, SA_RESTART);
	ret = run_while(interrupt_and_write, pipes[1], dev, handle, frame, &run);
	check(ret == done(0) && shared->handled == 1 &&
	      frame[0] == 1 && frame[1] == 7, "read, SA_RESTART: restarts, continues");

	frame[1] = 0;
	ret = run_while(stop_and_write, pipes[1], dev, handle, frame, &run);
	check(ret == done(0) && frame[0] == 1 && frame[1] == 7,
	      "read, stopped and continued: restarts");

	/* A call interrupted by an ignored signal restarts by itself. */
	signal(SIGALRM, SIG_IGN);
	ret = run_while(interrupt_in_vain_and_write, pipes[1], dev, handle, frame, &run);
	check(ret == done(0) && frame[0] == 1,
	      "a read that an ignored signal interrupts restarts, and continues");
	close(pipes[0]);
	close(pipes[1]);
}

static void test_nanosleep(int dev)
{
	__u64 handle = one_call(dev, SYS_nanosleep);
	struct timespec want = { .tv_sec = 100 }, rem = { 9, 9 };
	__u64 frame[8] = { 0, 0, (__u64)(uintptr_t)&want, (__u64)(uintptr_t)&rem };
	struct cosy_run run;
	double took;
	bool runs_on;
	long ret;

	on(SIGALRM, 0);
	took = now();
	ret = run_while(interrupt, -1, dev, handle, frame, &run);
	took = now() - took;
	check(ret == -EINTR && run.status == COSY_RESULT && shared->handled == 1 &&
	      remains(&rem, took), "nanosleep, handler: EINTR after %.3f s, %ld.%09ld s remain",
	      took, rem.tv_sec, rem.tv_nsec);

	on(SIGALRM, SA_RESTART);
	ret = run_while(interrupt, -1, dev, handle, frame, &run);
	check(ret == -EINTR && run.status == COSY_RESULT,
	      "nanosleep, SA_RESTART: EINTR all the same");

	want.tv_sec = 1;
	ret = run_stopped(dev, handle, frame, &run, &took, &runs_on);
	check(ret == 0 && run.status == COSY_RESULT && run.pc == 0 && runs_on,
	      "nanosleep, stopped: the time runs on, result 0 after %.2f s", took);
	/* The following steps of libcosy. */
	frame[0] = ret;
	run.pc = 7;
	run.status = COSY_AGAIN;
	check(run_on(dev, &run) == done(0) && frame[1] == 7 && frame[0] == 0,
	      "the compound continues after the call");
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
	sigset_t mask, old, after;
	int pipes[2];
	double took;
	bool runs_on;
	long ret;

	if (pipe(pipes))
		die("pipe");
	pfd.fd = pipes[0];
	frame[2] = (__u64)(uintptr_t)&pfd;
	frame[3] = 1;
	frame[4] = 100000;
	on(SIGALRM, SA_RESTART);
	ret = run_while(interrupt, -1, dev, poll_handle, frame, &run);
	check(ret == -EINTR && run.status == COSY_RESULT && shared->handled == 1,
	      "poll, handler: EINTR even with SA_RESTART");
	frame[4] = 1000;
	ret = run_stopped(dev, poll_handle, frame, &run, &took, &runs_on);
	check(ret == 0 && run.status == COSY_RESULT && runs_on,
	      "poll, stopped: the time runs on, 0 after %.2f s", took);

	/* Only the call's own mask admits the signal. */
	sigemptyset(&mask);
	sigaddset(&mask, SIGALRM);
	sigprocmask(SIG_BLOCK, &mask, &old);
	ts = (struct timespec){ .tv_sec = 100 };
	frame[4] = (__u64)(uintptr_t)&ts;
	frame[5] = (__u64)(uintptr_t)&old;
	frame[6] = 8;
	took = now();
	ret = run_while(interrupt, -1, dev, ppoll_handle, frame, &run);
	took = now() - took;
	sigprocmask(SIG_BLOCK, NULL, &after);
	check(ret == -EINTR && run.status == COSY_RESULT && shared->handled == 1 &&
	      sigismember(&after, SIGALRM) && remains(&ts, took),
	      "ppoll with a mask: EINTR after %.3f s, mask restored, %ld.%09ld s left", took,
	      ts.tv_sec, ts.tv_nsec);

	frame[2] = frame[3] = frame[4] = frame[5] = 0;
	ts = (struct timespec){ .tv_sec = 100 };
	frame[6] = (__u64)(uintptr_t)&ts;
	frame[7] = (__u64)(uintptr_t)&(__u64 [2]){ (__u64)(uintptr_t)&old, 8 };
	took = now();
	ret = run_while(interrupt, -1, dev, select_handle, frame, &run);
	took = now() - took;
	sigprocmask(SIG_BLOCK, NULL, &after);
	check(ret == -EINTR && shared->handled == 1 && sigismember(&after, SIGALRM) &&
	      remains(&ts, took),
	      "pselect with a mask: EINTR after %.3f s, mask restored, %ld.%09ld s left", took,
	      ts.tv_sec, ts.tv_nsec);

	shared->handled = 0;
	kill(getpid(), SIGALRM);
	check(shared->handled == 0, "the signal is blocked and pending");
	frame[2] = (__u64)(uintptr_t)&old;
	frame[3] = 8;
	ret = run_frame(dev, one_call(dev, SYS_rt_sigsuspend), frame, &run);
	sigprocmask(SIG_BLOCK, NULL, &after);
	if (run.status == COSY_STEP)
		check(run.value == COSY_STEP_CALL, "sigsuspend is left to user mode");
	else
		check(ret == -EINTR && run.status == COSY_RESULT && shared->handled == 1 &&
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
	/* Sometimes it arrives between two entries, and the run does not leave. */
	for (tries = 0; tries < 20 && !again; tries++) {
		frame[1] = (__u64)(uintptr_t)&shared->handled;
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
		if (ret != done(2) || !shared->handled)
			break;
	}
	check(ret == done(2) && shared->handled && again >= 1, "an endless loop sees the handler");

	/* kill(getpid(), SIGALRM); r1 = *handled */
	handle = must_load(dev, 4, SYS(0, SYS_kill, 2), ARG(2), ARGI(SIGALRM),
			   LOAD(4, 1, 3), EXIT(0));
	shared->handled = 0;
	frame[2] = getpid();
	frame[3] = (__u64)(uintptr_t)&shared->handled;
	ret = run_frame(dev, handle, frame, &run);
	check(ret == done(0) && frame[0] == 0 && frame[1] == 1,
	      "a handler runs before what comes after kill");
}

int main(void)
{
	int dev = open_device();

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	test_read(dev);
	test_nanosleep(dev);
	test_poll(dev);
	test_between(dev);
	return finish();
}
