/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls with wrong arguments, lengths, flags, files and descriptors fail at once, also after others
 * have waited.
 */
// RUN: %compile
// RUN: %everywhere
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "descriptors.h"

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

/* Files that refuse a call although it has no bytes, or a flag. */
static void refused(void)
{
	const int append = 0x10, events = inotify_init1(0), full = open("/dev/full", O_RDWR);
	const int directory = open("/", O_RDONLY | O_DIRECTORY);
	struct cosy_async op = { 0 };
	char byte;
	struct iovec piece = { &byte, 1 };

	CHECK(events >= 0 && full >= 0 && directory >= 0);
	same(SYS_pread64, directory, 0, 0);
	same(SYS_pread64, full, 0, 0);
	same(SYS_pwrite64, full, 0, 0);
	/* inotify has no vectors of its own. */
	EQUAL(cosy_async_call(loop, &op, SYS_preadv2, (uint64_t)events, (uintptr_t)&piece, 1, UINT64_MAX,
			      UINT64_MAX, append), 0);
	EQUAL(result_of(loop, &op), -EOPNOTSUPP);
	end(events);
	end(full);
	end(directory);
}

/* AF_VSOCK reports no event without a connection. */
static void no_connection(void)
{
	struct cosy_async op = { 0 };
	char byte;
	struct iovec piece = { &byte, 1 };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	int fd = socket(AF_VSOCK, SOCK_STREAM, 0);

	/* The kernel may not have it. */
	if (fd < 0)
		return;
	EQUAL(cosy_async_recvmsg(loop, &op, fd, &message, MSG_WAITALL), 0);
	EQUAL(result_of(loop, &op), -ENOTCONN);
	EQUAL(cosy_async_recv(loop, &op, fd, &byte, 1, MSG_WAITALL | MSG_PEEK), 0);
	EQUAL(result_of(loop, &op), -ENOTCONN);
	end(fd);
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

/* Let an operation poll for input, and cancel it. epoll may continue to report the event. */
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
		/* Newer kernels refuse it (seen on 6.18.44): then there is nothing to notice. */
		if (!listen(fds[0], 1)) {
			EQUAL(cosy_async_recv(loop, &op, fds[0], &byte, 1, 0), 0);
			completes(&op, -ENOTCONN);
		} else {
			EQUAL(errno, EINVAL);
		}
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

int main(void)
{
	loop = make_loop();
	wrong_arguments();
	wrong_files();
	lengths();
	refused();
	no_connection();
	no_descriptors();
	not_replaced();
	wrong_flags();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
