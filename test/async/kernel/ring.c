// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Rings of loops in the module. A call completes once, with its own result. Receives are made after
 * calls, and wait for their socket without keeping it open. What the module cannot make is given
 * back with its arguments, in order. ring-attacks.c attacks rings.
 */

// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

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
	check(enter_loop(&loop, COSY_ASYNC_RING_ENTER | 1) == -EINVAL, "there is none yet");
	check(mmap(NULL, size, both, MAP_PRIVATE, loop.fd, COSY_RING_OFFSET) == MAP_FAILED &&
	      mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED, loop.fd, COSY_RING_OFFSET) ==
		      MAP_FAILED &&
	      mmap(NULL, size + 4096, both, MAP_SHARED, loop.fd, COSY_RING_OFFSET) == MAP_FAILED &&
	      mmap(NULL, size - 4096, both, MAP_SHARED, loop.fd, COSY_RING_OFFSET) == MAP_FAILED,
	      "neither private nor executable, and of its size");
	destroy(&loop);
	check(!ring_create(&ring, 64), "a ring");
	check(mmap(NULL, size, both, MAP_SHARED, ring.loop.fd, COSY_RING_OFFSET) == MAP_FAILED,
	      "mapped once");
	check(mprotect(ring.page, size, PROT_READ | PROT_EXEC) == -1, "not made executable later");
	check(mremap(ring.page, size, size * 2, MREMAP_MAYMOVE) == MAP_FAILED, "it does not grow");
	check(ring.page->version == COSY_RING_VERSION && ring.page->nentries == 64, "its header");
	check(ring_command(&ring, 0) == -EINVAL && ring_command(&ring, COSY_RING_MAX + 1) == -EINVAL,
	      "the number of completions");
	check(ring_execute(&ring) == 0, "nothing to do");
	ring_destroy(&ring);
}

static void calls(void)
{
	unsigned int good = 0;
	long long result;
	struct ring ring;
	char st[256];
	int fds[2];

	ring_create(&ring, 128);
	for (uint64_t i = 1; i <= 100; i++)
		ring_call(&ring, i, i % 2 ? SYS_getpid : SYS_getppid, 0, 0, 0, 0);
	check(ring_command(&ring, 64) == (long long)(COSY_ASYNC_ENTERED | 64), "64 at a time");
	check(ring_execute(&ring) == 36, "then the others");
	for (uint64_t i = 1; i <= 100; i++)
		good += ring_collect(&ring, &result) == i &&
			result == (i % 2 ? getpid() : getppid());
	check(good == 100 && !ring_collect(&ring, &result), "each once, in order");
	for (int i = 0; i < 1000; i++) {
		ring_call(&ring, 7, SYS_getuid, 0, 0, 0, 0);
		good += ring_completes(&ring, 7, getuid());
	}
	check(good == 1100, "places are used again");
	ring_call(&ring, 8, SYS_newfstatat, AT_FDCWD, (uintptr_t)"/proc", (uintptr_t)st, 0);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 8, SYS_newfstatat, 0) &&
	      !strcmp((char *)ring.page->given->args[1], "/proc"),
	      "a call that may have to wait is given back");
	ring_call(&ring, 9, SYS_statx, AT_FDCWD, (uintptr_t)"/nonexistent", 0, 0x7ff);
	check(ring_execute(&ring) >= 0, "one that need not");
	ring_collect(&ring, &result);
	ring_call(&ring, 10, SYS_pipe2, (uintptr_t)fds, O_NONBLOCK, 0, 0);
	check(ring_completes(&ring, 10, 0) && !close(fds[1]) && !close(fds[0]), "arguments");
	ring_call(&ring, 11, SYS_lseek, 0xffff, 0, 0, 0);
	check(ring_completes(&ring, 11, -EBADF), "an error");
	ring_call(&ring, 12, COSY_RING_NOP, (uint64_t)-5, 0, 0, 0);
	check(ring_completes(&ring, 12, -5), "no call");
	ring_call(&ring, 0, COSY_RING_NOP, 0, 0, 0, 0);
	check(ring_execute(&ring) == 0, "nothing at all");
	for (size_t i = 0; i < 5; i++) {
		static const uint32_t numbers[] = { SYS_fork, SYS_recvfrom, 511, 512, COSY_RING_NOP - 1 };

		ring_call(&ring, 13, numbers[i], 1, 2, 3, 4);
		check(ring_execute(&ring) == 0 && ring_gave(&ring, 13, numbers[i], 0) &&
		      ring.page->given->args[0] == 1 && ring.page->given->args[3] == 4,
		      "call %u is given back with its arguments", numbers[i]);
	}
	ring_destroy(&ring);
}

static void receiving(void)
{
	char bytes[4] = "";
	long long result;
	struct ring ring;
	int a[2], b[2];

	ring_create(&ring, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, a);
	socketpair(AF_UNIX, SOCK_STREAM, 0, b);
	ring_receive(&ring, 1, a[0], &bytes[0], 1);
	check(ring_execute(&ring) == 0 && ring.page->waiting == 1, "a receive waits");
	check(!readable(ring.loop.fd), "nothing has happened");
	send(a[1], "x", 1, 0);
	check(readable(ring.loop.fd), "an event makes the loop's descriptor readable");
	check(ring_completes(&ring, 1, 1) && bytes[0] == 'x' && ring.page->waiting == 0,
	      "it is made after the event");
	check(!readable(ring.loop.fd), "which is over");
	for (int i = 0; i < 20; i++) {
		send(a[1], "y", 1, 0);
		ring_receive(&ring, 2, a[0], &bytes[0], 1);
		if (!ring_completes(&ring, 2, 1))
			check(false, "without a wait, round %d", i);
		ring_receive(&ring, 3, a[0], &bytes[1], 1);
		if (ring_execute(&ring) != 0 || send(a[1], "z", 1, 0) != 1 ||
		    !ring_completes(&ring, 3, 1) || bytes[1] != 'z')
			check(false, "with a wait, round %d", i);
	}
	check(true, "20 receives without a wait, 20 with one");

	/* In one entry: the send, whose data is received then. */
	ring_receive(&ring, 4, a[0], &bytes[2], 1);
	ring_call(&ring, 5, SYS_sendto, a[1], (uintptr_t)"w", 1, 0);
	check(ring_execute(&ring) == 2 && ring_collect(&ring, &result) == 5 &&
	      ring_collect(&ring, &result) == 4 && result == 1 && bytes[2] == 'w',
	      "calls come first");

	/* After a completion, the first receive that waits ends the attempts. */
	ring_receive(&ring, 6, a[0], &bytes[0], 1);
	ring_receive(&ring, 7, b[0], &bytes[1], 1);
	ring_call(&ring, 8, SYS_getpid, 0, 0, 0, 0);
	check(ring_command(&ring, 64) == (long long)(COSY_ASYNC_ENTERED | 1) &&
	      ring.page->waiting == 1 && ring.page->receives_head + 1 == ring.receives_tail,
	      "the second receive is delayed");
	send(b[1], "v", 1, 0);
	ring_collect(&ring, &result);
	check(ring_completes(&ring, 7, 1), "and need not wait then");
	close(a[1]);
	check(ring_completes(&ring, 6, 0), "the end of the stream");
	ring_receive(&ring, 9, b[0], NULL, 1);
	send(b[1], "u", 1, 0);
	check(ring_completes(&ring, 9, -EFAULT), "no buffer");
	ring_receive(&ring, 9, b[0], (void *)-4096, 64);
	check(ring_completes(&ring, 9, -EFAULT), "a buffer in the kernel");
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
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 3, SYS_recvfrom, 0), "not a socket");
	ring_receive(&ring, 4, 0xfffffff, &bytes[0], 1);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 4, SYS_recvfrom, 0), "no descriptor");
	for (int flag = 1; flag; flag <<= 1) {
		if (!(flag & COSY_RING_RECEIVE_UNUSUAL))
			continue;
		ring_receive(&ring, 5, sv[0], &bytes[0], 1);
		ring.receives[(ring.receives_tail - 1) % 64].args[3] = (unsigned int)flag;
		check(ring_execute(&ring) == 0 && ring_gave(&ring, 5, SYS_recvfrom, 0),
		      "a receive with the flags %#x", flag);
	}
	ring_receive(&ring, 6, sv[0], &bytes[0], 1);
	ring.receives[(ring.receives_tail - 1) % 64].args[4] = 1;
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 6, SYS_recvfrom, 0) &&
	      ring.page->given->args[4] == 1, "one with an address");

	setsockopt(sv[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	ring_call(&ring, 7, SYS_sendto, sv[0], (uintptr_t)many, sizeof(many), 0);
	ring_call(&ring, 8, SYS_sendto, sv[0], (uintptr_t)"x", 1, 0);
	check(ring_execute(&ring) == 0 && ring.page->ngiven == 1 && ring.page->given->op == 7 &&
	      ring.page->given->flags > 0 && ring.page->given->flags < sizeof(many) &&
	      ring.page->calls_head + 1 == ring.calls_tail,
	      "a send of which a part was sent; the next one was not made");
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 8, SYS_sendto, 0), "no room");
	shutdown(sv[0], SHUT_WR);
	signal(SIGPIPE, SIG_IGN);
	ring_call(&ring, 9, SYS_sendto, sv[0], (uintptr_t)"x", 1, 0);
	check(ring_execute(&ring) == 1 && ring_collect(&ring, &result) == 9 && result == -EPIPE,
	      "EPIPE");
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
	check(ring_execute(&ring) == 0 && ring.page->waiting == 1, "another operation");
	ring_call(&ring, 0, COSY_RING_CANCEL, sv[0], 1, 0, 0);
	ring_call(&ring, 0, COSY_RING_CANCEL, 0xfffffffffffull, 1, 0, 0);
	check(ring_execute(&ring) == 0 && ring.page->waiting == 0, "it does not wait any longer");
	send(sv[1], "ab", 2, 0);
	check(ring_execute(&ring) == 0 && !bytes[0], "nor is it made");
	ring_receive(&ring, 2, sv[0], &bytes[1], 1);
	check(ring_completes(&ring, 2, 1) && bytes[1] == 'a', "the next one gets the data");
	recv(sv[0], bytes, 1, 0);

	ring_receive(&ring, 3, sv[0], &bytes[2], 1);
	ring_execute(&ring);
	check(ring_command(&ring, COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
		      (long long)(COSY_ASYNC_ENTERED | 1) &&
	      ring_gave(&ring, 3, SYS_recvfrom, 0) && ring.page->waiting == 0,
	      "the descriptor is forgotten, and the receive given back");
	check(ring_command(&ring, COSY_ASYNC_CANCEL_FD | 0xffffffff) ==
		      (long long)COSY_ASYNC_ENTERED && !ring.page->ngiven, "no such descriptor");

	ring_receive(&ring, 4, sv[0], &bytes[3], 1);
	ring_execute(&ring);
	check(ring_command(&ring, COSY_ASYNC_CANCEL) == (long long)(COSY_ASYNC_ENTERED | 1) &&
	      ring.page->receives_head + 1 == ring.receives_tail && !ring.page->waiting,
	      "receives are put back");
	entry = &ring.receives[ring.page->receives_head % 64];
	check(entry->op == 4 && entry->nr == SYS_recvfrom && entry->args[0] == (unsigned int)sv[0] &&
	      entry->args[1] == (uintptr_t)&bytes[3] && entry->args[2] == 1,
	      "with their arguments");
	entry->nr = COSY_RING_NOP;
	entry->op = 0;
	check(ring_execute(&ring) == 0 && !ring.page->waiting, "the process takes it");

	/* A copy of the descriptor may have been the only one. */
	ring_receive(&ring, 5, sv[0], &bytes[3], 1);
	ring_execute(&ring);
	copy = dup(ring.loop.fd);
	close(copy);
	check(!ring.page->waiting && ring.page->receives_head + 1 == ring.receives_tail,
	      "closing a descriptor of the loop puts them back, too");
	check(ring_execute(&ring) == 0 && ring.page->waiting == 1, "but they can wait again");
	close(ring.loop.fd);
	check(!ring.page->waiting && ring.receives[ring.page->receives_head % 64].op == 5,
	      "the last one");
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
	      (long long)(COSY_ASYNC_ENTERED | 1), "it waits, until the process cancels it");
	close(sv[1]);

	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	ring_receive(&ring, 1, sv[0], bytes, 1);
	ring_execute(&ring);
	fd = sv[0];
	copy = dup(fd);
	dup2(other[0], fd);
	send(sv[1], "x", 1, 0);
	check(ring_completes(&ring, 1, -ECANCELED), "the descriptor is another file's");
	send(other[1], "x", 1, 0);
	ring_receive(&ring, 2, fd, bytes, 1);
	check(ring_completes(&ring, 2, 1) && bytes[0] == 'x', "which is received from");
	ring_receive(&ring, 3, fd, bytes, 1);
	check(ring_execute(&ring) == 0 && send(other[1], "y", 1, 0) == 1 &&
	      ring_completes(&ring, 3, 1), "and waited for");
	close(fd);
	close(copy);
	close(sv[1]);
	close(other[0]);
	close(other[1]);
	ring_destroy(&ring);
}

/* Calls that complete at once, again and again, do not keep receives from being made. */
static void starvation(void)
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
	/* It is behind all calls, but the process has completed the operation. */
	ring_call(&ring, 0, COSY_RING_CANCEL, b[0], 1000, 0, 0);
	for (rounds = 0; rounds < 100 && !made; rounds++) {
		uint64_t op;

		if (ring_command(&ring, COSY_RING_MAX) < 0)
			break;
		while ((op = ring_collect(&ring, &result))) {
			made |= op == 1001;
			cancelled &= op != 1000;
			if (op == 1)
				ring_call(&ring, 1, SYS_getppid, 0, 0, 0, 0);
		}
	}
	check(made && rounds < 20, "the receive is made, in round %d", rounds);
	check(cancelled && !bytes[1], "not the one that was cancelled");
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
	check(ring_command(ring, COSY_ASYNC_SLEEP | 1) == -EBUSY, "one thread sleeps");
	check(ring_command(ring, COSY_ASYNC_WORK) == (long long)COSY_ASYNC_ENTERED && wake_up() == 0,
	      "another thread wakes it");
	ring_command(ring, COSY_ASYNC_WORK);
	check(ring_command(ring, COSY_ASYNC_SLEEP | 1) == (long long)COSY_ASYNC_ENTERED,
	      "if it is too early, the next one does not sleep");
	fall_asleep();
	pthread_kill(sleeper.thread, SIGUSR1);
	check(wake_up() == COSY_ASYNC_SIGNAL, "a signal");
	ring->page->sleep_ns = 1000000;
	check(ring_command(ring, COSY_ASYNC_SLEEP | 1) ==
	      (long long)(COSY_ASYNC_ENTERED | COSY_ASYNC_TIMEOUT), "the time");
	ring->page->sleep_ns = COSY_ASYNC_FOR_EVER;
	ring->page->sleep_fd = event;
	fall_asleep();
	eventfd_write(event, 1);
	check(wake_up() == COSY_ASYNC_READABLE, "another file");
	ring->page->sleep_fd = -1;
	fall_asleep();
	check(ring_command(ring, COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
	      (long long)(COSY_ASYNC_ENTERED | 1), "another thread enters meanwhile");
	close(dup(ring->loop.fd));
	check(wake_up() == 0, "closing a descriptor of the loop");
	ring_call(ring, 3, SYS_getpid, 0, 0, 0, 0);
	check(ring_command(ring, COSY_ASYNC_SLEEP | 1) == (long long)(COSY_ASYNC_ENTERED | 1),
	      "with a completion it does not sleep");
	ring_collect(ring, &result);
	ring_call(ring, 4, SYS_fork, 0, 0, 0, 0);
	check(ring_command(ring, COSY_ASYNC_SLEEP | 1) == (long long)COSY_ASYNC_ENTERED &&
	      ring_gave(ring, 4, SYS_fork, 0), "nor after an entry was given back");

	/* The thread that sleeps in the loop is woken, too, to execute the ring. */
	ring_receive(ring, 5, sv[0], &byte, 1);
	ring_execute(ring);
	ring->loop.page->sleep_fd = -1;
	ring->loop.page->sleep_ns = COSY_ASYNC_FOR_EVER;
	send(sv[1], "y", 1, 0);
	check(enter_loop(&ring->loop, COSY_ASYNC_SLEEP | 1) == (long long)COSY_ASYNC_ENTERED,
	      "a thread in the loop does not sleep");
	check(ring_completes(ring, 5, 1), "but enters the ring");
	close(event);
	close(sv[0]);
	close(sv[1]);
	ring_destroy(ring);
}

/* In a child that is watched, calls are given back. Return the bits of what is wrong. */
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
	bad |= (ring_execute(&ring) != 0 || !ring_gave(&ring, 2, SYS_recvfrom, 0) ||
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
		check(WIFEXITED(status) && !WEXITSTATUS(status), "a %s thread: %#x",
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
		bool refused = ring_command(&ring, 1) == -EPERM &&
			       ring_command(&ring, COSY_ASYNC_WORK) == -EPERM &&
			       mmap(NULL, ring.size, PROT_READ, MAP_SHARED, ring.loop.fd,
				    COSY_RING_OFFSET) == MAP_FAILED;

		_exit(!refused);
	}
	waitpid(pid, &status, 0);
	check(!status, "a child neither maps nor enters the ring");
	ring_call(&ring, 1, SYS_lseek, ring.loop.fd,
		  (uint64_t)(COSY_RUN_TAG | COSY_ASYNC_RING_ENTER | 1), COSY_RUN_WHENCE, 0);
	check(ring_completes(&ring, 1, -EBUSY), "nor does a call that the ring makes");
	ring_call(&ring, 2, SYS_close, ring.loop.fd, 0, 0, 0);
	ring_command(&ring, 1);
	check(fcntl(ring.loop.fd, F_GETFD) == -1 && ring.done[1].op == 2 && !ring.done[1].result,
	      "a call closes the loop");
	munmap(ring.page, ring.size);
	munmap(ring.loop.page, ring.loop.size);
}

int main(void)
{
	device = open(COSY_DEVICE, O_RDWR | O_CLOEXEC);
	if (!check(device >= 0, "the device"))
		return 1;
	creating();
	calls();
	receiving();
	given_back();
	cancelling();
	closing();
	starvation();
	sleeping();
	watched();
	children();
	return finish();
}
