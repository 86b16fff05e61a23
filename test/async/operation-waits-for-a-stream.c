/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operations on pipes, FIFOs, sockets and terminals, with and without O_NONBLOCK, have the effect of
 * blocking calls, in the order of submission. They never block the waiting thread.
 */
// RUN: %compile
// RUN: %everywhere
#include <sys/stat.h>

#include "descriptors.h"

/* More data than fits: the writer waits until all of it has been written. */
static void large(int in, int out)
{
	char *from = malloc(LARGE), *to = calloc(1, LARGE);
	struct cosy_async writer = { 0 }, reader = { 0 };
	size_t n = 0;

	for (unsigned int i = 0; i < LARGE; i++)
		from[i] = (char)(i * 7 + i / 1000);
	EQUAL(cosy_async_write(loop, &writer, out, from, LARGE), 0);
	while (n < LARGE) {
		EQUAL(cosy_async_read(loop, &reader, in, to + n, LARGE - n), 0);
		CHECK(result_of(loop, &reader) > 0);
		n += (size_t)reader.result;
	}
	EQUAL(result_of(loop, &writer), LARGE);
	EQUAL(memcmp(from, to, LARGE), 0);
	free(from);
	free(to);
}

static void hung_up(int in, int out)
{
	struct cosy_async reader = { 0 };
	char byte;

	EQUAL(cosy_async_read(loop, &reader, in, &byte, 1), 0);
	execute(loop);
	end(out);
	EQUAL(result_of(loop, &reader), 0);
	end(in);
}

/* Read where only writing is possible, and the reverse; sockets allow both. */
static void wrong_end(int in, int out)
{
	struct cosy_async op = { 0 };
	char byte = 0;

	if ((fcntl(in, F_GETFL) & O_ACCMODE) == O_RDWR)
		return;
	EQUAL(cosy_async_read(loop, &op, out, &byte, 1), 0);
	EQUAL(result_of(loop, &op), -EBADF);
	EQUAL(cosy_async_write(loop, &op, in, &byte, 1), 0);
	EQUAL(result_of(loop, &op), -EBADF);
}

static void stream(int in, int out, bool nonblock)
{
	set_nonblock(in, nonblock);
	set_nonblock(out, nonblock);
	order(in, out);
	large(in, out);
	wrong_end(in, out);
	hung_up(in, out);
}

static void streams(bool nonblock)
{
	char name[] = "/tmp/async-fifo-XXXXXX";
	struct cosy_async reader = { 0 };
	int fds[2];

	EQUAL(pipe(fds), 0);
	stream(fds[0], fds[1], nonblock);
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	stream(fds[0], fds[1], nonblock);

	/* FIFOs: opening for reading waits for a writer. */
	CHECK(mkdtemp(name));
	EQUAL(chdir(name), 0);
	EQUAL(mkfifo("fifo", 0600), 0);
	EQUAL(cosy_async_open(loop, &reader, "fifo", O_RDONLY, 0), 0);
	execute(loop);
	fds[1] = open("fifo", O_WRONLY);
	fds[0] = (int)result_of(loop, &reader);
	CHECK(fds[0] >= 0 && fds[1] >= 0);
	stream(fds[0], fds[1], nonblock);
	unlink("fifo");
	rmdir(name);
}

static void terminals(bool nonblock)
{
	struct cosy_async reader = { 0 };
	char line[10];
	int master, slave;

	open_terminal(&master, &slave);
	set_nonblock(master, nonblock);
	set_nonblock(slave, nonblock);
	order(slave, master);
	order(master, slave);
	EQUAL(cosy_async_read(loop, &reader, slave, line, sizeof(line)), 0);
	execute(loop);
	end(master);
	EQUAL(result_of(loop, &reader), 0);
	end(slave);
}

int main(void)
{
	loop = make_loop();
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		streams(nonblock);
		terminals(nonblock);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
