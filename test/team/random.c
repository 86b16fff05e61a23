/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * random CALLBACKS WORKERS [SEED] - random calls, operations, timers, cancels, connections and closes of random
 * colours, with descriptors of the process and of shares.
 *
 * Callbacks of one colour run one after the other: each uses memory of its colour without a lock.
 * Those that one colour queues for another run in the order in which they were queued. Each runs or
 * is dropped exactly once. A connection is closed while it is received from, perhaps on another worker. Meanwhile
 * another thread changes the number of workers, and prints how far the test is.
 */
// RUN: %compile
// RUN: COSY_EXECUTOR=user %bounded %t 2000000 4
// RUN: COSY_EXECUTOR=user %bounded %t 100000 2 7
// RUN: %with-module 20000 4
// RUN: %sanitized-random
// RUN: COSY_EXECUTOR=user %bounded %t 200000 4
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cosy/share.h>
#include <cosy/team.h>

#include "check.h"

#define COLOURS	37
#define CHAINS	300

/* What callbacks of one colour use, without a lock. */
struct colour {
	bool inside;
	uint64_t random;
	uint64_t sent[COLOURS];
	uint64_t got[COLOURS];
};

/* A callback that queues its successor, until there have been enough. */
struct chain {
	struct cosy_coloured op;
	struct cosy_coloured timer;
	struct timespec time;
	uint64_t number;
	uint32_t from;
	uint32_t to;
	bool ordered;
	bool timer_due;
	bool cancel_due;
	struct cosy_coloured receives;
	struct cosy_coloured closes;
	int fd;
	int peer;
	uint32_t callbacks_due;
	bool sends;
	char byte;
};

static struct colour colours[COLOURS];
static struct chain chains[CHAINS];
static struct cosy_team *team;
static atomic_long left;
static atomic_ulong ran, dropped, timers, cancelled, alone, connections, received_bytes;

static void go_on(struct chain *chain);

static uint32_t choose(struct colour *colour, uint32_t count)
{
	colour->random = colour->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((colour->random >> 33) % count);
}

static struct colour *enter(struct chain *chain)
{
	struct colour *colour = &colours[chain->to];

	EQUAL(cosy_team_colour(), chain->to);
	EQUAL(colour->inside, false);
	colour->inside = true;
	if (chain->ordered) {
		EQUAL(chain->number, colour->got[chain->from]);
		colour->got[chain->from]++;
	}
	return colour;
}

static void call(void *arg)
{
	struct chain *chain = arg;

	enter(chain);
	ran++;
	go_on(chain);
}

static void drop(void *arg)
{
	struct chain *chain = arg;

	enter(chain);
	dropped++;
	go_on(chain);
}

static void complete(struct cosy_coloured *op)
{
	struct chain *chain = op->op.data;

	enter(chain);
	EQUAL(op->op.result, getpid());
	ran++;
	go_on(chain);
}

/* The timer and the request to cancel it are both over. */
static void timer_over(struct chain *chain)
{
	if (!chain->timer_due && !chain->cancel_due)
		go_on(chain);
	else
		colours[chain->to].inside = false;
}

static void expired(struct cosy_coloured *op)
{
	struct chain *chain = op->op.data;

	enter(chain);
	EQUAL(chain->timer_due, true);
	chain->timer_due = false;
	if (op->op.result == -ECANCELED)
		cancelled++;
	else
		EQUAL(op->op.result, 0);
	timers++;
	timer_over(chain);
}

/* The colour may have moved since the timer was submitted. */
static void cancel(void *arg)
{
	struct chain *chain = arg;
	int err;

	enter(chain);
	if (chain->timer_due) {
		err = cosy_team_cancel(&chain->timer);
		CHECK(!err || err == -ENOENT);
	}
	chain->cancel_due = false;
	timer_over(chain);
}

/* The callbacks of a connection: one has received, one closes, and one has closed. */
static void connection_over(struct chain *chain)
{
	char byte;

	if (--chain->callbacks_due) {
		colours[chain->to].inside = false;
		return;
	}
	/* What was sent and not received is lost. */
	if (recv(chain->peer, &byte, 1, MSG_DONTWAIT))
		CHECK(errno == ECONNRESET && chain->sends);
	EQUAL(close(chain->peer), 0);
	connections++;
	go_on(chain);
}

static void received(struct cosy_coloured *op)
{
	struct chain *chain = op->op.data;

	enter(chain);
	if (op->op.result != -ECANCELED) {
		EQUAL(op->op.result, 1);
		EQUAL(chain->sends, true);
		EQUAL(chain->byte, 'x');
		received_bytes++;
	}
	connection_over(chain);
}

static void closed(struct cosy_coloured *op)
{
	struct chain *chain = op->op.data;

	enter(chain);
	EQUAL(op->op.result, 0);
	connection_over(chain);
}

static void close_it(void *arg)
{
	struct chain *chain = arg;

	enter(chain);
	if (chain->sends)
		EQUAL(send(chain->peer, "x", 1, 0), 1);
	chain->closes.op.data = chain;
	EQUAL(cosy_async_close(cosy_team_loop(), cosy_colour(&chain->closes, chain->to, closed), chain->fd), 0);
	connection_over(chain);
}

/* The colour may move while it receives, unless the descriptor is of the worker's share. */
static void submit_connection(struct chain *chain, struct colour *colour)
{
	const bool moves = choose(colour, 2);
	struct cosy_async *op;
	int fds[2];

	/* ThreadSanitizer does not see libcosy close descriptors. It would report a race for the next one. */
	EQUAL(syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	chain->fd = fds[0];
	chain->peer = fds[1];
	if (!moves) {
		chain->fd = cosy_share_dup(cosy_team_share(CHAINS), fds[0]);
		CHECK(chain->fd >= 0);
		EQUAL(close(fds[0]), 0);
	}
	chain->ordered = false;
	chain->callbacks_due = 3;
	chain->sends = choose(colour, 2);
	chain->receives.op.data = chain;
	op = cosy_colour(&chain->receives, chain->to, received);
	EQUAL(cosy_async_recv(cosy_team_loop(), moves ? cosy_team_moves(op) : op, chain->fd, &chain->byte, 1, 0), 0);
	EQUAL(cosy_team_call(team, chain->to, close_it, chain), 0);
}

/* Nothing else runs. */
static void run_alone(void *arg)
{
	(void)arg;
	for (int i = 0; i < COLOURS; i++)
		EQUAL(colours[i].inside, false);
	alone++;
}

static void submit_timer(struct chain *chain, struct colour *colour)
{
	chain->ordered = false;
	chain->timer_due = chain->cancel_due = true;
	chain->timer.op.data = chain;
	chain->time.tv_nsec = choose(colour, 2) ? 3000 : 600000000;
	EQUAL(cosy_async_timer(cosy_team_loop(),
			       cosy_team_moves(cosy_colour(&chain->timer, chain->to, expired)),
			       &chain->time, 0), 0);
	EQUAL(cosy_team_call(team, chain->to, cancel, chain), 0);
}

/* Queue the successor, and leave the colour. */
static void go_on(struct chain *chain)
{
	struct colour *colour = &colours[chain->to];
	const uint32_t kind = choose(colour, 100);
	struct cosy_callback what = { .fn = call, .arg = chain, .drop = drop };

	if (atomic_fetch_sub(&left, 1) <= 0) {
		colour->inside = false;
		return;
	}
	if (kind < 5) {
		submit_timer(chain, colour);
		colour->inside = false;
		return;
	}
	if (kind >= 96 && kind < 99) {
		submit_connection(chain, colour);
		colour->inside = false;
		return;
	}
	chain->from = chain->to;
	chain->to = choose(colour, 4) ? choose(colour, COLOURS) : chain->from;
	chain->op.op.data = chain;
	if (kind < 20) {
		chain->ordered = false;
		EQUAL(cosy_async_call(cosy_team_loop(), cosy_colour(&chain->op, chain->to, complete),
				      SYS_getpid, 0, 0, 0, 0, 0, 0), 0);
		colour->inside = false;
		return;
	}
	chain->ordered = true;
	chain->number = colour->sent[chain->to]++;
	what.priority = (int)choose(colour, 3) - 1;
	/* The successor may run at once. */
	if (kind == 99)
		EQUAL(cosy_team_call(team, COSY_COLOUR_ALONE, run_alone, NULL), 0);
	colour->inside = false;
	EQUAL(cosy_team_call_with(team, chain->to, &what), 0);
}

static void *resize(void *arg)
{
	const struct timespec little = { .tv_nsec = 500000 };
	const unsigned int workers = *(unsigned int *)arg;
	const long all = left;
	long tenths = 0;

	for (unsigned int n = 0; left > 0; n++) {
		if ((all - left) * 10 / all > tenths)
			fprintf(stderr, "%ld %%\n", ++tenths * 10);
		EQUAL(cosy_team_resize(team, 1 + n % workers), 0);
		nanosleep(&little, NULL);
	}
	EQUAL(cosy_team_resize(team, workers), 0);
	return NULL;
}

static void begin(void)
{
	for (uint32_t i = 0; i < COLOURS; i++)
		colours[i].random = i;
	for (uint32_t i = 0; i < CHAINS; i++) {
		chains[i].to = i % COLOURS;
		EQUAL(cosy_team_call(team, chains[i].to, call, &chains[i]), 0);
	}
}

int main(int argc, char **argv)
{
	struct cosy_team_options options = {
		.size = sizeof(options),
		.max_queued = CHAINS * 9 / 10,
		.max_age_ms = 5,
	};
	struct cosy_team_info info;
	struct rlimit limit;
	unsigned int workers;
	pthread_t thread;

	CHECK(argc > 2);
	left = atol(argv[1]);
	alarm((unsigned int)(600 + left / 5000));
	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	workers = options.workers = (uint32_t)atoi(argv[2]);
	options.seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 0;
	EQUAL(cosy_team_create(&team, &options), 0);
	begin();
	EQUAL(pthread_create(&thread, NULL, resize, &workers), 0);
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(pthread_join(thread, NULL), 0);
	EQUAL(cosy_team_info(team, &info, sizeof(info)), 0);
	EQUAL(info.queued, 0);
	EQUAL(info.dropped, dropped);
	/* Each timer has a request to cancel it. */
	EQUAL(info.run, ran + dropped + 2 * timers + alone + 3 * connections);
	CHECK(cancelled > 0 && cancelled < timers && dropped > 0 && alone > 0);
	CHECK(received_bytes > 0 && received_bytes < connections);
	printf("%lu ran, %lu were dropped, %lu timers, %lu cancelled; %lu connections, %lu received; "
	       "%lu colours stolen\n", ran, dropped, timers, cancelled, connections, received_bytes, info.stolen);
	for (int i = 0; i < COLOURS; i++) {
		for (int j = 0; j < COLOURS; j++)
			EQUAL(colours[i].sent[j], colours[j].got[i]);
	}
	EQUAL(cosy_team_destroy(team), 0);
	return 0;
}
