// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Other pollers of the socket, or of the loop, get their events while a compound waits.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/compounds.h"

#include <pthread.h>
#include <sys/epoll.h>

static int exclusive_epoll;
static _Atomic pid_t poller;

static void *wait_for_epoll(void *unused)
{
	struct epoll_event event;

	poller = gettid();
	epoll_wait(exclusive_epoll, &event, 1, -1);
	return unused;
}

/* Other pollers of the socket, or of the loop. */
static void polling(void)
{
	static __u64 frame[NREGS + 1];
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE };
	int sv[2], epoll = epoll_create1(EPOLL_CLOEXEC);
	pthread_t thread;
	struct loop loop;
	char byte;

	create(&loop, 64);
	pair(sv);
	exclusive_epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_ctl(exclusive_epoll, EPOLL_CTL_ADD, sv[0], &event))
		die("EPOLL_CTL_ADD");
	pthread_create(&thread, NULL, wait_for_epoll, NULL);
	while (!poller || !is_asleep(poller))
		usleep(1000);
	frame[FD] = (__u64)sv[0];
	frame[BUF] = (uintptr_t)&byte;
	frame[SIZE] = 1;
	start(&loop, 0, receive, frame, 0, 0);
	check(go(&loop, 0) == 0,
	      "a compound and a thread in epoll_wait() with EPOLLEXCLUSIVE wait for a socket");
	send(sv[1], "x", 1, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && frame[GOT] == 1, "data wakes both");
	/* The compound may have been faster, and has left no data for the thread. */
	send(sv[1], "x", 1, 0);
	pthread_join(thread, NULL);
	recv(sv[0], &byte, 1, 0);
	close(exclusive_epoll);

	event.events = EPOLLIN;
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, loop.fd, &event))
		die("EPOLL_CTL_ADD");
	start(&loop, 0, receive, frame, 0, 0);
	check(go(&loop, 0) == 0 && epoll_wait(epoll, &event, 1, 0) == 0,
	      "a poller of the loop has no event while the compound waits");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 0) == (long long)COSY_ASYNC_ENTERED &&
	      epoll_wait(epoll, &event, 1, 0) == 1, "a poller of the loop is notified of a cancelled entry");
	check(go(&loop, 1) == 1 && collect(&loop) == 0, "the cancelled compound ends");
	start(&loop, 0, receive, frame, 0, 0);
	check(go(&loop, 0) == 0 && epoll_wait(epoll, &event, 1, 0) == 0,
	      "the poller has no event while the next compound waits");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
	      (long long)(COSY_ASYNC_ENTERED | 1) && epoll_wait(epoll, &event, 1, 0) == 1,
	      "a poller of the loop is notified of a call that is interrupted by its descriptor");
	close(epoll);
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	load_all();
	polling();
	return finish();
}
