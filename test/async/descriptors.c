/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operations that wait for descriptors of all kinds, with and without O_NONBLOCK. They have the
 * effect of a blocking call, in the order of submission, and never block the waiting thread.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>

#include <linux/perf_event.h>

#include "loop.h"

#define LARGE (4u << 20)

static struct cosy_loop *loop;

static void set_nonblock(int fd, bool nonblock)
{
	int flags = fcntl(fd, F_GETFL);

	EQUAL(fcntl(fd, F_SETFL, nonblock ? flags | O_NONBLOCK :
					    flags & ~O_NONBLOCK), 0);
}

static void end(int fd)
{
	struct cosy_async op = { 0 };

	EQUAL(cosy_async_close(loop, &op, fd), 0);
	EQUAL(result_of(loop, &op), 0);
}

/* Two readers that are submitted before the data receive it in their order. */
static void order(int in, int out)
{
	struct cosy_async first = { 0 }, second = { 0 }, writer = { 0 };
	char a = 0, b = 0;

	EQUAL(cosy_async_read(loop, &first, in, &a, 1), 0);
	EQUAL(cosy_async_read(loop, &second, in, &b, 1), 0);
	execute(loop);
	EQUAL(cosy_async_write(loop, &writer, out, "1", 1), 0);
	EQUAL(result_of(loop, &writer), 1);
	EQUAL(result_of(loop, &first), 1);
	execute(loop);
	CHECK(cosy_async_pending(&second));
	EQUAL(write(out, "2", 1), 1);
	EQUAL(result_of(loop, &second), 1);
	EQUAL(a, '1');
	EQUAL(b, '2');

	/* Data that is already available. */
	EQUAL(write(out, "3", 1), 1);
	EQUAL(cosy_async_read(loop, &first, in, &a, 1), 0);
	EQUAL(result_of(loop, &first), 1);
	EQUAL(a, '3');
	EQUAL(cosy_async_read(loop, &first, in, &a, 0), 0);
	EQUAL(result_of(loop, &first), 0);
}

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

/* A terminal that passes on what is written to it at once, and does not change it. */
static void open_terminal(int *master, int *slave)
{
	struct termios mode;

	EQUAL(openpty(master, slave, NULL, NULL, NULL), 0);
	EQUAL(tcgetattr(*slave, &mode), 0);
	cfmakeraw(&mode);
	EQUAL(tcsetattr(*slave, TCSANOW, &mode), 0);
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

static void events(bool nonblock)
{
	struct cosy_async reader = { 0 }, writer = { 0 };
	uint64_t count = 0, full = UINT64_MAX - 1, one = 1;
	union {
		struct inotify_event event;
		char room[500];
	} change;
	int fd = eventfd(0, 0);

	set_nonblock(fd, nonblock);
	EQUAL(cosy_async_read(loop, &reader, fd, &count, 8), 0);
	execute(loop);
	EQUAL(cosy_async_write(loop, &writer, fd, &full, 8), 0);
	EQUAL(result_of(loop, &writer), 8);
	EQUAL(result_of(loop, &reader), 8);
	CHECK(count == full);

	EQUAL(cosy_async_write(loop, &writer, fd, &full, 8), 0);
	EQUAL(result_of(loop, &writer), 8);
	EQUAL(cosy_async_write(loop, &writer, fd, &one, 8), 0);
	execute(loop);
	EQUAL(cosy_async_read(loop, &reader, fd, &count, 8), 0);
	EQUAL(result_of(loop, &reader), 8);
	EQUAL(result_of(loop, &writer), 8);
	end(fd);

	fd = inotify_init1(nonblock ? IN_NONBLOCK : 0);
	CHECK(inotify_add_watch(fd, "/tmp", IN_CREATE) >= 0);
	EQUAL(cosy_async_read(loop, &reader, fd, &change, sizeof(change)), 0);
	execute(loop);
	int file = open("/tmp/async-inotify", O_CREAT | O_RDWR, 0600);
	CHECK(file >= 0);
	CHECK(result_of(loop, &reader) > 0);
	EQUAL(unlink("/tmp/async-inotify"), 0);
	/* It is only open for reading, and no event will say so. */
	EQUAL(cosy_async_write(loop, &writer, fd, &one, 8), 0);
	EQUAL(result_of(loop, &writer), -EBADF);
	close(file);
	end(fd);
}

static void messages(void)
{
	struct cosy_async reader = { 0 }, writer = { 0 };
	char buffer[100], empty;
	struct iovec iov = { buffer, sizeof(buffer) };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fds[2];

	/* A datagram is one message, also an empty one. Records end. */
	EQUAL(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	EQUAL(cosy_async_recvmsg(loop, &reader, fds[0], &message, 0), 0);
	execute(loop);
	EQUAL(cosy_async_write(loop, &writer, fds[1], "record", 6), 0);
	EQUAL(result_of(loop, &writer), 6);
	EQUAL(result_of(loop, &reader), 6);
	end(fds[0]);
	end(fds[1]);

	EQUAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	EQUAL(cosy_async_readv(loop, &reader, fds[0], &iov, 1), 0);
	execute(loop);
	EQUAL(cosy_async_send(loop, &writer, fds[1], "four", 4, 0), 0);
	EQUAL(result_of(loop, &writer), 4);
	EQUAL(result_of(loop, &reader), 4);
	EQUAL(cosy_async_send(loop, &writer, fds[1], &empty, 0, 0), 0);
	EQUAL(result_of(loop, &writer), 0);
	EQUAL(cosy_async_recv(loop, &reader, fds[0], buffer, 100, 0), 0);
	EQUAL(result_of(loop, &reader), 0);
	/* A call with a non-blocking flag does not wait. */
	EQUAL(cosy_async_recv(loop, &reader, fds[0], buffer, 100, MSG_DONTWAIT), 0);
	EQUAL(result_of(loop, &reader), -EAGAIN);
	/* This socket has no queue of errors. So the call waits for data. */
	EQUAL(cosy_async_recv(loop, &reader, fds[0], buffer, 100, MSG_ERRQUEUE), 0);
	execute(loop);
	EQUAL(write(fds[1], "four", 4), 4);
	EQUAL(result_of(loop, &reader), 4);
	end(fds[0]);
	end(fds[1]);

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(cosy_async_recv(loop, &reader, fds[0], buffer, 6, MSG_WAITALL), 0);
	execute(loop);
	EQUAL(write(fds[1], "abc", 3), 3);
	execute(loop);
	EQUAL(write(fds[1], "def", 3), 3);
	EQUAL(result_of(loop, &reader), 6);
	EQUAL(memcmp(buffer, "abcdef", 6), 0);
	EQUAL(cosy_async_recv(loop, &reader, fds[0], buffer, 6, MSG_WAITALL), 0);
	EQUAL(write(fds[1], "abc", 3), 3);
	execute(loop);
	end(fds[1]);
	EQUAL(result_of(loop, &reader), 3);
	end(fds[0]);

	/* Not a socket. */
	EQUAL(pipe(fds), 0);
	EQUAL(cosy_async_recv(loop, &reader, fds[0], buffer, 6, 0), 0);
	EQUAL(result_of(loop, &reader), -ENOTSOCK);
	EQUAL(cosy_async_accept(loop, &reader, fds[0], NULL, NULL), 0);
	EQUAL(result_of(loop, &reader), -ENOTSOCK);
	end(fds[0]);
	end(fds[1]);
}

#define CLIENTS 20

static void connections(bool nonblock)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	struct cosy_async accepts[CLIENTS] = { 0 }, connects[CLIENTS] = { 0 };
	struct cosy_async op = { 0 };
	int listener = socket(AF_INET, SOCK_STREAM, 0), clients[CLIENTS];

	EQUAL(bind(listener, (struct sockaddr *)&address, size), 0);
	EQUAL(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	set_nonblock(listener, nonblock);
	/* It is not listening yet. */
	EQUAL(cosy_async_accept(loop, &op, listener, NULL, NULL), 0);
	EQUAL(result_of(loop, &op), -EINVAL);
	EQUAL(listen(listener, 128), 0);
	for (int i = 0; i < CLIENTS; i++)
		EQUAL(cosy_async_accept4(loop, &accepts[i], listener, NULL,
					 NULL, SOCK_CLOEXEC), 0);
	execute(loop);
	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = socket(AF_INET, SOCK_STREAM, 0);
		set_nonblock(clients[i], nonblock);
		EQUAL(cosy_async_connect(loop, &connects[i], clients[i],
					 &address, size), 0);
	}
	for (int i = 0; i < CLIENTS; i++) {
		EQUAL(result_of(loop, &connects[i]), 0);
		CHECK(result_of(loop, &accepts[i]) >= 0);
	}
	for (int i = 0; i < CLIENTS; i++) {
		end(clients[i]);
		end((int)accepts[i].result);
	}
	end(listener);
	/* No socket is listening any more. */
	clients[0] = socket(AF_INET, SOCK_STREAM, 0);
	set_nonblock(clients[0], nonblock);
	EQUAL(cosy_async_connect(loop, &op, clients[0], &address, size), 0);
	EQUAL(result_of(loop, &op), -ECONNREFUSED);
	end(clients[0]);
}

static void tcp_pair(int fds[2])
{
	struct sockaddr_in name = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(name);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	EQUAL(bind(listener, (struct sockaddr *)&name, size), 0);
	EQUAL(listen(listener, 1), 0);
	EQUAL(getsockname(listener, (struct sockaddr *)&name, &size), 0);
	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	EQUAL(connect(fds[0], (struct sockaddr *)&name, size), 0);
	fds[1] = accept(listener, NULL, NULL);
	CHECK(fds[1] >= 0);
	close(listener);
}

/* MSG_WAITALL where a partial transfer cannot be continued: a thread receives, in the same order. */
static void wait_all(void)
{
	struct cosy_async first = { 0 }, second = { 0 }, third = { 0 };
	char a[6], b[6], c[6];
	struct iovec iov[2] = { { a, 6 }, { b, 6 } };
	struct msghdr message[2] = { { .msg_iov = &iov[0], .msg_iovlen = 1 },
				     { .msg_iov = &iov[1], .msg_iovlen = 1 } };
	int fds[2];

	tcp_pair(fds);
	EQUAL(cosy_async_recvmsg(loop, &first, fds[0], &message[0], MSG_WAITALL), 0);
	EQUAL(cosy_async_recvmsg(loop, &second, fds[0], &message[1], MSG_WAITALL), 0);
	EQUAL(cosy_async_recv(loop, &third, fds[0], c, 6, MSG_WAITALL | MSG_PEEK), 0);
	for (const char *byte = "abcdefghijklmnopqr"; *byte; byte++) {
		EQUAL(send(fds[1], byte, 1, 0), 1);
		for (int i = 0; i < 3; i++)
			CHECK(cosy_wait(loop, 0, NULL) >= 0);
	}
	EQUAL(result_of(loop, &first), 6);
	EQUAL(result_of(loop, &second), 6);
	EQUAL(result_of(loop, &third), 6);
	EQUAL(memcmp(a, "abcdef", 6) | memcmp(b, "ghijkl", 6) | memcmp(c, "mnopqr", 6), 0);
	EQUAL(cosy_async_recv(loop, &third, fds[0], c, 6, 0), 0);
	EQUAL(result_of(loop, &third), 6);

	/* Cancelled before there is anything to receive. */
	EQUAL(cosy_async_recvmsg(loop, &first, fds[0], &message[0], MSG_WAITALL), 0);
	execute(loop);
	EQUAL(cosy_cancel(loop, &first), 0);
	EQUAL(result_of(loop, &first), -ECANCELED);

	/* The call cannot wait, and the loop waits for the first bytes. */
	set_nonblock(fds[0], true);
	EQUAL(cosy_async_recvmsg(loop, &first, fds[0], &message[0], MSG_WAITALL), 0);
	execute(loop);
	EQUAL(send(fds[1], "abc", 3, 0), 3);
	EQUAL(result_of(loop, &first), 3);
	end(fds[0]);
	end(fds[1]);

	/* A socket that listens receives nothing. */
	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	EQUAL(listen(fds[0], 1), 0);
	EQUAL(cosy_async_recvmsg(loop, &first, fds[0], &message[0], MSG_WAITALL), 0);
	EQUAL(result_of(loop, &first), -ENOTCONN);
	end(fds[0]);
}

/* MSG_WAITALL ends before urgent data, if something was received. */
static void before_urgent_data(void)
{
	struct cosy_async op = { 0 };
	char bytes[9];
	int fds[2];

	for (int i = 0; i < 4; i++) {
		if (i & 1)
			EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		else
			tcp_pair(fds);
		EQUAL(cosy_async_recv(loop, &op, fds[0], bytes, sizeof(bytes), MSG_WAITALL), 0);
		execute(loop);
		EQUAL(send(fds[1], "abc", 3, 0), 3);
		if (i & 2)
			execute(loop);
		EQUAL(send(fds[1], "!", 1, MSG_OOB), 1);
		EQUAL(result_of(loop, &op), 3);
		EQUAL(recv(fds[0], bytes, 1, MSG_OOB), 1);
		EQUAL(bytes[0], '!');
		EQUAL(send(fds[1], "def", 3, 0), 3);
		EQUAL(cosy_async_recv(loop, &op, fds[0], bytes, sizeof(bytes), 0), 0);
		EQUAL(result_of(loop, &op), 3);
		end(fds[0]);
		end(fds[1]);
	}
}

/* Read the error of a socket, which the next call would get. */
static int error_of(int fd)
{
	int error = 0;
	socklen_t size = sizeof(error);

	EQUAL(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size), 0);
	return error;
}

/* Close a socket of TCP so that the other end is reset. */
static void reset(int fd)
{
	const struct linger now = { .l_onoff = 1 };

	EQUAL(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
	EQUAL(close(fd), 0);
}

/*
 * Connections of TCP that are reset while a call waits. If a part was transferred, the call returns
 * its size, and the error remains; so it does if the call receives no bytes.
 */
static void reset_tcp(bool nonblock)
{
	static char large[16 * LARGE];
	struct iovec pieces[] = { { large, 0 }, { NULL, 0 } };
	struct msghdr messages[] = {
		{ .msg_flags = ~0 },
		{ .msg_flags = ~0, .msg_iov = pieces, .msg_iovlen = 2 },
	};
	struct cosy_async op = { 0 };
	int fds[2];

	for (int i = 0; i < 6; i++) {
		tcp_pair(fds);
		set_nonblock(fds[0], nonblock);
		if (i == 0)
			EQUAL(cosy_async_send(loop, &op, fds[0], large, sizeof(large), 0), 0);
		else if (i == 1)
			EQUAL(cosy_async_write(loop, &op, fds[0], large, sizeof(large)), 0);
		else if (i == 2)
			EQUAL(cosy_async_recv(loop, &op, fds[0], large, 9, MSG_WAITALL), 0);
		else if (i == 3)
			EQUAL(cosy_async_recv(loop, &op, fds[0], large, 0, 0), 0);
		else
			EQUAL(cosy_async_recvmsg(loop, &op, fds[0], &messages[i - 4],
						 MSG_CMSG_CLOEXEC), 0);
		execute(loop);
		if (i == 2)
			EQUAL(send(fds[1], "abc", 3, 0), 3);
		execute(loop);
		reset(fds[1]);
		if (i < 2)
			CHECK(result_of(loop, &op) > 0);
		else
			EQUAL(result_of(loop, &op), i == 2 ? 3 : 0);
		if (i > 3)
			EQUAL(messages[i - 4].msg_flags, MSG_CMSG_CLOEXEC);
		EQUAL(error_of(fds[0]), ECONNRESET);
		end(fds[0]);
	}
	/* Nothing was transferred. */
	tcp_pair(fds);
	set_nonblock(fds[0], nonblock);
	EQUAL(cosy_async_recv(loop, &op, fds[0], large, 9, MSG_WAITALL), 0);
	execute(loop);
	reset(fds[1]);
	EQUAL(result_of(loop, &op), -ECONNRESET);
	EQUAL(error_of(fds[0]), 0);
	end(fds[0]);
}

/* Fill a socket, and begin to send one more byte by one of three calls. */
static void begin_to_send(struct cosy_async *op, int fd, bool nonblock, int call)
{
	static char byte;
	static struct iovec piece = { &byte, 1 };
	static struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

	while (send(fd, &byte, 1, MSG_DONTWAIT) == 1)
		;
	set_nonblock(fd, nonblock);
	if (call == 0)
		EQUAL(cosy_async_send(loop, op, fd, &byte, 1, 0), 0);
	else if (call == 1)
		EQUAL(cosy_async_write(loop, op, fd, &byte, 1), 0);
	else
		EQUAL(cosy_async_sendmsg(loop, op, fd, &message, 0), 0);
}

/* In AF_UNIX a call that waits to send takes the error, and raises no SIGPIPE. */
static void reset_unix(bool nonblock)
{
	static char large[LARGE];
	struct cosy_async op = { 0 }, second = { 0 };
	int fds[2];

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	set_nonblock(fds[0], nonblock);
	EQUAL(cosy_async_send(loop, &op, fds[0], large, sizeof(large), 0), 0);
	execute(loop);
	EQUAL(close(fds[1]), 0);
	CHECK(result_of(loop, &op) > 0);
	EQUAL(error_of(fds[0]), 0);
	end(fds[0]);

	for (int i = 0; i < 3; i++) {
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		begin_to_send(&op, fds[0], nonblock, i);
		EQUAL(cosy_async_send(loop, &second, fds[0], large, 1, 0), 0);
		execute(loop);
		EQUAL(close(fds[1]), 0);
		EQUAL(result_of(loop, &op), -ECONNRESET);
		EQUAL(result_of(loop, &second), -EPIPE);
		end(fds[0]);
	}
}

/* Return true if the module waits for operations on sockets. */
static bool module_waits(void)
{
	const char *executor = getenv("COSY_EXECUTOR");
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	return info.kernel && executor && !strcmp(executor, "kernel");
}

/*
 * In the module, a call that waits to send also ends when one side is shut down only, in either
 * direction. epoll does not notice that.
 */
static void shut_down_senders(bool nonblock)
{
	struct cosy_async op = { 0 }, second = { 0 }, third = { 0 };
	int fds[2];

	for (int i = 0; i < 6 && module_waits(); i++) {
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		begin_to_send(&op, fds[0], nonblock, i % 3);
		EQUAL(cosy_async_send(loop, &second, fds[0], fds, sizeof(fds), 0), 0);
		EQUAL(cosy_async_write(loop, &third, fds[0], fds, sizeof(fds)), 0);
		execute(loop);
		if (i < 3)
			EQUAL(shutdown(fds[1], SHUT_RD), 0);
		else
			EQUAL(shutdown(fds[0], SHUT_WR), 0);
		EQUAL(result_of(loop, &op), -EPIPE);
		EQUAL(result_of(loop, &second), -EPIPE);
		EQUAL(result_of(loop, &third), -EPIPE);
		end(fds[0]);
		end(fds[1]);
	}
}

/* close() waits until the socket has sent its data. Other operations do not wait for that. */
static void linger(void)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 60 };
	const struct timespec soon = { .tv_nsec = 1000000 };
	struct cosy_async closes = { 0 }, timer = { 0 };
	static char bytes[1 << 16];
	int fds[2];

	tcp_pair(fds);
	EQUAL(setsockopt(fds[0], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	while (send(fds[0], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	EQUAL(cosy_async_close(loop, &closes, fds[0]), 0);
	EQUAL(cosy_async_timer(loop, &timer, &soon, 0), 0);
	EQUAL(result_of(loop, &timer), 0);
	CHECK(cosy_async_pending(&closes));
	while (recv(fds[1], bytes, sizeof(bytes), 0) > 0)
		;
	close(fds[1]);
	EQUAL(result_of(loop, &closes), 0);
	EQUAL(fcntl(fds[0], F_GETFD), -1);
}

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

	/* There is no room for a second connection. */
	EQUAL(cosy_cancel_fd(loop, clients[0]), 0);
	close(clients[0]);
	clients[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	EQUAL(connect(clients[0], (struct sockaddr *)&name, size), 0);
	EQUAL(cosy_async_connect(loop, &op, clients[2], &name, size), 0);
	EQUAL(result_of(loop, &op), -EAGAIN);
	set_nonblock(clients[2], false);
	EQUAL(cosy_async_connect(loop, &op, clients[2], &name, size), 0);
	EQUAL(cosy_async_connect(loop, &second, clients[2], &name, size), 0);
	execute(loop);
	close(accept(listener, NULL, NULL));
	EQUAL(result_of(loop, &op), 0);
	/* It looks for room, too, before it fails. */
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

/* Compare the results of calls, which do not wait, with those of operations. */
static void same(long nr, int fd, uint64_t length, uint64_t at)
{
	static char bytes[8];
	struct cosy_async op = { 0 };
	long native = syscall(nr, fd, bytes, length, at, 0);

	if (native < 0)
		native = -errno;
	EQUAL(cosy_async_call(loop, &op, nr, (uint64_t)fd, (uintptr_t)bytes, length, at, 0, 0), 0);
	EQUAL(result_of(loop, &op), native);
}

/* Calls with no bytes, or with more than there can be, return what a plain call returns. */
static void lengths(void)
{
	static const uint64_t lengths[] = { 0, (uint64_t)1 << 63, UINT64_MAX };
	int fds[8], master;

	EQUAL(pipe(fds), 0);
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds + 2), 0);
	EQUAL(openpty(&master, &fds[4], NULL, NULL, NULL), 0);
	fds[5] = eventfd(0, 0);
	fds[6] = open("/dev/null", O_RDWR);
	fds[7] = memfd_create("file", 0);
	for (int i = 0; i < 8; i++) {
		for (int j = 0; j < 3; j++) {
			same(SYS_write, fds[i], lengths[j], 0);
			same(SYS_pwrite64, fds[i], lengths[j], 0);
			/* A plain call may wait for the other lengths. */
			if (!lengths[j])
				continue;
			same(SYS_read, fds[i], lengths[j], 0);
			same(SYS_pread64, fds[i], lengths[j], 0);
		}
	}
	for (int i = 0; i < 8; i++)
		end(fds[i]);
	end(master);
}

/* Numbers that are no descriptors, up to the largest ones. */
static void no_descriptors(void)
{
	static const int numbers[] = { INT_MIN, -1, 1 << 20, (1 << 24) - 1, 1 << 24, INT_MAX };
	struct cosy_async op = { 0 };
	char byte = 0;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		EQUAL(cosy_async_read(loop, &op, numbers[i], &byte, 1), 0);
		EQUAL(result_of(loop, &op), -EBADF);
		EQUAL(cosy_async_recv(loop, &op, numbers[i], &byte, 1, 0), 0);
		EQUAL(result_of(loop, &op), -EBADF);
		EQUAL(cosy_async_send(loop, &op, numbers[i], &byte, 1, 0), 0);
		EQUAL(result_of(loop, &op), -EBADF);
		EQUAL(cosy_async_accept(loop, &op, numbers[i], NULL, NULL), 0);
		EQUAL(result_of(loop, &op), -EBADF);
		EQUAL(cosy_async_close(loop, &op, numbers[i]), 0);
		EQUAL(result_of(loop, &op), -EBADF);
	}
}

/* Calls that fail to replace a descriptor do not end the wait for it. */
static void not_replaced(void)
{
	struct cosy_async waits = { 0 }, op = { 0 };
	char byte = 0;
	int fds[2];

	EQUAL(pipe(fds), 0);
	EQUAL(cosy_async_read(loop, &waits, fds[0], &byte, 1), 0);
	EQUAL(cosy_async_call(loop, &op, SYS_dup2, 1 << 20, (uint64_t)fds[0], 0, 0, 0, 0), 0);
	EQUAL(result_of(loop, &op), -EBADF);
	EQUAL(cosy_async_call(loop, &op, SYS_dup3, (uint64_t)fds[1], (uint64_t)fds[0], O_RDWR, 0,
			      0, 0), 0);
	EQUAL(result_of(loop, &op), -EINVAL);
	CHECK(cosy_async_pending(&waits));
	EQUAL(write(fds[1], "x", 1), 1);
	EQUAL(result_of(loop, &waits), 1);
	end(fds[0]);
	end(fds[1]);
}

/* Calls with flags that they do not know fail without a connection or data. */
static void wrong_flags(void)
{
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), fds[2];
	struct cosy_async op = { 0 };

	EQUAL(bind(listener, (struct sockaddr *)&name, sizeof(sa_family_t)), 0);
	EQUAL(listen(listener, 1), 0);
	EQUAL(cosy_async_accept4(loop, &op, listener, NULL, NULL, 1), 0);
	EQUAL(result_of(loop, &op), -EINVAL);
	end(listener);

	EQUAL(pipe(fds), 0);
	for (int flags = 1 << 30; flags <= (1 << 30) + 1; flags++) {
		EQUAL(cosy_async_call(loop, &op, SYS_preadv2, (uint64_t)fds[0], (uintptr_t)&iov, 1,
				      UINT64_MAX, 0, (uint64_t)flags), 0);
		EQUAL(result_of(loop, &op), -EOPNOTSUPP);
	}
	EQUAL(write(fds[1], "xy", 2), 2);
	EQUAL(cosy_async_call(loop, &op, SYS_preadv2, (uint64_t)fds[0], (uintptr_t)&iov, 1,
			      UINT64_MAX, 0, 1 /* RWF_HIPRI */), 0);
	EQUAL(result_of(loop, &op), 1);
	end(fds[0]);
	end(fds[1]);
}

static void polls(void)
{
	struct cosy_async op = { 0 }, second = { 0 };
	struct pollfd poll, other;
	char byte;
	int fds[2];

	EQUAL(pipe(fds), 0);
	poll = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	other = poll;
	EQUAL(cosy_async_poll(loop, &op, &poll, 1, -1), 0);
	EQUAL(cosy_async_poll(loop, &second, &other, 1, -1), 0);
	execute(loop);
	EQUAL(write(fds[1], "x", 1), 1);
	EQUAL(result_of(loop, &op), 1);
	EQUAL(result_of(loop, &second), 1);
	EQUAL(poll.revents, POLLIN);
	EQUAL(read(fds[0], &byte, 1), 1);
	EQUAL(cosy_async_poll(loop, &op, &poll, 1, -1), 0);
	execute(loop);
	close(fds[1]);
	EQUAL(result_of(loop, &op), 1);
	EQUAL(poll.revents, POLLHUP);
	end(fds[0]);
	/* An address that cannot be read; the descriptors of other operations are cancelled. */
	EQUAL(cosy_async_poll(loop, &op, (void *)1, 1, -1), 0);
	EQUAL(cosy_async_poll(loop, &second, NULL, 1, -1), 0);
	EQUAL(cosy_cancel_fd(loop, fds[0]), 0);
	EQUAL(result_of(loop, &op), -EFAULT);
	EQUAL(result_of(loop, &second), -EFAULT);
	/* With a timeout, a thread waits. */
	EQUAL(cosy_async_poll(loop, &op, NULL, 0, 20), 0);
	EQUAL(result_of(loop, &op), 0);
}

/* An event that no operation waits for must not keep the loop busy. */
static void idle(void)
{
	struct cosy_async op = { 0 }, timer = { 0 };
	const struct timespec time = { .tv_nsec = 300000000 };
	struct cosy_loop_info info;
	struct timespec before, after;
	char byte;
	int fds[2];

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(cosy_async_recv(loop, &op, fds[0], &byte, 1, 0), 0);
	execute(loop);
	EQUAL(write(fds[1], "xyz", 3), 3);
	EQUAL(result_of(loop, &op), 1);
	EQUAL(close(fds[1]), 0);
	EQUAL(cosy_async_timer(loop, &timer, &time, 0), 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
	EQUAL(result_of(loop, &timer), 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
	CHECK((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec -
	      before.tv_nsec < 100000000);
	/* It is reported when an operation waits again. */
	EQUAL(cosy_async_recv(loop, &op, fds[0], &byte, 1, 0), 0);
	EQUAL(result_of(loop, &op), 1);
	EQUAL(byte, 'y');
	end(fds[0]);
	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	EQUAL(info.waiting, 0);
}

static void short_time(unsigned int attempts)
{
	const struct timespec time = { .tv_nsec = 100000000 };
	struct cosy_async timer = { 0 };
	struct cosy_loop_info before, after;

	EQUAL(cosy_loop_info(loop, &before, sizeof(before)), 0);
	EQUAL(cosy_async_timer(loop, &timer, &time, 0), 0);
	EQUAL(result_of(loop, &timer), 0);
	EQUAL(cosy_loop_info(loop, &after, sizeof(after)), 0);
	CHECK(after.attempts - before.attempts < attempts);
}

/* A socket without a connection cannot tell when a receiver of its datagrams has room. */
static void full_receiver(bool nonblock)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int receiver = socket(AF_UNIX, SOCK_DGRAM, 0), sender = socket(AF_UNIX, SOCK_DGRAM, 0);
	struct cosy_async op = { 0 }, second = { 0 };
	socklen_t size = sizeof(name);
	int sent = 0;
	char byte;

	EQUAL(bind(receiver, (struct sockaddr *)&name, sizeof(sa_family_t)), 0);
	EQUAL(getsockname(receiver, (struct sockaddr *)&name, &size), 0);
	while (sendto(sender, "x", 1, MSG_DONTWAIT, (struct sockaddr *)&name, size) == 1)
		sent++;
	set_nonblock(sender, nonblock);
	EQUAL(cosy_async_sendto(loop, &op, sender, "x", 1, 0, &name, size), 0);
	EQUAL(cosy_async_sendto(loop, &second, sender, "x", 1, 0, &name, size), 0);
	/* With O_NONBLOCK, one attempt in each ms. */
	short_time(nonblock ? 150 : 10);
	CHECK(cosy_async_pending(&op));
	if (nonblock) {
		EQUAL(cosy_cancel(loop, &op), 0);
		EQUAL(result_of(loop, &op), -ECANCELED);
		EQUAL(cosy_async_sendto(loop, &op, sender, "x", 1, 0, &name, size), 0);
		short_time(150);
	}
	for (int i = 0; i < sent; i++)
		EQUAL(recv(receiver, &byte, 1, MSG_DONTWAIT), 1);
	EQUAL(result_of(loop, &op), 1);
	EQUAL(result_of(loop, &second), 1);
	while (sendto(sender, "x", 1, MSG_DONTWAIT, (struct sockaddr *)&name, size) == 1)
		;
	EQUAL(cosy_async_sendto(loop, &op, sender, "x", 1, 0, &name, size), 0);
	short_time(nonblock ? 150 : 10);
	EQUAL(close(receiver), 0);
	EQUAL(result_of(loop, &op), -ECONNREFUSED);
	end(sender);
}

/* Events that last although the calls would block must not keep the loop busy, either. */
static void lasting_events(void)
{
	const uint64_t large = UINT64_MAX - 3, little = 7;
	struct sockaddr_in closed = { .sin_family = AF_INET }, own = closed;
	int udp = socket(AF_INET, SOCK_DGRAM, 0), other = socket(AF_INET, SOCK_DGRAM, 0);
	int on = 1, event = eventfd(0, EFD_NONBLOCK);
	struct cosy_async op = { 0 }, second = { 0 };
	socklen_t size = sizeof(closed);
	uint64_t count;
	char bytes[4];

	closed.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	EQUAL(bind(other, (struct sockaddr *)&closed, size), 0);
	EQUAL(getsockname(other, (struct sockaddr *)&closed, &size), 0);
	EQUAL(close(other), 0);
	EQUAL(setsockopt(udp, IPPROTO_IP, IP_RECVERR, &on, sizeof(on)), 0);
	EQUAL(connect(udp, (struct sockaddr *)&closed, size), 0);
	EQUAL(cosy_async_recv(loop, &op, udp, bytes, sizeof(bytes), 0), 0);
	execute(loop);
	EQUAL(send(udp, "x", 1, 0), 1);
	EQUAL(result_of(loop, &op), -ECONNREFUSED);
	/* The message in the error queue remains. */
	EQUAL(cosy_async_recv(loop, &op, udp, bytes, sizeof(bytes), 0), 0);
	EQUAL(cosy_async_recv(loop, &second, udp, bytes, sizeof(bytes), 0), 0);
	short_time(10);
	other = socket(AF_INET, SOCK_DGRAM, 0);
	EQUAL(bind(other, (struct sockaddr *)&closed, size), 0);
	EQUAL(getsockname(udp, (struct sockaddr *)&own, &size), 0);
	for (int i = 0; i < 3; i++) {
		EQUAL(sendto(other, "abc", 3, 0, (struct sockaddr *)&own, size), 3);
		EQUAL(result_of(loop, &op), 3);
		EQUAL(cosy_async_recv(loop, &op, udp, bytes, sizeof(bytes), 0), 0);
		EQUAL(sendto(other, "ab", 2, 0, (struct sockaddr *)&own, size), 2);
		EQUAL(result_of(loop, &second), 2);
		EQUAL(cosy_async_recv(loop, &second, udp, bytes, sizeof(bytes), 0), 0);
		short_time(10);
	}
	end(udp);
	EQUAL(result_of(loop, &op), -ECANCELED);
	EQUAL(result_of(loop, &second), -ECANCELED);
	end(other);

	/* The counter has room, but not enough. */
	for (int i = 0; i < 3; i++) {
		EQUAL(write(event, &large, sizeof(large)), sizeof(large));
		EQUAL(cosy_async_write(loop, &op, event, &little, sizeof(little)), 0);
		short_time(10);
		EQUAL(read(event, &count, sizeof(count)), sizeof(count));
		EQUAL(result_of(loop, &op), sizeof(little));
		EQUAL(read(event, &count, sizeof(count)), sizeof(count));
		EQUAL(count, little);
	}
	end(event);
}

/* An operation completes without an event of its descriptor. */
static void completes(struct cosy_async *op, int64_t result)
{
	static const struct timespec long_time = { .tv_sec = 20 };

	EQUAL(cosy_wait_for(loop, op, &long_time), 0);
	EQUAL(op->result, result);
}

/* Let an operation wait for input, and cancel it. epoll may go on to report the event. */
static void wait_for_input(int fd)
{
	struct cosy_async op = { 0 };
	uint64_t values[16];

	EQUAL(cosy_async_read(loop, &op, fd, values, sizeof(values)), 0);
	execute(loop);
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(result_of(loop, &op), -ECANCELED);
}

/* The first piece of a vector may be too short for the file, or not, as the kernel decides. */
static void short_pieces(int fd)
{
	struct cosy_async op = { 0 };
	uint64_t values[32];
	struct iovec pieces[] = { { values, 7 }, { values, sizeof(values) } };
	struct iovec nothing[] = { { values, 0 }, { NULL, 0 } };
	int error;

	set_nonblock(fd, true);
	EQUAL(readv(fd, pieces, 2), -1);
	error = errno;
	set_nonblock(fd, false);
	EQUAL(cosy_async_readv(loop, &op, fd, pieces, 2), 0);
	if (error == EAGAIN) {
		execute(loop);
		EQUAL(cosy_cancel(loop, &op), 0);
		completes(&op, -ECANCELED);
	} else {
		completes(&op, -error);
	}
	EQUAL(cosy_async_readv(loop, &op, fd, pieces, 1), 0);
	completes(&op, -EINVAL);
	EQUAL(cosy_async_readv(loop, &op, fd, nothing, 2), 0);
	completes(&op, 0);
	EQUAL(cosy_async_readv(loop, &op, fd, NULL, 1), 0);
	completes(&op, -EFAULT);
}

/* A full eventfd refuses what it never takes, and takes 0. The rest waits. */
static void full_eventfd(void)
{
	const uint64_t largest = UINT64_MAX - 1, invalid = UINT64_MAX, one = 1, zero = 0;
	struct iovec pieces[] = { { (void *)&one, 4 }, { (void *)&one, 8 } };
	struct iovec zeros[] = { { (void *)&zero, 8 }, { (void *)&zero, 8 } };
	struct iovec nothing[] = { { NULL, 0 } };
	struct cosy_async op = { 0 }, second = { 0 };
	int fd = eventfd(0, 0);
	uint64_t value;

	EQUAL(write(fd, &largest, sizeof(largest)), sizeof(largest));
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		set_nonblock(fd, nonblock);
		EQUAL(cosy_async_write(loop, &op, fd, &one, 7), 0);
		completes(&op, -EINVAL);
		EQUAL(cosy_async_write(loop, &op, fd, &one, 0), 0);
		completes(&op, -EINVAL);
		EQUAL(cosy_async_write(loop, &op, fd, &invalid, sizeof(invalid)), 0);
		completes(&op, -EINVAL);
		EQUAL(cosy_async_write(loop, &op, fd, (void *)1, sizeof(invalid)), 0);
		completes(&op, -EFAULT);
		EQUAL(cosy_async_writev(loop, &op, fd, pieces, 2), 0);
		completes(&op, -EINVAL);
		EQUAL(cosy_async_writev(loop, &op, fd, nothing, 1), 0);
		completes(&op, 0);
		EQUAL(cosy_async_writev(loop, &op, fd, NULL, 1), 0);
		completes(&op, -EFAULT);
		EQUAL(cosy_async_write(loop, &op, fd, &zero, sizeof(zero)), 0);
		completes(&op, sizeof(zero));
		EQUAL(cosy_async_writev(loop, &op, fd, zeros, 2), 0);
		completes(&op, sizeof(zero) * 2);
		/* The second one begins when the first one has filled it again. */
		EQUAL(cosy_async_write(loop, &op, fd, &largest, sizeof(largest)), 0);
		EQUAL(cosy_async_write(loop, &second, fd, &zero, sizeof(zero)), 0);
		execute(loop);
		EQUAL(read(fd, &value, sizeof(value)), sizeof(value));
		EQUAL(result_of(loop, &op), sizeof(largest));
		completes(&second, sizeof(zero));
		EQUAL(read(fd, &value, sizeof(value)), sizeof(value));
		EQUAL(cosy_async_write(loop, &op, fd, &largest, sizeof(largest)), 0);
		completes(&op, sizeof(largest));
		EQUAL(cosy_async_write(loop, &op, fd, &largest, sizeof(largest)), 0);
		EQUAL(cosy_async_write(loop, &second, fd, &one, 7), 0);
		execute(loop);
		EQUAL(read(fd, &value, sizeof(value)), sizeof(value));
		EQUAL(result_of(loop, &op), sizeof(largest));
		completes(&second, -EINVAL);
		EQUAL(cosy_async_write(loop, &op, fd, &one, sizeof(one)), 0);
		execute(loop);
		CHECK(cosy_async_pending(&op));
		EQUAL(read(fd, &value, sizeof(value)), sizeof(value));
		EQUAL(result_of(loop, &op), sizeof(one));
		value = largest - 1;
		EQUAL(write(fd, &value, sizeof(value)), sizeof(value));
	}
	end(fd);
}

/* Calls fail at once because of their arguments, also after others have waited. */
static void wrong_arguments(void)
{
	struct msghdr too_long = { .msg_iovlen = IOV_MAX + 1 };
	struct cosy_async op = { 0 };
	uint64_t value = 1;
	sigset_t set;
	int fds[2], fd;

	fd = eventfd(0, 0);
	wait_for_input(fd);
	EQUAL(cosy_async_read(loop, &op, fd, &value, 2), 0);
	completes(&op, -EINVAL);
	/* Writing it has to be polled for, reading it does not. */
	value = 1;
	EQUAL(cosy_async_write(loop, &op, fd, &value, sizeof(value)), 0);
	completes(&op, sizeof(value));
	EQUAL(cosy_async_read(loop, &op, fd, &value, sizeof(value)), 0);
	completes(&op, sizeof(value));
	EQUAL(cosy_async_read(loop, &op, fd, &value, 2), 0);
	completes(&op, -EINVAL);
	end(fd);

	sigemptyset(&set);
	for (int i = 0; i < 2; i++) {
		fd = i ? signalfd(-1, &set, 0) : timerfd_create(CLOCK_MONOTONIC, 0);
		for (int round = 0; round < 2; round++) {
			EQUAL(cosy_async_read(loop, &op, fd, &value, 7), 0);
			completes(&op, -EINVAL);
			short_pieces(fd);
			wait_for_input(fd);
		}
		end(fd);
	}

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	wait_for_input(fds[0]);
	for (int i = 0; i < 2; i++) {
		int flags = i ? MSG_WAITALL : 0;

		EQUAL(cosy_async_recvmsg(loop, &op, fds[0], NULL, flags), 0);
		completes(&op, -EFAULT);
		EQUAL(cosy_async_recvmsg(loop, &op, fds[0], &too_long, flags), 0);
		completes(&op, -EMSGSIZE);
	}
	EQUAL(cosy_async_readv(loop, &op, fds[0], NULL, 1), 0);
	completes(&op, -EFAULT);
	end(fds[0]);
	end(fds[1]);

	EQUAL(pipe(fds), 0);
	wait_for_input(fds[0]);
	EQUAL(cosy_async_pread(loop, &op, fds[0], &value, 1, 0), 0);
	completes(&op, -ESPIPE);
	EQUAL(cosy_async_recv(loop, &op, fds[0], &value, 1, 0), 0);
	completes(&op, -ENOTSOCK);
	end(fds[0]);
	end(fds[1]);

	open_terminal(&fds[0], &fds[1]);
	wait_for_input(fds[1]);
	EQUAL(cosy_async_pread(loop, &op, fds[1], &value, 1, 0), 0);
	completes(&op, -ESPIPE);
	end(fds[0]);
	end(fds[1]);
}

/* Files whose poll() does not tell whether a call waits. The calls of this test end at once natively. */
static void not_reported(void)
{
	struct perf_event_attr counter = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(counter),
					   .config = PERF_COUNT_SW_CPU_CLOCK };
	int fanotify = fanotify_init(FAN_CLASS_CONTENT, O_RDONLY);
	/*
	 * Of a CPU: for a counter of a task, the kernel changes its scheduler's code when the counter
	 * is opened and closed. QEMU sometimes does not survive that.
	 */
	int perf = (int)syscall(SYS_perf_event_open, &counter, -1, 0, -1, 0);
	struct fanotify_response response = { .fd = -1, .response = FAN_ALLOW };
	struct cosy_async op = { 0 }, second = { 0 };
	uint64_t values[16];
	struct termios mode;
	int master, slave;

	/* Both may need rights that the process does not have. */
	if (fanotify >= 0) {
		EQUAL(write(fanotify, &response, sizeof(response)), -1);
		int error = errno;

		EQUAL(cosy_async_write(loop, &op, fanotify, &response, sizeof(response)), 0);
		completes(&op, -error);
		end(fanotify);
	}
	if (perf >= 0) {
		void *samples = mmap(NULL, 2 * (size_t)getpagesize(), PROT_READ | PROT_WRITE,
				     MAP_SHARED, perf, 0);

		EQUAL(cosy_async_read(loop, &op, perf, values, sizeof(values)), 0);
		completes(&op, sizeof(*values));
		if (samples != MAP_FAILED)
			munmap(samples, 2 * (size_t)getpagesize());
		end(perf);
	}

	open_terminal(&master, &slave);
	EQUAL(tcgetattr(slave, &mode), 0);
	mode.c_cc[VMIN] = 0;
	for (mode.c_cc[VTIME] = 0; mode.c_cc[VTIME] < 2; mode.c_cc[VTIME]++) {
		EQUAL(tcsetattr(slave, TCSANOW, &mode), 0);
		EQUAL(cosy_async_read(loop, &op, slave, values, sizeof(values)), 0);
		completes(&op, 0);
	}
	/* This does not apply to the other end. */
	wait_for_input(master);
	end(master);
	end(slave);

	/* A read of no bytes waits for an event, too, and then fails. It does not block the loop. */
	char name[] = "/tmp/async-inotify-XXXXXX";
	int file = mkstemp(name), inotify = inotify_init1(0);

	CHECK(file >= 0);
	EQUAL(cosy_async_read(loop, &op, inotify, values, 0), 0);
	execute(loop);
	EQUAL(cosy_async_timer(loop, &second, &(struct timespec){ .tv_nsec = 1000000 }, 0), 0);
	completes(&second, 0);
	CHECK(cosy_async_pending(&op));
	CHECK(inotify_add_watch(inotify, name, IN_ATTRIB) >= 0);
	EQUAL(fchmod(file, 0600), 0);
	completes(&op, -EINVAL);
	end(inotify);
	EQUAL(close(file), 0);
	EQUAL(unlink(name), 0);
}

/* Let an operation poll for input, and cancel it. epoll may go on to report the event. */
static void poll_for_input(int fd)
{
	struct pollfd poll = { .fd = fd, .events = POLLIN };
	struct cosy_async op = { 0 };

	EQUAL(cosy_async_poll(loop, &op, &poll, 1, -1), 0);
	execute(loop);
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(result_of(loop, &op), -ECANCELED);
}

/* Receiving fails at once from sockets that listen, and from the wrong end of a pipe. */
static void wrong_files(void)
{
	const struct sockaddr nowhere = { .sa_family = AF_UNSPEC };
	struct cosy_async op = { 0 };
	int fds[2], listener;
	char byte;

	for (int i = 0; i < 4; i++) {
		bool unix_socket = i & 1, accepts = i & 2;

		listener = socket(unix_socket ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
		EQUAL(bind(listener, &(struct sockaddr){ .sa_family = AF_UNIX },
			   sizeof(sa_family_t)), unix_socket ? 0 : -1);
		EQUAL(listen(listener, 1), 0);
		if (accepts) {
			EQUAL(cosy_async_accept(loop, &op, listener, NULL, NULL), 0);
			execute(loop);
			EQUAL(cosy_cancel(loop, &op), 0);
			EQUAL(result_of(loop, &op), -ECANCELED);
		} else {
			poll_for_input(listener);
		}
		EQUAL(cosy_async_recv(loop, &op, listener, &byte, 1, 0), 0);
		completes(&op, unix_socket ? -EINVAL : -ENOTCONN);
		EQUAL(cosy_async_read(loop, &op, listener, &byte, 1), 0);
		completes(&op, unix_socket ? -EINVAL : -ENOTCONN);
		end(listener);
	}
	/* A connection ends, and its socket listens. The loop does not notice a plain connect(). */
	for (int plain = 0; plain < 2; plain++) {
		tcp_pair(fds);
		wait_for_input(fds[0]);
		set_nonblock(fds[0], true);
		if (plain) {
			EQUAL(cosy_cancel_fd(loop, fds[0]), 0);
			EQUAL(connect(fds[0], &nowhere, sizeof(nowhere)), 0);
		} else {
			EQUAL(cosy_async_connect(loop, &op, fds[0], &nowhere, sizeof(nowhere)), 0);
			completes(&op, 0);
		}
		EQUAL(listen(fds[0], 1), 0);
		EQUAL(cosy_async_recv(loop, &op, fds[0], &byte, 1, 0), 0);
		completes(&op, -ENOTCONN);
		end(fds[0]);
		end(fds[1]);
	}

	EQUAL(pipe(fds), 0);
	poll_for_input(fds[1]);
	EQUAL(cosy_async_read(loop, &op, fds[1], &byte, 1), 0);
	completes(&op, -EBADF);
	end(fds[0]);
	end(fds[1]);
}

/*
 * A datagram socket that is shut down has no more input. Blocking calls return 0, although those
 * that do not block return -EAGAIN.
 */
static void shut_down_datagrams(int fd, bool nonblock)
{
	struct cosy_async op = { 0 };
	char byte;
	struct iovec iov = { &byte, 1 };
	struct sockaddr_storage name;
	socklen_t size = sizeof(name);
	struct msghdr msg = {
		.msg_name = &name, .msg_namelen = sizeof(name),
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &name, .msg_controllen = sizeof(name), .msg_flags = ~0,
	};

	set_nonblock(fd, nonblock);
	EQUAL(cosy_async_recv(loop, &op, fd, &byte, 1, 0), 0);
	execute(loop);
	/* It fails if there is no peer, and has an effect nevertheless. */
	shutdown(fd, SHUT_RD);
	completes(&op, 0);
	EQUAL(cosy_async_recv(loop, &op, fd, &byte, 1, 0), 0);
	completes(&op, 0);
	/* It sets the lengths. */
	EQUAL(cosy_async_recvfrom(loop, &op, fd, &byte, 1, 0, &name, &size), 0);
	completes(&op, 0);
	EQUAL(size, 0);
	EQUAL(cosy_async_recvmsg(loop, &op, fd, &msg, 0), 0);
	completes(&op, 0);
	EQUAL(msg.msg_namelen, 0);
	EQUAL(msg.msg_controllen, 0);
	EQUAL(msg.msg_flags, 0);
	EQUAL(cosy_async_read(loop, &op, fd, &byte, 1), 0);
	completes(&op, 0);
	EQUAL(cosy_async_recv(loop, &op, fd, &byte, 1, MSG_DONTWAIT), 0);
	completes(&op, -EAGAIN);
	end(fd);
}

static void shut_down_listener(bool nonblock)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct cosy_async op = { 0 };

	set_nonblock(fd, nonblock);
	EQUAL(bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	EQUAL(listen(fd, 1), 0);
	EQUAL(cosy_async_accept(loop, &op, fd, NULL, NULL), 0);
	execute(loop);
	EQUAL(shutdown(fd, SHUT_RD), 0);
	completes(&op, -EINVAL);
	EQUAL(cosy_async_accept(loop, &op, fd, NULL, NULL), 0);
	completes(&op, -EINVAL);
	end(fd);
}

static void shut_down(bool nonblock)
{
	int fds[2];

	shut_down_listener(nonblock);

	EQUAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	shut_down_datagrams(fds[0], nonblock);
	shut_down_datagrams(socket(AF_INET, SOCK_DGRAM, 0), nonblock);
	end(fds[1]);
}

int main(void)
{
	loop = make_loop();
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		streams(nonblock);
		terminals(nonblock);
		events(nonblock);
		connections(nonblock);
		shut_down(nonblock);
		full_receiver(nonblock);
		reset_tcp(nonblock);
		reset_unix(nonblock);
		shut_down_senders(nonblock);
	}
	wrong_arguments();
	full_eventfd();
	wrong_files();
	not_reported();
	messages();
	linger();
	wait_all();
	before_urgent_data();
	cleared_nonblock();
	zeros();
	lengths();
	no_descriptors();
	not_replaced();
	wrong_flags();
	polls();
	idle();
	lasting_events();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
