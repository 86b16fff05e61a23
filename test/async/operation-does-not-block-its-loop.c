/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * No operation blocks the loop's thread: neither after the program has cleared O_NONBLOCK, nor for
 * reads of /dev/zero on a busy CPU, nor receives with a flag that the socket ignores.
 */
// RUN: %compile
// RUN: %everywhere
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "descriptors.h"

/* The program clears O_NONBLOCK after the first operations: later ones do not block the loop either. */
static void cleared_nonblock(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	struct cosy_async op = { 0 }, second = { 0 };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int clients[3], master, slave;
	socklen_t size = sizeof(sa_family_t);

	EQUAL(bind(listener, (struct sockaddr *)&name, size), 0);
	EQUAL(listen(listener, 0), 0);
	size = sizeof(name);
	EQUAL(getsockname(listener, (struct sockaddr *)&name, &size), 0);
	for (int i = 0; i < 3; i++)
		clients[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	EQUAL(connect(clients[0], (struct sockaddr *)&name, size), 0);
	EQUAL(cosy_async_accept(loop, &op, listener, NULL, NULL), 0);
	CHECK(result_of(loop, &op) >= 0);
	close((int)op.result);
	set_nonblock(listener, false);
	EQUAL(cosy_async_accept(loop, &op, listener, NULL, NULL), 0);
	execute(loop);
	EQUAL(connect(clients[1], (struct sockaddr *)&name, size), 0);
	CHECK(result_of(loop, &op) >= 0);
	close((int)op.result);

	/* While it waits, and another process takes the connection. */
	set_nonblock(listener, true);
	EQUAL(cosy_async_accept(loop, &op, listener, NULL, NULL), 0);
	execute(loop);
	set_nonblock(listener, false);
	for (int i = 1; i < 3; i++) {
		EQUAL(cosy_cancel_fd(loop, clients[i]), 0);
		close(clients[i]);
		clients[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	}
	EQUAL(connect(clients[1], (struct sockaddr *)&name, size), 0);
	close(accept(listener, NULL, NULL));
	execute(loop);
	EQUAL(connect(clients[2], (struct sockaddr *)&name, size), 0);
	CHECK(result_of(loop, &op) >= 0);
	close((int)op.result);
	close(clients[2]);
	clients[2] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	/* There is no room for a second connection: connect() waits for it, as without O_NONBLOCK. */
	EQUAL(cosy_cancel_fd(loop, clients[0]), 0);
	close(clients[0]);
	clients[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	EQUAL(connect(clients[0], (struct sockaddr *)&name, size), 0);
	EQUAL(cosy_async_connect(loop, &op, clients[2], &name, size), 0);
	execute(loop);
	set_nonblock(clients[2], false);
	/* The first one is tried again after a millisecond, and does not block either. */
	usleep(2000);
	EQUAL(cosy_async_connect(loop, &second, clients[2], &name, size), 0);
	execute(loop);
	close(accept(listener, NULL, NULL));
	EQUAL(result_of(loop, &op), 0);
	/* It checks for room, too, before it fails. */
	execute(loop);
	close(accept(listener, NULL, NULL));
	EQUAL(result_of(loop, &second), -EISCONN);
	for (int i = 0; i < 3; i++)
		end(clients[i]);
	end(listener);

	open_terminal(&master, &slave);
	set_nonblock(slave, true);
	order(slave, master);
	set_nonblock(slave, false);
	order(slave, master);
	end(master);
	end(slave);
}

/* Reads of /dev/zero are complete, also if another process needs the CPU. */
static void zeros(void)
{
	enum { SIZE = 32 << 20 };
	char *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec iov = { bytes, SIZE };
	struct cosy_async op = { 0 };
	cpu_set_t all, one;
	pid_t busy;
	int fd;

	CHECK(bytes != MAP_FAILED);
	EQUAL(sched_getaffinity(0, sizeof(all), &all), 0);
	one = all;
	for (int i = CPU_SETSIZE - 1; CPU_COUNT(&one) > 1; i--)
		CPU_CLR(i, &one);
	EQUAL(sched_setaffinity(0, sizeof(one), &one), 0);
	busy = fork();
	if (!busy) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	fd = open("/dev/zero", O_RDWR);
	for (int i = 0; i < 3; i++) {
		EQUAL(cosy_async_read(loop, &op, fd, bytes, SIZE), 0);
		EQUAL(result_of(loop, &op), SIZE);
		EQUAL(cosy_async_readv(loop, &op, fd, &iov, 1), 0);
		EQUAL(result_of(loop, &op), SIZE);
	}
	EQUAL(cosy_async_write(loop, &op, fd, bytes, SIZE), 0);
	EQUAL(result_of(loop, &op), SIZE);
	EQUAL(kill(busy, SIGKILL), 0);
	EQUAL(waitpid(busy, NULL, 0), busy);
	EQUAL(sched_setaffinity(0, sizeof(all), &all), 0);
	end(fd);
	munmap(bytes, SIZE);
}

/* Datagrams have no urgent data: such a receive waits for a datagram, also with O_NONBLOCK. */
static void ignored_flags(bool nonblock)
{
	struct sockaddr_in name = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), vsock = socket(AF_VSOCK, SOCK_STREAM, 0);
	struct cosy_async op = { 0 };
	socklen_t size = sizeof(name);
	char byte = 0;

	EQUAL(bind(fd, (struct sockaddr *)&name, size), 0);
	EQUAL(getsockname(fd, (struct sockaddr *)&name, &size), 0);
	set_nonblock(fd, nonblock);
	EQUAL(cosy_async_recv(loop, &op, fd, &byte, 1, MSG_OOB), 0);
	execute(loop);
	EQUAL(sendto(fd, "a", 1, 0, (struct sockaddr *)&name, size), 1);
	EQUAL(result_of(loop, &op), 1);
	EQUAL(byte, 'a');
	end(fd);

	/* AF_VSOCK ignored MSG_ERRQUEUE until Linux 6.7. Without a connection, neither waits. */
	if (vsock < 0)
		return;
	EQUAL(cosy_async_recv(loop, &op, vsock, &byte, 1, MSG_ERRQUEUE), 0);
	EQUAL(result_of(loop, &op), -(recv(vsock, &byte, 1, MSG_ERRQUEUE) < 0 ? errno : 0));
	end(vsock);
}

int main(void)
{
	loop = make_loop();
	ignored_flags(false);
	ignored_flags(true);
	cleared_nonblock();
	zeros();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
