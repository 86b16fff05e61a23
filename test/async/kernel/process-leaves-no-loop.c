// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Nothing is charged to a user after processes with loops have ended, by exit, by exec, and while the
 * loop is in flight in a message.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/ring.h"

#include <sys/wait.h>

static void send_descriptor(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 'd';
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	check(sendmsg(socket, &msg, 0) == 1, "a descriptor is sent");
}

/* Loops of this size: a user can have fewer than ten of them. */
#define LARGE (1 << 17)

static unsigned int how_many(void)
{
	static struct loop loops[64];
	unsigned int n = 0;

	while (n < 64 && !create(&loops[n], LARGE))
		n++;
	for (unsigned int i = 0; i < n; i++)
		destroy(&loops[i]);
	return n;
}

/* Resources of others may be freed in the background. */
static int create_large(struct loop *loop)
{
	int err = -EDQUOT;

	for (int i = 0; i < 6000 && err == -EDQUOT; i++) {
		if (i)
			usleep(100000);
		err = create(loop, LARGE);
	}
	return err;
}

/* A user's charge is unchanged after @leave has run in a child often enough to reach the limit. */
static void leaves_nothing(const char *what, void (*leave)(void))
{
	unsigned int before = how_many(), after;
	int status;

	for (unsigned int i = 0; i < before + 2; i++) {
		pid_t child = fork();

		if (!child) {
			leave();
			_exit(9);
		}
		waitpid(child, &status, 0);
		if (!WIFEXITED(status) || WEXITSTATUS(status)) {
			check(false, "%s: child %u ends with status 0, not %#x", what, i, status);
			return;
		}
	}
	/* Messages in flight are freed in the background. */
	for (int i = 0; i < 6000 && (after = how_many()) != before; i++)
		usleep(100000);
	check(before > 1 && after == before,
	      "%s leaves nothing charged: room for %u loops before, %u after", what, before, after);
}

/* Each takes about 2 ms with the kernel's checkers, and seven processes have this number. */
#define PARKED 2048

static void park_thousands(struct loop *loop)
{
	static char bytes[PARKED];
	unsigned int parked = 0;
	int sv[2];

	if (create_large(loop))
		_exit(2);
	for (uint32_t i = 0; i < PARKED; i++) {
		if (i % 64 == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
			_exit(3);
		submit_recv(loop, i, sv[0], &bytes[i]);
	}
	while (loop->page->submit_head != loop->tail)
		parked += execute(loop) == 0;
	/* Those of the last socket are ready. */
	send(sv[1], "x", 1, 0);
	if (!parked)
		_exit(4);
}

static void leave_by_exit(void)
{
	static struct loop loop;

	park_thousands(&loop);
	_exit(0);
}

static void leave_by_exec(void)
{
	static struct loop loop;

	park_thousands(&loop);
	execl("/proc/self/exe", "async", "execed", NULL);
	_exit(5);
}

static void leave_in_flight(void)
{
	static struct ring ring;
	int sv[2], cycle[2];
	char byte;

	if (create_large(&ring.loop) || ring_map(&ring) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, sv) || socketpair(AF_UNIX, SOCK_STREAM, 0, cycle))
		_exit(2);
	/* On the socket of the message; and on one that is in flight itself. */
	submit_recv(&ring.loop, 0, sv[0], &byte);
	submit_recv(&ring.loop, 1, cycle[0], &byte);
	ring_receive(&ring, 2, sv[0], &byte, 1);
	ring_receive(&ring, 3, cycle[0], &byte, 1);
	if (execute(&ring.loop) || ring_execute(&ring) || ring.page->waiting != 2)
		_exit(3);
	send_descriptor(sv[1], ring.loop.fd);
	send_descriptor(sv[1], device);
	send_descriptor(cycle[1], ring.loop.fd);
	send_descriptor(cycle[1], cycle[0]);
	_exit(failures ? 4 : 0);
}

/*
 * Receives wait for sockets of which only the ring still has something, and for a descriptor that
 * needs a long table.
 */
static void leave_ring(void)
{
	static struct ring ring;
	char byte;
	int sv[2];

	if (create_large(&ring.loop) || ring_map(&ring))
		_exit(2);
	for (int i = 0; i < 200; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
			_exit(3);
		ring_receive(&ring, 1, sv[0], &byte, 1);
		if (i % 4)
			continue;
		if (ring_execute(&ring) < 0)
			_exit(4);
		close(sv[i % 8 / 4]);
	}
	if (dup2(sv[0], 1023) == 1023)
		ring_receive(&ring, 2, 1023, &byte, 1);
	_exit(ring_execute(&ring) < 0 ? 5 : 0);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return 0;
	device = open_device();
	become_user(61000);
	leaves_nothing("exit", leave_by_exit);
	leaves_nothing("exec", leave_by_exec);
	leaves_nothing("a loop in flight", leave_in_flight);
	leaves_nothing("a ring", leave_ring);
	return finish();
}
