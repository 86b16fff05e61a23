/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Parts of COSY_ASYNC functions that are compounds. The module executes them if it can. Their
 * effects are those of the functions' native code, whatever the module leaves to user mode.
 */
// RUN: %async-compile -O0
// RUN: %everywhere
// RUN: %async-compile -O2
// RUN: %everywhere
// RUN: %vm env COSY_EXECUTOR=auto COSY_STATS=1 timeout 900 %t 2>&1 | %FileCheck %s
// CHECK-DAG: passed
// CHECK-DAG: compounds.c:{{[0-9]+}}: executor=kernel runs=
// RUN: %async-compile -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
// RUN: %vm env COSY_EXECUTOR=kernel timeout 900 %t
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "functions.h"

static bool receives(int fd, const char *text)
{
	char got[64];
	ssize_t n = (ssize_t)strlen(text);

	return recv(fd, got, sizeof(got), MSG_DONTWAIT) == n && !memcmp(got, text, (size_t)n);
}

/*
 * A server.
 */

struct connection {
	int fd;
	char in[64];
	char out[80];
	int replies;
	int last_error;
};

/* Set an errno that the function reads. */
__attribute__((noinline)) static size_t reply(struct connection *c, ssize_t n)
{
	c->last_error = errno;
	c->out[0] = '<';
	memcpy(c->out + 1, c->in, (size_t)n);
	c->out[n + 1] = '>';
	errno = 1000 + c->replies;
	return (size_t)n + 2;
}

COSY_ASYNC static int serve(struct connection *c)
{
	ssize_t n;

	while ((n = recv(c->fd, c->in, sizeof(c->in), 0)) > 0) {
		if (send(c->fd, c->out, reply(c, n), MSG_NOSIGNAL) < 0)
			return -errno;
		if (errno != 1000 + c->replies)
			return 1;
		c->replies++;
	}
	return n < 0 ? -errno : 0;
}

/* The first function opens no descriptor that the program would need. */
static void numbers(void)
{
	static struct connection c;
	struct cosy_async op = { 0 };
	int fds[2], next;

	open_pair(fds);
	c.fd = fds[0];
	next = dup(0);
	EQUAL(close(next), 0);
	EQUAL(COSY_SPAWN(loop, serve(&c), .op = &op), 0);
	settle();
	EQUAL(dup(0), next);
	EQUAL(close(next), 0);
	EQUAL(close(fds[1]), 0);
	EQUAL(result_of(loop, &op), 0);
	close_fd(fds[0]);
}

static void serving(void)
{
	enum { N = 20 };
	static struct connection connections[N];
	struct cosy_async ops[N] = { 0 };
	struct cosy_loop_info before, after;
	int fds[N][2];

	for (int i = 0; i < N; i++) {
		open_pair(fds[i]);
		connections[i].fd = fds[i][0];
		EQUAL(COSY_SPAWN(loop, serve(&connections[i]), .op = &ops[i]), 0);
	}
	settle();
	EQUAL(cosy_loop_info(loop, &before, sizeof(before)), 0);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < N; i++)
			EQUAL(send(fds[i][1], "hello", 5, 0), 5);
		settle();
		for (int i = 0; i < N; i++)
			CHECK(receives(fds[i][1], "<hello>"));
	}
	EQUAL(cosy_loop_info(loop, &after, sizeof(after)), 0);
	/*
	 * If the module makes the functions' own calls, they are not attempts of the loop. With a
	 * sanitizer's wrappers around them, compounds stay native.
	 */
	if (after.kernel && !__has_feature(address_sanitizer))
		EQUAL(after.attempts, before.attempts);
	else
		CHECK(after.attempts - before.attempts >= 2ul * N * 5);
	for (int i = 0; i < N; i++) {
		EQUAL(connections[i].replies, 5);
		EQUAL(connections[i].last_error, 1003);
		if (i % 2)
			EQUAL(shutdown(fds[i][1], SHUT_WR), 0);
		else
			EQUAL(close(fds[i][1]), 0);
		EQUAL(result_of(loop, &ops[i]), 0);
		if (i % 2)
			EQUAL(close(fds[i][1]), 0);
		close_fd(fds[i][0]);
	}
}

COSY_ASYNC static int repeat(int fd)
{
	char text[64];
	ssize_t n;

	while ((n = recv(fd, text, sizeof(text), 0)) > 0)
		if (send(fd, text, (size_t)n, MSG_NOSIGNAL) < 0)
			return -errno;
	return 0;
}

static void on_alarm(int nr)
{
	(void)nr;
}

/* Signals end entries early. cosy_wait() must still complete its work. */
static void interrupted(void)
{
	enum { N = 32 };
	struct cosy_async ops[N] = { 0 };
	struct itimerval soon = { { 0, 50 }, { 0, 50 } }, never = { 0 };
	struct sigaction action = { .sa_handler = on_alarm };
	int fds[N][2], n;

	EQUAL(sigaction(SIGALRM, &action, NULL), 0);
	for (int i = 0; i < N; i++) {
		open_pair(fds[i]);
		EQUAL(COSY_SPAWN(loop, repeat(fds[i][0]), .op = &ops[i]), 0);
	}
	settle();
	for (int i = 0; i < N; i++)
		EQUAL(send(fds[i][1], "hello", 5, 0), 5);
	EQUAL(setitimer(ITIMER_REAL, &soon, NULL), 0);
	while ((n = cosy_wait(loop, 0, NULL)) > 0)
		;
	EQUAL(n, 0);
	EQUAL(setitimer(ITIMER_REAL, &never, NULL), 0);
	for (int i = 0; i < N; i++)
		CHECK(receives(fds[i][1], "hello"));
	for (int i = 0; i < N; i++) {
		EQUAL(close(fds[i][1]), 0);
		EQUAL(result_of(loop, &ops[i]), 0);
		close_fd(fds[i][0]);
	}
}

/*
 * Values.
 */

COSY_ASYNC static long values(int fd, long start, short narrow, bool flag)
{
	unsigned char bytes[16] = { 0 };
	unsigned int lengths[4] = { 0 };
	long sum = start;
	double mean = 0;
	ssize_t n;

	for (int round = 0; (n = recv(fd, bytes, flag ? sizeof(bytes) : 1, 0)) > 0; round++) {
		lengths[round % 4] += (unsigned int)n;
		for (ssize_t i = 0; i < n; i++) {
			if (bytes[i] == 'q')
				goto quit;
			sum += bytes[i] * narrow;
		}
		bytes[0] ^= 0xff;
		n = send(fd, bytes, (size_t)n, 0);
		sum += n << 8;
		narrow++;
	}
	return -1;
quit:
	mean = (double)sum / 2;
	return (long)mean + lengths[0] * 1000000l + lengths[1] * 100000l + narrow;
}

static long expected_values(long start, short narrow)
{
	long sum = start + 'a' * narrow + 'b' * narrow + (2 << 8);

	sum += 'c' * (narrow + 1) + (1 << 8);
	return sum / 2 + 2 * 1000000 + 100000 + narrow + 2;
}

static void value(void)
{
	struct cosy_async op = { 0 };
	unsigned char got[4];
	int fds[2];

	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, values(fds[0], 1000, -7, true), .op = &op), 0);
	settle();
	EQUAL(send(fds[1], "ab", 2, 0), 2);
	settle();
	EQUAL(recv(fds[1], got, 4, MSG_DONTWAIT), 2);
	EQUAL(got[0], 'a' ^ 0xff);
	EQUAL(send(fds[1], "c", 1, 0), 1);
	settle();
	EQUAL(send(fds[1], "q", 1, 0), 1);
	EQUAL(result_of(loop, &op), expected_values(1000, -7));
	close_fd(fds[0]);
	EQUAL(close(fds[1]), 0);
}

/*
 * Operations that the module leaves to user mode.
 */

#define MUCH (2 << 20)

/* User mode fills more than 1 MiB. Then the module makes the call. */
COSY_ASYNC static long fills(int fd, char *large)
{
	long rounds = 0;
	char byte;

	while (recv(fd, &byte, 1, 0) == 1) {
		memset(large, byte, MUCH);
		if (send(fd, large + MUCH - 1, 1, 0) != 1)
			return -1;
		rounds++;
	}
	return rounds;
}

static void large(void)
{
	static char buffer[MUCH];
	struct cosy_loop_info before, after;
	struct cosy_async op = { 0 };
	int fds[2];

	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, fills(fds[0], buffer), .op = &op), 0);
	settle();
	EQUAL(cosy_loop_info(loop, &before, sizeof(before)), 0);
	for (int round = 0; round < 3; round++) {
		EQUAL(send(fds[1], &"abc"[round], 1, 0), 1);
		settle();
		CHECK(receives(fds[1], (char[]){ "abc"[round], 0 }));
		EQUAL(buffer[0], "abc"[round]);
	}
	EQUAL(cosy_loop_info(loop, &after, sizeof(after)), 0);
	if (after.kernel && !__has_feature(address_sanitizer))
		EQUAL(after.attempts, before.attempts);
	EQUAL(close(fds[1]), 0);
	EQUAL(result_of(loop, &op), 3);
	close_fd(fds[0]);
}

COSY_ASYNC static long all_bytes(int fd, char *buffer, size_t size)
{
	long sum = 0;
	ssize_t n;

	while ((n = recv(fd, buffer, size, MSG_WAITALL)) > 0) {
		sum += n;
		n = send(fd, buffer, (size_t)n, 0);
		sum = sum * 3 + n;
	}
	return sum;
}

COSY_ASYNC static int errors(int fd, char *nowhere)
{
	char byte;
	int seen = 0;

	for (int i = 0; i < 2; i++) {
		if (recv(fd, &byte, 1, 0) < 0 && errno == ENOTSOCK)
			seen |= 1;
		if (send(-1, &byte, 1, 0) < 0 && errno == EBADF)
			seen |= 2;
		if (recv(fd, nowhere, 1, MSG_DONTWAIT) < 0 && errno == ENOTSOCK)
			seen |= 4;
	}
	return seen;
}

COSY_ASYNC static int peers(int fd)
{
	struct sockaddr_storage from;
	socklen_t size = sizeof(from);
	char bytes[8];
	int n = 0;

	while (recvfrom(fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&from, &size) > 0) {
		/* The peer has no name. */
		n += size == 0 ? 1 : 100;
		size = sizeof(from);
		if (bytes[0] == 'q')
			break;
	}
	return n;
}

static void left(void)
{
	static char buffer[8];
	struct cosy_async op = { 0 };
	int fds[2], pipes[2];

	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, all_bytes(fds[0], buffer, 8), .op = &op), 0);
	settle();
	EQUAL(send(fds[1], "abcd", 4, 0), 4);
	settle();
	CHECK(cosy_async_pending(&op));
	EQUAL(send(fds[1], "efgh", 4, 0), 4);
	settle();
	CHECK(receives(fds[1], "abcdefgh"));
	EQUAL(shutdown(fds[1], SHUT_WR), 0);
	EQUAL(result_of(loop, &op), 8 * 3 + 8);
	close_fd(fds[0]);
	EQUAL(close(fds[1]), 0);

	EQUAL(pipe(pipes), 0);
	EQUAL(COSY_SPAWN(loop, errors(pipes[0], buffer), .op = &op), 0);
	EQUAL(result_of(loop, &op), 7);
	close_fd(pipes[0]);
	EQUAL(close(pipes[1]), 0);

	EQUAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	EQUAL(COSY_SPAWN(loop, peers(fds[0]), .op = &op), 0);
	settle();
	EQUAL(send(fds[1], "abc", 3, 0), 3);
	settle();
	EQUAL(send(fds[1], "q", 1, 0), 1);
	EQUAL(result_of(loop, &op), 2);
	close_fd(fds[0]);
	EQUAL(close(fds[1]), 0);
}

/* More data than one call transfers. */
COSY_ASYNC static long send_twice(int fd, const char *bytes, size_t size)
{
	long n = send(fd, bytes, size, 0);

	return n + send(fd, bytes, size, 0) * 10;
}

static void sending(void)
{
	enum { LARGE = 1 << 19 };
	static char out[LARGE], in[2 * LARGE];
	struct cosy_async op = { 0 };
	size_t received = 0;
	int fds[2];

	for (size_t i = 0; i < LARGE; i++)
		out[i] = (char)(i * 13 + (i >> 9));
	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, send_twice(fds[0], out, LARGE), .op = &op), 0);
	while (received < sizeof(in)) {
		ssize_t n = recv(fds[1], in + received, sizeof(in) - received, MSG_DONTWAIT);

		received += n > 0 ? (size_t)n : 0;
		CHECK(cosy_wait(loop, 0, NULL) >= 0);
	}
	EQUAL(result_of(loop, &op), LARGE * 11l);
	CHECK(!memcmp(in, out, LARGE) && !memcmp(in + LARGE, out, LARGE));
	close_fd(fds[0]);
	EQUAL(close(fds[1]), 0);
}

/*
 * Connections that end while a call waits.
 */

enum call { SEND, WRITE, SENDMSG, RECEIVE, RECVMSG };

/* Make one call, and another one, because a single call is no compound. Return its result. */
COSY_ASYNC static long make(enum call call, int fd, char *bytes, size_t size)
{
	struct iovec piece = { bytes, size };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	long n;

	if (call == SEND)
		n = send(fd, bytes, size, 0);
	else if (call == WRITE)
		n = write(fd, bytes, size);
	else if (call == SENDMSG)
		n = sendmsg(fd, &message, 0);
	else if (call == RECEIVE)
		n = recv(fd, bytes, size, 0);
	else
		n = recvmsg(fd, &message, 0);
	if (n < 0)
		n = -errno;
	close(-1);
	return n;
}

static int broken_pipes;

static void count_broken_pipe(int nr)
{
	(void)nr;
	broken_pipes++;
}

/* Let a call wait; one that sends a byte finds no room for it. */
static void make_and_wait(struct cosy_async *op, enum call call, int fd, size_t size)
{
	static char bytes[16 << 20];

	if (call < RECEIVE && size == 1)
		while (send(fd, bytes, 1, MSG_DONTWAIT) == 1)
			;
	EQUAL(COSY_SPAWN(loop, make(call, fd, bytes, size), .op = op), 0);
	settle();
	CHECK(cosy_async_pending(op));
}

/* Close a peer without receiving, or reset it, while a call waits. Return the call's result. */
static long make_and_end(enum call call, int fds[2], size_t size)
{
	const struct linger linger = { .l_onoff = 1 };
	struct cosy_async op = { 0 };

	make_and_wait(&op, call, fds[0], size);
	EQUAL(setsockopt(fds[1], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	EQUAL(close(fds[1]), 0);
	return result_of(loop, &op);
}

static void error_is(int fd, int error)
{
	int found = 0;
	socklen_t size = sizeof(found);

	EQUAL(getsockopt(fd, SOL_SOCKET, SO_ERROR, &found, &size), 0);
	EQUAL(found, error);
	close_fd(fd);
}

static void open_tcp_pair(int fds[2])
{
	struct sockaddr_in name = { .sin_family = AF_INET };
	socklen_t size = sizeof(name);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	EQUAL(listen(listener, 1), 0);
	EQUAL(getsockname(listener, (struct sockaddr *)&name, &size), 0);
	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	EQUAL(connect(fds[0], (struct sockaddr *)&name, size), 0);
	fds[1] = accept(listener, NULL, NULL);
	EQUAL(close(listener), 0);
}

static void ending(void)
{
	int fds[2];

	signal(SIGPIPE, count_broken_pipe);
	for (enum call call = SEND; call <= SENDMSG; call++) {
		open_pair(fds);
		EQUAL(make_and_end(call, fds, 1), -ECONNRESET);
		error_is(fds[0], 0);
	}
	for (enum call call = SEND; call <= WRITE; call++) {
		open_pair(fds);
		CHECK(make_and_end(call, fds, 16 << 20) > 0);
		error_is(fds[0], 0);
		open_tcp_pair(fds);
		CHECK(make_and_end(call, fds, 16 << 20) > 0);
		error_is(fds[0], ECONNRESET);
	}
	for (enum call call = RECEIVE; call <= RECVMSG; call++) {
		open_tcp_pair(fds);
		EQUAL(make_and_end(call, fds, 0), 0);
		error_is(fds[0], ECONNRESET);
		open_tcp_pair(fds);
		EQUAL(make_and_end(call, fds, 1), -ECONNRESET);
		error_is(fds[0], 0);
	}
	EQUAL(broken_pipes, 0);
	signal(SIGPIPE, SIG_IGN);
}

/* One side is shut down, in one direction, while a call waits to send. epoll does not notice. */
static void ending_by_shutdown(void)
{
	struct cosy_loop_info info;
	int fds[2];

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	if (!info.kernel)
		return;
	signal(SIGPIPE, count_broken_pipe);
	for (int i = 0; i < 6; i++) {
		struct cosy_async op = { 0 };

		open_pair(fds);
		make_and_wait(&op, (enum call)(i % 3), fds[0], 1);
		EQUAL(shutdown(fds[i < 3], i < 3 ? SHUT_RD : SHUT_WR), 0);
		EQUAL(result_of(loop, &op), -EPIPE);
		close_fd(fds[0]);
		EQUAL(close(fds[1]), 0);
	}
	EQUAL(broken_pipes, 0);
	signal(SIGPIPE, SIG_IGN);
}

/* Receiving from a socket of TCP in repair mode fails at once. */
static void repairing(void)
{
	const int on = 1, off = 0;
	struct cosy_async op = { 0 };
	char byte;
	int fds[2];

	open_tcp_pair(fds);
	/* It takes CAP_NET_ADMIN. */
	if (!setsockopt(fds[0], IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on))) {
		EQUAL(COSY_SPAWN(loop, make(RECEIVE, fds[0], &byte, 1), .op = &op), 0);
		EQUAL(result_of(loop, &op), -EPERM);
		EQUAL(setsockopt(fds[0], IPPROTO_TCP, TCP_REPAIR, &off, sizeof(off)), 0);
	}
	close_fd(fds[0]);
	EQUAL(close(fds[1]), 0);
}

/*
 * Cancelling.
 */

static struct cosy_async *to_cancel;

__attribute__((noinline)) static void cancel_it(void)
{
	if (to_cancel)
		EQUAL(cosy_cancel(loop, to_cancel), -ENOENT);
}

/* Return: the results of its calls. */
COSY_ASYNC static int count_errors(int fd, int rounds)
{
	int ended = 0;
	char byte;

	for (int i = 0; i < rounds; i++) {
		ended *= 10;
		if (recv(fd, &byte, 1, 0) == 1)
			ended += 1;
		else if (errno == ECANCELED)
			ended += 2;
		cancel_it();
	}
	return ended;
}

COSY_ASYNC static int close_it(int fd)
{
	return close(fd);
}

static void cancelling(void)
{
	struct cosy_async op = { 0 }, other = { 0 };
	int fds[2];

	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, count_errors(fds[0], 3), .op = &op), 0);
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(result_of(loop, &op), 222);

	EQUAL(COSY_SPAWN(loop, count_errors(fds[0], 3), .op = &op), 0);
	EQUAL(send(fds[1], "x", 1, 0), 1);
	settle();
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(send(fds[1], "x", 1, 0), 1);
	EQUAL(result_of(loop, &op), 122);
	EQUAL(recv(fds[0], &(char){ 0 }, 1, MSG_DONTWAIT), 1);

	EQUAL(COSY_SPAWN(loop, count_errors(fds[0], 3), .op = &op), 0);
	settle();
	EQUAL(cosy_cancel_fd(loop, fds[0]), 1);
	settle();
	EQUAL(send(fds[1], "xy", 2, 0), 2);
	EQUAL(result_of(loop, &op), 211);

	/* Another function has closed it. */
	EQUAL(COSY_SPAWN(loop, count_errors(fds[0], 1), .op = &op), 0);
	settle();
	EQUAL(COSY_SPAWN(loop, close_it(fds[0]), .op = &other), 0);
	EQUAL(result_of(loop, &other), 0);
	EQUAL(result_of(loop, &op), 2);
	EQUAL(close(fds[1]), 0);
}

/* Receive datagrams, by one of two calls, until the socket is shut down. */
COSY_ASYNC static int count_datagrams(int fd, bool by_recv)
{
	int n = 0;
	char c;

	while ((by_recv ? recv(fd, &c, 1, 0) : read(fd, &c, 1)) > 0)
		n++;
	return n;
}

COSY_ASYNC static int count_connections(int fd)
{
	int n = 0, accepted;

	while ((accepted = accept(fd, NULL, NULL)) >= 0) {
		close(accepted);
		n++;
	}
	return n * 1000 + errno;
}

static void shutting_down(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	struct cosy_async accepting = { 0 }, other = { 0 };

	EQUAL(bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	EQUAL(listen(listener, 1), 0);
	EQUAL(COSY_SPAWN(loop, count_connections(listener), .op = &accepting), 0);
	EQUAL(COSY_SPAWN(loop, count_connections(listener), .op = &other), 0);
	settle();
	EQUAL(shutdown(listener, SHUT_RD), 0);
	EQUAL(result_of(loop, &accepting), EINVAL);
	EQUAL(result_of(loop, &other), EINVAL);
	close_fd(listener);
	for (int by_recv = 0; by_recv < 2; by_recv++) {
		struct cosy_async op = { 0 };
		int fds[2];

		EQUAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
		EQUAL(COSY_SPAWN(loop, count_datagrams(fds[0], by_recv), .op = &op), 0);
		settle();
		EQUAL(send(fds[1], "x", 1, 0), 1);
		settle();
		EQUAL(shutdown(fds[0], SHUT_RD), 0);
		EQUAL(result_of(loop, &op), 1);
		EQUAL(COSY_SPAWN(loop, count_datagrams(fds[0], by_recv), .op = &op), 0);
		EQUAL(result_of(loop, &op), 0);
		close_fd(fds[0]);
		close_fd(fds[1]);
	}
}

COSY_ASYNC static int receive_and_close(int from, int fd)
{
	char c;

	return recv(from, &c, 1, 0) == 1 ? close(fd) : -1;
}

/*
 * An operation that may need a thread is outstanding when a function closes its descriptor, which
 * cancels it like any other. If the thread has begun, cancelling may be too late, but not always.
 */
static void closing_beside_status(void)
{
	enum { ROUNDS = 20 };
	struct cosy_async op = { 0 }, status = { 0 };
	unsigned int too_late = 0;
	int fds[2], others[2];
	struct stat st;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		open_pair(fds);
		open_pair(others);
		EQUAL(COSY_SPAWN(loop, receive_and_close(fds[0], others[0]), .op = &op), 0);
		settle();
		EQUAL(send(fds[1], "x", 1, 0), 1);
		EQUAL(cosy_async_fstat(loop, &status, others[0], &st), 0);
		EQUAL(result_of(loop, &op), 0);
		if (result_of(loop, &status) == -EBADF)
			too_late++;
		else
			CHECK(!status.result || status.result == -ECANCELED);
		/* Use a number that the previous iteration has not used. */
		cosy_cancel_fd(loop, others[0]);
		close_fd(fds[0]);
		EQUAL(close(fds[1]) | close(others[1]), 0);
	}
	CHECK(too_late < ROUNDS);
}

/* Close in a callback, when no other event would wake the thread. */
COSY_ASYNC static int sleep_a_while(void)
{
	const struct timespec time = { .tv_nsec = 2000000 };

	return nanosleep(&time, NULL);
}

static void cancel_data(struct cosy_async *op)
{
	EQUAL(cosy_cancel(loop, op->data), 0);
}

static void interrupt_data(struct cosy_async *op)
{
	EQUAL(cosy_cancel_fd(loop, *(int *)op->data), 1);
}

static void cancelling_in_callbacks(void)
{
	struct cosy_async op = { 0 };
	int fds[2];

	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, count_errors(fds[0], 1), .op = &op), 0);
	EQUAL(COSY_SPAWN(loop, sleep_a_while(), .done = cancel_data, .data = &op), 0);
	EQUAL(result_of(loop, &op), 2);
	EQUAL(COSY_SPAWN(loop, count_errors(fds[0], 1), .op = &op), 0);
	EQUAL(COSY_SPAWN(loop, sleep_a_while(), .done = interrupt_data, .data = &fds[0]), 0);
	EQUAL(result_of(loop, &op), 2);
	close_fd(fds[0]);
	EQUAL(close(fds[1]), 0);
}

/* Two functions that receive from one socket alternate. */
static void turns(void)
{
	struct cosy_async ops[2] = { 0 };
	int fds[2];

	open_pair(fds);
	for (int i = 0; i < 2; i++)
		EQUAL(COSY_SPAWN(loop, count_errors(fds[0], 2), .op = &ops[i]), 0);
	settle();
	EQUAL(send(fds[1], "abc", 3, 0), 3);
	settle();
	CHECK(!cosy_async_pending(&ops[0]) && cosy_async_pending(&ops[1]));
	EQUAL(send(fds[1], "d", 1, 0), 1);
	EQUAL(result_of(loop, &ops[1]), 11);
	EQUAL(ops[0].result, 11);
	close_fd(fds[0]);
	EQUAL(close(fds[1]), 0);
}

/* Up-calls that use the loop. */
static int spawned;

static void count_spawned(struct cosy_async *op)
{
	EQUAL(op->result, 1);
	spawned++;
}

__attribute__((noinline)) static void spawn_more(int fd)
{
	EQUAL(COSY_SPAWN(loop, count_errors(fd, 1), .done = count_spawned), 0);
}

COSY_ASYNC static int spawning(int fd, int other)
{
	char byte;

	while (recv(fd, &byte, 1, 0) == 1) {
		spawn_more(other);
		if (send(fd, &byte, 1, 0) != 1)
			return 1;
	}
	return 0;
}

static void nested(void)
{
	struct cosy_async op = { 0 };
	int fds[2], others[2];

	open_pair(fds);
	open_pair(others);
	EQUAL(COSY_SPAWN(loop, spawning(fds[0], others[0]), .op = &op), 0);
	EQUAL(send(fds[1], "abc", 3, 0), 3);
	settle();
	EQUAL(send(others[1], "abc", 3, 0), 3);
	settle();
	EQUAL(spawned, 3);
	EQUAL(shutdown(fds[1], SHUT_WR), 0);
	EQUAL(result_of(loop, &op), 0);
	CHECK(receives(fds[1], "abc"));
	close_fd(fds[0]);
	close_fd(others[0]);
	EQUAL(close(fds[1]), 0);
	EQUAL(close(others[1]), 0);
}

/* Several threads that wait for the loop. */
static bool stop;

static void *run_loop(void *unused)
{
	const struct timespec time = { .tv_nsec = 2000000 };

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		cosy_wait(loop, 1, &time);
	return unused;
}

static void threads(void)
{
	enum { N = 8, ROUNDS = 200 };
	static struct connection connections[N];
	struct cosy_async ops[N] = { 0 };
	pthread_t workers[3];
	int fds[N][2];

	for (int i = 0; i < N; i++) {
		open_pair(fds[i]);
		connections[i].fd = fds[i][0];
		EQUAL(COSY_SPAWN(loop, serve(&connections[i]), .op = &ops[i]), 0);
	}
	for (int i = 0; i < 3; i++)
		EQUAL(pthread_create(&workers[i], NULL, run_loop, NULL), 0);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < N; i++)
			EQUAL(send(fds[i][1], "ping", 4, 0), 4);
		for (int i = 0; i < N; i++) {
			char got[16];

			EQUAL(recv(fds[i][1], got, sizeof(got), 0), 6);
			CHECK(!memcmp(got, "<ping>", 6));
		}
	}
	for (int i = 0; i < N; i++)
		EQUAL(shutdown(fds[i][1], SHUT_WR), 0);
	for (int i = 0; i < N; i++) {
		EQUAL(result_of(loop, &ops[i]), 0);
		EQUAL(connections[i].replies, ROUNDS);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		EQUAL(pthread_join(workers[i], NULL), 0);
	for (int i = 0; i < N; i++) {
		close_fd(fds[i][0]);
		EQUAL(close(fds[i][1]), 0);
	}
}

/* Serve one connection by a separate loop. */
static void serve_one_request(void)
{
	static struct connection c;
	struct cosy_async op = { 0 };
	int fds[2];

	open_pair(fds);
	c = (struct connection){ .fd = fds[0] };
	EQUAL(COSY_SPAWN(loop, serve(&c), .op = &op), 0);
	EQUAL(send(fds[1], "one", 3, 0), 3);
	settle();
	CHECK(receives(fds[1], "<one>"));
	EQUAL(close(fds[1]), 0);
	EQUAL(result_of(loop, &op), 0);
	close_fd(fds[0]);
}

/* A child has no loop, but can create one. */
static void children(void)
{
	static struct connection c;
	struct cosy_async op = { 0 };
	int fds[2], status;
	pid_t child;

	open_pair(fds);
	c.fd = fds[0];
	EQUAL(COSY_SPAWN(loop, serve(&c), .op = &op), 0);
	settle();
	child = fork();
	if (!child) {
		EQUAL(cosy_loop_destroy(loop), 0);
		EQUAL(cosy_loop_create(&loop, NULL), 0);
		serve_one_request();
		EQUAL(cosy_loop_destroy(loop), 0);
		_exit(0);
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	EQUAL(send(fds[1], "still", 5, 0), 5);
	settle();
	CHECK(receives(fds[1], "<still>"));
	EQUAL(close(fds[1]), 0);
	EQUAL(result_of(loop, &op), 0);
	close_fd(fds[0]);
}

/* Install a filter that forbids entering the module, in the middle of a compound. */
static void forbidden(void)
{
	static struct connection c;
	struct cosy_async op = { 0 };
	int fds[2], status;
	pid_t child = fork();

	if (!child) {
		EQUAL(cosy_loop_destroy(loop), 0);
		EQUAL(cosy_loop_create(&loop, NULL), 0);
		open_pair(fds);
		c.fd = fds[0];
		EQUAL(COSY_SPAWN(loop, serve(&c), .op = &op), 0);
		settle();
		forbid_lseek(0);
		EQUAL(send(fds[1], "one", 3, 0), 3);
		settle();
		CHECK(receives(fds[1], "<one>"));
		EQUAL(close(fds[1]), 0);
		EQUAL(result_of(loop, &op), 0);
		EQUAL(cosy_loop_destroy(loop), 0);
		_exit(0);
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
}

/*
 * A thread that waits in the module for blocking calls ends, although no thread can enter to wake
 * it.
 */
static void forbidden_threads(void)
{
	struct cosy_async op = { 0 };
	pid_t child = fork();
	int fds[2], status;

	if (!child) {
		EQUAL(cosy_loop_destroy(loop), 0);
		EQUAL(cosy_loop_create(&loop, NULL), 0);
		open_pair(fds);
		EQUAL(cosy_async_fsync(loop, &op, fds[0]), 0);
		EQUAL(result_of(loop, &op), -EINVAL);
		forbid_lseek(0);
		signal(SIGALRM, SIG_DFL);
		alarm(60);
		EQUAL(cosy_loop_destroy(loop), 0);
		_exit(0);
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
}

static void losing_module(void)
{
	static struct connection connections[3];
	struct cosy_async ops[3] = { 0 }, sends[3] = { 0 };
	struct cosy_loop_info info;
	int fds[3][2], full[3][2];

	signal(SIGPIPE, count_broken_pipe);
	for (int i = 0; i < 3; i++) {
		open_pair(full[i]);
		make_and_wait(&sends[i], (enum call)i, full[i][0], 1);
	}
	for (int i = 0; i < 3; i++) {
		open_pair(fds[i]);
		connections[i].fd = fds[i][0];
		EQUAL(COSY_SPAWN(loop, serve(&connections[i]), .op = &ops[i]), 0);
	}
	for (int i = 0; i < 2; i++)
		EQUAL(send(fds[i][1], "before", 6, 0), 6);
	settle();
	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	EQUAL(close_loops(), info.kernel);
	/* The peers close before user mode continues the calls. */
	for (int i = 0; i < 3; i++)
		EQUAL(close(full[i][1]), 0);
	for (int i = 0; i < 3; i++)
		EQUAL(send(fds[i][1], "after", 5, 0), 5);
	settle();
	for (int i = 0; i < 2; i++)
		CHECK(receives(fds[i][1], "<before><after>"));
	CHECK(receives(fds[2][1], "<after>"));
	for (int i = 0; i < 3; i++) {
		EQUAL(result_of(loop, &sends[i]), -ECONNRESET);
		close_fd(full[i][0]);
	}
	EQUAL(broken_pipes, 0);
	signal(SIGPIPE, SIG_IGN);
	EQUAL(cosy_cancel(loop, &ops[2]), 0);
	EQUAL(result_of(loop, &ops[2]), -ECANCELED);
	for (int i = 0; i < 3; i++) {
		EQUAL(close(fds[i][1]), 0);
		EQUAL(result_of(loop, &ops[i]), i < 2 ? 0 : -ECANCELED);
		close_fd(fds[i][0]);
	}
	serve_one_request();
}

/* Waiting calls are cancelled. */
static void destroying(void)
{
	static struct connection c;
	struct cosy_async op = { 0 };
	int fds[2];

	open_pair(fds);
	c = (struct connection){ .fd = fds[0] };
	EQUAL(COSY_SPAWN(loop, serve(&c), .op = &op), 0);
	EQUAL(send(fds[1], "x", 1, 0), 1);
	settle();
	EQUAL(cosy_loop_destroy(loop), 0);
	CHECK(!cosy_async_pending(&op));
	EQUAL(op.result, -ECANCELED);
	EQUAL(c.replies, 1);
	EQUAL(close(fds[0]), 0);
	EQUAL(close(fds[1]), 0);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	numbers();
	serving();
	interrupted();
	value();
	large();
	left();
	sending();
	ending();
	ending_by_shutdown();
	repairing();
	cancelling();
	shutting_down();
	closing_beside_status();
	cancelling_in_callbacks();
	turns();
	nested();
	threads();
	children();
	forbidden();
	forbidden_threads();
	losing_module();
	destroying();
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	destroying();
	puts("passed");
	return 0;
}
