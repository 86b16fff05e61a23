// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Rings of loops in the module. A call completes once, with its own result. Receives are made after
 * calls, and wait for their socket without keeping it open. What the module cannot make is given
 * back with its arguments, in order. attacks-on-a-ring-fail.c attacks rings.
 */

// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/ring.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

static void creating(void)
{
	const int both = PROT_READ | PROT_WRITE;
	struct ring ring;
	struct loop loop;
	size_t size = COSY_RING_SIZE(64);

	create(&loop, 64);
	check(loop.page->features & COSY_ASYNC_RING, "the module says that loops have rings");
	check(enter_loop(&loop, COSY_ASYNC_RING_ENTER | 1) == -EINVAL,
	      "EINVAL: the loop has no ring yet");
	check(mmap(NULL, size, both, MAP_PRIVATE, loop.fd, COSY_RING_OFFSET) == MAP_FAILED &&
	      mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED, loop.fd, COSY_RING_OFFSET) ==
		      MAP_FAILED &&
	      mmap(NULL, size + 4096, both, MAP_SHARED, loop.fd, COSY_RING_OFFSET) == MAP_FAILED &&
	      mmap(NULL, size - 4096, both, MAP_SHARED, loop.fd, COSY_RING_OFFSET) == MAP_FAILED,
	      "a ring cannot be mapped as private, as executable, or with another size");
	destroy(&loop);
	check(!ring_create(&ring, 64), "a ring is made");
	check(mmap(NULL, size, both, MAP_SHARED, ring.loop.fd, COSY_RING_OFFSET) == MAP_FAILED,
	      "a ring cannot be mapped twice");
	check(mprotect(ring.page, size, PROT_READ | PROT_EXEC) == -1,
	      "a ring cannot be made executable later");
	check(mremap(ring.page, size, size * 2, MREMAP_MAYMOVE) == MAP_FAILED,
	      "its mapping cannot grow");
	check(ring.page->version == COSY_RING_VERSION && ring.page->nentries == 64,
	      "its page has a valid header");
	check(ring_command(&ring, COSY_RING_MIN - 1) == -EINVAL &&
	      ring_command(&ring, COSY_RING_MAX + 1) == -EINVAL,
	      "EINVAL: the number of completions is too small or too large");
	check(ring_execute(&ring) == 0, "a new ring has nothing to execute");
	ring_destroy(&ring);
}

static void calls(void)
{
	unsigned int good = 0;
	long long result, fd;
	struct ring ring;
	char st[256];
	int fds[2];

	ring_create(&ring, 128);
	for (uint64_t i = 1; i <= 100; i++)
		ring_call(&ring, i, i % 2 ? SYS_getpid : SYS_getppid, 0, 0, 0, 0);
	check(ring_command(&ring, 64) == (long long)(COSY_ASYNC_ENTERED | 64),
	      "64 of 100 calls are made at a time");
	check(ring_execute(&ring) == 36, "the other 36 are made");
	for (uint64_t i = 1; i <= 100; i++)
		good += ring_collect(&ring, &result) == i &&
			result == (i % 2 ? getpid() : getppid());
	check(good == 100 && !ring_collect(&ring, &result), "each call completes once, in order");
	for (int i = 0; i < 1000; i++) {
		ring_call(&ring, 7, SYS_getuid, 0, 0, 0, 0);
		good += ring_completes(&ring, 7, getuid());
	}
	check(good == 1100, "1000 more calls use the places again");
	ring_call(&ring, 8, SYS_newfstatat, AT_FDCWD, (uintptr_t)"/proc", (uintptr_t)st, 0);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 8, SYS_newfstatat, 0) &&
	      !strcmp((char *)ring.page->given->args[1], "/proc"),
	      "a call that may have to wait is given back");
	ring_call(&ring, 9, SYS_statx, AT_FDCWD, (uintptr_t)"/nonexistent", 0, 0x7ff);
	check(ring_execute(&ring) >= 0, "a call that does not wait is executed");
	ring_collect(&ring, &result);
	ring_call(&ring, 10, SYS_pipe2, (uintptr_t)fds, O_NONBLOCK, 0, 0);
	check(ring_completes(&ring, 10, 0) && !close(fds[1]) && !close(fds[0]),
	      "a call gets its arguments");
	ring_call(&ring, 14, SYS_dup, 0, 0, 0, 0);
	ring_call(&ring, 15, SYS_getpid, 0, 0, 0, 0);
	check(ring_execute(&ring) == 2 && ring_collect(&ring, &result) == 14, "dup() completes");
	check(ring_collect(&ring, &fd) == 15 && fd == getpid(),
	      "a call without arguments is made after another one, not that one again");
	check(fcntl((int)result + 1, F_GETFD) == -1, "one descriptor was made");
	close((int)result);
	fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	ring_call(&ring, 16, SYS_ftruncate, fd, 4096, 0, 0);
	ring_call(&ring, 17, SYS_close, fd, 0, 0, 0);
	ring_execute(&ring);
	check(ring_gave(&ring, 17, SYS_close, 0) || fcntl((int)fd, F_GETFD) == -1,
	      "a close() after another call closes its descriptor, or is given back");
	while (ring_collect(&ring, &result))
		;
	if (ring.page->ngiven)
		close((int)fd);
	ring_call(&ring, 11, SYS_lseek, 0xffff, 0, 0, 0);
	check(ring_completes(&ring, 11, -EBADF), "EBADF: the result of a call that fails");
	ring_call(&ring, 12, COSY_RING_NOP, (uint64_t)-5, 0, 0, 0);
	check(ring_completes(&ring, 12, -5), "COSY_RING_NOP completes with its argument");
	ring_call(&ring, 0, COSY_RING_NOP, 0, 0, 0, 0);
	check(ring_execute(&ring) == 0, "COSY_RING_NOP without an operation does not complete");
	for (size_t i = 0; i < 5; i++) {
		static const uint32_t numbers[] = { SYS_fork, SYS_recvfrom, 511, 512, COSY_RING_NOP - 1 };

		ring_call(&ring, 13, numbers[i], 1, 2, 3, 4);
		check(ring_execute(&ring) == 0 && ring_gave(&ring, 13, numbers[i], 0) &&
		      ring.page->given->args[0] == 1 && ring.page->given->args[3] == 4,
		      "call %u is given back with its arguments", numbers[i]);
	}
	ring_destroy(&ring);
}

/*
 * Batches of calls that never wait, beside others, end at any place of the page. Each completes in order,
 * with its own arguments, unless it has no operation.
 */
static void batches(void)
{
	unsigned int good = 0, quiet = 0;
	long long result, offset = 0;
	struct ring ring;
	char bytes[64];
	int sv[2], fd;

	ring_create(&ring, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	for (unsigned int n = 1; n <= 60; n++) {
		unsigned int expected = 0;

		for (unsigned int i = 1; i <= n; i++) {
			const uint64_t op = i % 9 ? i : 0;

			expected += !!op;
			if (i % 3 == 0)
				ring_call(&ring, op, SYS_lseek, (unsigned int)fd, 1, SEEK_CUR, 0);
			else if (i % 11 == 0)
				ring_call(&ring, op, SYS_sendto, (unsigned int)sv[0], (uintptr_t)"x", 1, 0);
			else
				ring_call(&ring, op, i % 2 ? SYS_getpid : SYS_getppid, 0, 0, 0, 0);
		}
		check(ring_execute(&ring) == (int)expected, "%u of %u calls complete", expected, n);
		for (unsigned int i = 1; i <= n; i++) {
			const long long moved = i % 3 == 0 ? ++offset : 0;

			if (i % 9 == 0) {
				quiet++;
				continue;
			}
			good += ring_collect(&ring, &result) == i &&
				result == (moved ?: i % 11 == 0 ? 1 : i % 2 ? getpid() : getppid());
		}
		recv(sv[1], bytes, sizeof(bytes), MSG_DONTWAIT);
	}
	check(good + quiet == 60 * 61 / 2, "each call of a batch has its result: %u and %u", good, quiet);
	check(lseek(fd, 0, SEEK_CUR) == offset, "calls without an operation are made once, too");
	close(fd);
	close(sv[0]);
	close(sv[1]);
	ring_destroy(&ring);
}

static void receiving(void)
{
	unsigned int at_once = 0, waited = 0;
	char bytes[4] = "";
	long long result;
	struct ring ring;
	int a[2], b[2];

	ring_create(&ring, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, a);
	socketpair(AF_UNIX, SOCK_STREAM, 0, b);
	ring_receive(&ring, 1, a[0], &bytes[0], 1);
	check(ring_execute(&ring) == 0 && ring.page->waiting == 1, "a receive without data waits");
	check(!readable(ring.loop.fd), "the loop is not readable meanwhile");
	send(a[1], "x", 1, 0);
	check(readable(ring.loop.fd), "an event makes the loop's descriptor readable");
	check(ring_completes(&ring, 1, 1) && bytes[0] == 'x' && ring.page->waiting == 0,
	      "the receive completes after the event");
	check(!readable(ring.loop.fd), "the loop is not readable any more");
	for (int i = 0; i < 20; i++) {
		send(a[1], "y", 1, 0);
		ring_receive(&ring, 2, a[0], &bytes[0], 1);
		at_once += ring_completes(&ring, 2, 1);
		bytes[1] = 0;
		ring_receive(&ring, 3, a[0], &bytes[1], 1);
		waited += ring_execute(&ring) == 0 && send(a[1], "z", 1, 0) == 1 &&
			  ring_completes(&ring, 3, 1) && bytes[1] == 'z';
	}
	check(at_once == 20, "a receive with data completes at once, 20 times: %u", at_once);
	check(waited == 20, "a receive without data waits, and then completes, 20 times: %u", waited);

	/* In one entry: the send, whose data is received then. */
	ring_receive(&ring, 4, a[0], &bytes[2], 1);
	ring_call(&ring, 5, SYS_sendto, a[1], (uintptr_t)"w", 1, 0);
	check(ring_execute(&ring) == 2 && ring_collect(&ring, &result) == 5 &&
	      ring_collect(&ring, &result) == 4 && result == 1 && bytes[2] == 'w',
	      "a send is made before the receive, which gets its data");

	/* After a completion, the first receive that waits ends the attempts. */
	ring_receive(&ring, 6, a[0], &bytes[0], 1);
	ring_receive(&ring, 7, b[0], &bytes[1], 1);
	ring_call(&ring, 8, SYS_getpid, 0, 0, 0, 0);
	check(ring_command(&ring, 64) == (long long)(COSY_ASYNC_ENTERED | 1) &&
	      ring.page->waiting == 1 && ring.page->receives_head + 1 == ring.receives_tail,
	      "after a completion, one receive waits and the next one is delayed");
	send(b[1], "v", 1, 0);
	ring_collect(&ring, &result);
	check(ring_completes(&ring, 7, 1), "the delayed receive completes");
	close(a[1]);
	check(ring_completes(&ring, 6, 0), "0: the end of the connection");
	ring_receive(&ring, 9, b[0], NULL, 1);
	send(b[1], "u", 1, 0);
	check(ring_completes(&ring, 9, -EFAULT), "EFAULT: the buffer is unmapped");
	ring_receive(&ring, 9, b[0], (void *)-4096, 64);
	check(ring_completes(&ring, 9, -EFAULT), "EFAULT: the buffer is in the kernel");
	close(a[0]);
	close(b[0]);
	close(b[1]);
	ring_destroy(&ring);
}

static void given_back(void)
{
	const int small = 1;
	static char many[1 << 20];
	char bytes[4] = "";
	long long result;
	struct ring ring;
	int sv[2], fds[2];

	ring_create(&ring, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	ring_receive(&ring, 1, sv[0], &bytes[0], 1);
	ring_receive(&ring, 2, sv[0], &bytes[1], 2);
	check(ring_execute(&ring) == 0 && ring.page->ngiven == 2 && ring.page->given[0].op == 1 &&
	      ring.page->given[1].op == 2 && ring.page->given[0].args[1] == (uintptr_t)&bytes[0] &&
	      ring.page->given[1].args[2] == 2 && ring.page->waiting == 0,
	      "two receives of a descriptor are given back in order");
	pipe(fds);
	ring_receive(&ring, 3, fds[0], &bytes[0], 1);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 3, SYS_recvfrom, 0),
	      "a receive from a pipe is given back");
	ring_receive(&ring, 4, 0xfffffff, &bytes[0], 1);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 4, SYS_recvfrom, 0),
	      "a receive from a descriptor that is not open is given back");
	for (int flag = 1; flag; flag <<= 1) {
		if (!(flag & COSY_RING_RECEIVE_UNUSUAL))
			continue;
		ring_receive(&ring, 5, sv[0], &bytes[0], 1);
		ring.receives[(ring.receives_tail - 1) % 64].args[3] = (unsigned int)flag;
		check(ring_execute(&ring) == 0 && ring_gave(&ring, 5, SYS_recvfrom, 0),
		      "a receive with the flags %#x is given back", flag);
	}
	setsockopt(sv[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	ring_call(&ring, 7, SYS_sendto, sv[0], (uintptr_t)many, sizeof(many), 0);
	ring_call(&ring, 8, SYS_sendto, sv[0], (uintptr_t)"x", 1, 0);
	check(ring_execute(&ring) == 0 && ring.page->ngiven == 1 && ring.page->given->op == 7 &&
	      ring.page->given->flags > 0 && ring.page->given->flags < sizeof(many) &&
	      ring.page->calls_head + 1 == ring.calls_tail,
	      "a send of a part is given back with the number of bytes, and the next send is not made");
	ring.calls[(ring.calls_tail - 1) % 64].op = 0;
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 0, SYS_sendto, 0),
	      "a send without room that would not complete is given back");
	shutdown(sv[0], SHUT_WR);
	signal(SIGPIPE, SIG_IGN);
	ring_call(&ring, 9, SYS_sendto, sv[0], (uintptr_t)"x", 1, 0);
	check(ring_execute(&ring) == 1 && ring_collect(&ring, &result) == 9 && result == -EPIPE,
	      "EPIPE: the connection is shut down");
	close(fds[0]);
	close(fds[1]);
	close(sv[0]);
	close(sv[1]);
	ring_destroy(&ring);
}

static void cancelling(void)
{
	struct cosy_ring_entry *entry;
	char bytes[4] = "";
	struct ring ring;
	int sv[2], copy;

	ring_create(&ring, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	ring_receive(&ring, 1, sv[0], &bytes[0], 1);
	ring_execute(&ring);
	ring_call(&ring, 0, COSY_RING_CANCEL, sv[0], 2, 0, 0);
	check(ring_execute(&ring) == 0 && ring.page->waiting == 1,
	      "cancelling another operation has no effect");
	ring_call(&ring, 0, COSY_RING_CANCEL, sv[0], 1, 0, 0);
	ring_call(&ring, 0, COSY_RING_CANCEL, 0xfffffffffffull, 1, 0, 0);
	check(ring_execute(&ring) == 0 && ring.page->waiting == 0,
	      "a cancelled receive does not wait");
	send(sv[1], "ab", 2, 0);
	check(ring_execute(&ring) == 0 && !bytes[0], "a cancelled receive is not made");
	ring_receive(&ring, 2, sv[0], &bytes[1], 1);
	check(ring_completes(&ring, 2, 1) && bytes[1] == 'a', "the next receive gets the data");
	recv(sv[0], bytes, 1, 0);

	ring_receive(&ring, 3, sv[0], &bytes[2], 1);
	ring_execute(&ring);
	check(ring_command(&ring, COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
		      (long long)(COSY_ASYNC_ENTERED | 1) &&
	      ring_gave(&ring, 3, SYS_recvfrom, COSY_RING_WAITED) && ring.page->waiting == 0,
	      "a receive is given back when its descriptor is cancelled");
	check(ring_command(&ring, COSY_ASYNC_CANCEL_FD | 0xffffffff) ==
		      (long long)COSY_ASYNC_ENTERED && !ring.page->ngiven,
	      "no receive waits for an unknown descriptor");

	ring_receive(&ring, 4, sv[0], &bytes[3], 1);
	ring_execute(&ring);
	check(ring_command(&ring, COSY_ASYNC_CANCEL) == (long long)(COSY_ASYNC_ENTERED | 1) &&
	      ring.page->receives_head + 1 == ring.receives_tail && !ring.page->waiting,
	      "receives that wait are put back to the ring");
	entry = &ring.receives[ring.page->receives_head % 64];
	check(entry->op == 4 && entry->nr == SYS_recvfrom && entry->args[0] == (unsigned int)sv[0] &&
	      entry->args[1] == (uintptr_t)&bytes[3] && entry->args[2] == 1,
	      "a receive that is put back has its arguments");
	entry->nr = COSY_RING_NOP;
	entry->op = 0;
	check(ring_execute(&ring) == 0 && !ring.page->waiting,
	      "an entry that was overwritten after it was put back does not receive");

	/* A copy of the descriptor may have been the only one. */
	ring_receive(&ring, 5, sv[0], &bytes[3], 1);
	ring_execute(&ring);
	copy = dup(ring.loop.fd);
	close(copy);
	check(!ring.page->waiting && ring.page->receives_head + 1 == ring.receives_tail,
	      "receives are put back when a descriptor of the loop is closed");
	check(ring_execute(&ring) == 0 && ring.page->waiting == 1,
	      "a receive that was put back waits again");
	close(ring.loop.fd);
	check(!ring.page->waiting && ring.receives[ring.page->receives_head % 64].op == 5,
	      "the receive is put back when the last descriptor is closed");
	close(sv[0]);
	close(sv[1]);
	munmap(ring.page, ring.size);
	munmap(ring.loop.page, ring.loop.size);
}

static void closing(void)
{
	char bytes[2];
	struct ring ring;
	int sv[2], other[2], fd, copy;

	ring_create(&ring, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	socketpair(AF_UNIX, SOCK_STREAM, 0, other);
	ring_receive(&ring, 1, sv[0], bytes, 1);
	ring_execute(&ring);
	close(sv[0]);
	check(recv(sv[1], bytes, 1, 0) == 0, "a receive does not keep its socket open");
	check(ring_command(&ring, COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
	      (long long)(COSY_ASYNC_ENTERED | 1),
	      "a receive of a closed socket waits until the process cancels its descriptor");
	close(sv[1]);

	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	ring_receive(&ring, 1, sv[0], bytes, 1);
	ring_execute(&ring);
	fd = sv[0];
	copy = dup(fd);
	dup2(other[0], fd);
	send(sv[1], "x", 1, 0);
	check(ring_completes(&ring, 1, -ECANCELED),
	      "ECANCELED: the descriptor is another file now");
	send(other[1], "x", 1, 0);
	ring_receive(&ring, 2, fd, bytes, 1);
	check(ring_completes(&ring, 2, 1) && bytes[0] == 'x',
	      "the next receive gets the data of the new file");
	ring_receive(&ring, 3, fd, bytes, 1);
	check(ring_execute(&ring) == 0 && send(other[1], "y", 1, 0) == 1 &&
	      ring_completes(&ring, 3, 1), "a receive waits for the new file");
	close(fd);
	close(copy);
	close(sv[1]);
	close(other[0]);
	close(other[1]);
	ring_destroy(&ring);
}

/* Calls that complete at once, again and again, do not keep receives from being made. */
static void starvation(unsigned int max)
{
	char bytes[3] = "";
	long long result;
	struct ring ring;
	int a[2], b[2], rounds;
	bool made = false, cancelled = true;

	ring_create(&ring, 512);
	socketpair(AF_UNIX, SOCK_STREAM, 0, a);
	socketpair(AF_UNIX, SOCK_STREAM, 0, b);
	ring_receive(&ring, 1000, b[0], &bytes[1], 1);
	ring_execute(&ring);
	send(a[1], "x", 1, 0);
	send(b[1], "y", 1, 0);
	ring_receive(&ring, 1001, a[0], &bytes[0], 1);
	for (int i = 0; i < 200; i++)
		ring_call(&ring, 1, SYS_getppid, 0, 0, 0, 0);
	/* It comes after all calls, but the process has completed the operation. */
	ring_call(&ring, 0, COSY_RING_CANCEL, b[0], 1000, 0, 0);
	for (rounds = 0; rounds < 100 && !made; rounds++) {
		uint64_t op;

		if (ring_command(&ring, max) < 0)
			break;
		while ((op = ring_collect(&ring, &result))) {
			made |= op == 1001;
			cancelled &= op != 1000;
			if (op == 1)
				ring_call(&ring, 1, SYS_getppid, 0, 0, 0, 0);
		}
	}
	check(made && rounds < 20,
	      "a receive is made beside calls that always complete: round %d, %u calls at a time",
	      rounds, max);
	check(cancelled && !bytes[1], "the receive that was cancelled is not made");
	ring_destroy(&ring);
	close(a[0]);
	close(a[1]);
	close(b[0]);
	close(b[1]);
}

static struct {
	struct ring ring;
	pthread_t thread;
	pid_t tid;
	long long left;
} sleeper;

static void *sleep_in_ring(void *unused)
{
	__atomic_store_n(&sleeper.tid, gettid(), __ATOMIC_RELEASE);
	sleeper.left = ring_command(&sleeper.ring, COSY_ASYNC_SLEEP | COSY_RING_MAX);
	return unused;
}

static void fall_asleep(void)
{
	sleeper.tid = 0;
	pthread_create(&sleeper.thread, NULL, sleep_in_ring, NULL);
	while (!__atomic_load_n(&sleeper.tid, __ATOMIC_ACQUIRE) || !is_asleep(sleeper.tid))
		sched_yield();
}

/* Return what the thread has returned, without COSY_ASYNC_ENTERED. */
static long long wake_up(void)
{
	pthread_join(sleeper.thread, NULL);
	return sleeper.left - (long long)COSY_ASYNC_ENTERED;
}

static void nothing(int signal)
{
	(void)signal;
}

static void sleeping(void)
{
	struct ring *ring = &sleeper.ring;
	struct sigaction action = { .sa_handler = nothing };
	long long result;
	char byte;
	int sv[2], event;

	ring_create(ring, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	event = eventfd(0, 0);
	sigaction(SIGUSR1, &action, NULL);
	ring_receive(ring, 1, sv[0], &byte, 1);
	fall_asleep();
	send(sv[1], "x", 1, 0);
	check(wake_up() == 1 && ring_collect(ring, &result) == 1 && result == 1,
	      "data wakes the thread");
	ring_receive(ring, 2, sv[0], &byte, 1);
	fall_asleep();
	check(ring_command(ring, COSY_ASYNC_SLEEP | COSY_RING_MIN) == -EBUSY,
	      "EBUSY: another thread sleeps in the ring");
	check(ring_command(ring, COSY_ASYNC_WORK) == (long long)COSY_ASYNC_ENTERED && wake_up() == 0,
	      "another thread wakes the sleeping one");
	ring_command(ring, COSY_ASYNC_WORK);
	check(ring_command(ring, COSY_ASYNC_SLEEP | COSY_RING_MIN) == (long long)COSY_ASYNC_ENTERED,
	      "a thread that is woken before it sleeps does not sleep");
	fall_asleep();
	pthread_kill(sleeper.thread, SIGUSR1);
	check(wake_up() == COSY_ASYNC_SIGNAL, "a signal wakes the thread");
	ring->page->sleep_ns = 1000000;
	check(ring_command(ring, COSY_ASYNC_SLEEP | COSY_RING_MIN) ==
	      (long long)(COSY_ASYNC_ENTERED | COSY_ASYNC_TIMEOUT), "the time ends the sleep");
	ring->page->sleep_ns = COSY_ASYNC_FOR_EVER;
	ring->page->sleep_fd = event;
	fall_asleep();
	eventfd_write(event, 1);
	check(wake_up() == COSY_ASYNC_READABLE, "an event of another file wakes the thread");
	ring->page->sleep_fd = -1;
	fall_asleep();
	check(ring_command(ring, COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
	      (long long)(COSY_ASYNC_ENTERED | 1), "another thread enters while one sleeps");
	close(dup(ring->loop.fd));
	check(wake_up() == 0, "closing a descriptor of the loop wakes the thread");
	ring_call(ring, 3, SYS_getpid, 0, 0, 0, 0);
	check(ring_command(ring, COSY_ASYNC_SLEEP | COSY_RING_MIN) ==
	      (long long)(COSY_ASYNC_ENTERED | 1),
	      "a thread with a completion does not sleep");
	ring_collect(ring, &result);
	ring_call(ring, 4, SYS_fork, 0, 0, 0, 0);
	check(ring_command(ring, COSY_ASYNC_SLEEP | COSY_RING_MIN) == (long long)COSY_ASYNC_ENTERED &&
	      ring_gave(ring, 4, SYS_fork, 0),
	      "a thread with an entry that is given back does not sleep");

	/* The thread that sleeps in the loop is woken, too, to execute the ring. */
	ring_receive(ring, 5, sv[0], &byte, 1);
	ring_execute(ring);
	ring->loop.page->sleep_fd = -1;
	ring->loop.page->sleep_ns = COSY_ASYNC_FOR_EVER;
	send(sv[1], "y", 1, 0);
	check(enter_loop(&ring->loop, COSY_ASYNC_SLEEP | 1) == (long long)COSY_ASYNC_ENTERED,
	      "a thread in the loop does not sleep while the ring has work");
	check(ring_completes(ring, 5, 1), "the receive of the ring completes");
	close(event);
	close(sv[0]);
	close(sv[1]);
	ring_destroy(ring);
}

/* In a child that is watched, calls are given back. Return a bit for each failed check. */
static int watched_child(bool traced)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 99),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_recvfrom, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 98),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };
	const int made = traced ? 0 : 1;
	struct ring ring;
	char bytes[3];
	int sv[2], other[2], bad = 0;

	ring_create(&ring, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	socketpair(AF_UNIX, SOCK_STREAM, 0, other);
	ring_receive(&ring, 1, sv[0], bytes, 1);
	ring_receive(&ring, 2, other[0], bytes, 2);
	ring_execute(&ring);
	if (traced ? ptrace(PTRACE_TRACEME, 0, 0, 0) :
		     prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
			     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 255;
	ring_call(&ring, 3, SYS_getppid, 0, 0, 0, 0);
	bad |= (ring_execute(&ring) != 0 || !ring_gave(&ring, 3, SYS_getppid, 0)) << 0;
	ring_call(&ring, 4, SYS_getpid, 0, 0, 0, 0);
	bad |= (ring_execute(&ring) != made || ring.page->ngiven != 1u - (unsigned int)made) << 1;
	send(sv[1], "x", 1, 0);
	bad |= (ring_execute(&ring) != made || ring.page->ngiven != 1u - (unsigned int)made) << 2;
	send(other[1], "x", 1, 0);
	bad |= (ring_execute(&ring) != 0 || !ring_gave(&ring, 2, SYS_recvfrom, COSY_RING_WAITED) ||
		ring.page->given->args[2] != 2) << 3;
	ring_receive(&ring, 5, other[0], bytes, 2);
	bad |= (ring_execute(&ring) != 0 || !ring_gave(&ring, 5, SYS_recvfrom, 0)) << 4;
	ring_receive(&ring, 6, other[0], bytes, 1);
	bad |= (ring_execute(&ring) != made || ring.page->ngiven != 1u - (unsigned int)made) << 5;
	return bad;
}

static void watched(void)
{
	for (int traced = 0; traced < 2; traced++) {
		pid_t pid = fork();
		int status;

		if (!pid)
			_exit(watched_child(traced));
		waitpid(pid, &status, 0);
		check(WIFEXITED(status) && !WEXITSTATUS(status), "a %s thread sees its calls: %#x",
		      traced ? "traced" : "filtered", status);
	}
}

static void children(void)
{
	struct ring ring;
	int status;
	pid_t pid;

	ring_create(&ring, 64);
	pid = fork();
	if (!pid) {
		bool refused = ring_command(&ring, COSY_RING_MIN) == -EPERM &&
			       ring_command(&ring, COSY_ASYNC_WORK) == -EPERM &&
			       mmap(NULL, ring.size, PROT_READ, MAP_SHARED, ring.loop.fd,
				    COSY_RING_OFFSET) == MAP_FAILED;

		_exit(!refused);
	}
	waitpid(pid, &status, 0);
	check(!status, "a child can neither map nor enter the ring");
	ring_call(&ring, 1, SYS_lseek, ring.loop.fd,
		  (uint64_t)(COSY_RUN_TAG | COSY_ASYNC_RING_ENTER | 1), COSY_RUN_WHENCE, 0);
	check(ring_completes(&ring, 1, -EBUSY), "EBUSY: a call of the ring cannot enter it");
	/* Only files are closed at once: what waits for others has to end before. */
	ring_call(&ring, 3, SYS_close, ring.loop.fd, 0, 0, 0);
	ring_command(&ring, COSY_RING_MIN);
	check(ring.page->ngiven == 1 && ring.page->given[0].nr == SYS_close &&
	      fcntl(ring.loop.fd, F_GETFD) >= 0, "close() of the loop is given back");
	ring_call(&ring, 2, SYS_close_range, ring.loop.fd, ring.loop.fd, 0, 0);
	ring_command(&ring, COSY_RING_MIN);
	check(fcntl(ring.loop.fd, F_GETFD) == -1 && ring.done[1].op == 2 && !ring.done[1].result,
	      "close_range() of the loop is made, and closes it");
	munmap(ring.page, ring.size);
	munmap(ring.loop.page, ring.loop.size);
}

int main(void)
{
	device = open(COSY_DEVICE, O_RDWR | O_CLOEXEC);
	if (!check(device >= 0, "the device is open"))
		return 1;
	creating();
	calls();
	batches();
	receiving();
	given_back();
	cancelling();
	closing();
	starvation(COSY_RING_MAX);
	starvation(COSY_RING_MIN);
	sleeping();
	watched();
	children();
	return finish();
}
