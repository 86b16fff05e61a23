/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where epoll refuses a descriptor, its operations wait nevertheless, whether or not it has O_NONBLOCK.
 */
// RUN: %compile
// RUN: %everywhere
#include <poll.h>
#include <sys/epoll.h>
#include <sys/un.h>

#include "descriptors.h"

/* The kernel allows 500 paths of length 2 from a file to instances of epoll. */
#define PATHS	500

/* Let @epoll be in so many other instances that it takes no file with another such path. */
static void fill_paths(int epoll, int epolls[PATHS])
{
	struct epoll_event event = { .events = EPOLLIN };

	for (int i = 0; i < PATHS; i++) {
		epolls[i] = epoll_create1(EPOLL_CLOEXEC);
		CHECK(epolls[i] >= 0);
		EQUAL(epoll_ctl(epolls[i], EPOLL_CTL_ADD, epoll, &event), 0);
	}
}

/* Let the loop's epoll refuse @fd. */
static void refuse(int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC), outer = epoll_create1(EPOLL_CLOEXEC);

	EQUAL(epoll_ctl(outer, EPOLL_CTL_ADD, epoll, &event), 0);
	EQUAL(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
	EQUAL(epoll_ctl(cosy_loop_fd(loop), EPOLL_CTL_ADD, fd, &event), -1);
}

static void wait_for_data(bool nonblock)
{
	struct cosy_async op = { 0 }, polls = { 0 };
	char bytes[2];
	int fds[2];
	struct pollfd poll;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	set_nonblock(fds[0], nonblock);
	refuse(fds[0]);
	poll = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	EQUAL(cosy_async_poll(loop, &polls, &poll, 1, -1), 0);
	execute(loop);
	EQUAL(cosy_async_recv(loop, &op, fds[0], bytes, 2, 0), 0);
	execute(loop);
	EQUAL(write(fds[1], "ab", 2), 2);
	EQUAL(result_of(loop, &op), 2);
	/* It may see the data, or wait for the next ones. */
	EQUAL(write(fds[1], "c", 1), 1);
	EQUAL(result_of(loop, &polls), 1);
	EQUAL(poll.revents, POLLIN);
	EQUAL(cosy_async_read(loop, &op, fds[0], bytes, 2), 0);
	EQUAL(result_of(loop, &op), 1);
	end(fds[0]);
	end(fds[1]);
}

static void wait_for_connection(bool nonblock)
{
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(sa_family_t);
	struct cosy_async op = { 0 };

	EQUAL(bind(listener, (struct sockaddr *)&name, size), 0);
	EQUAL(listen(listener, 1), 0);
	size = sizeof(name);
	EQUAL(getsockname(listener, (struct sockaddr *)&name, &size), 0);
	set_nonblock(listener, nonblock);
	refuse(listener);
	EQUAL(cosy_async_accept(loop, &op, listener, NULL, NULL), 0);
	execute(loop);
	EQUAL(connect(client, (struct sockaddr *)&name, size), 0);
	CHECK(result_of(loop, &op) >= 0);
	close((int)op.result);
	end(listener);
	end(client);
}

/*
 * A poll that epoll refuses, and that epoll reports later, because an operation waits for the same
 * descriptor when epoll takes it again, completes once.
 */
static void wait_for_more(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct cosy_async op = { 0 }, polls = { 0 }, sleeps = { 0 };
	const struct timespec time = { .tv_nsec = 20000000 };
	int fds[2], inner, outer;
	struct pollfd poll;
	char byte;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	inner = epoll_create1(EPOLL_CLOEXEC);
	outer = epoll_create1(EPOLL_CLOEXEC);
	EQUAL(epoll_ctl(outer, EPOLL_CTL_ADD, inner, &event), 0);
	EQUAL(epoll_ctl(inner, EPOLL_CTL_ADD, fds[0], &event), 0);
	poll = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	EQUAL(cosy_async_poll(loop, &polls, &poll, 1, -1), 0);
	execute(loop);
	close(inner);
	close(outer);
	EQUAL(cosy_async_recv(loop, &op, fds[0], &byte, 1, 0), 0);
	execute(loop);
	/* One byte stays, so that the poll sees it. */
	EQUAL(write(fds[1], "ab", 2), 2);
	EQUAL(result_of(loop, &polls), 1);
	polls.result = 77;
	EQUAL(result_of(loop, &op), 1);
	EQUAL(cosy_async_nanosleep(loop, &sleeps, &time, NULL), 0);
	EQUAL(result_of(loop, &sleeps), 0);
	EQUAL(polls.result, 77);
	end(fds[0]);
	end(fds[1]);
}

/* More than there are threads: one that has data ends, and the others can be cancelled. */
static void wait_for_many(void)
{
	enum { COUNT = 100 };
	static struct cosy_async ops[COUNT];
	static char bytes[COUNT];
	static int fds[COUNT][2];

	for (int i = 0; i < COUNT; i++) {
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds[i]), 0);
		refuse(fds[i][0]);
		EQUAL(cosy_async_recv(loop, &ops[i], fds[i][0], &bytes[i], 1, 0), 0);
	}
	execute(loop);
	EQUAL(write(fds[COUNT - 1][1], "a", 1), 1);
	EQUAL(result_of(loop, &ops[COUNT - 1]), 1);
	for (int i = 0; i < COUNT - 1; i++) {
		EQUAL(cosy_cancel(loop, &ops[i]), 0);
		EQUAL(result_of(loop, &ops[i]), -ECANCELED);
	}
	for (int i = 0; i < COUNT; i++) {
		end(fds[i][0]);
		end(fds[i][1]);
	}
}

int main(void)
{
	static int epolls[PATHS];

	loop = make_loop();
	fill_paths(cosy_loop_fd(loop), epolls);
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		wait_for_data(nonblock);
		wait_for_connection(nonblock);
	}
	wait_for_more();
	wait_for_many();
	for (int i = 0; i < PATHS; i++)
		close(epolls[i]);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
