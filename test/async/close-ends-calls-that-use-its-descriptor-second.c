/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A close first completes what waits for its descriptor, also calls that have it as another argument than
 * the first: here sendfile(), which is queued because the only thread waits. It does not send the next
 * file of that number.
 */
// RUN: %compile
// RUN: %everywhere
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>

#include "loop.h"

static int file_with(const char *text)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);

	CHECK(fd >= 0);
	EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	EQUAL(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

int main(void)
{
	struct cosy_loop_options options = { .size = sizeof(options), .waiters = 1 };
	struct cosy_async locks = { 0 }, sends = { 0 }, polls = { 0 }, closes = { 0 };
	struct pollfd both[2] = { { .events = POLLPRI }, { .events = POLLPRI } };
	int file, second, held, sockets[2];
	struct cosy_loop *loop;
	char byte;

	EQUAL(cosy_loop_create(&loop, &options), 0);
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	held = open("/tmp/async-lock", O_RDWR | O_CREAT, 0600);
	second = open("/tmp/async-lock", O_RDWR);
	CHECK(held >= 0 && second >= 0);
	EQUAL(flock(held, LOCK_EX), 0);
	EQUAL(cosy_async_flock(loop, &locks, second, LOCK_EX), 0);
	file = file_with("public");
	EQUAL(cosy_async_sendfile(loop, &sends, sockets[0], file, NULL, 6), 0);
	both[0].fd = sockets[0];
	both[1].fd = file;
	EQUAL(cosy_async_poll(loop, &polls, both, 2, -1), 0);
	EQUAL(cosy_async_close(loop, &closes, file), 0);
	EQUAL(result_of(loop, &closes), 0);
	EQUAL(file_with("secret"), file);
	EQUAL(flock(held, LOCK_UN), 0);
	EQUAL(result_of(loop, &locks), 0);
	EQUAL(result_of(loop, &sends), -ECANCELED);
	EQUAL(result_of(loop, &polls), -ECANCELED);
	EQUAL(recv(sockets[1], &byte, 1, MSG_DONTWAIT), -1);
	EQUAL(cosy_loop_destroy(loop), 0);
	unlink("/tmp/async-lock");
	return 0;
}
