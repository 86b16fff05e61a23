/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * With COSY_EXECUTOR=auto, parts of COSY_ASYNC functions run as compounds while requests come one at a
 * time, and natively while several come at once. What was chosen last, and why, is in COSY_STATS. The
 * functions answer the same in all executors.
 */
// RUN: %async-compile -O2
// RUN: %everywhere
// RUN: %vm env COSY_EXECUTOR=auto COSY_STATS=1 %t many 2>&1 | %FileCheck --check-prefix=MANY %s
// MANY: where-it-is-faster.c:{{[0-9]+}}: executor=native runs={{[0-9]+}} {{.*}}verdict=loses at-once=8{{$}}
// RUN: %vm env COSY_EXECUTOR=auto COSY_STATS=1 %t one 2>&1 | %FileCheck --check-prefix=ONE %s
// ONE: where-it-is-faster.c:{{[0-9]+}}: executor=kernel runs={{[0-9]+}} {{.*}}verdict=gains at-once=1{{$}}
// A compound that does not wait again and again gains nothing: it is tried again in one of 256 runs.
// RUN: %vm env COSY_EXECUTOR=auto COSY_STATS=1 %t memory 2>&1 | %FileCheck --check-prefix=AUTO %s
// AUTO: where-it-is-faster.c:{{[0-9]+}}: executor=native runs=100{{[01] .*}}entries={{[1-9][0-9]? .*}}verdict=loses at-once=1{{$}}
// The module reads what is cached in memory, but leaves the compound for /dev/zero.
// RUN: %vm env COSY_EXECUTOR=kernel COSY_STATS=1 %t memory 2>&1 | %FileCheck --check-prefix=MEMORY %s
// MEMORY: where-it-is-faster.c:{{[0-9]+}}: executor=kernel runs=1000 syscalls=0 entries=1000{{$}}
// RUN: %vm env COSY_EXECUTOR=kernel COSY_STATS=1 %t zero 2>&1 | %FileCheck --check-prefix=ZERO %s
// ZERO: where-it-is-faster.c:{{[0-9]+}}: executor=kernel runs=1000 syscalls=0 entries=1000 steps=1000{{$}}
#include "serving.h"

#define N 8

static int fds[N][2];

COSY_ASYNC static int repeat(int fd)
{
	char text[64];
	ssize_t n;

	while ((n = recv(fd, text, sizeof(text), 0)) > 0)
		if (send(fd, text, (size_t)n, MSG_NOSIGNAL) < 0)
			return -errno;
	return 0;
}

/* Send a request over each of the first connections, and receive the answers. */
static void serve_requests(int connections)
{
	char got[8];

	for (int i = 0; i < connections; i++)
		EQUAL(send(fds[i][1], "hello", 5, 0), 5);
	for (int i = 0; i < connections; i++) {
		receive_from_loop(fds[i][1], got, 5);
		EQUAL_BYTES(got, "hello", 5);
	}
}

/* Return how many attempts the loop makes for @rounds rounds of requests. */
static uint64_t attempts_for(int rounds, int connections)
{
	struct cosy_loop_info before, after;

	EQUAL(cosy_loop_info(loop, &before, sizeof(before)), 0);
	for (int i = 0; i < rounds; i++)
		serve_requests(connections);
	EQUAL(cosy_loop_info(loop, &after, sizeof(after)), 0);
	return after.attempts - before.attempts;
}

static bool chooses(void)
{
	const char *executor = getenv("COSY_EXECUTOR");
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	return info.kernel && executor && !strcmp(executor, "auto");
}

/* Requests that come one at a time, up to about four, are soon served by compounds, which are no attempts. */
static void one(void)
{
	attempts_for(1000, 1);
	if (chooses())
		EQUAL(attempts_for(100, 1), 0);
}

/* More of them that come at once are soon served natively. */
static void many(void)
{
	attempts_for(1000 / N, N);
	if (chooses())
		CHECK(attempts_for(100, N) >= 2ul * 100 * N);
}

COSY_ASYNC static int read_file(const char *name)
{
	char text[64];
	ssize_t n;
	int sum = 0, fd = open(name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (int i = 0; i < 4 && (n = read(fd, text, sizeof(text))) > 0; i++)
		sum += (int)n;
	return close(fd) ? -errno : sum;
}

/* Read a file again and again, one function at a time. */
static void read_often(const char *name, int size)
{
	for (int i = 0; i < 1000; i++) {
		struct cosy_async op = { 0 };

		EQUAL(COSY_SPAWN(loop, read_file(name), .op = &op), 0);
		EQUAL(result_of(loop, &op), size);
	}
}

static void read_memory(void)
{
	char name[] = "/tmp/cosy-XXXXXX", text[100] = { 0 };
	int fd = mkstemp(name);

	CHECK(fd >= 0);
	EQUAL(write(fd, text, sizeof(text)), sizeof(text));
	EQUAL(close(fd), 0);
	read_often(name, sizeof(text));
	EQUAL(unlink(name), 0);
}

int main(int argc, char **argv)
{
	struct cosy_async ops[N] = { 0 };

	EQUAL(cosy_loop_create(&loop, NULL), 0);
	for (int i = 0; i < N; i++) {
		open_pair(fds[i]);
		EQUAL(COSY_SPAWN(loop, repeat(fds[i][0]), .op = &ops[i]), 0);
	}
	if (argc == 1 || !strcmp(argv[1], "one"))
		one();
	if (argc == 1 || !strcmp(argv[1], "many"))
		many();
	if (argc > 1 && !strcmp(argv[1], "memory"))
		read_memory();
	if (argc > 1 && !strcmp(argv[1], "zero"))
		read_often("/dev/zero", 256);
	/* Each change takes twice as many requests as the last one. */
	if (argc == 1) {
		one();
		attempts_for(1000, N);
		many();
	}
	for (int i = 0; i < N; i++) {
		EQUAL(close(fds[i][1]), 0);
		EQUAL(result_of(loop, &ops[i]), 0);
		close_fd(fds[i][0]);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	puts("passed");
	return 0;
}
