/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * close() in COSY_ASYNC functions that are compounds. Operations that wait for the descriptor
 * complete with ECANCELED before it is closed, and the number can be used again: as without the
 * module.
 */
// RUN: %async-compile -O0
// RUN: %everywhere
// RUN: %async-compile -O2
// RUN: %everywhere
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>

#include "functions.h"

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Serve a connection to its end. Return: the results of its last calls. */
COSY_ASYNC static int serve(int fd)
{
	char buffer[16];
	ssize_t n;
	int ended;

	while ((n = recv(fd, buffer, sizeof(buffer), 0)) > 0)
		send(fd, buffer, (size_t)n, MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
	ended = close(fd);
	return n < 0 ? -errno : ended * 10 + (close(fd) < 0 && errno == EBADF);
}

static void connections(void)
{
	uint64_t before = 0;
	char got[4];

	/* Use the same numbers repeatedly. */
	for (int round = 0; round < 5; round++) {
		struct cosy_async op = { 0 };
		int fds[2];

		open_pair(fds);
		EQUAL(COSY_SPAWN(loop, serve(fds[0]), .op = &op), 0);
		settle();
		/* The loop makes the second close(). */
		if (round)
			CHECK(attempts() <= before + 1);
		before = attempts();
		EQUAL(send(fds[1], "abc", 3, 0), 3);
		settle();
		EQUAL(recv(fds[1], got, sizeof(got), MSG_DONTWAIT), 3);
		EQUAL(shutdown(fds[1], SHUT_WR), 0);
		EQUAL(result_of(loop, &op), 1);
		CHECK(!is_open(fds[0]));
		/* Its end has been received. */
		EQUAL(recv(fds[1], got, sizeof(got), MSG_DONTWAIT), 0);
		EQUAL(close(fds[1]), 0);
	}
}

/* Wait for a byte, then close a descriptor. */
COSY_ASYNC static int close_later(int fd, int closed)
{
	char byte;

	if (recv(fd, &byte, 1, 0) != 1)
		return -1;
	return close(closed) ? -errno : 0;
}

COSY_ASYNC static int receive_twice(int fd)
{
	char byte;
	int first = recv(fd, &byte, 1, 0) < 0 ? errno : 0;

	return first * 1000 + (recv(fd, &byte, 1, 0) < 0 ? errno : 0);
}

/* A function, an operation and poll() wait for it, and are cancelled. */
static void waited_for(void)
{
	struct cosy_async closer = { 0 }, function = { 0 }, operation = { 0 }, polls = { 0 };
	struct pollfd ready = { .events = POLLIN };
	int fds[2], control[2];
	char byte;

	for (int who = 1; who < 8; who++) {
		open_pair(fds);
		open_pair(control);
		EQUAL(COSY_SPAWN(loop, close_later(control[0], fds[0]), .op = &closer), 0);
		if (who & 1)
			EQUAL(COSY_SPAWN(loop, receive_twice(fds[0]), .op = &function), 0);
		if (who & 2)
			EQUAL(cosy_async_recv(loop, &operation, fds[0], &byte, 1, 0), 0);
		ready.fd = fds[0];
		if (who & 4)
			EQUAL(cosy_async_poll(loop, &polls, &ready, 1, -1), 0);
		settle();
		EQUAL(send(control[1], "x", 1, 0), 1);
		EQUAL(result_of(loop, &closer), 0);
		CHECK(!is_open(fds[0]));
		if (who & 1)
			EQUAL(result_of(loop, &function), ECANCELED * 1000 + EBADF);
		if (who & 2)
			EQUAL(result_of(loop, &operation), -ECANCELED);
		if (who & 4)
			EQUAL(result_of(loop, &polls), -ECANCELED);
		EQUAL(recv(fds[1], &byte, 1, MSG_DONTWAIT), 0);
		/* The number belongs to the next file; no state of the old one remains. */
		EQUAL(dup2(fds[1], fds[0]), fds[0]);
		EQUAL(close(fds[0]), 0);
		open_pair(fds);
		EQUAL(cosy_async_recv(loop, &operation, fds[0], &byte, 1, 0), 0);
		settle();
		EQUAL(send(fds[1], "y", 1, 0), 1);
		EQUAL(result_of(loop, &operation), 1);
		EQUAL(COSY_SPAWN(loop, close_later(control[0], fds[0]), .op = &closer), 0);
		EQUAL(send(control[1], "x", 1, 0), 1);
		EQUAL(result_of(loop, &closer), 0);
		EQUAL(close(control[0]), 0);
		cosy_cancel_fd(loop, control[0]);
	}
}

/* Descriptors of other kinds, and invalid ones. */
static void others(void)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 1 };
	int control[2], fds[2], closed[5];

	open_pair(fds);
	EQUAL(setsockopt(fds[0], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	closed[0] = fds[0];
	closed[1] = eventfd(0, 0);
	closed[2] = open("/", O_RDONLY);
	closed[3] = open("/", O_PATH);
	closed[4] = dup(fds[1]);
	for (int i = 0; i < 5; i++) {
		struct cosy_async op = { 0 };

		open_pair(control);
		EQUAL(COSY_SPAWN(loop, close_later(control[0], closed[i]), .op = &op), 0);
		settle();
		EQUAL(send(control[1], "x", 1, 0), 1);
		EQUAL(result_of(loop, &op), 0);
		CHECK(!is_open(closed[i]));
		/* Its own descriptor. */
		EQUAL(COSY_SPAWN(loop, close_later(control[0], control[0]), .op = &op), 0);
		EQUAL(send(control[1], "x", 1, 0), 1);
		EQUAL(result_of(loop, &op), 0);
		EQUAL(COSY_SPAWN(loop, close_later(control[1], -1), .op = &op), 0);
		EQUAL(result_of(loop, &op), -1);
		cosy_cancel_fd(loop, control[1]);
		EQUAL(close(control[1]), 0);
	}
	CHECK(is_open(fds[1]));
	EQUAL(close(fds[1]), 0);
}

/* A cancelled function still closes descriptors. */
COSY_ASYNC static int close_cancelled(int fd)
{
	char byte;
	int error;

	if (recv(fd, &byte, 1, 0) == 1)
		return 0;
	error = errno;
	return close(fd) ? -1 : error;
}

static void cancelling(void)
{
	struct cosy_async op = { 0 };
	int fds[2];

	for (int when = 0; when < 2; when++) {
		open_pair(fds);
		EQUAL(COSY_SPAWN(loop, close_cancelled(fds[0]), .op = &op), 0);
		if (when)
			settle();
		EQUAL(cosy_cancel(loop, &op), 0);
		EQUAL(result_of(loop, &op), ECANCELED);
		CHECK(!is_open(fds[0]));
		EQUAL(close(fds[1]), 0);
	}
}

COSY_ASYNC static int close_only(int fd)
{
	return close(fd) ? errno : 0;
}

/* It is cancelled, or the loop destroyed, when the close() is submitted but not made. */
static void submitted(void)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 1 };
	struct cosy_loop *other;

	for (int when = 0; when < 4; when++) {
		struct cosy_async op = { 0 };
		int fds[2];

		other = make_loop();
		open_pair(fds);
		if (when & 2)
			EQUAL(setsockopt(fds[0], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)),
			      0);
		EQUAL(COSY_SPAWN(other, close_only(fds[0]), .op = &op), 0);
		CHECK(cosy_wait(other, 0, NULL) >= 0);
		CHECK(is_open(fds[0]));
		if (!(when & 1)) {
			EQUAL(cosy_cancel(other, &op), 0);
			EQUAL(result_of(other, &op), 0);
		}
		EQUAL(cosy_loop_destroy(other), 0);
		CHECK(!cosy_async_pending(&op));
		EQUAL(op.result, 0);
		CHECK(!is_open(fds[0]));
		EQUAL(close(fds[1]), 0);
	}
}

/* It is cancelled while the close() waits for a thread. */
static void queued(void)
{
	const struct cosy_loop_options options = { .size = sizeof(options), .waiters = 1 };
	const struct linger linger = { .l_onoff = 1, .l_linger = 1 };
	struct cosy_async op = { 0 }, lock = { 0 };
	struct cosy_loop *other;
	int fds[2], files[2];
	char name[32];

	EQUAL(cosy_loop_create(&other, &options), 0);
	files[0] = memfd_create("lock", 0);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", files[0]);
	files[1] = open(name, O_RDWR);
	EQUAL(flock(files[0], LOCK_EX), 0);
	EQUAL(cosy_async_flock(other, &lock, files[1], LOCK_EX), 0);
	open_pair(fds);
	EQUAL(setsockopt(fds[0], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	EQUAL(COSY_SPAWN(other, close_only(fds[0]), .op = &op), 0);
	for (int i = 0; i < 3; i++)
		CHECK(cosy_wait(other, 0, NULL) >= 0);
	CHECK(is_open(fds[0]));
	EQUAL(cosy_cancel(other, &op), 0);
	EQUAL(flock(files[0], LOCK_UN), 0);
	EQUAL(result_of(other, &op), 0);
	EQUAL(result_of(other, &lock), 0);
	CHECK(!is_open(fds[0]));
	EQUAL(cosy_loop_destroy(other), 0);
	EQUAL(close(fds[1]), 0);
	EQUAL(close(files[0]), 0);
	EQUAL(close(files[1]), 0);
}

/* A function in the module closes all descriptors of libcosy. */
static void own(void)
{
	struct cosy_async op = { 0 }, waits = { 0 };
	int control[2], fds[2];
	char bytes[64];

	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, serve(fds[0]), .op = &waits), 0);
	settle();
	for (int fd = 3; fd < 2048; fd++) {
		if (!descriptor_is(fd, "/dev/cosy") && !descriptor_is(fd, "anon_inode:[cosy-loop]"))
			continue;
		open_pair(control);
		EQUAL(COSY_SPAWN(loop, close_later(control[0], fd), .op = &op), 0);
		settle();
		EQUAL(send(control[1], "x", 1, 0), 1);
		EQUAL(result_of(loop, &op), 0);
		EQUAL(close(control[1]), 0);
		cosy_cancel_fd(loop, control[0]);
		EQUAL(close(control[0]), 0);
	}
	EQUAL(send(fds[1], "abc", 3, 0), 3);
	EQUAL(shutdown(fds[1], SHUT_WR), 0);
	EQUAL(result_of(loop, &waits), 1);
	EQUAL(recv(fds[1], bytes, sizeof(bytes), MSG_DONTWAIT), 3);
	EQUAL(close(fds[1]), 0);
}

int main(void)
{
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	connections();
	waited_for();
	others();
	cancelling();
	submitted();
	queued();
	own();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
