// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Signals and cancellation reach a thread in a call of the module as natively. Calls are possible
 * in handlers, in many threads, and in their children.
 */

// RUN: %cc -O1 -Wall %s -o %t
// RUN: for part in restart interrupt jump handler cancel pending disabled self many; do \
// RUN:   %vm %t $part native >/dev/null || exit 1; %vm %build/bin/cosy run %t $part || exit 1; done

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "Inputs/device.h"

static char fifo[64];
static sigjmp_buf jump;
static volatile sig_atomic_t handled;
static bool native;

static void make_fifo(void)
{
	snprintf(fifo, sizeof(fifo), "/tmp/fifo-%d", getpid());
	EQUAL(mkfifo(fifo, 0600), 0);
	warm_up();
	EQUAL((device() < 0), native);
}

/*
 * Wait until a thread sleeps, and has handled its signals. It sleeps only when it waits for the
 * other end of the FIFO.
 */
static void wait_until_blocked(pid_t pid, pid_t tid)
{
	unsigned long pending, shared;
	char name[64], line[256], state;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/task/%d/status", pid, tid);
	do {
		usleep(1000);
		pending = shared = 1;
		state = 0;
		file = fopen(name, "r");
		CHECK(file);
		while (fgets(line, sizeof(line), file)) {
			sscanf(line, "State: %c", &state);
			sscanf(line, "SigPnd: %lx", &pending);
			sscanf(line, "ShdPnd: %lx", &shared);
		}
		fclose(file);
	} while (state != 'S' || pending || shared);
}

/* The other end of the FIFO, when the parent waits for it again after each signal. */
static pid_t open_later(int signals)
{
	pid_t parent = getpid(), child = fork();

	if (child)
		return child;
	for (int i = 0; i < signals; i++) {
		wait_until_blocked(parent, parent);
		kill(parent, SIGUSR1);
	}
	wait_until_blocked(parent, parent);
	_exit(open(fifo, O_WRONLY) < 0);
}

static void on_signal(int signal)
{
	struct stat st;
	int error = errno;

	/* Natively and with the module, a handler must save errno itself. */
	EQUAL(stat("/tmp", &st), 0);
	EQUAL(stat("/missing", &st), -1);
	EQUAL(errno, ENOENT);
	errno = error;
	handled++;
	(void)signal;
}

static void on_signal_jump(int signal)
{
	siglongjmp(jump, signal);
}

static void expect(void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
}

/* With SA_RESTART the call continues after the handler. */
static void restart(void)
{
	pid_t child;
	int status;

	expect(on_signal, SA_RESTART);
	child = open_later(3);
	warm_up();
	EQUAL(open(fifo, O_RDONLY), 3);
	EQUAL(handled, 3);
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
}

/* Without it, it ends with EINTR. */
static void interrupt(void)
{
	pid_t child;

	expect(on_signal, 0);
	child = open_later(2);
	warm_up();
	for (int i = 1; i <= 2; i++)
		CHECK(open(fifo, O_RDONLY) == -1 && errno == EINTR && handled == i);
	EQUAL(open(fifo, O_RDONLY), 3);
	EQUAL(waitpid(child, NULL, 0), child);
}

/* A handler may leave the call and not return. */
static void jump_out(void)
{
	pid_t child;

	expect(on_signal_jump, 0);
	child = open_later(1);
	warm_up();
	if (!sigsetjmp(jump, 1)) {
		open(fifo, O_RDONLY);
		exit(1);
	}
	EQUAL(open(fifo, O_RDONLY), 3);
	EQUAL(waitpid(child, NULL, 0), child);
}

/* Handlers that make calls, at any moment, and never see another descriptor. */
static void handler(void)
{
	/* By CPU time, so that a slow machine does not use all of it for signals. */
	struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct stat st;

	EQUAL(sigaction(SIGPROF, &action, NULL), 0);
	EQUAL(setitimer(ITIMER_PROF, &timer, NULL), 0);
	for (int i = 0; i < 2000 || handled < 20; i++) {
		errno = 0;
		EQUAL(stat("/tmp", &st), 0);
		CHECK(S_ISDIR(st.st_mode));
		EQUAL(errno, 0);
		EQUAL(access("/missing", F_OK), -1);
		EQUAL(errno, ENOENT);
		/* Close the device, so that it is opened while the signals are sent. */
		if (i % 400 == 0)
			syscall(SYS_close_range, 3, ~0u, 0);
	}
	timer = (struct itimerval){ 0 };
	EQUAL(setitimer(ITIMER_PROF, &timer, NULL), 0);
	EQUAL(open("/", O_RDONLY), 3);
}

static pid_t blocked_thread;

static void *blocked(void *argument)
{
	(void)argument;
	__atomic_store_n(&blocked_thread, gettid(), __ATOMIC_RELEASE);
	open(fifo, O_RDONLY);
	return NULL;
}

static void *blocked_with_cancel_pending(void *argument)
{
	int state;

	/* The next cancellation point acts on a pending request. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	while (!__atomic_load_n((int *)argument, __ATOMIC_ACQUIRE))
		;
	pthread_setcancelstate(state, NULL);
	open("/", O_RDONLY);
	return NULL;
}

static void *not_to_be_cancelled(void *argument)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	while (!__atomic_load_n((int *)argument, __ATOMIC_ACQUIRE))
		;
	return (void *)(long)open("/", O_RDONLY);
}

static void *cancels_itself(void *argument)
{
	struct stat st;

	(void)argument;
	pthread_cancel(pthread_self());
	/* Not a cancellation point. */
	EQUAL(stat("/", &st), 0);
	open("/", O_RDONLY);
	return NULL;
}

static void *calls(void *argument)
{
	struct stat st;

	(void)argument;
	for (int i = 0; i < 1000; i++) {
		EQUAL(stat("/tmp", &st), 0);
		CHECK(S_ISDIR(st.st_mode));
		EQUAL(lstat("/missing", &st), -1);
		EQUAL(errno, ENOENT);
	}
	return NULL;
}

static void *in_thread(void *(*start)(void *), bool cancel)
{
	static int cancelled;
	pthread_t thread;
	void *result;

	EQUAL(pthread_create(&thread, NULL, start, &cancelled), 0);
	if (start == blocked) {
		while (!__atomic_load_n(&blocked_thread, __ATOMIC_ACQUIRE))
			usleep(1000);
		wait_until_blocked(getpid(), blocked_thread);
	}
	if (cancel)
		EQUAL(pthread_cancel(thread), 0);
	__atomic_store_n(&cancelled, 1, __ATOMIC_RELEASE);
	EQUAL(pthread_join(thread, &result), 0);
	return result;
}

/* Threads make calls while others close all descriptors and fork. */
static void many(void)
{
	pthread_t threads[4];
	pid_t child;
	int status;

	for (int i = 0; i < 4; i++)
		EQUAL(pthread_create(&threads[i], NULL, calls, NULL), 0);
	for (int i = 0; i < 5; i++) {
		syscall(SYS_close_range, 3, ~0u, 0);
		child = fork();
		if (!child) {
			calls(NULL);
			_exit(0);
		}
		EQUAL(waitpid(child, &status, 0), child);
		EQUAL(status, 0);
	}
	for (int i = 0; i < 4; i++)
		EQUAL(pthread_join(threads[i], NULL), 0);
}

int main(int argc, char **argv)
{
	const char *part = argv[1];

	native = argc > 2;
	alarm(900);
	make_fifo();
	if (!strcmp(part, "restart"))
		restart();
	else if (!strcmp(part, "interrupt"))
		interrupt();
	else if (!strcmp(part, "jump"))
		jump_out();
	else if (!strcmp(part, "handler"))
		handler();
	else if (!strcmp(part, "cancel"))
		EQUAL(in_thread(blocked, true), PTHREAD_CANCELED);
	else if (!strcmp(part, "pending"))
		EQUAL(in_thread(blocked_with_cancel_pending, true), PTHREAD_CANCELED);
	else if (!strcmp(part, "disabled"))
		EQUAL((long)in_thread(not_to_be_cancelled, true), 3);
	else if (!strcmp(part, "self"))
		EQUAL(in_thread(cancels_itself, false), PTHREAD_CANCELED);
	else
		many();
	unlink(fifo);
	return 0;
}
