/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Several threads run a loop of a program that is compiled with ThreadSanitizer. It knows that a callback
 * comes after the submission, that callbacks of one colour and the parts of a function come one after the
 * other, and that a function comes before cosy_wait_for() returns. So it reports nothing but what
 * callbacks without a colour share.
 */
// RUN: %async-compile -O1 -fsanitize=thread
// RUN: env COSY_EXECUTOR=user %bounded %t right 2>&1 | %FileCheck --check-prefix=RIGHT %s
// RUN: %not env COSY_EXECUTOR=user %bounded %t wrong 2>&1 | %FileCheck --check-prefix=WRONG %s
// RIGHT-NOT: WARNING
// RIGHT: all done
// WRONG: WARNING: ThreadSanitizer: data race
// WRONG: meets
// WRONG: Location is global 'total'
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include <cosy/task.h>

#include "loop.h"

#define THREADS	3
#define CHAINS	30
#define ROUNDS	100

static struct cosy_loop *loop;
/* Used by the callbacks of a colour; or by two callbacks without one. */
static unsigned int total;

struct chain {
	struct cosy_async op;
	struct cosy_async served;
	struct cosy_coloured tick;
	int fds[2];
	char byte;
	unsigned int rounds;
	unsigned int parts;
};

static struct chain chains[CHAINS];

static void ticked(struct cosy_coloured *op)
{
	total += (unsigned int)op->op.result;
}

/* One callback of the chain after the other, each in any thread. */
static void received(struct cosy_async *op)
{
	struct chain *chain = op->data;

	EQUAL(op->result, 1);
	chain->rounds++;
	if (chain->rounds == ROUNDS) {
		EQUAL(cosy_async_send(loop, cosy_colour(&chain->tick, 7, ticked), chain->fds[0], "y", 1,
				      0), 0);
		return;
	}
	EQUAL(cosy_async_recv(loop, op, chain->fds[0], &chain->byte, 1, 0), 0);
	EQUAL(write(chain->fds[1], "x", 1), 1);
}

COSY_ASYNC static int serve(struct chain *chain)
{
	char byte;

	while (chain->parts < ROUNDS) {
		if (send(chain->fds[1], "x", 1, 0) != 1 || recv(chain->fds[0], &byte, 1, 0) != 1)
			return 1;
		chain->parts++;
	}
	EQUAL(cosy_async_recv(loop, &chain->op, chain->fds[0], &chain->byte, 1, 0), 0);
	return write(chain->fds[1], "x", 1) != 1;
}

static void *run(void *arg)
{
	EQUAL(cosy_loop_run(loop), 0);
	return arg;
}

/* Two callbacks, in two threads. */
static pthread_barrier_t meeting;

static void meets(struct cosy_async *op)
{
	(void)op;
	total++;
	pthread_barrier_wait(&meeting);
}

static void share(void)
{
	struct cosy_async ops[2] = { { .done = meets }, { .done = meets } };
	pthread_t thread;

	pthread_barrier_init(&meeting, NULL, 2);
	for (int i = 0; i < 2; i++)
		EQUAL(cosy_async_getpid(loop, &ops[i]), 0);
	EQUAL(pthread_create(&thread, NULL, run, NULL), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(pthread_join(thread, NULL), 0);
}

static void order(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < CHAINS; i++) {
		struct chain *chain = &chains[i];

		chain->op.done = received;
		chain->op.data = chain;
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, chain->fds), 0);
		EQUAL(COSY_SPAWN(loop, serve(chain), .op = &chain->served), 0);
	}
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_create(&threads[i], NULL, run, NULL), 0);
	/* Mostly another thread has run the function. */
	for (int i = 0; i < CHAINS; i++) {
		EQUAL(cosy_wait_for(loop, &chains[i].served, NULL), 0);
		EQUAL(chains[i].served.result, 0);
		EQUAL(chains[i].parts, ROUNDS);
	}
	EQUAL(cosy_loop_run(loop), 0);
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_join(threads[i], NULL), 0);
	for (int i = 0; i < CHAINS; i++)
		EQUAL(chains[i].rounds, ROUNDS);
	EQUAL(total, CHAINS);
}

int main(int argc, char **argv)
{
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	if (argc == 2 && !strcmp(argv[1], "wrong"))
		share();
	else
		order();
	EQUAL(cosy_loop_destroy(loop), 0);
	puts("all done");
	return 0;
}
