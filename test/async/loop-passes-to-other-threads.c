// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A loop that one thread uses belongs to it. Other threads submit, wait, cancel and stop at any
 * moment, and take the loop over. Each operation completes once, with its own result, and the
 * operations of a descriptor stay in order, whatever calls they are.
 */

// RUN: %compile
// RUN: %everywhere

#include "loop.h"

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cosy/async.h>

#define PAIRS	16
#define ROUNDS	2000

static struct cosy_loop *loop;

struct pair {
	struct cosy_async received, sent;
	int fds[2];
	unsigned int rounds;
	bool is_left;
	char in, out;
};

/* The loop does not notice close(). */
static void forget(int fds[2])
{
	for (int i = 0; i < 2; i++) {
		CHECK(cosy_cancel_fd(loop, fds[i]) >= 0);
		close(fds[i]);
	}
}

static struct pair pairs[PAIRS];
static unsigned int wrong, ended;

static void receive(struct pair *p)
{
	if (cosy_async_recv(loop, &p->received, p->fds[1], &p->in, 1, 0))
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void send_next(struct pair *p)
{
	p->out = (char)p->rounds;
	if (cosy_async_send(loop, &p->sent, p->fds[0], &p->out, 1, 0))
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void received(struct cosy_async *op)
{
	struct pair *p = op->data;

	if (op->result != 1 || p->in != (char)p->rounds)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	if (++p->rounds == ROUNDS) {
		__atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
		return;
	}
	receive(p);
	/* The last send completes before or after what it has sent is received. */
	if (cosy_async_pending(&p->sent))
		p->is_left = true;
	else
		send_next(p);
}

static void sent(struct cosy_async *op)
{
	struct pair *p = op->data;

	if (op->result != 1)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	if (p->is_left) {
		p->is_left = false;
		send_next(p);
	}
}

static void begin(void)
{
	wrong = ended = 0;
	for (unsigned int i = 0; i < PAIRS; i++) {
		struct pair *p = &pairs[i];

		*p = (struct pair){ .received = { .done = received, .data = p },
				    .sent = { .done = sent, .data = p } };
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, p->fds), 0);
		receive(p);
		send_next(p);
	}
}

static void end(void)
{
	EQUAL(wrong, 0);
	EQUAL(ended, PAIRS);
	for (unsigned int i = 0; i < PAIRS; i++)
		forget(pairs[i].fds);
}

static void *run(void *unused)
{
	EQUAL(cosy_loop_run(loop), 0);
	return unused;
}

/* The thread that submits is not the one that waits. */
static void another_thread_runs(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		begin();
		pthread_create(&thread, NULL, run, NULL);
		pthread_join(thread, NULL);
		end();
	}
}

static struct {
	bool stop;
	unsigned int submitted, done, others;
} beside;

static void counted(struct cosy_async *op)
{
	if (op->result == getpid())
		__atomic_fetch_add(&beside.done, 1, __ATOMIC_RELAXED);
}

/* Submit, ask and wait beside the thread that runs the loop. */
static void *use_beside(void *unused)
{
	struct cosy_async ops[32] = { 0 };
	struct cosy_loop_info info;

	while (!__atomic_load_n(&beside.stop, __ATOMIC_ACQUIRE)) {
		for (int i = 0; i < 32; i++) {
			ops[i].done = counted;
			if (!cosy_async_pending(&ops[i]) && !cosy_async_getpid(loop, &ops[i]))
				beside.submitted++;
		}
		EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
		EQUAL(cosy_wait_for(loop, &ops[31], NULL) < -ECANCELED, false);
		sched_yield();
	}
	for (int i = 0; i < 32; i++)
		EQUAL(cosy_wait_for(loop, &ops[i], NULL), 0);
	return unused;
}

static void used_beside(void)
{
	pthread_t thread;

	begin();
	beside.stop = false;
	pthread_create(&thread, NULL, use_beside, NULL);
	while (__atomic_load_n(&ended, __ATOMIC_RELAXED) < PAIRS)
		CHECK(cosy_wait(loop, 1, NULL) >= 0);
	__atomic_store_n(&beside.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(beside.done, beside.submitted);
	end();
}

static struct {
	struct cosy_async op;
	bool stop;
	unsigned int cancelled, completed;
} victim;

static void victim_done(struct cosy_async *op)
{
	if (op->result == -ECANCELED)
		victim.cancelled++;
	victim.completed++;
}

static void *cancel_often(void *unused)
{
	while (!__atomic_load_n(&victim.stop, __ATOMIC_ACQUIRE)) {
		int err = cosy_cancel(loop, &victim.op);

		CHECK(!err || err == -ENOENT);
		sched_yield();
	}
	return unused;
}

static void cancelled_beside(void)
{
	pthread_t thread;
	unsigned int submitted = 0, bytes = 0;
	int fds[2];
	char byte;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	victim.op.done = victim_done;
	victim.stop = false;
	pthread_create(&thread, NULL, cancel_often, NULL);
	for (int i = 0; i < 3000; i++) {
		EQUAL(cosy_async_recv(loop, &victim.op, fds[0], &byte, 1, 0), 0);
		submitted++;
		if (i % 2) {
			EQUAL(send(fds[1], "x", 1, 0), 1);
			bytes++;
		}
		EQUAL(cosy_wait(loop, 1, NULL), 1);
		EQUAL(victim.completed, submitted);
		/* It was cancelled, or it has received. */
		if (victim.op.result != -ECANCELED) {
			EQUAL(victim.op.result, 1);
			bytes--;
		}
		while (bytes && recv(fds[0], &byte, 1, MSG_DONTWAIT) == 1)
			bytes--;
		EQUAL(bytes, 0);
	}
	__atomic_store_n(&victim.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	CHECK(victim.cancelled > 0);
	forget(fds);
}

static void *stop_later(void *unused)
{
	const struct timespec little = { .tv_nsec = 20000000 };

	nanosleep(&little, NULL);
	cosy_loop_stop(loop);
	return unused;
}

/* Another thread, or a signal handler, stops the thread that sleeps. */
static void on_signal(int signal)
{
	(void)signal;
	cosy_loop_stop(loop);
}

static void stopped(void)
{
	struct cosy_async op = { 0 };
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t thread;
	int fds[2];
	char byte;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(cosy_async_recv(loop, &op, fds[0], &byte, 1, 0), 0);
	EQUAL(cosy_wait(loop, 0, NULL), 0);
	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, stop_later, NULL);
		EQUAL(cosy_loop_run(loop), 1);
		pthread_join(thread, NULL);
	}
	sigaction(SIGALRM, &action, NULL);
	alarm(1);
	EQUAL(cosy_loop_run(loop), 1);
	signal(SIGALRM, SIG_DFL);
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(op.result, -ECANCELED);
	forget(fds);
}

static unsigned int order[8], norder;

static void note_order(struct cosy_async *op)
{
	order[norder++] = (unsigned int)(uintptr_t)op->data;
}

/* Calls of all kinds receive from a descriptor in their order; so do those that send. */
static void mixed_calls(void)
{
	struct cosy_async ops[5];
	char in[5] = "", big[1 << 18] = "", *rest = malloc(sizeof(big));
	struct iovec iov = { .iov_base = &in[1], .iov_len = 1 };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct iovec end = { .iov_base = "end", .iov_len = 3 };
	struct msghdr last = { .msg_iov = &end, .msg_iovlen = 1 };
	size_t got = 0;
	int fds[2];

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	for (unsigned int when = 0; when < 4; when++) {
		norder = 0;
		for (uintptr_t i = 0; i < 5; i++)
			ops[i] = (struct cosy_async){ .done = note_order, .data = (void *)i };
		EQUAL(cosy_async_recv(loop, &ops[0], fds[0], &in[0], 1, 0), 0);
		if (when == 1)
			EQUAL(cosy_wait(loop, 0, NULL), 0);
		EQUAL(cosy_async_recvmsg(loop, &ops[1], fds[0], &message, 0), 0);
		EQUAL(cosy_async_recv(loop, &ops[2], fds[0], &in[2], 1, 0), 0);
		if (when == 2)
			EQUAL(cosy_wait(loop, 0, NULL), 0);
		EQUAL(cosy_async_read(loop, &ops[3], fds[0], &in[3], 1), 0);
		EQUAL(cosy_async_recv(loop, &ops[4], fds[0], &in[4], 1, 0), 0);
		if (when == 3)
			EQUAL(cosy_wait(loop, 0, NULL), 0);
		EQUAL(send(fds[1], "abcde", 5, 0), 5);
		EQUAL(cosy_loop_run(loop), 0);
		EQUAL(memcmp(in, "abcde", 5), 0);
		for (unsigned int i = 0; i < 5; i++)
			EQUAL(order[i], i);
	}
	/* The first does not fit, so the others wait after it. */
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * 7);
	norder = 0;
	EQUAL(cosy_async_send(loop, &ops[0], fds[0], big, sizeof(big), 0), 0);
	EQUAL(cosy_async_send(loop, &ops[1], fds[0], "1", 1, 0), 0);
	EQUAL(cosy_async_sendmsg(loop, &ops[2], fds[0], &last, 0), 0);
	EQUAL(cosy_async_send(loop, &ops[3], fds[0], "2", 1, 0), 0);
	while (norder < 4 || got < sizeof(big)) {
		ssize_t n = recv(fds[1], rest + got, sizeof(big) - got, MSG_DONTWAIT);

		if (n > 0)
			got += (size_t)n;
		CHECK(cosy_wait(loop, 0, NULL) >= 0);
	}
	EQUAL(ops[0].result, (long)sizeof(big));
	EQUAL(memcmp(rest, big, sizeof(big)), 0);
	EQUAL(recv(fds[1], rest, sizeof(big), 0), 5);
	EQUAL(memcmp(rest, "1end2", 5), 0);
	for (unsigned int i = 0; i < 4; i++)
		EQUAL(order[i], i);
	free(rest);
	forget(fds);
}

/* As many operations as the loop was made for can be outstanding, of all kinds together. */
static void full(void)
{
	const struct cosy_loop_options options = { .size = sizeof(options), .entries = 64 };
	struct cosy_async ops[65] = { 0 };
	struct cosy_loop *small;
	int fds[2], pipes[2];
	char byte[64];

	EQUAL(cosy_loop_create(&small, &options), 0);
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(pipe(pipes), 0);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 64; i++) {
			if (i % 2)
				EQUAL(cosy_async_recv(small, &ops[i], fds[0], &byte[i], 1, 0), 0);
			else
				EQUAL(cosy_async_read(small, &ops[i], pipes[0], &byte[i], 1), 0);
		}
		EQUAL(cosy_async_getpid(small, &ops[64]), -EAGAIN);
		EQUAL(cosy_async_recv(small, &ops[64], fds[0], byte, 1, 0), -EAGAIN);
		EQUAL(cosy_wait(small, 0, NULL), 0);
		EQUAL(cosy_async_getpid(small, &ops[64]), -EAGAIN);
		EQUAL(cosy_cancel(small, &ops[1]), 0);
		EQUAL(cosy_cancel_fd(small, fds[0]), 31);
		EQUAL(cosy_cancel_fd(small, pipes[0]), 32);
		EQUAL(cosy_loop_run(small), 0);
		for (int i = 0; i < 64; i++)
			EQUAL(ops[i].result, -ECANCELED);
		for (int i = 0; i < 64; i++)
			EQUAL(cosy_async_getpid(small, &ops[i]), 0);
		EQUAL(cosy_async_getpid(small, &ops[64]), -EAGAIN);
		EQUAL(cosy_loop_run(small), 0);
	}
	EQUAL(cosy_loop_destroy(small), 0);
	close(fds[0]);
	close(fds[1]);
	close(pipes[0]);
	close(pipes[1]);
}

/* Operations that wait are cancelled when the loop is destroyed. */
static void destroyed(void)
{
	struct cosy_async ops[8] = { 0 };
	struct cosy_loop *other;
	int fds[2];
	char byte;

	for (int when = 0; when < 2; when++) {
		EQUAL(cosy_loop_create(&other, NULL), 0);
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		for (int i = 0; i < 4; i++) {
			EQUAL(cosy_async_recv(other, &ops[i], fds[0], &byte, 1, 0), 0);
			if (when)
				EQUAL(cosy_wait(other, 0, NULL), 0);
		}
		for (int i = 4; i < 8; i++)
			EQUAL(cosy_async_getpid(other, &ops[i]), 0);
		EQUAL(cosy_loop_destroy(other), 0);
		for (int i = 0; i < 8; i++)
			EQUAL(ops[i].result, -ECANCELED);
		close(fds[0]);
		close(fds[1]);
	}
}

int main(void)
{
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	begin();
	EQUAL(cosy_loop_run(loop), 0);
	end();
	mixed_calls();
	full();
	destroyed();
	stopped();
	another_thread_runs();
	used_beside();
	cancelled_beside();
	/* By now the loop belongs to no thread any more. */
	begin();
	EQUAL(cosy_loop_run(loop), 0);
	end();
	mixed_calls();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
