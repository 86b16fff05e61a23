// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * functions.c - a server of lines, by COSY_ASYNC functions: one for each connection.
 *
 *	cosy-cc -D_GNU_SOURCE -O2 functions.c -o functions
 *	./functions PORT
 *
 * The calls of such a function are operations of the loop, and everything else is plain C. So it is
 * written as for a thread of its own. docs/servers.md explains it.
 */
#include "lines.h"

#include <cosy/task.h>
#include <time.h>
#include <unistd.h>

static struct cosy_loop *loop;
static unsigned long served;

/* The function owns the descriptor. Its variables, and so the buffers, live until it returns. */
COSY_ASYNC static int serve(int fd)
{
	struct lines lines;
	bool goes_on = lines_begin(&lines);
	ssize_t n;

	while (goes_on && (n = recv(fd, lines.buffer + lines.have, lines.room - lines.have, 0)) > 0) {
		goes_on = lines_received(&lines, (size_t)n);
		/* As in a thread, send() transfers everything. MSG_NOSIGNAL: no SIGPIPE. */
		if (lines.size && send(fd, lines.buffer, lines.size, MSG_NOSIGNAL) < 0)
			break;
		goes_on = goes_on && lines_next(&lines);
	}
	lines_end(&lines);
	return close(fd);
}

COSY_ASYNC static int serve_all(int listener)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	int fd;

	for (;;) {
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0) {
			served++;
			if (COSY_SPAWN(loop, serve(fd)))
				close(fd);
		} else if (lines_accepts_later(errno)) {
			/* The connection stays in the backlog. Meanwhile others may be closed. */
			nanosleep(&pause, NULL);
		} else if (!lines_accepts_next(errno)) {
			return -errno;
		}
	}
}

static void accepts_no_more(struct cosy_async *op)
{
	if (op->result != -ECANCELED)
		error(1, (int)-op->result, "cannot accept");
}

static void signalled(struct cosy_async *op)
{
	(void)op;
	cosy_loop_stop(loop);
}

int main(int argc, char **argv)
{
	const struct cosy_loop_options options = { .size = sizeof(options), .entries = lines_operations() };
	struct cosy_async signal = { .done = signalled };
	sigset_t signals = lines_signals();
	int listener, err;

	if (argc != 2)
		error(1, 0, "usage: functions PORT");
	listener = lines_listen(argv[1]);
	err = cosy_loop_create(&loop, &options);
	if (!err)
		err = cosy_async_signal(loop, &signal, &signals, NULL);
	if (!err)
		err = COSY_SPAWN(loop, serve_all(listener), .done = accepts_no_more);
	if (!err)
		err = cosy_loop_run(loop);
	if (err < 0)
		error(1, -err, "cannot serve");
	/* The calls of all functions now fail with ECANCELED, and the functions return. */
	while (cosy_loop_destroy(loop) == -EBUSY)
		cosy_wait(loop, 1, NULL);
	printf("%lu connections\n", served);
	return 0;
}
