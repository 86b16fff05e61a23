// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Threads use, close, hand over and end shares at the same time, while others look at
 * their tables by /proc and pidfd_getfd(). Nothing is left open, and the kernel reports nothing.
 */
// RUN: %compile %s -o %t
// RUN: %vm env SECONDS=%seconds %t
#include "compound.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "table.h"

static int device;
static atomic_bool stop;
static _Atomic struct table shared;
static atomic_long calls, made;
static _Atomic pid_t acceptor;

/* Random calls with the present share, which may end meanwhile. */
static void *uses(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;
	struct epoll_event event = { .events = EPOLLIN };
	const int poller = epoll_create1(EPOLL_CLOEXEC);
	int pair[2];
	char c;

	while (!stop) {
		struct table table = shared;
		long fd = COSY_SHARE_FD | table.id << COSY_SHARE_ID_SHIFT | (rand_r(&seed) % 12);

		switch (rand_r(&seed) % 11) {
		case 0:
			if (rand_r(&seed) % 2)
				call_in(table, SYS_dup, fd);
			else
				enter_short(table, SYS_dup, (unsigned int)fd);
			break;
		case 1:
			if (rand_r(&seed) % 2)
				call_in(table, SYS_close, fd);
			else
				enter_short(table, SYS_close, (unsigned int)fd);
			break;
		case 2:
			call_in(table, SYS_pipe2, addr(pair), O_NONBLOCK);
			break;
		case 3:
			call_in(table, SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0,
				addr(pair));
			break;
		case 4:
			call_in(table, SYS_openat, AT_FDCWD, addr("/proc/self/fd"), O_RDONLY);
			break;
		case 5:
			call_in(table, SYS_write, fd, addr("x"), 1);
			break;
		case 6:
			call_in(table, SYS_read, fd, addr(&c), 1);
			break;
		case 7:
			move_fd(table, fd, table.fd, rand_r(&seed) % 2 ? COSY_SHARE_COPY : 0);
			break;
		case 8: {
			int out = (int)move_fd(table, fd, -1, COSY_SHARE_CLOEXEC);

			if (out >= 0)
				close(out);
			break;
		}
		case 9:
			call_in(table, SYS_epoll_ctl, poller, EPOLL_CTL_ADD + rand_r(&seed) % 3, fd, addr(&event));
			break;
		default:
			/* Into itself: must not stay. */
			call_in(table, SYS_dup, table.fd);
		}
		calls++;
	}
	close(poller);
	return NULL;
}

/* End the present share, and make the next one. */
static void *ends(void *arg)
{
	(void)arg;
	while (!stop) {
		struct table old = shared, next;

		usleep(300);
		if (make_table(device, 10, &next))
			continue;
		shared = next;
		if (made++ % 2)
			table_ioctl(old.fd, COSY_SHARE_END, NULL);
		close(old.fd);
	}
	return NULL;
}

/* Look at the tables of all threads. */
static void *looks(void *arg)
{
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	(void)arg;
	while (!stop) {
		DIR *tasks = opendir("/proc/self/task");
		struct dirent *entry;

		while (tasks && (entry = readdir(tasks))) {
			char name[300];
			DIR *fds;

			snprintf(name, sizeof(name), "/proc/self/task/%s/fd", entry->d_name);
			fds = opendir(name);
			while (fds && readdir(fds))
				;
			if (fds)
				closedir(fds);
			snprintf(name, sizeof(name), "/proc/self/task/%s/status", entry->d_name);
			close(open(name, O_RDONLY));
		}
		if (tasks)
			closedir(tasks);
		close((int)syscall(SYS_pidfd_getfd, pidfd, 3, 0));
	}
	close(pidfd);
	return NULL;
}

/* A call that waits while its share ends: what it makes is closed when it returns. */
static void *accepts(void *arg)
{
	const long *listener = arg;
	struct table table = shared;

	acceptor = gettid();
	returned("accept", call_in(table, SYS_accept4, *listener, 0, 0, 0));
	return NULL;
}

static void test_accept_after_end(void)
{
	struct table table = must_make_table(device, 8);
	socklen_t size = sizeof(sa_family_t);
	char address[32] = { AF_UNIX }, c;
	pthread_t thread;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), copy = dup(table.fd);
	long listener = call_in(table, SYS_socket, AF_UNIX, SOCK_STREAM, 0);

	shared = table;
	call_in(table, SYS_bind, listener, addr(address), size);
	size = sizeof(address);
	call_in(table, SYS_listen, listener, 4);
	call_in(table, SYS_getsockname, listener, addr(address), addr(&size));
	pthread_create(&thread, NULL, accepts, &listener);
	while (!acceptor)
		usleep(1000);
	wait_until_asleep_in_module(acceptor);
	/* The thread still holds the listening socket. */
	close(copy);
	check(!connect(fd, (void *)address, size), "a socket whose share has ended still accepts");
	pthread_join(thread, NULL);
	check(read(fd, &c, 1) == 0, "the connection is closed with the share");
	close(fd);
	close(table.fd);
}

int main(void)
{
	pthread_t threads[6];
	struct table last;
	int pair[2], i;

	device = open_device();
	signal(SIGPIPE, SIG_IGN);
	test_accept_after_end();
	shared = must_make_table(device, 10);
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, uses, (void *)(uintptr_t)(i + 1));
	pthread_create(&threads[4], NULL, ends, NULL);
	pthread_create(&threads[5], NULL, looks, NULL);
	usleep((useconds_t)(race_seconds() * 1e6));
	while (calls <= 100 || made <= 10)
		usleep(1000);
	stop = true;
	for (i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	printf("%ld calls in %ld shares\n", calls, made);
	last = shared;
	close(last.fd);
	/* The numbers are free again: nothing was left in the table of the process. */
	check(!pipe(pair) && pair[0] == device + 1 && pair[1] == device + 2,
	      "no descriptor is left in the process's table: %d", pair[0]);
	return finish();
}
