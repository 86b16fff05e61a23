/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A region in a COSY_ASYNC function is executed at once, without a pause, and with the results of its
 * native code. The function's variables live across it. What leaves the region is code of the function.
 */
// RUN: %async-compile -O0 -fplugin-arg-cosy-Wno-cosy-few-calls -fplugin-arg-cosy-Wno-cosy-up-call-in-loop
// RUN: %everywhere
// RUN: %async-compile -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fplugin-arg-cosy-Wno-cosy-few-calls -fplugin-arg-cosy-Wno-cosy-up-call-in-loop
// RUN: COSY_EXECUTOR=user %bounded %t
// RUN: %async-compile -O2 -D_FORTIFY_SOURCE=2 -fplugin-arg-cosy-Wno-cosy-few-calls -fplugin-arg-cosy-Wno-cosy-up-call-in-loop
// RUN: %everywhere
// RUN: COSY_STATS=1 COSY_EXECUTOR=user %t 2>&1 | FileCheck %s
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cosy.h>

#include "functions.h"

static const char *const names[] = { "/", "/does/not/exist", "/dev/null", "/proc/self" };
static const int count = sizeof(names) / sizeof(*names);

static void put(int fd, unsigned char byte)
{
	EQUAL(write(fd, &byte, 1), 1);
}

/*
 * Variables.
 */

/* Return: the sum of the bytes received, and 1000 for each name that exists. */
COSY_ASYNC static int found(int fd)
{
	struct stat st;
	unsigned char byte;
	int sum = 0, directories[2] = { 0 };

	for (int i = 0; i < count; i++) {
		int before = sum;

		EQUAL(read(fd, &byte, 1), 1);
		// CHECK-DAG: function-has-regions.c:[[#@LINE+1]]: executor=user runs={{[1-9]}}
		COSY_START;
		if (!stat(names[i], &st)) {
			sum += 1000;
			directories[S_ISDIR(st.st_mode)]++;
		}
		sum += byte;
		COSY_END;
		EQUAL(sum, before + byte + (i == 1 ? 0 : 1000));
	}
	EQUAL(read(fd, &byte, 1), 1);
	EQUAL(directories[0], 1);
	EQUAL(directories[1], 2);
	return sum + byte;
}

static void variables(void)
{
	struct cosy_async ops[2] = { 0 };
	int fds[2][2];

	for (int f = 0; f < 2; f++) {
		open_pair(fds[f]);
		EQUAL(COSY_SPAWN(loop, found(fds[f][0]), .op = &ops[f]), 0);
	}
	for (int i = 0; i <= count; i++)
		for (int f = 0; f < 2; f++) {
			settle();
			CHECK(cosy_async_pending(&ops[f]));
			put(fds[f][1], (unsigned char)(i * (f + 1)));
		}
	for (int f = 0; f < 2; f++) {
		EQUAL(result_of(loop, &ops[f]), 3000 + (f + 1) * count * (count + 1) / 2);
		close_fd(fds[f][0]);
		close_fd(fds[f][1]);
	}
}

/* The address of a variable that other code changes while the function waits. */
static int *shared;

COSY_ASYNC static int shares(int fd)
{
	char byte;
	int number = 1;

	COSY_START;
	shared = &number;
	number += access("/", F_OK);
	COSY_END;
	EQUAL(read(fd, &byte, 1), 1);
	COSY_START;
	*shared += 1 + access("/", F_OK);
	COSY_END;
	EQUAL(read(fd, &byte, 1), 1);
	return *shared;
}

static void addresses(void)
{
	struct cosy_async op = { 0 };
	int fds[2];

	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, shares(fds[0]), .op = &op), 0);
	settle();
	EQUAL(*shared, 1);
	*shared = 10;
	put(fds[1], 0);
	settle();
	EQUAL(*shared, 11);
	*shared += 20;
	put(fds[1], 0);
	EQUAL(result_of(loop, &op), 31);
	close_fd(fds[0]);
	close_fd(fds[1]);
}

/*
 * At once.
 */

static int inside;

/* A region with calls that would wait for a thread, a descriptor and a time. */
COSY_ASYNC static int alone(int fds[2])
{
	const struct timespec moment = { .tv_nsec = 100000 };
	struct pollfd none = { .fd = -1 };
	struct stat st;
	char byte = 'a';
	int fd;

	for (int i = 0; i < 10; i++) {
		// CHECK-DAG: function-has-regions.c:[[#@LINE+1]]: executor=user runs={{[1-9]}}
		COSY_START;
		inside++;
		fd = open("/", O_RDONLY);
		EQUAL(fstat(fd, &st), 0);
		EQUAL(close(fd), 0);
		EQUAL(send(fds[0], &byte, 1, 0), 1);
		EQUAL(poll(&none, 1, 1), 0);
		EQUAL(nanosleep(&moment, NULL), 0);
		EQUAL(recv(fds[1], &byte, 1, 0), 1);
		EQUAL(inside, 1);
		inside--;
		COSY_END;
		EQUAL(inside, 0);
		EQUAL(poll(&none, 1, 0), 0);
		EQUAL(inside, 0);
		COSY_START_NATIVE;
		inside++;
		EQUAL(send(fds[0], &byte, 1, 0), 1);
		EQUAL(poll(&none, 1, 1), 0);
		EQUAL(recv(fds[1], &byte, 1, 0), 1);
		EQUAL(inside, 1);
		inside--;
		COSY_END;
	}
	return 10;
}

static void at_once(void)
{
	struct cosy_async ops[5] = { 0 };
	int fds[5][2];

	for (int f = 0; f < 5; f++) {
		open_pair(fds[f]);
		EQUAL(COSY_SPAWN(loop, alone(fds[f]), .op = &ops[f]), 0);
	}
	for (int f = 0; f < 5; f++) {
		EQUAL(result_of(loop, &ops[f]), 10);
		EQUAL(close(fds[f][0]), 0);
		EQUAL(close(fds[f][1]), 0);
	}
}

/* A call in a region blocks the thread until another thread sends. */
COSY_ASYNC static int blocks(int fd)
{
	unsigned char byte = 0;

	COSY_START;
	EQUAL(read(fd, &byte, 1), 1);
	COSY_END;
	return byte;
}

static void *send_later(void *fd)
{
	usleep(50000);
	put(*(int *)fd, 77);
	return NULL;
}

static void blocking(void)
{
	struct cosy_async op = { 0 };
	pthread_t thread;
	int fds[2];

	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, blocks(fds[0]), .op = &op), 0);
	EQUAL(pthread_create(&thread, NULL, send_later, &fds[1]), 0);
	EQUAL(cosy_wait(loop, 0, NULL), 1);
	EQUAL(op.result, 77);
	EQUAL(pthread_join(thread, NULL), 0);
	EQUAL(close(fds[0]), 0);
	EQUAL(close(fds[1]), 0);
}

/*
 * Exits.
 */

/* Leave the region as @fd says: 'r' returns, 'g' jumps, 'b' breaks, 'c' continues, others end it. */
COSY_ASYNC static int leaves(int fd, int other)
{
	unsigned char byte;
	int sum = 0;

	for (;;) {
		EQUAL(read(fd, &byte, 1), 1);
		COSY_START;
		{
			struct stat st;
			char text[16];

			EQUAL(stat(byte == 'r' ? "/" : "/dev/null", &st), 0);
			text[byte % 16] = (char)byte;
			if (S_ISDIR(st.st_mode)) {
				/* Not in the region any more: the loop waits here. */
				EQUAL(recv(other, text, 1, 0), 1);
				sum += 1000 + text[0];
				return sum;
			}
			if (byte == 'b')
				break;
			if (byte == 'c') {
				sum += 10;
				continue;
			}
			sum += 1 + access("/", F_OK) + (text[byte % 16] != byte);
			if (byte == 'g')
				goto end;
		}
		COSY_END;
		sum += 100;
	}
	sum += 5000;
	EQUAL(read(fd, &byte, 1), 1);
	return sum + byte;
end:
	EQUAL(read(fd, &byte, 1), 1);
	return 2 * sum + byte;
}

static int left(const char *how, int last)
{
	struct cosy_async op = { 0 };
	int fds[2], others[2], result;

	open_pair(fds);
	open_pair(others);
	EQUAL(COSY_SPAWN(loop, leaves(fds[0], others[0]), .op = &op), 0);
	for (; *how; how++) {
		put(fds[1], (unsigned char)*how);
		settle();
		CHECK(cosy_async_pending(&op));
	}
	put(last == 'r' ? others[1] : fds[1], (unsigned char)last);
	result = (int)result_of(loop, &op);
	close_fd(fds[0]);
	close_fd(fds[1]);
	close_fd(others[0]);
	close_fd(others[1]);
	return result;
}

static void exits(void)
{
	EQUAL(left("xxr", 'r'), 2 * 101 + 1000 + 'r');
	EQUAL(left("xcb", 1), 101 + 10 + 5000 + 1);
	EQUAL(left("ccxg", 2), 2 * (20 + 101 + 1) + 2);
}

/* A jump into a region leads to its native code, which is executed at once, too. */
COSY_ASYNC static int enters(int fds[2], int jump)
{
	struct pollfd none = { .fd = -1 };
	char byte = 'e';
	int sum = 0;

	EQUAL(write(fds[0], &byte, 1), 1);
	if (jump)
		goto middle;
	COSY_START;
	sum += 100 + access("/", F_OK);
middle:
	inside++;
	EQUAL(poll(&none, 1, 1), 0);
	EQUAL(read(fds[1], &byte, 1), 1);
	EQUAL(inside, 1);
	inside--;
	sum++;
	COSY_END;
	return sum;
}

static void jumps(void)
{
	struct cosy_async ops[4] = { 0 };
	int fds[4][2];

	for (int f = 0; f < 4; f++) {
		open_pair(fds[f]);
		EQUAL(COSY_SPAWN(loop, enters(fds[f], f % 2), .op = &ops[f]), 0);
	}
	for (int f = 0; f < 4; f++) {
		EQUAL(result_of(loop, &ops[f]), f % 2 ? 1 : 101);
		close_fd(fds[f][0]);
		close_fd(fds[f][1]);
	}
}

/*
 * errno, thread-local variables, options, functions.
 */

static _Thread_local int of_thread = 5;

COSY_ASYNC static int errors(int fd)
{
	char byte;

	errno = 0;
	COSY_START;
	EQUAL(access("/does/not/exist", F_OK), -1);
	EQUAL(errno, ENOENT);
	of_thread++;
	EQUAL(close(-1), -1);
	COSY_END;
	EQUAL(errno, EBADF);
	EQUAL(read(fd, &byte, 1), 1);
	EQUAL(errno, EBADF);
	COSY_START;
	EQUAL(errno, EBADF);
	EQUAL(stat("/dev/null/x", &(struct stat){ 0 }), -1);
	of_thread++;
	COSY_END;
	EQUAL(errno, ENOTDIR);
	COSY_START_STOP_ON_ERROR;
	of_thread += access("/", F_OK);
	of_thread += 10 * (1 + access("/does/not/exist", F_OK));
	of_thread += 1000;
	COSY_END;
	CHECK(cosy_last_error());
	EQUAL(cosy_last_error()->error, ENOENT);
	EQUAL_TEXT(cosy_last_error()->call, "access");
	return of_thread;
}

static int exists(const char *name)
{
	return !access(name, F_OK);
}

/* A plain function with a region in a loop, and in a loop of independent iterations. */
static int existing(void)
{
	int all = 0;

	for (int i = 0; i < count; i++) {
		COSY_START;
		all += exists(names[i]);
		COSY_END;
	}
	for (int i = 0; i < count; i++) {
		int error;

		COSY_BATCH(4);
		COSY_START;
		error = access(names[i], F_OK);
		COSY_END;
		all += !error;
	}
	return all;
}

/* The same in a region that inlines it, where its calls do not wait. */
static long positions(int fd)
{
	long sum = 0;

	for (int i = 0; i < 4; i++) {
		COSY_START;
		sum += lseek(fd, i, SEEK_SET);
		COSY_END;
	}
	return sum;
}

COSY_ASYNC static int plain_functions(int fd)
{
	char byte;
	int all = 0;
	int file = memfd_create("positions", 0);

	EQUAL(read(fd, &byte, 1), 1);
	COSY_START;
	all += existing();
	all += exists("/");
	all += (int)positions(file);
	COSY_END;
	EQUAL(read(fd, &byte, 1), 1);
	all += existing() + (int)positions(file);
	EQUAL(close(file), 0);
	return all;
}

COSY_ASYNC static int receives(int fd)
{
	unsigned char byte;

	EQUAL(recv(fd, &byte, 1, 0), 1);
	return byte;
}

/* Functions that are started in a region. */
COSY_ASYNC static int starts(int fds[2], struct cosy_async started[3])
{
	COSY_START;
	for (int i = 0; i < 3; i++) {
		EQUAL(COSY_SPAWN(loop, receives(fds[0]), .op = &started[i]), 0);
		EQUAL(access("/", F_OK), 0);
	}
	COSY_END;
	return receives(fds[0]);
}

static void functions(void)
{
	struct cosy_async op = { 0 }, started[3] = { 0 };
	int fds[2], sum = 0;

	open_pair(fds);
	put(fds[1], 0);
	EQUAL(RESULT(errors(fds[0])), 5 + 2);
	put(fds[1], 0);
	put(fds[1], 0);
	EQUAL(RESULT(plain_functions(fds[0])), 2 * (3 + 3) + 1 + 2 * 6);
	EQUAL(COSY_SPAWN(loop, starts(fds, started), .op = &op), 0);
	settle();
	for (int i = 0; i < 4; i++)
		put(fds[1], (unsigned char)(1 << i));
	sum += (int)result_of(loop, &op);
	for (int i = 0; i < 3; i++)
		sum += (int)result_of(loop, &started[i]);
	EQUAL(sum, 15);
	close_fd(fds[0]);
	close_fd(fds[1]);
}

int main(void)
{
	loop = make_loop();
	variables();
	addresses();
	at_once();
	blocking();
	exits();
	jumps();
	functions();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
