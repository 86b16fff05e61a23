// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Compounds wait for connections. Each connection wakes one of them, and is never lost.
 */
// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

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
	check(go(&loop, 0) == 0, "two wait");
	client = socket(AF_INET, SOCK_STREAM, 0);
	check(!connect(client, (struct sockaddr *)&name, size) && go(&loop, 1) == 1 &&
	      collect(&loop) == 0 && fcntl((int)frames[0][GOT], F_GETFD) == FD_CLOEXEC,
	      "the first one gets the connection");
	close((int)frames[0][GOT]);
	close(client);
	check(go(&loop, 0) == 0, "the other one waits");
	/* It is too late to notify the client. */
	client = socket(AF_INET, SOCK_STREAM, 0);
	frames[0][BUF] = 8;
	frames[0][SIZE] = 8;
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 1) == (long long)COSY_ASYNC_ENTERED &&
	      go(&loop, 1) == 1 && collect(&loop) == 1 && (long long)frames[1][GOT] == -ECANCELED,
	      "it is cancelled");
	check(!connect(client, (struct sockaddr *)&name, size) &&
	      run(&loop, one, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EFAULT,
	      "no address");
	close(client);
	check(run(&loop, flags, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EINVAL,
	      "unknown flags");
	start(&loop, 0, one, frames[0], 0, 0);
	check(go(&loop, 0) == 0 && !shutdown(listener, SHUT_RD) && go(&loop, 1) == 1 &&
	      collect(&loop) == 0 && (long long)frames[0][GOT] == -EINVAL, "it listens no more");
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

/* Each connection wakes one waiter, and is never lost. */
#define ACCEPTS 40

/* Entries that were begun, and that have resumed. */
static __u64 executed(const struct loop *loop)
{
	unsigned long long n = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", loop->fd);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "executed: %llu", &n);
	if (file)
		fclose(file);
	return n;
}

static void *accept_one(void *listener)
{
	close(accept(*(int *)listener, NULL, NULL));
	return NULL;
}

static void accepting_in_turn(void)
{
	static __u64 frames[2 * ACCEPTS][NREGS + 1];
	struct loop loop, other, *loops[] = { &loop, &other };
	int listener = listen_for(2 * ACCEPTS), clients[ACCEPTS], fd, index;
	unsigned int ended = 0;
	struct rlimit files;
	__u64 one, before;
	pthread_t thread;

	one = LOAD_FOR_LOOPS(SYS(GOT, SYS_accept, 3), ARG(FD), ARGI(0), ARGI(0), EXIT(1));
	create(&loop, 64);
	create(&other, 64);
	for (uint32_t i = 0; i < ACCEPTS; i++) {
		frames[i][FD] = (__u64)listener;
		start(&loop, i, one, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0, "many wait");
	for (uint32_t i = 0; i < 3; i++)
		clients[i] = connect_one();
	before = executed(&loop);
	check(go(&loop, 3) == 3 && executed(&loop) - before == 3, "three connections wake three");
	for (uint32_t i = 0; i < 3; i++) {
		check(collect(&loop) == (int)i, "those that have waited for longest");
		close((int)frames[i][GOT]);
		close(clients[i]);
	}

	/* The notified one is cancelled. The next one gets the connection. */
	clients[0] = connect_one();
	for (uint32_t i = 3; i < 6; i++)
		enter_loop(&loop, COSY_ASYNC_CANCEL | i);
	check(go(&loop, 4) == 4, "three are cancelled, and the next one goes on");
	for (int i = 3; i < 7; i++) {
		index = collect(&loop);
		ended += index == 6 ? (int)frames[6][GOT] >= 0 && !close((int)frames[6][GOT]) :
				      (long long)frames[index][GOT] == -ECANCELED;
	}
	check(ended == 4, "with the connection");
	close(clients[0]);

	/* Another loop also waits. The first one is notified, and ends. */
	frames[ACCEPTS][FD] = (__u64)listener;
	start(&other, 0, one, frames[ACCEPTS], 0, 0);
	check(go(&other, 0) == 0, "another loop waits behind them");
	clients[0] = connect_one();
	check(readable(loop.fd) && !readable(other.fd), "it is not told");
	destroy(&loop);
	check(readable(other.fd) && go(&other, 1) == 1 && collect(&other) == 0 &&
	      !close((int)frames[ACCEPTS][GOT]), "it is when the first one is gone");
	close(clients[0]);

	/* One that is left does not keep the connection. */
	create(&loop, 64);
	for (int i = 0; i < 2; i++) {
		start(loops[i], 0, one, frames[i], 0, 0);
		check(go(loops[i], 0) == 0, "one waits");
	}
	clients[0] = connect_one();
	close(dup(loop.fd));
	check(collect(&loop) == 0 && is_left(&loop, 0, COSY_AGAIN, 0) && readable(other.fd) &&
	      go(&other, 1) == 1 && collect(&other) == 0 && !close((int)frames[1][GOT]),
	      "one that is given back passes it on");
	close(clients[0]);

	/* The same for one that has no free number for it. */
	for (int i = 0; i < 2; i++) {
		start(loops[i], 0, one, frames[i], 0, 0);
		go(loops[i], 0);
	}
	clients[0] = connect_one();
	getrlimit(RLIMIT_NOFILE, &files);
	fd = dup(0);
	close(fd);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ (rlim_t)fd, files.rlim_max });
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && (long long)frames[0][GOT] == -EMFILE,
	      "no number is left");
	setrlimit(RLIMIT_NOFILE, &files);
	check(readable(other.fd) && go(&other, 1) == 1 && collect(&other) == 0 &&
	      !close((int)frames[1][GOT]), "the other one gets it");
	close(clients[0]);

	/* A thread that blocks gets a connection that the loop does not accept. */
	start(&loop, 0, one, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "one waits");
	pthread_create(&thread, NULL, accept_one, &listener);
	usleep(100000);
	clients[0] = connect_one();
	destroy(&loop);
	pthread_join(thread, NULL);
	close(clients[0]);
	destroy(&other);
	close(listener);
}

int main(void)
{
	device = open_device();
	load_all();
	accepting();
	accepting_in_turn();
	return finish();
}
