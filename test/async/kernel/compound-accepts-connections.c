// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Compounds wait for connections. Each connection wakes one of them, and is never lost.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/compounds.h"

#include <pthread.h>
#include <sys/resource.h>

/* accept() waits for a listening socket without O_NONBLOCK. */
static void accepting(void)
{
	static __u64 frames[2][NREGS + 1];
	struct sockaddr_in name = { .sin_family = AF_INET };
	socklen_t size = sizeof(name);
	struct loop loop;
	int listener = socket(AF_INET, SOCK_STREAM, 0), client, sv[2];
	__u64 one, flags;

	create(&loop, 64);
	check(loop.page->features & COSY_ASYNC_ACCEPTS, "the loop says that it waits in accept()");
	one = LOAD_FOR_LOOPS(SYS(GOT, SYS_accept4, 4), ARG(FD), ARG(BUF), ARG(SIZE),
			     ARGI(SOCK_CLOEXEC), EXIT(1));
	flags = LOAD_FOR_LOOPS(SYS(GOT, SYS_accept4, 4), ARG(FD), ARG(BUF), ARG(SIZE), ARGI(12345),
			       EXIT(1));
	check(!bind(listener, (struct sockaddr *)&name, sizeof(name)) && !listen(listener, 4) &&
	      !getsockname(listener, (struct sockaddr *)&name, &size), "a socket that listens");
	for (__u32 i = 0; i < 2; i++) {
		frames[i][FD] = (__u64)listener;
		start(&loop, i, one, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0, "two compounds wait");
	client = socket(AF_INET, SOCK_STREAM, 0);
	check(!connect(client, (struct sockaddr *)&name, size) && go(&loop, 1) == 1 &&
	      collect(&loop) == 0 && fcntl((int)frames[0][GOT], F_GETFD) == FD_CLOEXEC,
	      "the first one accepts");
	close((int)frames[0][GOT]);
	close(client);
	check(go(&loop, 0) == 0, "the other one waits");
	/* It is too late to notify the client. */
	client = socket(AF_INET, SOCK_STREAM, 0);
	frames[0][BUF] = 8;
	frames[0][SIZE] = 8;
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 1) == (long long)COSY_ASYNC_ENTERED &&
	      go(&loop, 1) == 1 && collect(&loop) == 1 && (long long)frames[1][GOT] == -ECANCELED,
	      "ECANCELED: it is cancelled");
	check(!connect(client, (struct sockaddr *)&name, size) &&
	      run(&loop, one, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EFAULT,
	      "EFAULT: the address is unmapped");
	close(client);
	check(run(&loop, flags, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EINVAL,
	      "EINVAL: unknown flags");
	start(&loop, 0, one, frames[0], 0, 0);
	check(go(&loop, 0) == 0 && !shutdown(listener, SHUT_RD) && go(&loop, 1) == 1 &&
	      collect(&loop) == 0 && (long long)frames[0][GOT] == -EINVAL, "EINVAL: the socket is shut down");
	pair(sv);
	for (int i = 0; i < 3; i++) {
		const int fds[] = { sv[0], device, 1000 };
		const int errors[] = { EINVAL, ENOTSOCK, EBADF };

		frames[0][FD] = (__u64)fds[i];
		check(run(&loop, one, frames[0], 0, 0) == 1 &&
		      (long long)frames[0][GOT] == -errors[i], "error %d", errors[i]);
	}
	close(sv[0]);
	close(sv[1]);
	close(listener);
	destroy(&loop);
}

/* Compounds that wait at the same time. */
#define ACCEPTS 40

/* Entries that were begun, and that have resumed. */
static __u64 executed(const struct loop *loop)
{
	return loop_shows(getpid(), loop->fd, "executed:");
}

static _Atomic pid_t acceptor;

static void *accept_one(void *listener)
{
	int fd;

	acceptor = gettid();
	fd = accept(*(int *)listener, NULL, NULL);
	close(fd);
	return (void *)(intptr_t)fd;
}

static __u64 waiting[2 * ACCEPTS][NREGS + 1];
static struct loop loop, other;
static int listener;
static __u64 accept_once;

/* Let entry @index of a loop wait for a connection, in frame @frame. */
static void wait_in_accept(struct loop *in, uint32_t index, int frame)
{
	waiting[frame][FD] = (__u64)listener;
	start(in, index, accept_once, waiting[frame], 0, 0);
}

/* Close the connection that the compound of frame @frame has accepted; false if there is none. */
static bool close_accepted(int frame)
{
	return (int)returned("accept", (long long)waiting[frame][GOT]) >= 0 &&
	       !close((int)waiting[frame][GOT]);
}

static void connections_wake_those_that_wait_longest(void)
{
	int clients[3];
	__u64 before;

	for (uint32_t i = 0; i < ACCEPTS; i++)
		wait_in_accept(&loop, i, (int)i);
	check(go(&loop, 0) == 0, "%d compounds wait in accept()", ACCEPTS);
	for (int i = 0; i < 3; i++)
		clients[i] = connect_one();
	before = executed(&loop);
	check(go(&loop, 3) == 3 && executed(&loop) - before == 3,
	      "three connections wake three compounds");
	for (int i = 0; i < 3; i++) {
		check(collect(&loop) == i, "the compound that has waited for longest ends");
		close_accepted(i);
		close(clients[i]);
	}
}

/* The notified one is cancelled. The next one gets the connection. */
static void cancelled_one_passes_its_connection_on(void)
{
	int client = connect_one(), index;
	unsigned int ended = 0;

	for (uint32_t i = 3; i < 6; i++)
		enter_loop(&loop, COSY_ASYNC_CANCEL | i);
	check(go(&loop, 4) == 4, "three are cancelled, and one accepts");
	for (int i = 3; i < 7; i++) {
		index = collect(&loop);
		ended += index == 6 ? close_accepted(6) :
				      (long long)waiting[index][GOT] == -ECANCELED;
	}
	check(ended == 4, "the one after the three has the connection");
	close(client);
}

static void loop_that_ends_passes_its_connection_on(void)
{
	int client;

	wait_in_accept(&other, 0, ACCEPTS);
	check(go(&other, 0) == 0, "a compound of another loop waits after the others");
	client = connect_one();
	check(readable(loop.fd) && !readable(other.fd), "only the first loop is notified");
	destroy(&loop);
	check(readable(other.fd) && go(&other, 1) == 1 && collect(&other) == 0 &&
	      close_accepted(ACCEPTS), "the other loop accepts when the first one is closed");
	close(client);
	create(&loop, 64);
}

/* Let a compound of each loop wait; that of @loop was first. */
static void wait_in_both(void)
{
	wait_in_accept(&loop, 0, 0);
	check(go(&loop, 0) == 0, "a compound waits");
	wait_in_accept(&other, 0, 1);
	check(go(&other, 0) == 0, "a compound of the other loop waits");
}

static bool other_accepts(void)
{
	return readable(other.fd) && go(&other, 1) == 1 && collect(&other) == 0 &&
	       close_accepted(1);
}

/* Let the process have no free descriptor. Return its limits. */
static struct rlimit use_all_descriptors(void)
{
	struct rlimit files;
	int fd = dup(0);

	close(fd);
	getrlimit(RLIMIT_NOFILE, &files);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ (rlim_t)fd, files.rlim_max });
	return files;
}

static void limit_is_told_before_a_connection_comes(void)
{
	const struct rlimit files = use_all_descriptors();

	wait_in_accept(&loop, 0, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && (long long)waiting[0][GOT] == -EMFILE,
	      "EMFILE, and no wait: there is no free descriptor");
	setrlimit(RLIMIT_NOFILE, &files);
}

static void one_that_cannot_accept_passes_its_connection_on(void)
{
	struct rlimit files;
	int client;

	wait_in_both();
	client = connect_one();
	close(dup(loop.fd));
	check(collect(&loop) == 0 && is_left(&loop, 0, COSY_AGAIN, 0) && other_accepts(),
	      "the other one accepts when the first one is given back");
	close(client);

	wait_in_both();
	client = connect_one();
	files = use_all_descriptors();
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && (long long)waiting[0][GOT] == -EMFILE,
	      "EMFILE: there is no free descriptor");
	setrlimit(RLIMIT_NOFILE, &files);
	check(other_accepts(), "the other one accepts");
	close(client);
}

/* A thread that blocks gets a connection that the loop does not accept. */
static void thread_accepts(void)
{
	pthread_t thread;
	void *accepted;
	int client;

	wait_in_accept(&loop, 0, 0);
	check(go(&loop, 0) == 0, "a compound waits");
	pthread_create(&thread, NULL, accept_one, &listener);
	while (!acceptor || !is_asleep(acceptor))
		usleep(1000);
	client = connect_one();
	destroy(&loop);
	pthread_join(thread, &accepted);
	check((intptr_t)accepted >= 0, "a thread gets the connection of a loop that is closed, not %d",
	      (int)(intptr_t)accepted);
	close(client);
}

int main(void)
{
	device = open_device();
	load_all();
	accepting();
	accept_once = LOAD_FOR_LOOPS(SYS(GOT, SYS_accept, 3), ARG(FD), ARGI(0), ARGI(0), EXIT(1));
	listener = listen_for(2 * ACCEPTS);
	create(&loop, 64);
	create(&other, 64);
	connections_wake_those_that_wait_longest();
	cancelled_one_passes_its_connection_on();
	loop_that_ends_passes_its_connection_on();
	limit_is_told_before_a_connection_comes();
	one_that_cannot_accept_passes_its_connection_on();
	thread_accepts();
	destroy(&other);
	close(listener);
	return finish();
}
