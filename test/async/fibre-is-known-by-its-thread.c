/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A fibre that goes on in another thread is not taken for the thread in which it has begun: no compiler keeps the
 * address of a thread across a call.
 */
// RUN: %cc -g -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -pthread -I%include -I%S/Inputs %s -o %t
// RUN: %bounded %t
// RUN: gcc -g -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -pthread -I%include -I%S/Inputs %s -o %t
// RUN: %bounded %t
#include <pthread.h>
#include <ucontext.h>

#include "../../Inputs/check.h"

#include <cosy/async.h>

static ucontext_t fibre, thread;
static const void *before, *after;

static void run(void)
{
	before = cosy_submit_self();
	swapcontext(&fibre, &thread);
	after = cosy_submit_self();
	swapcontext(&fibre, &thread);
}

static void *resume(void *unused)
{
	CHECK(!swapcontext(&thread, &fibre));
	return unused;
}

int main(void)
{
	static char stack[64 << 10];
	pthread_t other;

	CHECK(!getcontext(&fibre));
	fibre.uc_stack.ss_sp = stack;
	fibre.uc_stack.ss_size = sizeof(stack);
	makecontext(&fibre, run, 0);
	CHECK(!swapcontext(&thread, &fibre));
	EQUAL(pthread_create(&other, NULL, resume, NULL), 0);
	EQUAL(pthread_join(other, NULL), 0);
	CHECK(before == (const void *)pthread_self());
	CHECK(after == (const void *)other);
	return 0;
}
