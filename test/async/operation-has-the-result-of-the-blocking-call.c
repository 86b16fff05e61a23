/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An operation on a socket has the result of the blocking call, with and without O_NONBLOCK. Each
 * situation is made three times: with blocking calls in a thread, and with operations on sockets of
 * both kinds. All results must be equal.
 */
// RUN: %compile
// RUN: %everywhere
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "loop.h"

#define MAX_RESULTS 64
#define SIZE	    1000

/* enum way - what makes the calls, and on which sockets */
enum way { THREAD, OPERATION, OPERATION_NONBLOCK, WAYS };

static struct cosy_loop *loop;
static enum way way;
static const char *situation;
static int64_t results[WAYS][MAX_RESULTS];
static unsigned int nresults;

static void record(int64_t result)
{
	CHECK(nresults < MAX_RESULTS);
	results[way][nresults++] = result;
}

/* A call that is made, and may wait. */
struct call {
	long nr;
	uintptr_t args[6];
	int64_t result;
	pthread_t thread;
	pid_t tid;
	bool done;
	struct cosy_async op;
};

static void *call_in_thread(void *data)
{
	struct call *c = data;
	long result;

	__atomic_store_n(&c->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	result = syscall(c->nr, c->args[0], c->args[1], c->args[2], c->args[3], c->args[4],
			 c->args[5]);
	c->result = result < 0 ? -errno : result;
	__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void begin(struct call *c)
{
	if (way == THREAD) {
		EQUAL(pthread_create(&c->thread, NULL, call_in_thread, c), 0);
		return;
	}
	EQUAL(cosy_async_call(loop, &c->op, c->nr, c->args[0], c->args[1], c->args[2], c->args[3],
			      c->args[4], c->args[5]), 0);
	EQUAL(cosy_wait(loop, 0, NULL) < 0, 0);
}

/* The call must wait. */
static void must_wait(struct call *c)
{
	if (way == THREAD) {
		while (!__atomic_load_n(&c->tid, __ATOMIC_ACQUIRE) || !is_asleep(c->tid)) {
			EQUAL(__atomic_load_n(&c->done, __ATOMIC_ACQUIRE), 0);
			sched_yield();
		}
		return;
	}
	for (int i = 0; i < 3; i++)
		EQUAL(cosy_wait(loop, 0, NULL), 0);
	CHECK(cosy_async_pending(&c->op));
}

static int64_t end(struct call *c)
{
	if (way == THREAD)
		EQUAL(pthread_join(c->thread, NULL), 0);
	else
		c->result = result_of(loop, &c->op);
	return c->result;
}

static int64_t call(long nr, int fd, const void *address, size_t size)
{
	struct call c = { .nr = nr, .args = { (uintptr_t)fd, (uintptr_t)address, size } };

	begin(&c);
	return end(&c);
}

/* struct kind - a kind of socket */
struct kind {
	int family, type;
	const char *name;
};

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

static int make_socket(const struct kind *kind)
{
	int flags = way == OPERATION_NONBLOCK ? SOCK_NONBLOCK : 0;
	int fd = socket(kind->family, kind->type | SOCK_CLOEXEC | flags, 0);

	CHECK(fd >= 0);
	return fd;
}

/* Return a socket of a kind with an address. */
static int make_bound(const struct kind *kind, union address *address, socklen_t *size)
{
	int fd = make_socket(kind);

	*address = (union address){ .any.sa_family = (sa_family_t)kind->family };
	*size = sizeof(sa_family_t);
	if (kind->family == AF_INET) {
		address->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		*size = sizeof(address->in);
	} else if (kind->family == AF_INET6) {
		address->in6.sin6_addr = in6addr_loopback;
		*size = sizeof(address->in6);
	}
	EQUAL(bind(fd, &address->any, *size), 0);
	*size = sizeof(*address);
	EQUAL(getsockname(fd, &address->any, size), 0);
	return fd;
}

/* Close a descriptor that operations may have used. */
static void finish(int fd)
{
	cosy_cancel_fd(loop, fd);
	close(fd);
}

static void set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	CHECK(flags >= 0);
	EQUAL(fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK), 0);
}

/* Refused connections; then the address listens, and the socket connects. */
static void refused(const struct kind *kind)
{
	union address to;
	socklen_t size;
	int listener = make_bound(kind, &to, &size), fd = make_socket(kind);

	record(call(SYS_connect, fd, &to, size));
	record(call(SYS_connect, fd, &to, size));
	if (kind->type != SOCK_DGRAM)
		EQUAL(listen(listener, 4), 0);
	record(call(SYS_connect, fd, &to, size));
	record(call(SYS_connect, fd, &to, size));
	record(call(SYS_sendto, fd, "x", 1));
	finish(fd);
	finish(listener);
}

/* The program has begun to connect; the connection is refused, or accepted. */
static void in_progress(const struct kind *kind)
{
	for (int accepted = 0; accepted < 2; accepted++) {
		union address to;
		socklen_t size;
		int listener = make_bound(kind, &to, &size), fd = make_socket(kind);

		if (accepted)
			EQUAL(listen(listener, 4), 0);
		set_nonblock(fd, true);
		EQUAL(connect(fd, &to.any, size), -1);
		EQUAL(errno, EINPROGRESS);
		set_nonblock(fd, way == OPERATION_NONBLOCK);
		record(call(SYS_connect, fd, &to, size));
		record(call(SYS_connect, fd, &to, size));
		finish(fd);
		finish(listener);
	}
}

/* There is no room in the backlog, until a connection is accepted, or the listener is closed. */
static void full_backlog(const struct kind *kind)
{
	for (int accepted = 0; accepted < 2; accepted++) {
		union address to;
		socklen_t size;
		int listener = make_bound(kind, &to, &size), fd = make_socket(kind);
		struct call c = {
			.nr = SYS_connect,
			.args = { (uintptr_t)fd, (uintptr_t)&to, size },
		};
		int others[8], n = 0, err;

		EQUAL(listen(listener, 0), 0);
		do {
			CHECK(n < 8);
			others[n] = make_socket(kind);
			set_nonblock(others[n], true);
			err = connect(others[n++], &to.any, size);
		} while (!err);
		EQUAL(errno, EAGAIN);
		begin(&c);
		must_wait(&c);
		if (accepted)
			close(accept(listener, NULL, NULL));
		else
			finish(listener);
		record(end(&c));
		record(call(SYS_sendto, fd, "x", 1));
		finish(fd);
		if (accepted)
			finish(listener);
		while (n)
			close(others[--n]);
	}
}

/* A call accepts that waits; one whose socket is shut down; one on a socket that does not listen. */
static void accepting(const struct kind *kind)
{
	union address to;
	socklen_t size;
	int listener = make_bound(kind, &to, &size), fd = make_socket(kind);
	struct call c = { .nr = SYS_accept, .args = { (uintptr_t)listener } };

	record(call(SYS_accept, listener, NULL, 0));
	EQUAL(listen(listener, 4), 0);
	begin(&c);
	must_wait(&c);
	set_nonblock(fd, true);
	if (connect(fd, &to.any, size))
		EQUAL(errno, EINPROGRESS);
	CHECK(end(&c) >= 0);
	close((int)c.result);
	c.tid = 0;
	c.done = false;
	begin(&c);
	must_wait(&c);
	EQUAL(shutdown(listener, SHUT_RDWR), 0);
	record(end(&c));
	finish(fd);
	finish(listener);
}

/* Fill what a socket can send. Return the number of calls. */
static int fill(int fd)
{
	static const char bytes[SIZE];
	int n = 0;

	while (send(fd, bytes, SIZE, MSG_DONTWAIT) > 0)
		n++;
	EQUAL(errno, EAGAIN);
	return n;
}

/* A datagram for which the receiver has no room, until it receives, or is closed. */
static void full_receiver(const struct kind *kind)
{
	for (int received = 0; received < 2; received++) {
		static char bytes[SIZE];
		union address to;
		socklen_t size;
		int receiver = make_bound(kind, &to, &size), fd = make_socket(kind);
		struct call c = {
			.nr = SYS_sendto,
			.args = { (uintptr_t)fd, (uintptr_t)bytes, SIZE, MSG_NOSIGNAL },
		};
		int n;

		EQUAL(connect(fd, &to.any, size), 0);
		n = fill(fd);
		begin(&c);
		must_wait(&c);
		if (received) {
			while (n--)
				EQUAL(recv(receiver, bytes, SIZE, 0), SIZE);
		} else {
			finish(receiver);
		}
		record(end(&c));
		finish(fd);
		if (received)
			finish(receiver);
	}
}

/* Calls on a socket without a connection. */
static void unconnected(const struct kind *kind)
{
	int fd = make_socket(kind);

	record(call(SYS_sendto, fd, "x", 1));
	if (kind->type != SOCK_DGRAM)
		record(call(SYS_recvfrom, fd, NULL, 0));
	record(call(SYS_accept, fd, NULL, 0));
	finish(fd);
}

static void compare(const char *name, void (*make)(const struct kind *kind),
		    const struct kind *kind)
{
	situation = name;
	for (way = 0; way < WAYS; way++) {
		nresults = 0;
		make(kind);
	}
	for (way = OPERATION; way < WAYS; way++) {
		for (unsigned int i = 0; i < nresults; i++) {
			if (results[way][i] == results[THREAD][i])
				continue;
			fprintf(stderr, "%s, %s, %s: result %u is %lld, that of the call %lld\n",
				situation, kind->name,
				way == OPERATION ? "blocking" : "O_NONBLOCK", i,
				(long long)results[way][i], (long long)results[THREAD][i]);
			exit(1);
		}
	}
}

int main(void)
{
	static const struct kind kinds[] = {
		{ AF_INET, SOCK_STREAM, "TCP" },
		{ AF_INET6, SOCK_STREAM, "TCP on IPv6" },
		{ AF_UNIX, SOCK_STREAM, "stream of AF_UNIX" },
		{ AF_UNIX, SOCK_SEQPACKET, "packets of AF_UNIX" },
		{ AF_UNIX, SOCK_DGRAM, "datagrams of AF_UNIX" },
		{ AF_INET, SOCK_DGRAM, "UDP" },
	};

	signal(SIGPIPE, SIG_IGN);
	loop = make_loop();
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct kind *kind = &kinds[i];
		const bool connects = kind->type != SOCK_DGRAM;
		int fd = socket(kind->family, kind->type, 0);

		/* There may be no IPv6. */
		if (fd < 0) {
			EQUAL(errno, EAFNOSUPPORT);
			continue;
		}
		finish(fd);
		compare("refused", refused, kind);
		if (connects)
			compare("accepting", accepting, kind);
		if (connects && kind->family != AF_UNIX)
			compare("in progress", in_progress, kind);
		if (connects && kind->family == AF_UNIX)
			compare("full backlog", full_backlog, kind);
		if (kind->family == AF_UNIX && !connects)
			compare("full receiver", full_receiver, kind);
		compare("unconnected", unconnected, kind);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
