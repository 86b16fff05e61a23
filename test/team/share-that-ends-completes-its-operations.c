/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * share-that-ends-completes-its-operations CONNECTIONS WORKERS - receives in shares that random actions end.
 *
 * Each colour makes a share with a connection, and receives there. Then it sends a byte, closes the peer or the
 * descriptor, cancels the receive, or destroys the share, or lets another worker destroy it. Each receive
 * completes once, with the result of what was done, and no descriptor is left.
 */
// RUN: %compile
// RUN: COSY_EXECUTOR=user %bounded %t 20000 4
// RUN: %with-module 2000 4
// RUN: %thread-sanitizer
// RUN: COSY_EXECUTOR=user %bounded %t 2000 4
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <cosy/share.h>
#include <cosy/team.h>

#include "check.h"

#define COLOURS	24

enum action { SEND, CLOSE_PEER, CLOSE, CANCEL, DESTROY, DESTROY_ELSEWHERE, ACTIONS };

/* Belongs to its colour. @due: number of callbacks after which it is over. */
struct connection {
	struct cosy_coloured receive;
	struct cosy_coloured close;
	uint64_t colour;
	uint64_t random;
	struct cosy_share *share;
	enum action action;
	int fd;
	int peer;
	int due;
	char byte;
};

static struct connection connections[COLOURS];
static struct cosy_team *team;
static atomic_long left;
static atomic_ulong made[ACTIONS];

static void begin(void *arg);

static uint32_t choose(struct connection *c, uint32_t count)
{
	c->random = c->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((c->random >> 33) % count);
}

static void over(struct connection *c)
{
	if (--c->due)
		return;
	made[c->action]++;
	cosy_share_destroy(c->share);
	if (c->peer >= 0)
		close(c->peer);
	if (atomic_fetch_sub(&left, 1) > 0)
		EQUAL(cosy_team_call(team, c->colour, begin, c), 0);
}

static void received(struct cosy_coloured *op)
{
	struct connection *c = op->op.data;
	const int64_t result = op->op.result;

	if (c->action == SEND)
		EQUAL(result, 1);
	else if (c->action == CLOSE_PEER)
		EQUAL(result, 0);
	else if (c->action == CANCEL || c->action == CLOSE)
		EQUAL(result, -ECANCELED);
	else
		/* It may not have begun. */
		CHECK(result == -ECANCELED || result == -EBADF);
	over(c);
}

static void closed(struct cosy_coloured *op)
{
	EQUAL(op->op.result, 0);
	over(op->op.data);
}

static void destroyed(void *arg)
{
	over(arg);
}

/* Has another colour, and the share belongs to it. */
static void destroy(void *arg)
{
	struct connection *c = arg;

	cosy_share_destroy(c->share);
	c->share = NULL;
	EQUAL(cosy_team_call(team, c->colour, destroyed, c), 0);
}

static void act(void *arg)
{
	struct connection *c = arg;

	switch (c->action) {
	case SEND:
		EQUAL(send(c->peer, "x", 1, 0), 1);
		break;
	case CLOSE_PEER:
		close(c->peer);
		c->peer = -1;
		break;
	case CLOSE:
		c->due++;
		c->close.op.data = c;
		EQUAL(cosy_async_close(cosy_team_loop(), cosy_colour(&c->close, c->colour, closed), c->fd), 0);
		break;
	case CANCEL:
		EQUAL(cosy_cancel(cosy_team_loop(), &c->receive.op), 0);
		break;
	case DESTROY:
		cosy_share_destroy(c->share);
		c->share = NULL;
		break;
	case DESTROY_ELSEWHERE:
		c->due++;
		EQUAL(cosy_team_call(team, COLOURS + choose(c, 8), destroy, c), 0);
		break;
	case ACTIONS:
		break;
	}
	over(c);
}

static void begin(void *arg)
{
	struct connection *c = arg;
	const struct cosy_share_options options = { sizeof(options), 2 };
	int ends[2];

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	EQUAL(cosy_share_create(&c->share, &options), 0);
	c->fd = cosy_share_dup(c->share, ends[0]);
	CHECK(c->fd >= 0);
	close(ends[0]);
	c->peer = ends[1];
	/* The receive, and act(). */
	c->due = 2;
	c->action = choose(c, ACTIONS);
	c->receive.op.data = c;
	EQUAL(cosy_async_recv(cosy_team_loop(), cosy_colour(&c->receive, c->colour, received), c->fd,
			      &c->byte, 1, 0), 0);
	if (choose(c, 2))
		act(c);
	else
		EQUAL(cosy_team_call(team, c->colour, act, c), 0);
}

static int count_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	CHECK(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

int main(int argc, char **argv)
{
	struct cosy_team_options options = { .size = sizeof(options) };
	struct cosy_share *share;
	int before;

	alarm(600);
	CHECK(argc > 2);
	/* It opens the device. */
	EQUAL(cosy_share_create(&share, NULL), 0);
	cosy_share_destroy(share);
	before = count_open();
	left = atol(argv[1]);
	options.workers = (uint32_t)atoi(argv[2]);
	EQUAL(cosy_team_create(&team, &options), 0);
	for (uint32_t i = 0; i < COLOURS; i++) {
		connections[i].colour = connections[i].random = i;
		EQUAL(cosy_team_call(team, i, begin, &connections[i]), 0);
	}
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(cosy_team_destroy(team), 0);
	EQUAL(count_open(), before);
	for (int i = 0; i < ACTIONS; i++)
		CHECK(made[i] > 0);
	return 0;
}
