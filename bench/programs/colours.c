/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * colours KIND WORKERS WORK COUNT - callbacks with colours in several threads
 *
 * There are 64 colours. COUNT callbacks run in all; each computes for WORK steps. KIND is
 *
 *	loop	 the threads run one loop. A colour is a connection; its callback sends a byte to its own
 *		 connection, and receives it again
 *	team	 the same, with the loops of a team's workers
 *	calls	 a callback queues the next one of its colour
 *	chains	 a callback queues the next one, of another colour
 *	requests a callback of colour 0, with 35 % of WORK, queues one of a request's colour, with the
 *		 rest, which queues one of colour 0
 *
 * Prints the time and the CPU time, and for a team the counts of each callback.
 */
#define _GNU_SOURCE
#include <err.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cosy/team.h>

#include "times.h"

#define COLOURS	64

struct colour {
	struct cosy_coloured op;
	int fds[2];
	char byte;
	uint32_t sum;
	unsigned long left;
} __attribute__((aligned(64)));

static struct colour colours[COLOURS];
static struct cosy_loop *loop;
static struct cosy_team *team;
static unsigned long work, count;

static void compute(struct colour *c, unsigned long steps)
{
	for (unsigned long i = 0; i < steps; i++)
		c->sum = c->sum * 31 + (uint32_t)i;
}

static void check(int error, const char *what)
{
	if (error)
		errx(1, "%s: %s", what, strerror(-error));
}

static void received(struct cosy_coloured *op);

static void exchange(void *arg)
{
	struct colour *c = arg;

	if (write(c->fds[1], "x", 1) != 1)
		err(1, "write");
	check(cosy_async_recv(team ? cosy_team_loop() : loop,
			      cosy_colour(&c->op, (uintptr_t)c, received), c->fds[0], &c->byte, 1, 0),
	      "cosy_async_recv");
}

static void received(struct cosy_coloured *op)
{
	struct colour *c = op->op.data;

	compute(c, work);
	if (--c->left)
		exchange(c);
}

static void call(void *arg)
{
	struct colour *c = arg;

	compute(c, work);
	if (--c->left)
		check(cosy_team_call(team, (uintptr_t)c, call, c), "cosy_team_call");
}

/* The colour changes with each callback, but no two chains ever have the same one. */
static void chain(void *arg)
{
	struct colour *c = arg;

	compute(c, work);
	if (--c->left)
		check(cosy_team_call(team, (uintptr_t)c + c->left % 2, chain, c), "cosy_team_call");
}

static void request(void *arg)
{
	struct colour *c = arg;
	bool serial = cosy_team_colour() == 0;

	compute(c, serial ? work * 35 / 100 : work * 65 / 100);
	if (--c->left)
		check(cosy_team_call(team, serial ? (uintptr_t)c : 0, request, c),
		      "cosy_team_call");
}

static void prepare(void)
{
	for (int i = 0; i < COLOURS; i++) {
		struct colour *c = &colours[i];

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, c->fds))
			err(1, "socketpair");
		c->op.op.data = c;
		c->left = count / COLOURS;
	}
}

static void *run_it(void *arg)
{
	check(cosy_loop_run(arg), "cosy_loop_run");
	return NULL;
}

static void run_loop(unsigned int threads)
{
	pthread_t ids[COSY_TEAM_MAX];

	check(cosy_loop_create(&loop, NULL), "cosy_loop_create");
	for (int i = 0; i < COLOURS; i++)
		exchange(&colours[i]);
	times_begin();
	for (unsigned int i = 1; i < threads; i++)
		check(-pthread_create(&ids[i], NULL, run_it, loop), "pthread_create");
	run_it(loop);
	for (unsigned int i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
	times_print();
}

/* Queue the first callbacks, as a server does that accepts connections. */
static void start(void *arg)
{
	void (*fn)(void *arg);

	memcpy(&fn, arg, sizeof(fn));
	for (int i = 0; i < COLOURS; i++)
		check(cosy_team_call(team, (uintptr_t)&colours[i], fn, &colours[i]),
		      "cosy_team_call");
}

static void run_team(unsigned int workers, void (*fn)(void *arg))
{
	const struct cosy_team_options options = { .size = sizeof(options), .workers = workers,
						   .flags = marks_pin() ? COSY_TEAM_PIN : 0 };
	struct cosy_team_info info;

	check(cosy_team_create(&team, &options), "cosy_team_create");
	times_begin();
	check(cosy_team_call(team, 0, start, &fn), "cosy_team_call");
	check(cosy_team_wait(team, NULL), "cosy_team_wait");
	times_print();
	check(cosy_team_info(team, &info, sizeof(info)), "cosy_team_info");
	printf("of each callback: %.3f atomics, %.3f on lines that another worker has written, "
	       "%.4f colours stolen, %.4f sent, %.4f wake-ups\n",
	       (double)info.atomics / (double)info.run, (double)info.shared / (double)info.run,
	       (double)info.stolen / (double)info.run, (double)info.sent / (double)info.run,
	       (double)info.woken / (double)info.run);
	cosy_team_destroy(team);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void *arg);
	} kinds[] = {
		{ "team", exchange }, { "calls", call }, { "chains", chain },
		{ "requests", request },
	};
	unsigned int workers;

	if (argc != 5)
		errx(2, "usage: colours loop|team|calls|chains|requests WORKERS WORK COUNT");
	workers = (unsigned int)atoi(argv[2]);
	work = strtoul(argv[3], NULL, 0);
	count = strtoul(argv[4], NULL, 0);
	prepare();
	if (!strcmp(argv[1], "loop")) {
		run_loop(workers);
		return 0;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!strcmp(argv[1], kinds[i].name)) {
			run_team(workers, kinds[i].fn);
			return 0;
		}
	}
	errx(2, "no kind is called %s", argv[1]);
}
