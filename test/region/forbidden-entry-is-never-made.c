// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Another thread installs a filter that kills the process for the call that enters
 * compounds, which the native code does not make. A thread that is in a region then, or was in
 * one, must never make it again.
 */
// RUN: %cosy-cc -O2 -pthread %s -o %t
// RUN: %run-all --vm --no-stats %t loop | %FileCheck %s
// RUN: %run-all --vm --no-stats %t done | %FileCheck %s
// RUN: %run-all --vm --no-stats %t upcall | %FileCheck %s
// RUN: %run-all --vm --no-stats %t call | %FileCheck --check-prefixes=CALL,CHECK %s
// RUN: %run-all --vm --no-stats %t strict | %FileCheck --check-prefix=STRICT %s
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The compiler does not see that this sets a filter, so libcosy is not notified before. */
static long unseen_syscall(long nr, long a, long b, const void *c)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	if (ret >= 0)
		return ret;
	errno = (int)-ret;
	return -1;
}

#define syscall	unseen_syscall
#include "Inputs/filter.h"
#undef syscall

#include <cosy.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/stat.h>

/* All calls that libcosy uses to enter the kernel. */
static void forbid_entering(void)
{
	struct sock_filter code[] = {
		LOAD(nr),
		EQUAL(SYS_lseek, 4, 0), EQUAL(SYS_ioctl, 3, 0), EQUAL(SYS_openat, 2, 0),
		EQUAL(SYS_close, 1, 0), RETURN(SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_KILL_PROCESS),
	};

	install(code, sizeof(code), SECCOMP_FILTER_FLAG_TSYNC);
}

static volatile int inside, forbidden, native_calls;

static void *forbidder(void *arg)
{
	(void)arg;
	while (!inside)
		;
	on_call(SYS_sched_yield, SECCOMP_RET_ERRNO | EDOM, SECCOMP_FILTER_FLAG_TSYNC);
	forbid_entering();
	forbidden = 1;
	return NULL;
}

/* In the region until the filter is set, then calls, or none at all. */
static __attribute__((noinline)) long region_loop(bool calls)
{
	long sum = 0;
	int i;

	COSY_START;
	inside = 1;
	while (!forbidden)
		sum += getppid();
	if (calls)
		for (i = 0; i < 300000; i++)
			sum += getppid();
	COSY_END;
	return sum;
}

static __attribute__((noinline)) void native(void)
{
	native_calls++;
}

static void (*volatile up)(void) = native;

static __attribute__((noinline)) long region_upcall(void)
{
	long sum = 0;
	int i;

	COSY_START;
	inside = 1;
	while (!forbidden)
		sum += getppid();
	for (i = 0; i < 10; i++) {
		up();
		sum += getppid();
	}
	COSY_END;
	return sum;
}

/* A call that the filter answers is made in user mode, without a later entry. */
static __attribute__((noinline)) long region_call(void)
{
	long sum = 0;
	int i;

	COSY_START;
	inside = 1;
	while (!forbidden)
		sum += getppid();
	sum = 0;
	for (i = 0; i < 10; i++)
		sum += sched_yield();
	COSY_END;
	printf("answered: %ld\n", sum);
	return sum;
}

static __attribute__((noinline)) int region_next(void)
{
	int pid;

	COSY_START;
	pid = getpid();
	COSY_END;
	return pid;
}

/* If it runs natively, its calls must not go through the module any more. */
static __attribute__((noinline)) long region_names(void)
{
	struct stat st;
	long sum = 0;
	int i;

	COSY_START;
	for (i = 0; i < 100; i++)
		sum += lstat("/", &st);
	COSY_END;
	return sum;
}

/* Strict mode allows read, write and the end of the thread. */
static __attribute__((noinline)) void region_strict(void)
{
	COSY_START;
	syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, 0);
	write(1, "one\n", 4);
	write(1, "two\n", 4);
	COSY_END;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (!strcmp(how, "strict")) {
		// STRICT: one
		// STRICT-NEXT: two
		region_strict();
		syscall(SYS_exit, 0);
	}
	/* Loaded before, because loading in the next region would make further calls. */
	region_next();
	pthread_create(&thread, NULL, forbidder, NULL);
	if (!strcmp(how, "upcall"))
		region_upcall();
	else if (!strcmp(how, "call"))
		region_call();
	else
		region_loop(!strcmp(how, "loop"));
	pthread_join(thread, NULL);
	// CALL: answered: -10
	// CHECK: the next region: right
	printf("the next region: %s\n", region_next() == getpid() ? "right" : "wrong");
	// CHECK: names: 0
	printf("names: %ld\n", region_names());
	printf("up-calls: %d\n", native_calls);
	return 0;
}
