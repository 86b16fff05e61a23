/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Events that no operation waits for, and events that last although the calls would block, do not
 * keep the loop busy.
 */
// RUN: %compile
// RUN: %everywhere
#include <sys/un.h>

#include "descriptors.h"

/* An event that no operation waits for must not keep the loop busy. */
static void idle(void)
{
	struct cosy_async op = { 0 }, timer = { 0 };
	/* A busy thread takes more than a tenth of it, also on a busy machine. */
	const struct timespec time = { .tv_sec = 1 };
	struct cosy_loop_info info;
	struct timespec before, after;
	char byte;
	int fds[2];

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(cosy_async_recv(loop, &op, fds[0], &byte, 1, 0), 0);
	execute(loop);
	EQUAL(write(fds[1], "xyz", 3), 3);
	EQUAL(result_of(loop, &op), 1);
	EQUAL(close(fds[1]), 0);
	EQUAL(cosy_async_timer(loop, &timer, &time, 0), 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
	EQUAL(result_of(loop, &timer), 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
	CHECK((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec -
	      before.tv_nsec < 100000000);
	/* It is reported when an operation waits again. */
	EQUAL(cosy_async_recv(loop, &op, fds[0], &byte, 1, 0), 0);
	EQUAL(result_of(loop, &op), 1);
	EQUAL(byte, 'y');
	end(fds[0]);
	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	EQUAL(info.waiting, 0);
}

/* The loop makes less than @attempts attempts in 100 ms, however late the machine is. */
static void short_time(unsigned int attempts)
{
	const struct timespec time = { .tv_nsec = 100000000 };
	struct cosy_async timer = { 0 };
	struct cosy_loop_info before, after;
	uint64_t start;

	EQUAL(cosy_loop_info(loop, &before, sizeof(before)), 0);
	start = now();
	EQUAL(cosy_async_timer(loop, &timer, &time, 0), 0);
	EQUAL(result_of(loop, &timer), 0);
	EQUAL(cosy_loop_info(loop, &after, sizeof(after)), 0);
	CHECK((after.attempts - before.attempts) * 100000000 < attempts * (now() - start));
}

/* A socket without a connection cannot report when a receiver of its datagrams has room. */
static void full_receiver(bool nonblock)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int receiver = socket(AF_UNIX, SOCK_DGRAM, 0), sender = socket(AF_UNIX, SOCK_DGRAM, 0);
	struct cosy_async op = { 0 }, second = { 0 };
	socklen_t size = sizeof(name);
	int sent = 0;
	char byte;

	EQUAL(bind(receiver, (struct sockaddr *)&name, sizeof(sa_family_t)), 0);
	EQUAL(getsockname(receiver, (struct sockaddr *)&name, &size), 0);
	while (sendto(sender, "x", 1, MSG_DONTWAIT, (struct sockaddr *)&name, size) == 1)
		sent++;
	set_nonblock(sender, nonblock);
	EQUAL(cosy_async_sendto(loop, &op, sender, "x", 1, 0, &name, size), 0);
	EQUAL(cosy_async_sendto(loop, &second, sender, "x", 1, 0, &name, size), 0);
	/* With O_NONBLOCK, one attempt in each ms. */
	short_time(nonblock ? 150 : 10);
	CHECK(cosy_async_pending(&op));
	if (nonblock) {
		EQUAL(cosy_cancel(loop, &op), 0);
		EQUAL(result_of(loop, &op), -ECANCELED);
		EQUAL(cosy_async_sendto(loop, &op, sender, "x", 1, 0, &name, size), 0);
		short_time(150);
	}
	for (int i = 0; i < sent; i++)
		EQUAL(recv(receiver, &byte, 1, MSG_DONTWAIT), 1);
	EQUAL(result_of(loop, &op), 1);
	EQUAL(result_of(loop, &second), 1);
	while (sendto(sender, "x", 1, MSG_DONTWAIT, (struct sockaddr *)&name, size) == 1)
		;
	EQUAL(cosy_async_sendto(loop, &op, sender, "x", 1, 0, &name, size), 0);
	short_time(nonblock ? 150 : 10);
	EQUAL(close(receiver), 0);
	EQUAL(result_of(loop, &op), -ECONNREFUSED);
	end(sender);
}

/* Events that last although the calls would block must not keep the loop busy, either. */
static void lasting_events(void)
{
	const uint64_t large = UINT64_MAX - 3, little = 7;
	struct sockaddr_in closed = { .sin_family = AF_INET }, own = closed;
	int udp = socket(AF_INET, SOCK_DGRAM, 0), other = socket(AF_INET, SOCK_DGRAM, 0);
	int on = 1, event = eventfd(0, EFD_NONBLOCK);
	struct cosy_async op = { 0 }, second = { 0 };
	socklen_t size = sizeof(closed);
	uint64_t count;
	char bytes[4];

	closed.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	EQUAL(bind(other, (struct sockaddr *)&closed, size), 0);
	EQUAL(getsockname(other, (struct sockaddr *)&closed, &size), 0);
	EQUAL(close(other), 0);
	EQUAL(setsockopt(udp, IPPROTO_IP, IP_RECVERR, &on, sizeof(on)), 0);
	EQUAL(connect(udp, (struct sockaddr *)&closed, size), 0);
	EQUAL(cosy_async_recv(loop, &op, udp, bytes, sizeof(bytes), 0), 0);
	execute(loop);
	EQUAL(send(udp, "x", 1, 0), 1);
	EQUAL(result_of(loop, &op), -ECONNREFUSED);
	/* The message in the error queue remains. */
	EQUAL(cosy_async_recv(loop, &op, udp, bytes, sizeof(bytes), 0), 0);
	EQUAL(cosy_async_recv(loop, &second, udp, bytes, sizeof(bytes), 0), 0);
	short_time(10);
	other = socket(AF_INET, SOCK_DGRAM, 0);
	EQUAL(bind(other, (struct sockaddr *)&closed, size), 0);
	EQUAL(getsockname(udp, (struct sockaddr *)&own, &size), 0);
	for (int i = 0; i < 3; i++) {
		EQUAL(sendto(other, "abc", 3, 0, (struct sockaddr *)&own, size), 3);
		EQUAL(result_of(loop, &op), 3);
		EQUAL(cosy_async_recv(loop, &op, udp, bytes, sizeof(bytes), 0), 0);
		EQUAL(sendto(other, "ab", 2, 0, (struct sockaddr *)&own, size), 2);
		EQUAL(result_of(loop, &second), 2);
		EQUAL(cosy_async_recv(loop, &second, udp, bytes, sizeof(bytes), 0), 0);
		short_time(10);
	}
	end(udp);
	EQUAL(result_of(loop, &op), -ECANCELED);
	EQUAL(result_of(loop, &second), -ECANCELED);
	end(other);

	/* The counter has room, but not enough. */
	for (int i = 0; i < 3; i++) {
		EQUAL(write(event, &large, sizeof(large)), sizeof(large));
		EQUAL(cosy_async_write(loop, &op, event, &little, sizeof(little)), 0);
		short_time(10);
		EQUAL(read(event, &count, sizeof(count)), sizeof(count));
		EQUAL(result_of(loop, &op), sizeof(little));
		EQUAL(read(event, &count, sizeof(count)), sizeof(count));
		EQUAL(count, little);
	}
	end(event);
}

int main(void)
{
	loop = make_loop();
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		full_receiver(nonblock);
	}
	idle();
	lasting_events();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
