// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With -g and optimization, clang tracks the values of a local variable. The native
// pieces of a region have copies of such records, and are other functions.
// RUN: %clang -O1 -g -fverify-intermediate-code -c %s -o %t.o
// RUN: %cosy-cc -O2 -g %s -o %t && %run-all %t | FileCheck %s
#include <cosy.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int wait_and_ignore(void)
{
	sigset_t set;
	int sig, sum = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	COSY_START;
	kill(getpid(), SIGUSR1);
	sum += sigwait(&set, &sig);
	sum += sig;
	struct sigaction action = { .sa_handler = SIG_IGN };
	sum += sigaction(SIGUSR1, &action, NULL);
	COSY_END;
	return sum;
}

int main(void)
{
	// CHECK: 10
	printf("%d\n", wait_and_ignore());
	return 0;
}
