/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * COSY_ASYNC functions call COSY_FUNCTIONs, which the module calls in their compounds. The results are
 * those of native code; also if a call is an up-call, if it is suspended for a signal, if it fails
 * before it has written, and if the loop is lost meanwhile.
 */
// RUN: %async-compile -O0
// RUN: %everywhere
// RUN: %async-compile -O2
// RUN: %everywhere
// RUN: %vm env COSY_FUNCTIONS=kernel %t
// RUN: %vm env COSY_FUNCTIONS=native %t
//
// All 1,000 requests of one connection are served in the module. 6.1 cannot run user functions.
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t stats 2>&1 | %FileCheck --check-prefix=%if kernel-6.1 %{NATIVE%} %else %{CHECK%} %s
// CHECK-DAG: user-function-runs-in-a-compound.c:{{[0-9]+}}: executor=kernel runs=1 syscalls=0 entries=2{{$}}
// CHECK-DAG: function store: executor=kernel upcalls=1{{$}}
//
// Without privileges the function runs natively, with an operation for each call.
// RUN: %vm env COSY_FUNCTIONS=native COSY_STATS=1 %t stats 2>&1 | %FileCheck --check-prefix=NATIVE %s
// NATIVE: user-function-runs-in-a-compound.c:{{[0-9]+}}: executor=native runs=1 native=1{{$}}
//
// RUN: %vm env COSY_FUNCTIONS=kernel %t lost > %t.out 2>&1; echo "status $?" >> %t.out
// RUN: %if kernel-6.1 %{ true %} %else %{ %FileCheck --check-prefix=LOST %s < %t.out %}
// LOST: function store: was suspended and cannot resume: its segment was destroyed, the descriptor of its loop was closed,
// LOST: status 152
#include <cosy.h>
#include <setjmp.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "serving.h"

struct store {
	uint64_t requests;
	uint64_t sum;
};

struct request {
	uint64_t rounds;
	uint64_t value;
};

struct client {
	int fd;
	struct store *store;
	struct request in;
	uint64_t out;
};

/* Writes from the first iteration on, so it cannot begin again. */
COSY_FUNCTION
static uint64_t store(struct store *s, const struct request *r)
{
	uint64_t sum = r->value;

	s->requests++;
	for (uint64_t i = 0; i < r->rounds; i++) {
		sum = sum * 31 + (i ^ s->sum);
		s->sum += sum & 1;
	}
	return sum;
}

/* Fails if @divisor is 0, before it writes. */
COSY_FUNCTION
static uint64_t quotient(uint64_t value, uint64_t divisor)
{
	return value / divisor;
}

/* Has a stack, and writes nothing else. */
COSY_FUNCTION
static uint64_t look(const struct request *r)
{
	uint64_t counts[16] = { 0 }, sum = r->value;

	for (uint64_t i = 0; i < r->rounds; i++) {
		counts[sum % 16]++;
		sum = sum * 31 + counts[i % 16];
	}
	return sum;
}

COSY_ASYNC static long looks(struct client *c)
{
	long n;

	while ((n = recv(c->fd, &c->in, sizeof(c->in), 0)) > 0) {
		c->out = look(&c->in);
		if (send(c->fd, &c->out, sizeof(c->out), MSG_NOSIGNAL) < 0)
			return -errno;
	}
	return n < 0 ? -errno : 0;
}

COSY_ASYNC static long answer(struct client *c)
{
	long n, served = 0;

	while ((n = recv(c->fd, &c->in, sizeof(c->in), MSG_NOSIGNAL)) > 0) {
		c->out = store(c->store, &c->in);
		if (send(c->fd, &c->out, sizeof(c->out), MSG_NOSIGNAL) < 0)
			return -errno;
		served++;
	}
	return n < 0 ? -errno : served;
}

COSY_ASYNC static long divide(struct client *c)
{
	long n;

	while ((n = recv(c->fd, &c->in, sizeof(c->in), 0)) > 0) {
		c->out = quotient(c->in.value, c->in.rounds);
		if (send(c->fd, &c->out, sizeof(c->out), MSG_NOSIGNAL) < 0)
			return -errno;
	}
	return n < 0 ? -errno : 0;
}

/* What store() returns, and does to @s. */
static uint64_t expected(struct store *s, uint64_t rounds, uint64_t value)
{
	for (uint64_t i = 0; i < rounds; i++) {
		value = value * 31 + (i ^ s->sum);
		s->sum += value & 1;
	}
	s->requests++;
	return value;
}

static struct client *connect_client(int *peer)
{
	struct client *c = cosy_calloc(1, sizeof(*c));
	int fds[2];

	open_pair(fds);
	c->fd = fds[0];
	c->store = cosy_calloc(1, sizeof(*c->store));
	*peer = fds[1];
	return c;
}

static void request(int peer, uint64_t rounds, uint64_t value)
{
	struct request request = { rounds, value };

	EQUAL(send(peer, &request, sizeof(request), 0), (ssize_t)sizeof(request));
}

/* Run the loop until there is an answer, and return it. */
static uint64_t answered(int peer)
{
	uint64_t out = 0;

	while (recv(peer, &out, sizeof(out), MSG_DONTWAIT) != (ssize_t)sizeof(out))
		CHECK(cosy_wait(loop, 0, NULL) >= 0);
	return out;
}

static uint64_t ask(int peer, uint64_t rounds, uint64_t value)
{
	request(peer, rounds, value);
	return answered(peer);
}

/* Ask @n times. The answers are those that native code gives for @own. */
static void ask_often(int peer, unsigned int n, uint64_t rounds, struct store *own)
{
	for (unsigned int i = 0; i < n; i++)
		EQUAL(ask(peer, rounds + i % 50, i), expected(own, rounds + i % 50, i));
}

static struct client *start(struct cosy_async *op, int *peer)
{
	struct client *c = connect_client(peer);

	EQUAL(COSY_SPAWN(loop, answer(c), .op = op), 0);
	return c;
}

/* The function ends after @served requests, and has changed its store as native code changes @own. */
static void ends(struct client *c, struct cosy_async *op, int peer, long served,
		 const struct store *own)
{
	EQUAL(close(peer), 0);
	EQUAL(result_of(loop, op), served);
	EQUAL(c->store->requests, own->requests);
	EQUAL(c->store->sum, own->sum);
	close_fd(c->fd);
}

static void serves(unsigned int requests)
{
	struct store own = { 0 };
	struct cosy_async op = { 0 };
	int peer;
	struct client *c = start(&op, &peer);

	ask_often(peer, requests, 0, &own);
	ends(c, &op, peer, (long)requests, &own);
}

/* The memory is not of a segment, so each call is an up-call; then the function goes on natively. */
static void serves_from_elsewhere(void)
{
	static struct store elsewhere;
	struct store own = { 0 };
	struct cosy_async op = { 0 };
	int peer;
	struct client *c = start(&op, &peer);

	c->store = &elsewhere;
	ask_often(peer, 300, 3, &own);
	ends(c, &op, peer, 300, &own);
}

static volatile sig_atomic_t ticks;

static void tick(int nr)
{
	(void)nr;
	ticks++;
}

/* Several functions are suspended for a signal, and each goes on where it was. */
static void is_suspended(void)
{
	enum { N = 12 };
	static const uint64_t rounds = 3000000;
	struct itimerval often = { { 0, 3000 }, { 0, 3000 } }, never = { 0 };
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
	struct cosy_async ops[N] = { 0 };
	struct client *c[N];
	struct store own[N] = { 0 };
	int peers[N];

	sigaction(SIGALRM, &action, NULL);
	EQUAL(setitimer(ITIMER_REAL, &often, NULL), 0);
	for (int i = 0; i < N; i++)
		c[i] = start(&ops[i], &peers[i]);
	for (int i = 0; i < N; i++)
		request(peers[i], rounds, (uint64_t)i);
	for (int i = 0; i < N; i++)
		EQUAL(answered(peers[i]), expected(&own[i], rounds, (uint64_t)i));
	EQUAL(setitimer(ITIMER_REAL, &never, NULL), 0);
	CHECK(ticks > 0);
	for (int i = 0; i < N; i++)
		ends(c[i], &ops[i], peers[i], 1, &own[i]);
}

static sigjmp_buf outside;

static void divided_by_zero(int nr)
{
	siglongjmp(outside, nr);
}

/* A function that fails before it has written raises the native signal. */
static void fails(void)
{
	struct sigaction action = { .sa_handler = divided_by_zero };
	struct cosy_async op = { 0 };
	struct client *c;
	volatile int peer;
	int fd, status;
	pid_t child = fork();

	if (child) {
		EQUAL(waitpid(child, &status, 0), child);
		EQUAL(status, 0);
		return;
	}
	/* A child has a loop and a segment of its own. */
	loop = make_loop();
	c = connect_client(&fd);
	peer = fd;
	EQUAL(COSY_SPAWN(loop, divide(c), .op = &op), 0);
	for (uint64_t i = 1; i < 100; i++)
		EQUAL(ask(peer, i, 1000), 1000 / i);
	sigaction(SIGFPE, &action, NULL);
	if (!sigsetjmp(outside, 1)) {
		ask(peer, 0, 1000);
		_exit(1);
	}
	_exit(0);
}

/* What the module gives back goes on in user mode. */
static void loses_the_loop(void)
{
	struct store own = { 0 };
	struct cosy_async op = { 0 };
	int peer;
	struct client *c = start(&op, &peer);

	ask_often(peer, 100, 2, &own);
	lose_module(64);
	ask_often(peer, 100, 2, &own);
	ends(c, &op, peer, 200, &own);
}

/* In a handler, without opendir(), which allocates memory. */
static void close_on_tick(int nr)
{
	(void)nr;
	lose_module(64);
}

/*
 * A function that has not written begins again if the loop is lost while it is suspended. Its stack,
 * of which there are eight, is free again.
 */
static void begins_again(void)
{
	struct sigaction action = { .sa_handler = close_on_tick };
	struct itimerval soon = { { 0, 0 }, { 0, 20000 } };
	const struct request asked = { 4000000, 7 };
	const uint64_t sum = look(&asked);

	sigaction(SIGALRM, &action, NULL);
	for (int round = 0; round < 10; round++) {
		struct cosy_async op = { 0 };
		struct client *c;
		int peer;

		loop = make_loop();
		c = connect_client(&peer);
		EQUAL(COSY_SPAWN(loop, looks(c), .op = &op), 0);
		ask(peer, 1, 1);
		EQUAL(setitimer(ITIMER_REAL, &soon, NULL), 0);
		EQUAL(ask(peer, asked.rounds, asked.value), sum);
		EQUAL(close(peer), 0);
		EQUAL(result_of(loop, &op), 0);
		cosy_loop_destroy(loop);
		EQUAL(close(c->fd), 0);
	}
}

/* A function that has written, and is suspended while the loop is lost, cannot go on. */
static void is_lost_while_suspended(void)
{
	struct sigaction action = { .sa_handler = close_on_tick };
	struct itimerval soon = { { 0, 0 }, { 0, 100000 } };
	struct client *c;
	int peer;

	c = connect_client(&peer);
	EQUAL(COSY_SPAWN(loop, answer(c)), 0);
	ask(peer, 1, 1);
	sigaction(SIGALRM, &action, NULL);
	EQUAL(setitimer(ITIMER_REAL, &soon, NULL), 0);
	ask(peer, 1u << 30, 1);
	CHECK(!"the function has ended");
}

int main(int argc, char **argv)
{
	loop = make_loop();
	if (argc > 1 && !strcmp(argv[1], "stats")) {
		serves(1000);
		return 0;
	}
	if (argc > 1) {
		is_lost_while_suspended();
		return 0;
	}
	serves(2000);
	is_suspended();
	fails();
	serves_from_elsewhere();
	loses_the_loop();
	cosy_loop_destroy(loop);
	begins_again();
	puts("passed");
	return 0;
}
