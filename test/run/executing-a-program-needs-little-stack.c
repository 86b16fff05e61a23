// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Processes under cosy run execute programs on an alternate stack that has 1 KiB more than the kernel needs,
 * and in threads with the smallest stack, however many variables the environment has.
 */

// RUN: rm -rf %t.dir && mkdir %t.dir && %cc -O1 -Wall -pthread -Wl,-z,now %s -o %t.dir/parent
// RUN: for name in rm other; do printf '#!/bin/sh\nexit 5\n' >%t.dir/$name && chmod +x %t.dir/$name || exit; done
// RUN: %t.dir/parent %t.dir
// RUN: %build/bin/cosy run %t.dir/parent %t.dir

#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../Inputs/check.h"

#define GUARD	65536

static char path[PATH_MAX];
static char *args[] = { "program", NULL };

static void on_signal(int signal)
{
	(void)signal;
	execve(path, args, environ);
	_exit(98);
}

/* In a child: the handler executes the program. */
static void execute_in_handler(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = getauxval(AT_MINSIGSTKSZ) + 1024 };
	char *memory = mmap(NULL, 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	EQUAL(mprotect(memory + GUARD, GUARD, PROT_READ | PROT_WRITE), 0);
	stack.ss_sp = memory + GUARD;
	EQUAL(sigaltstack(&stack, NULL), 0);
	EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
	raise(SIGUSR1);
}

static void must_exit(pid_t pid)
{
	int status;

	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 5 << 8);
}

static void *spawn(void *arg)
{
	pid_t pid;

	(void)arg;
	EQUAL(posix_spawn(&pid, path, NULL, NULL, args, environ), 0);
	must_exit(pid);
	return NULL;
}

static void execute(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	pid_t pid = fork();

	if (!pid) {
		execute_in_handler();
		_exit(99);
	}
	must_exit(pid);
	EQUAL(pthread_attr_init(&attributes), 0);
	EQUAL(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN), 0);
	EQUAL(pthread_create(&thread, &attributes, spawn, NULL), 0);
	EQUAL(pthread_join(thread, NULL), 0);
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "rm", "other" };
	static const int counts[] = { 50, 90, 100, 1500, 4000 };
	char variable[32];
	int n = 0;

	EQUAL(argc, 2);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		for (; n < counts[i]; n++) {
			snprintf(variable, sizeof(variable), "VARIABLE_%d", n);
			EQUAL(setenv(variable, "value", 1), 0);
		}
		for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++) {
			snprintf(path, sizeof(path), "%s/%s", argv[1], names[j]);
			execute();
		}
	}
	return 0;
}
