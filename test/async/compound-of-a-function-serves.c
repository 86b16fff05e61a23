/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Parts of COSY_ASYNC functions are compounds, which the module executes if it can. Their effects are
 * those of the functions' native code: values, errno, descriptors, interruptions by signals. Several threads may execute them.
 */
// RUN: %async-compile -O0
// RUN: %everywhere
// RUN: %async-compile -O2
// RUN: %everywhere
// RUN: %vm env COSY_EXECUTOR=kernel COSY_STATS=1 %t 2>&1 | %FileCheck %s
// CHECK-DAG: passed
// CHECK-DAG: compound-of-a-function-serves.c:{{[0-9]+}}: executor=kernel runs=
// RUN: %async-compile -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
// RUN: %vm env COSY_EXECUTOR=kernel %t
#include <pthread.h>
#include <sys/time.h>

#include "serving.h"

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
	if (runs_compounds() && !__has_feature(address_sanitizer))
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

/* The same, and interrupt itself several times for each request. */
COSY_ASYNC static int repeat_interrupted(int fd)
{
	char text[64];
	ssize_t n;

	while ((n = recv(fd, text, sizeof(text), 0)) > 0) {
		for (int i = 0; i < 8; i++)
			kill(getpid(), SIGALRM);
		if (send(fd, text, (size_t)n, MSG_NOSIGNAL) < 0)
			return -errno;
	}
	return 0;
}

/*
 * Signals end entries early: those of a timer, with @itself those of the functions. cosy_wait() must
 * still complete its work, in however many entries.
 */
static void interrupted(bool itself)
{
	enum { N = 32 };
	struct cosy_async ops[N] = { 0 };
	struct itimerval soon = { { 0, 50 }, { 0, 50 } }, never = { 0 };
	struct sigaction action = { .sa_handler = on_alarm };
	int fds[N][2], n;

	EQUAL(sigaction(SIGALRM, &action, NULL), 0);
	for (int i = 0; i < N; i++) {
		open_pair(fds[i]);
		if (itself)
			EQUAL(COSY_SPAWN(loop, repeat_interrupted(fds[i][0]), .op = &ops[i]), 0);
		else
			EQUAL(COSY_SPAWN(loop, repeat(fds[i][0]), .op = &ops[i]), 0);
	}
	settle();
	for (int i = 0; i < N; i++)
		EQUAL(send(fds[i][1], "hello", 5, 0), 5);
	if (!itself)
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
			EQUAL_BYTES(got, "<ping>", 6);
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

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	numbers();
	serving();
	interrupted(false);
	interrupted(true);
	value();
	threads();
	EQUAL(cosy_loop_destroy(loop), 0);
	puts("passed");
	return 0;
}
