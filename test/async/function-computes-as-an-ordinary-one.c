/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * COSY_ASYNC functions have the results, variables, calls, errno and children of ordinary functions.
 */
// RUN: %async-compile -O0
// RUN: COSY_EXECUTOR=user %bounded %t
// RUN: %async-compile -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
// RUN: COSY_EXECUTOR=user %bounded %t
// RUN: %async-compile -O2 -D_FORTIFY_SOURCE=2
// RUN: %everywhere
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "functions.h"

/*
 * Results.
 */

COSY_ASYNC static signed char negative(void)
{
	return -1;
}

COSY_ASYNC static unsigned int large(void)
{
	return 0xffffffff;
}

COSY_ASYNC static void *pointer(int *p)
{
	return p + 1;
}

COSY_ASYNC static void nothing(int *called)
{
	++*called;
}

static void results(void)
{
	int called[2] = { 0 };

	EQUAL(RESULT(negative()), -1);
	EQUAL(RESULT(large()), 0xffffffff);
	EQUAL(RESULT(pointer(called)), (intptr_t)&called[1]);
	EQUAL(RESULT(nothing(called)), 0);
	EQUAL(called[0], 1);
}

/*
 * Variables.
 */

struct big {
	long words[20];
};

struct line {
	_Alignas(64) char bytes[64];
};

COSY_ASYNC static int wait_for_byte(int fd)
{
	unsigned char byte;

	return read(fd, &byte, 1) == 1 ? byte : -1;
}

/* Return: the contents of a line that is passed by value, if it is aligned. */
COSY_ASYNC static int last_of(struct line line, char other, int fd)
{
	int byte = wait_for_byte(fd);

	return (uintptr_t)&line % 64 ? -1 : line.bytes[63] + other + byte;
}

COSY_ASYNC static long sum(int fd, struct big by_value, double factor)
{
	_Alignas(64) unsigned char aligned[64];
	static int calls;
	unsigned char bytes[300];
	unsigned char *p = bytes;
	long sum = 0;

	EQUAL((uintptr_t)aligned % 64, 0);
	for (int i = 0; i < 300; i++)
		bytes[i] = (unsigned char)i;
	for (int i = 0; i < 20; i++) {
		aligned[i] = (unsigned char)wait_for_byte(fd);
		*p++ += aligned[i];
		sum += by_value.words[i] * aligned[i];
		by_value.words[i] = 0;
	}
	for (int i = 0; i < 20; i++)
		EQUAL(bytes[i], i + aligned[i]);
	calls++;
	return sum + (long)(factor * calls);
}

static void variables(void)
{
	struct cosy_async op = { 0 };
	struct line line = { { 0 } };
	struct big big;
	long expected = 0;
	int fds[2];

	open_pair(fds);
	line.bytes[63] = 40;
	EQUAL(COSY_SPAWN(loop, last_of(line, 2, fds[0]), .op = &op), 0);
	memset(&line, 0x55, sizeof(line));
	settle();
	EQUAL(write(fds[1], "\1", 1), 1);
	EQUAL(result_of(loop, &op), 43);

	for (int i = 0; i < 20; i++)
		big.words[i] = i * i;
	EQUAL(COSY_SPAWN(loop, sum(fds[0], big, 2.5), .op = &op), 0);
	memset(&big, 0x55, sizeof(big));
	for (int i = 0; i < 20; i++) {
		unsigned char byte = (unsigned char)(7 * i);

		settle();
		CHECK(cosy_async_pending(&op));
		EQUAL(write(fds[1], &byte, 1), 1);
		expected += i * i * byte;
	}
	EQUAL(result_of(loop, &op), expected + 2);
	close_fd(fds[0]);
	close_fd(fds[1]);
}

/*
 * Control flow, and calls between functions.
 */

COSY_ASYNC static int jumps(int fd)
{
	static const void *const labels[] = { &&one, &&two, &&end };
	int n, sum = 0;

again:
	n = wait_for_byte(fd);
	switch (n) {
	case 0:
		goto *labels[wait_for_byte(fd)];
	case 1:
		sum += wait_for_byte(fd) ? wait_for_byte(fd) : 100;
		/* fall through */
	default:
		sum += 3;
	}
	goto again;
one:
	sum += 1000;
	goto again;
two:
	sum += 2000;
	goto again;
end:
	return sum;
}

COSY_ASYNC static uint64_t fibonacci(int n, int fds[2])
{
	char byte = 'x';

	if (n >= 2)
		return fibonacci(n - 1, fds) + fibonacci(n - 2, fds);
	EQUAL(write(fds[1], &byte, 1), 1);
	byte = 0;
	EQUAL(read(fds[0], &byte, 1), 1);
	EQUAL(byte, 'x');
	return (uint64_t)n;
}

COSY_ASYNC static int deep(int n)
{
	return n ? deep(n - 1) + 1 : 0;
}

static void calls(void)
{
	static const unsigned char bytes[] = { 0, 0, 1, 0, 1, 5, 6, 0, 1,
					       7, 0, 2 };
	int fds[2];

	open_pair(fds);
	EQUAL(write(fds[1], bytes, sizeof(bytes)), sizeof(bytes));
	EQUAL(RESULT(jumps(fds[0])), 1000 + (100 + 3) + (6 + 3) + 2000 + 3);
	close_fd(fds[0]);
	close_fd(fds[1]);
	EQUAL(pipe(fds), 0);
	EQUAL(RESULT(fibonacci(10, fds)), 55);
	close_fd(fds[0]);
	close_fd(fds[1]);
	EQUAL(RESULT(deep(100000)), 100000);
}

/*
 * errno.
 */

COSY_ASYNC static int fails(int fd)
{
	char byte;

	return (int)read(fd, &byte, 1);
}

COSY_ASYNC static int errors(int fd)
{
	EQUAL(errno, 0);
	EQUAL(read(-1, NULL, 1), -1);
	EQUAL(errno, EBADF);
	EQUAL(wait_for_byte(fd), 1);
	EQUAL(errno, EBADF);
	errno = 77;
	EQUAL(wait_for_byte(fd), 2);
	EQUAL(errno, 77);
	EQUAL(fails(-1), -1);
	EQUAL(errno, EBADF);
	EQUAL(close(-1), -1);
	EQUAL(syscall(SYS_read, -2, NULL, 1), -1);
	EQUAL(errno, EBADF);
	EQUAL(open("/does/not/exist", O_RDONLY), -1);
	EQUAL(errno, ENOENT);
	return errno;
}

static void error_numbers(void)
{
	struct cosy_async first = { 0 }, second = { 0 };
	int fds[2][2];

	open_pair(fds[0]);
	open_pair(fds[1]);
	EQUAL(COSY_SPAWN(loop, errors(fds[0][0]), .op = &first), 0);
	EQUAL(COSY_SPAWN(loop, errors(fds[1][0]), .op = &second), 0);
	for (int i = 1; i <= 2; i++) {
		for (int s = 0; s < 2; s++) {
			unsigned char byte = (unsigned char)i;

			settle();
			EQUAL(write(fds[s][1], &byte, 1), 1);
			errno = 99;
		}
	}
	EQUAL(result_of(loop, &first), ENOENT);
	EQUAL(result_of(loop, &second), ENOENT);
	for (int s = 0; s < 2; s++) {
		close_fd(fds[s][0]);
		close_fd(fds[s][1]);
	}
}

/*
 * Calls of all kinds: files, times, poll, calls that never wait, plain functions.
 */

static int plain(const char *format, ...)
{
	char text[16];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return n;
}

COSY_ASYNC static int kinds(const char *name)
{
	const struct timespec moment = { .tv_nsec = 20000000 };
	uint64_t start = now();
	struct pollfd poll_fd;
	struct stat st;
	char text[8];
	int fd, fds[2];

	EQUAL(nanosleep(&moment, NULL), 0);
	CHECK(now() - start >= 20000000);
	fd = open(name, O_CREAT | O_RDWR | O_EXCL, 0640);
	CHECK(fd >= 0);
	EQUAL(write(fd, "contents", 8), 8);
	EQUAL(lseek(fd, 3, SEEK_SET), 3);
	EQUAL(read(fd, text, sizeof(text)), 5);
	EQUAL(memcmp(text, "tents", 5), 0);
	EQUAL(pread(fd, text, 3, 5), 3);
	EQUAL(fstat(fd, &st), 0);
	EQUAL(st.st_size, 8);
	EQUAL(st.st_mode & 0777, 0640);
	EQUAL(fsync(fd), 0);
	EQUAL(close(fd), 0);
	EQUAL(unlink(name), 0);
	EQUAL(pipe(fds), 0);
	poll_fd = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	EQUAL(poll(&poll_fd, 1, 10), 0);
	EQUAL(write(fds[1], "x", 1), 1);
	EQUAL(poll(&poll_fd, 1, -1), 1);
	EQUAL(poll_fd.revents, POLLIN);
	EQUAL(close(fds[0]), 0);
	EQUAL(close(fds[1]), 0);
	EQUAL(getpid(), syscall(SYS_getpid));
	EQUAL(fcntl(-1, F_GETFD), -1);
	return plain("%d-%s", 12, "abc");
}

static void all_kinds(void)
{
	char name[] = "/tmp/cosy-functions-XXXXXX";

	close(mkstemp(name));
	unlink(name);
	EQUAL(RESULT(kinds(name)), 6);
}

COSY_ASYNC static int forks(int fds[2])
{
	char byte = 'c';
	int status;
	pid_t child = fork();

	if (!child) {
		/* There is no loop, but the calls are made. */
		if (write(fds[1], &byte, 1) != 1 || access("/", F_OK))
			_exit(1);
		if (COSY_SPAWN(loop, negative()) != -EPERM)
			_exit(2);
		_exit(42);
	}
	EQUAL(read(fds[0], &byte, 1), 1);
	EQUAL(byte, 'c');
	EQUAL(waitpid(child, &status, 0), child);
	return WEXITSTATUS(status);
}

static void child(void)
{
	int fds[2];

	EQUAL(pipe(fds), 0);
	EQUAL(RESULT(forks(fds)), 42);
	close_fd(fds[0]);
	close_fd(fds[1]);
}

int main(void)
{
	loop = make_loop();
	results();
	variables();
	calls();
	error_numbers();
	all_kinds();
	child();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
