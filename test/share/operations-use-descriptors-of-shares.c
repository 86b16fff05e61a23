/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operations of loops accept, receive, send, read, write, open and close in shares, as for ordinary
 * descriptors: they wait, keep their order, and can be cancelled. The same with a filter that makes the
 * module leave these calls to user mode.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include <cosy/async.h>
#include <cosy/share.h>

#include "check.h"

static struct cosy_loop *loop;

static struct cosy_share *make(uint32_t max)
{
	const struct cosy_share_options options = { sizeof(options), max };
	struct cosy_share *share;

	EQUAL(cosy_share_create(&share, &options), 0);
	return share;
}

static int64_t result_of(const struct cosy_async *op)
{
	EQUAL(cosy_wait_for(loop, op, NULL), 0);
	return op->result;
}

/* Execute what was submitted, and check that an operation waits. */
static void waits(const struct cosy_async *op)
{
	for (int i = 0; i < 3; i++)
		cosy_wait(loop, 0, NULL);
	CHECK(cosy_async_pending(op));
}

static int64_t in_share(struct cosy_share *share, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct cosy_async op = { 0 };

	EQUAL(cosy_share_async(share, loop, &op, nr, (uint64_t[6]){ a, b, c, d }), 0);
	return result_of(&op);
}

static int listen_in(struct cosy_share *share, int type, struct sockaddr_in *address)
{
	socklen_t size = sizeof(*address);
	int fd = (int)in_share(share, SYS_socket, AF_INET, SOCK_STREAM | type, 0, 0);

	*address = (struct sockaddr_in){ .sin_family = AF_INET };
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	EQUAL(in_share(share, SYS_bind, (uint64_t)fd, (uintptr_t)address, size, 0), 0);
	EQUAL(in_share(share, SYS_listen, (uint64_t)fd, 4, 0, 0), 0);
	EQUAL(in_share(share, SYS_getsockname, (uint64_t)fd, (uintptr_t)address, (uintptr_t)&size, 0), 0);
	return fd;
}

static int connect_to(const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(fd >= 0);
	EQUAL(connect(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
	return fd;
}

/* Accept, receive, answer and close. @type: whether the listener has O_NONBLOCK. */
static void serve(int type)
{
	struct cosy_share *share = make(4);
	struct cosy_async accepts = { 0 }, receives[2] = { 0 }, op = { 0 };
	struct sockaddr_in address;
	int listener = listen_in(share, type, &address), client, fd;
	char in[2][4], out[4];

	EQUAL(cosy_async_accept4(loop, &accepts, listener, NULL, NULL, SOCK_NONBLOCK), 0);
	waits(&accepts);
	client = connect_to(&address);
	fd = (int)result_of(&accepts);
	EQUAL(fd, listener + 1);
	EQUAL(fcntl(fd, F_GETFD), -1);
	for (int i = 0; i < 2; i++)
		EQUAL(cosy_async_recv(loop, &receives[i], fd, in[i], 1, 0), 0);
	waits(&receives[0]);
	EQUAL(send(client, "ab", 2, 0), 2);
	EQUAL(result_of(&receives[1]), 1);
	EQUAL(receives[0].result, 1);
	EQUAL(in[0][0], 'a');
	EQUAL(in[1][0], 'b');
	EQUAL(cosy_async_send(loop, &op, fd, "cd", 2, MSG_NOSIGNAL), 0);
	EQUAL(result_of(&op), 2);
	EQUAL(recv(client, out, 4, 0), 2);
	/* A call that does not wait, and one that asks not to. */
	EQUAL(cosy_async_dup(loop, &op, fd), 0);
	EQUAL(result_of(&op), fd + 1);
	EQUAL(cosy_share_close(share, fd + 1), 0);
	EQUAL(cosy_async_recv(loop, &op, fd, in[0], 1, MSG_DONTWAIT), 0);
	EQUAL(result_of(&op), -EAGAIN);
	EQUAL(cosy_async_reply(loop, &op, fd, "e", 1, 0, in[0], 4), 0);
	waits(&op);
	EQUAL(recv(client, out, 4, 0), 1);
	EQUAL(send(client, "f", 1, 0), 1);
	EQUAL(result_of(&op), 1);
	/* To close a descriptor cancels what waits for it. */
	EQUAL(cosy_async_recv(loop, &receives[0], fd, in[0], 1, 0), 0);
	waits(&receives[0]);
	EQUAL(cosy_async_close(loop, &op, fd), 0);
	EQUAL(result_of(&op), 0);
	EQUAL(result_of(&receives[0]), -ECANCELED);
	EQUAL(recv(client, out, 4, 0), 0);
	close(client);
	EQUAL(cosy_async_recv(loop, &op, fd, in[0], 1, 0), 0);
	EQUAL(result_of(&op), -EBADF);
	cosy_share_destroy(share);
}

static void files(void)
{
	static char big[1 << 20], copy[1 << 20];
	struct cosy_share *share = make(8);
	struct cosy_async reads = { 0 }, writes = { 0 }, op = { 0 };
	uint64_t value = 3;
	char buf[8];
	int ends[2], fd, event;

	EQUAL(in_share(share, SYS_pipe2, (uintptr_t)ends, 0, 0, 0), 0);
	EQUAL(cosy_async_read(loop, &reads, ends[0], buf, 8), 0);
	waits(&reads);
	EQUAL(cosy_async_write(loop, &op, ends[1], "pipe", 4), 0);
	EQUAL(result_of(&op), 4);
	EQUAL(result_of(&reads), 4);
	/* More than the pipe has room for. */
	memset(big, 'x', sizeof(big));
	EQUAL(cosy_async_write(loop, &writes, ends[1], big, sizeof(big)), 0);
	waits(&writes);
	for (size_t done = 0; done < sizeof(big); done += (size_t)op.result) {
		EQUAL(cosy_async_read(loop, &op, ends[0], copy + done, sizeof(copy) - done), 0);
		CHECK(result_of(&op) > 0);
	}
	EQUAL(result_of(&writes), sizeof(big));
	EQUAL(memcmp(big, copy, sizeof(big)), 0);

	event = (int)in_share(share, SYS_eventfd2, 0, 0, 0, 0);
	EQUAL(cosy_async_read(loop, &reads, event, &value, 8), 0);
	waits(&reads);
	value = 5;
	EQUAL(cosy_share_write(share, event, &value, 8), 8);
	value = 0;
	EQUAL(result_of(&reads), 8);
	EQUAL(value, 5);
	/* It fails at once, and does not wait for an event. */
	EQUAL(cosy_async_read(loop, &reads, event, &value, 4), 0);
	EQUAL(result_of(&reads), -EINVAL);

	fd = (int)in_share(share, SYS_openat, (uint64_t)AT_FDCWD, (uintptr_t)"/tmp",
			   O_RDWR | O_TMPFILE, 0600);
	CHECK(fd > event);
	EQUAL(cosy_async_pwrite(loop, &op, fd, "abc", 3, 1), 0);
	EQUAL(result_of(&op), 3);
	EQUAL(cosy_async_pread(loop, &op, fd, buf, 8, 2), 0);
	EQUAL(result_of(&op), 2);
	EQUAL(buf[1], 'c');
	EQUAL(cosy_async_fsync(loop, &op, fd), 0);
	EQUAL(result_of(&op), 0);
	EQUAL(in_share(share, SYS_dup, 0, 0, 0, 0), fd + 1);
	EQUAL(in_share(share, SYS_openat, (uint64_t)AT_FDCWD, (uintptr_t)"/nowhere", O_RDONLY, 0), -ENOENT);
	EQUAL(in_share(share, SYS_close, (uint64_t)fd, 0, 0, 0), 0);
	EQUAL(in_share(share, SYS_fsync, (uint64_t)fd, 0, 0, 0), -EBADF);
	cosy_share_destroy(share);
}

/* Messages may contain descriptors, which would be those of the process. */
static void refused(void)
{
	struct cosy_share *share = make(2), *other = make(2);
	const uint64_t args[6] = { 0 };
	struct cosy_async op = { 0 };
	struct msghdr message = { 0 };
	int ends[2];

	EQUAL(cosy_share_syscall(share, SYS_socketpair,
				 (uint64_t[6]){ AF_UNIX, SOCK_STREAM, 0, (uintptr_t)ends }), 0);
	EQUAL(cosy_async_sendmsg(loop, &op, ends[0], &message, 0), 0);
	EQUAL(result_of(&op), -EINVAL);
	EQUAL(cosy_async_recvmsg(loop, &op, ends[0], &message, 0), 0);
	EQUAL(result_of(&op), -EINVAL);
	EQUAL(cosy_share_async(share, loop, &op, SYS_sendmsg, args), -EINVAL);
	EQUAL(cosy_share_async(share, loop, &op, SYS_execve, args), -EINVAL);
	EQUAL(cosy_share_async(other, loop, &op, SYS_read, (uint64_t[6]){ (uint64_t)ends[0] }), -EBADF);
	EQUAL(in_share(other, SYS_fsync, (uint64_t)ends[0], 0, 0, 0), -EBADF);
	/* It is full, and so are its places while a call waits. */
	EQUAL(in_share(share, SYS_dup, 0, 0, 0, 0), -EMFILE);
	EQUAL(in_share(share, SYS_pipe2, (uintptr_t)ends, 0, 0, 0), -EMFILE);
	cosy_share_destroy(other);
	cosy_share_destroy(share);
}

/* Operations wait in a share that has no free place. */
static void waits_in_full_share(void)
{
	struct cosy_share *share = make(2);
	struct cosy_async receives[2] = { { 0 }, { 0 } };
	char in[2];
	int ends[2];

	EQUAL(cosy_share_syscall(share, SYS_socketpair,
				 (uint64_t[6]){ AF_UNIX, SOCK_STREAM, 0, (uintptr_t)ends }), 0);
	EQUAL(cosy_share_dup(share, ends[0]), -EMFILE);
	for (int i = 0; i < 2; i++) {
		EQUAL(cosy_async_recv(loop, &receives[i], ends[i], &in[i], 1, 0), 0);
		waits(&receives[i]);
	}
	EQUAL(cosy_share_send(share, ends[1], "a", 1, 0), 1);
	EQUAL(result_of(&receives[0]), 1);
	EQUAL(in[0], 'a');
	EQUAL(cosy_cancel(loop, &receives[1]), 0);
	EQUAL(result_of(&receives[1]), -ECANCELED);
	cosy_share_destroy(share);
}

/* A share ends at once while a thread makes a call in it, and the process has no free descriptor. */
static void ends_without_a_free_descriptor(void)
{
	struct cosy_share *share = make(4);
	const struct timespec little = { .tv_nsec = 20000000 };
	struct cosy_async locks = { 0 };
	char name[] = "/tmp/cosy-share-XXXXXX", c;
	int ends[2], holder = mkstemp(name), other;
	struct rlimit limit, before;

	CHECK(holder >= 0);
	EQUAL(flock(holder, LOCK_EX), 0);
	other = cosy_share_open(share, AT_FDCWD, name, O_RDWR, 0);
	CHECK(other >= 0);
	EQUAL(unlink(name), 0);
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	CHECK(cosy_share_dup(share, ends[0]) >= 0);
	close(ends[0]);
	EQUAL(cosy_async_flock(loop, &locks, other, LOCK_EX), 0);
	waits(&locks);
	/* The thread is in the call. */
	nanosleep(&little, NULL);
	EQUAL(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = (struct rlimit){ 0, before.rlim_max };
	EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cosy_share_destroy(share);
	EQUAL(recv(ends[1], &c, 1, MSG_DONTWAIT), 0);
	EQUAL(setrlimit(RLIMIT_NOFILE, &before), 0);
	EQUAL(flock(holder, LOCK_UN), 0);
	EQUAL(result_of(&locks), 0);
	close(ends[1]);
	close(holder);
}

/* A share that ends cancels what waits for it. Its descriptors are not those of a later one. */
static void ends_with_operations(void)
{
	struct cosy_share *share = make(4), *later;
	struct cosy_async receives = { 0 }, op = { 0 };
	int ends[2], fd;
	char c;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	fd = cosy_share_dup(share, ends[0]);
	close(ends[0]);
	EQUAL(cosy_async_recv(loop, &receives, fd, &c, 1, 0), 0);
	waits(&receives);
	EQUAL(cosy_cancel(loop, &receives), 0);
	EQUAL(result_of(&receives), -ECANCELED);
	EQUAL(cosy_async_recv(loop, &receives, fd, &c, 1, 0), 0);
	waits(&receives);
	EQUAL(cosy_cancel_fd(loop, fd), 1);
	EQUAL(result_of(&receives), -ECANCELED);
	EQUAL(cosy_async_recv(loop, &receives, fd, &c, 1, 0), 0);
	waits(&receives);
	cosy_share_destroy(share);
	EQUAL(result_of(&receives), -ECANCELED);
	EQUAL(recv(ends[1], &c, 1, 0), 0);
	close(ends[1]);
	later = make(4);
	EQUAL(cosy_share_dup(later, 0) == fd, 0);
	EQUAL(cosy_async_recv(loop, &op, fd, &c, 1, 0), 0);
	EQUAL(result_of(&op), -EBADF);
	/* These close, or cancel, ordinary descriptors only. */
	EQUAL(cosy_async_close_range(loop, &op, 1000, ~0u, 0), 0);
	EQUAL(result_of(&op), 0);
	cosy_share_destroy(later);
}

/* A child has no descriptor of a share for which an operation waits, and cannot use it. */
static void forked(void)
{
	struct cosy_share *share = make(4);
	struct cosy_async receives = { 0 }, op = { 0 };
	int ends[2], ready[2], fd, status;
	pid_t child;
	char c;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	EQUAL(pipe(ready), 0);
	fd = cosy_share_dup(share, ends[0]);
	close(ends[0]);
	EQUAL(cosy_async_recv(loop, &receives, fd, &c, 1, 0), 0);
	waits(&receives);
	child = fork();
	if (!child) {
		EQUAL(cosy_async_recv(loop, &op, fd, &c, 1, 0), -EPERM);
		EQUAL(cosy_share_async(share, loop, &op, SYS_socket, (uint64_t[6]){ AF_UNIX, SOCK_STREAM }),
		      -EPERM);
		cosy_share_destroy(share);
		EQUAL(cosy_loop_destroy(loop), 0);
		EQUAL(write(ready[1], "r", 1), 1);
		/* Until the parent has seen the end of the connection. */
		close(ready[1]);
		recv(ends[1], &c, 1, MSG_PEEK);
		_exit(0);
	}
	EQUAL(read(ready[0], &c, 1), 1);
	waits(&receives);
	EQUAL(cosy_async_close(loop, &op, fd), 0);
	EQUAL(result_of(&op), 0);
	EQUAL(result_of(&receives), -ECANCELED);
	EQUAL(recv(ends[1], &c, 1, 0), 0);
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	close(ends[1]);
	close(ready[0]);
	close(ready[1]);
	cosy_share_destroy(share);
}

/* The module leaves these calls to user mode, because a filter logs them, or lets one fail. */
static void install_filter(void)
{
#define LOGS(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), \
		 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG)
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		LOGS(SYS_recvfrom), LOGS(SYS_accept4), LOGS(SYS_epoll_ctl), LOGS(SYS_preadv2),
		LOGS(SYS_dup), LOGS(SYS_openat),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpeername, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOANO),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static void filtered(void)
{
	struct cosy_share *share = make(2);
	int ends[2];

	EQUAL(cosy_share_syscall(share, SYS_socketpair,
				 (uint64_t[6]){ AF_UNIX, SOCK_STREAM, 0, (uintptr_t)ends }), 0);
	EQUAL(in_share(share, SYS_getpeername, (uint64_t)ends[0], 0, 0, 0), -ENOANO);
	cosy_share_destroy(share);
}

/* How a descriptor leaves its share, while the file lives on. */
enum leaves { DESTROYED, GIVEN, INSTALLED, WAYS };

static void leave(enum leaves way, struct cosy_share *share, int fd, struct cosy_share *other)
{
	int now = -1;

	if (way == DESTROYED)
		cosy_share_destroy(share);
	else if (way == GIVEN)
		now = cosy_share_give(share, fd, other);
	else
		now = cosy_share_install(share, fd, O_CLOEXEC);
	EQUAL(now >= 0, way != DESTROYED);
	if (way == INSTALLED)
		close(now);
	else if (way == GIVEN)
		EQUAL(cosy_share_close(other, now), 0);
}

/*
 * After that nothing is reported to a loop in which an operation has waited, or still waits: a thread that
 * waits for the loop sleeps.
 */
static void file_lives_on(enum leaves way, bool still)
{
	struct cosy_share *share = make(4), *other = make(4);
	struct cosy_async op = { 0 };
	struct pollfd work = { .fd = cosy_loop_fd(loop), .events = POLLIN };
	int fds[2], fd;
	char byte = 0;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	fd = cosy_share_dup(share, fds[0]);
	CHECK(fd >= 0);
	EQUAL(cosy_async_recv(loop, &op, fd, &byte, 1, 0), 0);
	waits(&op);
	EQUAL(send(fds[1], "x", 1, 0), 1);
	EQUAL(result_of(&op), 1);
	if (still) {
		EQUAL(cosy_async_recv(loop, &op, fd, &byte, 1, 0), 0);
		waits(&op);
	}
	leave(way, share, fd, other);
	if (still)
		EQUAL(result_of(&op), -ECANCELED);
	EQUAL(send(fds[1], "y", 1, 0), 1);
	for (int i = 0; i < 3; i++)
		cosy_wait(loop, 0, NULL);
	EQUAL(poll(&work, 1, 0), 0);
	if (way != DESTROYED)
		cosy_share_destroy(share);
	cosy_share_destroy(other);
	close(fds[0]);
	close(fds[1]);
}

static void all(void)
{
	serve(SOCK_NONBLOCK);
	serve(0);
	files();
	refused();
	waits_in_full_share();
	ends_without_a_free_descriptor();
	ends_with_operations();
	for (enum leaves way = DESTROYED; way < WAYS; way++) {
		file_lives_on(way, false);
		file_lives_on(way, true);
	}
	forked();
}

int main(void)
{
	alarm(600);
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	all();
	install_filter();
	all();
	filtered();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
