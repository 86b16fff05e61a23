// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A process without threads leaves an open() that blocks by a jump out of a handler, or is the parent of a child
 * of vfork() that is killed in it. The cancellation of its thread stays deferred. A cancellation that was
 * requested before takes effect in the next open().
 */

// RUN: %cc -O1 -Wall -pthread %s -o %t
// RUN: %vm %t
// RUN: %vm env COSY_EXECUTOR=kernel %build/bin/cosy run %t
// RUN: %cosy-cc -O1 -Wall -pthread -fcosy-auto %s -o %t.auto && %cosy-cc -O1 -Wall -pthread -fcosy-auto -static %s -o %t.static
// RUN: %vm env COSY_EXECUTOR=kernel %t.auto
// RUN: %vm env COSY_EXECUTOR=kernel %t.static

#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "Inputs/device.h"

static char fifo[] = "/tmp/interrupted-fifo";
static sigjmp_buf before_open;

static void jump(int signal)
{
	(void)signal;
	siglongjmp(before_open, 1);
}

static void set_timer(void)
{
	struct itimerval timer = { .it_value.tv_usec = 300000 };

	EQUAL(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

static int cancellation_type(void)
{
	int type;

	EQUAL(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type), 0);
	return type;
}

int main(void)
{
	pid_t pid;
	int status;

	unlink(fifo);
	EQUAL(mkfifo(fifo, 0600), 0);
	warm_up();
	CHECK(signal(SIGALRM, jump) != SIG_ERR);
	if (!sigsetjmp(before_open, 1)) {
		set_timer();
		open(fifo, O_RDONLY);
		return 1;
	}
	EQUAL(cancellation_type(), PTHREAD_CANCEL_DEFERRED);

	CHECK(signal(SIGALRM, SIG_DFL) != SIG_ERR);
	pid = vfork();
	if (!pid) {
		set_timer();
		open(fifo, O_RDONLY);
		_exit(1);
	}
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, SIGALRM);
	EQUAL(cancellation_type(), PTHREAD_CANCEL_DEFERRED);

	pid = fork();
	if (!pid) {
		EQUAL(pthread_cancel(pthread_self()), 0);
		open("/", O_RDONLY);
		_exit(5);
	}
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
	EQUAL(unlink(fifo), 0);
	return 0;
}
