/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * recv() and send() of sockets. The module gets them directly when they are submitted, if it is
 * loaded and nothing else waits for the socket. Their results, their order, and the fate of those
 * that it has not seen are the same without it.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "filter.h"
#include "loop.h"

#define N 70
#define MANY 300

static struct cosy_loop *loop;
static struct cosy_async ops[N];
static char bytes[N];
static int sv[N][2];

static void connect_all(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, sv[i]), 0);
	memset(bytes, 0, sizeof(bytes));
	memset(ops, 0, sizeof(ops));
}

/* Let the loop know the sockets, whose next operations can then be submitted directly. */
static void become_known(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		EQUAL(send(sv[i][1], "k", 1, 0), 1);
		EQUAL(cosy_async_recv(loop, &ops[i], sv[i][0], &bytes[i], 1, 0), 0);
	}
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 0; i < n; i++)
		EQUAL(bytes[i], 'k');
}

static void close_all(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		cosy_cancel_fd(loop, sv[i][0]);
		close(sv[i][0]);
		close(sv[i][1]);
	}
}

/* Requests and answers, in batches of all sizes around those at which the way changes. */
static void exchange(void)
{
	static const unsigned int sizes[] = { 1, 2, 3, 4, 63, 64, 65, N };
	static struct cosy_async sends[N];
	char byte;

	connect_all(N);
	become_known(N);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		for (unsigned int i = 0; i < sizes[s]; i++) {
			EQUAL(cosy_async_recv(loop, &ops[i], sv[i][0], &bytes[i], 1, 0), 0);
			EQUAL(cosy_async_recv(loop, &ops[i], sv[i][0], &bytes[i], 1, 0), -EBUSY);
		}
		/* With and without a wait before the requests arrive. */
		if (s % 2)
			execute(loop);
		for (unsigned int i = 0; i < sizes[s]; i++) {
			byte = (char)('0' + i);
			EQUAL(send(sv[i][1], &byte, 1, 0), 1);
		}
		EQUAL(cosy_loop_run(loop), 0);
		for (unsigned int i = 0; i < sizes[s]; i++) {
			EQUAL(ops[i].result, 1);
			EQUAL(bytes[i], '0' + (int)i);
			/* One without an operation, then one with it. */
			EQUAL(cosy_async_send(loop, NULL, sv[i][0], "x", 1, 0), 0);
			EQUAL(cosy_async_send(loop, &sends[i], sv[i][0], &bytes[i], 1, 0), 0);
		}
		EQUAL(cosy_loop_run(loop), 0);
		for (unsigned int i = 0; i < sizes[s]; i++) {
			EQUAL(sends[i].result, 1);
			EQUAL(recv(sv[i][1], &byte, 1, MSG_DONTWAIT), 1);
			EQUAL(byte, 'x');
			EQUAL(recv(sv[i][1], &byte, 1, MSG_DONTWAIT), 1);
			EQUAL(byte, '0' + (int)i);
		}
	}
	close_all(N);
}

/* Several on one socket: the first one may be in the module, the others come after it. */
static void in_order(bool thread)
{
	connect_all(1);
	become_known(1);
	for (unsigned int i = 0; i < 4; i++)
		EQUAL(cosy_async_recv(loop, &ops[i], sv[0][0], &bytes[i], 1, 0), 0);
	/* It has to be made by a thread, so the module must not see the direct ones yet. */
	if (thread)
		EQUAL(cosy_async_flock(loop, &ops[4], sv[0][0], 0), 0);
	EQUAL(send(sv[0][1], "1234", 4, 0), 4);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(memcmp(bytes, "1234", 4), 0);
	close_all(1);
}

/* Operations that have not been executed are cancelled one by one, and receive nothing. */
static void cancelled(void)
{
	for (unsigned int n = 1; n <= 5; n++) {
		for (unsigned int which = 0; which < n; which++) {
			connect_all(n);
			become_known(n);
			for (unsigned int i = 0; i < n; i++) {
				EQUAL(send(sv[i][1], "a", 1, 0), 1);
				EQUAL(cosy_async_recv(loop, &ops[i], sv[i][0], &bytes[i], 1, 0), 0);
			}
			EQUAL(cosy_cancel(loop, &ops[which]), 0);
			EQUAL(cosy_loop_run(loop), 0);
			for (unsigned int i = 0; i < n; i++) {
				EQUAL(ops[i].result, i == which ? -ECANCELED : 1);
				EQUAL(bytes[i], i == which ? 'k' : 'a');
				EQUAL(cosy_cancel(loop, &ops[i]), -ENOENT);
			}
			EQUAL(recv(sv[which][0], &bytes[0], 1, MSG_DONTWAIT), 1);
			close_all(n);
		}
	}
}

/* The same for all on a descriptor: each is counted once. Later ones are executed. */
static void cancelled_with_descriptor(bool executed)
{
	connect_all(2);
	become_known(2);
	for (unsigned int i = 0; i < 3; i++)
		EQUAL(cosy_async_recv(loop, &ops[i], sv[0][0], &bytes[i], 1, 0), 0);
	EQUAL(cosy_async_recv(loop, &ops[3], sv[1][0], &bytes[3], 1, 0), 0);
	if (executed)
		execute(loop);
	EQUAL(cosy_cancel_fd(loop, sv[0][0]), 3);
	EQUAL(cosy_cancel_fd(loop, sv[0][0]), 0);
	EQUAL(send(sv[0][1], "a", 1, 0), 1);
	EQUAL(send(sv[1][1], "b", 1, 0), 1);
	EQUAL(cosy_async_recv(loop, &ops[4], sv[0][0], &bytes[4], 1, 0), 0);
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 0; i < 3; i++)
		EQUAL(ops[i].result, -ECANCELED);
	EQUAL(bytes[3], 'b');
	EQUAL(bytes[4], 'a');
	close_all(2);
}

/* A number that refers to another socket after a close. */
static void replaced(void)
{
	connect_all(2);
	become_known(2);
	EQUAL(cosy_async_recv(loop, &ops[0], sv[0][0], &bytes[0], 1, 0), 0);
	EQUAL(cosy_async_close(loop, &ops[1], sv[0][0]), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(ops[0].result, -ECANCELED);
	EQUAL(ops[1].result, 0);
	EQUAL(recv(sv[0][1], &bytes[0], 1, 0), 0);
	EQUAL(fcntl(sv[1][0], F_DUPFD, sv[0][0]), sv[0][0]);
	EQUAL(cosy_async_recv(loop, &ops[0], sv[0][0], &bytes[0], 1, 0), 0);
	execute(loop);
	EQUAL(send(sv[1][1], "n", 1, 0), 1);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(ops[0].result, 1);
	EQUAL(bytes[0], 'n');
	close_all(2);
}

/* The end of the connection, also while operations wait for it. */
static void ends(bool executed)
{
	connect_all(2);
	become_known(2);
	EQUAL(cosy_async_recv(loop, &ops[0], sv[0][0], &bytes[0], 1, 0), 0);
	EQUAL(cosy_async_recv(loop, &ops[1], sv[1][0], &bytes[1], 1, 0), 0);
	if (executed)
		execute(loop);
	EQUAL(close(sv[0][1]), 0);
	EQUAL(shutdown(sv[1][1], SHUT_WR), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(ops[0].result, 0);
	EQUAL(ops[1].result, 0);
	EQUAL(cosy_async_send(loop, &ops[0], sv[0][0], "a", 1, MSG_NOSIGNAL), 0);
	EQUAL(result_of(loop, &ops[0]), -EPIPE);
	close_all(2);
}

/* A large send is made in pieces, whatever else there is to send. */
static void large(void)
{
	static char data[1 << 20], got[sizeof(data)];
	size_t received = 0;
	ssize_t n;

	connect_all(4);
	become_known(4);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7 + i / 251);
	for (unsigned int i = 1; i < 4; i++)
		EQUAL(cosy_async_send(loop, &ops[i], sv[i][0], "s", 1, 0), 0);
	EQUAL(cosy_async_send(loop, &ops[0], sv[0][0], data, sizeof(data), 0), 0);
	while (cosy_async_pending(&ops[0])) {
		CHECK(cosy_wait(loop, 0, NULL) >= 0);
		while ((n = recv(sv[0][1], got + received, sizeof(got) - received,
				 MSG_DONTWAIT)) > 0)
			received += (size_t)n;
	}
	EQUAL(ops[0].result, sizeof(data));
	while (received < sizeof(data)) {
		n = recv(sv[0][1], got + received, sizeof(got) - received, 0);
		CHECK(n > 0);
		received += (size_t)n;
	}
	EQUAL(memcmp(data, got, sizeof(data)), 0);
	for (unsigned int i = 1; i < 4; i++)
		EQUAL(ops[i].result, 1);
	close_all(4);
}

/* What a handler interrupts continues, with and without the time to wait. */
static void with_time(void)
{
	const struct timespec none = { 0 }, little = { .tv_nsec = 2000000 };

	connect_all(1);
	become_known(1);
	EQUAL(cosy_async_recv(loop, &ops[0], sv[0][0], &bytes[0], 1, 0), 0);
	for (unsigned int i = 0; i < 3; i++) {
		EQUAL(cosy_wait(loop, 1, &none), 0);
		EQUAL(cosy_wait(loop, 1, &little), 0);
	}
	EQUAL(send(sv[0][1], "t", 1, 0), 1);
	EQUAL(cosy_wait(loop, 1, &none), 1);
	EQUAL(bytes[0], 't');
	/* One that was not executed before, and a call that has no time to wait. */
	EQUAL(send(sv[0][1], "u", 1, 0), 1);
	EQUAL(cosy_async_recv(loop, &ops[0], sv[0][0], &bytes[0], 1, 0), 0);
	EQUAL(cosy_wait(loop, 1, &none), 1);
	EQUAL(bytes[0], 'u');
	close_all(1);
}

/* A child has no loop. The parent's operations are not affected. */
static void forked(void)
{
	pid_t child;
	int status;

	connect_all(1);
	become_known(1);
	EQUAL(cosy_async_recv(loop, &ops[0], sv[0][0], &bytes[0], 1, 0), 0);
	child = fork();
	if (!child) {
		EQUAL(cosy_async_recv(loop, &ops[1], sv[0][0], &bytes[1], 1, 0), -EPERM);
		EQUAL(cosy_loop_destroy(loop), 0);
		_exit(0);
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	EQUAL(send(sv[0][1], "f", 1, 0), 1);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(bytes[0], 'f');
	close_all(1);
}

/* A loop that is destroyed completes them, whether or not they were executed. */
static void destroyed(bool executed)
{
	struct cosy_loop *first = loop;

	loop = make_loop();
	connect_all(4);
	become_known(4);
	for (unsigned int i = 0; i < 4; i++)
		EQUAL(cosy_async_recv(loop, &ops[i], sv[i][0], &bytes[i], 1, 0), 0);
	if (executed)
		execute(loop);
	EQUAL(send(sv[0][1], "d", 1, 0), 1);
	EQUAL(cosy_loop_destroy(loop), 0);
	for (unsigned int i = 0; i < 4; i++)
		CHECK(ops[i].result == -ECANCELED || (!i && ops[i].result == 1));
	loop = first;
	close_all(4);
}

/* More than the module executes before the thread sleeps there. */
static void many(void)
{
	static struct cosy_async recvs[MANY];
	static int pairs[MANY][2];
	const struct timespec little = { .tv_nsec = 2000000 };
	char byte, got;

	for (unsigned int i = 0; i < MANY; i++)
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]), 0);
	for (unsigned int i = 0; i < MANY; i++) {
		EQUAL(send(pairs[i][1], "k", 1, 0), 1);
		EQUAL(cosy_async_recv(loop, &recvs[i], pairs[i][0], &byte, 1, 0), 0);
	}
	EQUAL(cosy_loop_run(loop), 0);
	/* There was nothing to receive, so the next ones are executed when the thread sleeps. */
	EQUAL(cosy_async_recv(loop, &recvs[0], pairs[0][0], &byte, 1, 0), 0);
	EQUAL(cosy_wait(loop, 1, &little), 0);
	for (unsigned int i = 1; i < MANY; i++)
		EQUAL(cosy_async_recv(loop, &recvs[i], pairs[i][0], i < MANY - 1 ? &byte : &got,
				      1, 0), 0);
	EQUAL(send(pairs[MANY - 1][1], "m", 1, 0), 1);
	EQUAL(cosy_wait(loop, 1, NULL), 1);
	EQUAL(got, 'm');
	for (unsigned int i = 0; i < MANY; i++) {
		EQUAL(cosy_cancel_fd(loop, pairs[i][0]), i < MANY - 1);
		close(pairs[i][0]);
		close(pairs[i][1]);
	}
	EQUAL(cosy_loop_run(loop), 0);
}

/*
 * A send of which a part is made, after a receive that is complete. A close ends it, so the rest is
 * not sent to the next file with this number.
 */
static int replacement;

static void replace(struct cosy_async *op)
{
	(void)op;
	replacement = fcntl(sv[2][0], F_DUPFD, sv[1][0]);
}

static void partly_sent(void)
{
	static char data[1 << 20];
	ssize_t n, received = 0;

	connect_all(3);
	become_known(2);
	EQUAL(send(sv[0][1], "p", 1, 0), 1);
	ops[0].done = replace;
	EQUAL(cosy_async_recv(loop, &ops[0], sv[0][0], &bytes[0], 1, 0), 0);
	EQUAL(cosy_async_send(loop, &ops[1], sv[1][0], data, sizeof(data), 0), 0);
	EQUAL(cosy_async_close(loop, &ops[2], sv[1][0]), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(bytes[0], 'p');
	EQUAL(ops[2].result, 0);
	while ((n = recv(sv[1][1], data, sizeof(data), 0)) > 0)
		received += n;
	CHECK(received > 0 && received < (ssize_t)sizeof(data));
	EQUAL(ops[1].result, received);
	EQUAL(recv(sv[2][1], data, 1, MSG_DONTWAIT), -1);
	close(replacement);
	ops[0].done = NULL;
	close_all(1);
	close(sv[1][1]);
	close(sv[2][0]);
	close(sv[2][1]);
}

/* Other completions, of which there are always more than one call delivers, do not delay one. */
static const struct timespec no_time;
static bool has_received;

static void expired(struct cosy_async *op)
{
	if (!has_received)
		EQUAL(cosy_async_timer(loop, op, &no_time, 0), 0);
}

static void received(struct cosy_async *op)
{
	(void)op;
	has_received = true;
}

static void beside_timers(void)
{
	static struct cosy_async timers[3 * COSY_WAIT_MAX];

	connect_all(1);
	become_known(1);
	ops[0].done = received;
	EQUAL(cosy_async_recv(loop, &ops[0], sv[0][0], &bytes[0], 1, 0), 0);
	execute(loop);
	for (unsigned int i = 0; i < sizeof(timers) / sizeof(*timers); i++) {
		timers[i].done = expired;
		EQUAL(cosy_async_timer(loop, &timers[i], &no_time, 0), 0);
	}
	CHECK(cosy_wait(loop, 1, NULL) > 0);
	EQUAL(send(sv[0][1], "b", 1, 0), 1);
	for (unsigned int i = 0; i < 100 && !has_received; i++)
		CHECK(cosy_wait(loop, 1, NULL) > 0);
	CHECK(has_received);
	EQUAL(bytes[0], 'b');
	EQUAL(cosy_loop_run(loop), 0);
	ops[0].done = NULL;
	close_all(1);
}

/* Calls that a callback submits are made before a close that it submits after them. */
static void shut_and_close(struct cosy_async *op)
{
	(void)op;
	EQUAL(cosy_async_call(loop, &ops[3], SYS_shutdown, sv[1][0], SHUT_WR, 0, 0, 0, 0), 0);
	EQUAL(cosy_async_read(loop, &ops[4], sv[0][0], &bytes[4], 1), 0);
	EQUAL(cosy_async_close(loop, &ops[5], sv[1][0]), 0);
}

static void before_close(void)
{
	const struct timespec little = { .tv_nsec = 1000000 };

	connect_all(2);
	become_known(2);
	EQUAL(send(sv[0][1], "c", 1, 0), 1);
	ops[2].done = shut_and_close;
	/* The timer is the first one in the ring, so the call is not submitted directly. */
	EQUAL(cosy_async_timer(loop, &ops[0], &little, 0), 0);
	EQUAL(cosy_async_call(loop, &ops[2], SYS_getpid, 0, 0, 0, 0, 0, 0), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(ops[3].result, 0);
	EQUAL(bytes[4], 'c');
	EQUAL(ops[5].result, 0);
	ops[2].done = NULL;
	close_all(1);
	close(sv[1][1]);
}

/* A filter that was added later decides about what was submitted before. */
static void filtered(void)
{
	connect_all(4);
	become_known(4);
	for (unsigned int i = 0; i < 4; i++) {
		EQUAL(send(sv[i][1], "s", 1, 0), 1);
		EQUAL(cosy_async_recv(loop, &ops[i], sv[i][0], &bytes[i], 1, 0), 0);
	}
	forbid(SYS_recvfrom, 77, 0);
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 0; i < 4; i++)
		EQUAL(ops[i].result, -77);
	close_all(4);
}

int main(void)
{
	loop = make_loop();
	exchange();
	in_order(false);
	in_order(true);
	cancelled();
	cancelled_with_descriptor(false);
	cancelled_with_descriptor(true);
	replaced();
	ends(false);
	ends(true);
	large();
	with_time();
	forked();
	destroyed(false);
	destroyed(true);
	many();
	partly_sent();
	beside_timers();
	before_close();
	filtered();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
