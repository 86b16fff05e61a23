// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Attacks on rings of loops by a process that writes to them, uses their descriptors, and ends
 * threads at any moment.
 * call-of-a-ring-completes-once.c tests the normal behaviour.
 */

// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/ring.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void executes_to_the_end(struct ring *ring)
{
	for (int i = 0; i < 4096 && (ring->page->calls_head != ring->page->calls_tail ||
				     ring->page->receives_head != ring->page->receives_tail); i++)
		if (ring_command(ring, COSY_RING_MAX) < 0)
			break;
}

/* Indices that the process must not write. */
static void indices(void)
{
	struct ring ring;
	uint32_t tail;
	char byte;
	int sv[2];

	ring_create(&ring, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	for (int i = 0; i < 64; i++)
		ring_receive(&ring, 1 + (uint64_t)i, sv[0], &byte, 1);
	ring.page->calls_tail = ~0u;
	check(ring_command(&ring, 64) >= 0, "the ring is entered with a tail of 2^32 calls");
	/* Entries that do not complete: an end by the number of completions is not enough. */
	for (int i = 0; i < 64; i++)
		ring.calls[i] = (struct cosy_ring_entry){ .nr = COSY_RING_NOP };
	tail = ring.page->calls_head;
	ring.page->calls_tail = tail - 1;
	check(ring_command(&ring, 64) >= 0 && ring.page->calls_head - tail < 1024,
	      "a thread leaves, although 2^32 entries do not complete: %u are executed at once",
	      ring.page->calls_head - tail);
	ring.page->calls_tail = ring.page->calls_head;
	ring.page->receives_tail = ring.page->receives_head - 1;
	check(ring_command(&ring, 64) >= 0, "the ring is entered with a tail of 2^32 receives");
	ring.page->receives_tail = ring.page->receives_head;
	ring.page->calls_head = ring.page->receives_head = ring.page->done_tail = 0x12345678;
	ring.page->ngiven = ring.page->waiting = ~0u;
	ring.page->calls = ring.page->receives = ring.page->done = ring.page->nentries = ~0u;
	ring_command(&ring, 64);
	check(ring.page->ngiven <= COSY_RING_MAX && ring.page->waiting <= 64,
	      "wrong counts and offsets in the page have no effect");
	/* More receives wait than there are places. The first ones are those submitted above. */
	for (int i = 0; i < 202; i++) {
		int fds[2];

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
			die("socketpair");
		ring.receives[ring.page->receives_head % 64] = (struct cosy_ring_entry){
			.nr = SYS_recvfrom, .op = 1, .args = { (uint64_t)fds[0], (uintptr_t)&byte, 1 },
		};
		ring.page->receives_tail = ring.page->receives_head + 1;
		ring_command(&ring, 64);
	}
	check(ring.page->waiting >= 200,
	      "more receives wait than the ring has places: %u", ring.page->waiting);
	tail = ring.page->receives_head;
	ring_command(&ring, COSY_ASYNC_CANCEL);
	check(tail - ring.page->receives_head >= 200 && !ring.page->waiting,
	      "when they are put back, they overwrite each other");
	ring_destroy(&ring);
	for (int fd = 3; fd < 512; fd++)
		if (fd != device)
			close(fd);
}

static struct {
	struct ring ring;
	int sv[8][2];
	bool stop;
} race;

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Write to every word of the page except the module's own. */
static void *scribble(void *unused)
{
	uint32_t state = 1;
	char *page = (char *)race.ring.page;

	while (!__atomic_load_n(&race.stop, __ATOMIC_RELAXED)) {
		struct cosy_ring_entry *entry = next_random(&state) % 2 ? race.ring.calls :
									 race.ring.receives;
		static const uint32_t numbers[] = {
			SYS_recvfrom, SYS_sendto, SYS_getpid, SYS_newfstatat, COSY_RING_NOP,
			COSY_RING_CANCEL, SYS_fork, SYS_getppid, SYS_recvmsg, SYS_sendmsg,
			SYS_accept, SYS_accept4, COSY_RING_CANCEL_SEND, SYS_sendto, SYS_recvfrom,
			COSY_RING_RECEIVE,
		};

		entry += next_random(&state) % 64;
		entry->nr = numbers[next_random(&state) % 16];
		entry->flags = next_random(&state) % 4 ? 0 : next_random(&state) << 31 | next_random(&state) % 2;
		entry->op = next_random(&state) % 16;
		entry->args[0] = (uint64_t)race.sv[next_random(&state) % 8][next_random(&state) % 2];
		entry->args[1] = (uintptr_t)page + next_random(&state) % (uint32_t)race.ring.size;
		entry->args[2] = next_random(&state) % 3 * next_random(&state) % 100;
		entry->args[3] = next_random(&state) % 8 ? 0 : next_random(&state);
		entry->args[4] = next_random(&state) % 8 ? 0 : next_random(&state);
		race.ring.page->calls_tail += next_random(&state) % 3;
		race.ring.page->receives_tail += next_random(&state) % 3;
		race.ring.page->nbuffers = next_random(&state) % 66;
		race.ring.page->buffer_start = (uintptr_t)page + next_random(&state) % 4096;
		race.ring.page->buffer_size = next_random(&state) % 8 ? next_random(&state) % 64 : ~0ull;
		if (!(next_random(&state) % 64))
			memset(page, (int)next_random(&state), 4096);
	}
	return unused;
}

/* Enter by all commands. */
static void *enter_often(void *unused)
{
	uint32_t state = 2;

	while (!__atomic_load_n(&race.stop, __ATOMIC_RELAXED)) {
		uint32_t random = next_random(&state);
		uint64_t what = COSY_RING_MIN + random % (COSY_RING_MAX - 1);

		switch (random >> 8 & 15) {
		case 0:
			what |= COSY_ASYNC_SLEEP;
			/* The other threads write to this, too. */
			race.ring.page->sleep_ns = random % 100000;
			break;
		case 1:
			what = COSY_ASYNC_CANCEL_FD | what;
			break;
		case 2:
			what = COSY_ASYNC_CANCEL;
			break;
		case 3:
			what = COSY_ASYNC_WORK;
			break;
		default:
			break;
		}
		if (random % 2)
			what |= COSY_ASYNC_AWAIT;
		ring_command(&race.ring, what);
	}
	return unused;
}

/* A socket that listens, or one without room for much. */
static void make_special(int fd, uint32_t random)
{
	const struct sockaddr name = { .sa_family = AF_UNIX };
	const int small = 1;

	if (random % 4 == 0 && !bind(fd, &name, sizeof(name.sa_family)))
		listen(fd, 4);
	else if (random % 4 == 1)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
}

/* Close sockets, and let others have their numbers. */
static void *replace_sockets(void *unused)
{
	uint32_t state = 3;

	while (!__atomic_load_n(&race.stop, __ATOMIC_RELAXED)) {
		unsigned int i = next_random(&state) % 8;
		int sv[2];

		if (socketpair(AF_UNIX, next_random(&state) % 2 ? SOCK_STREAM : SOCK_DGRAM, 0, sv))
			die("socketpair");
		make_special(sv[0], next_random(&state));
		dup2(sv[0], race.sv[i][0]);
		send(sv[1], "abc", 3, MSG_DONTWAIT);
		dup2(sv[1], race.sv[i][1]);
		close(sv[0]);
		close(sv[1]);
		send(race.sv[i][0], "abc", 3, MSG_DONTWAIT);
		close(dup(race.ring.loop.fd));
	}
	return unused;
}

static void ignore_signal(int signal)
{
	(void)signal;
}

static void races(unsigned int ms)
{
	void *(*const functions[])(void *) = { scribble, enter_often, enter_often, replace_sockets };
	const struct timespec little = { .tv_nsec = 1000000 };
	struct sigaction action = { .sa_handler = ignore_signal };
	pthread_t threads[4];

	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGUSR1, &action, NULL);
	ring_create(&race.ring, 64);
	for (int i = 0; i < 8; i++)
		socketpair(AF_UNIX, SOCK_STREAM, 0, race.sv[i]);
	race.stop = false;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, functions[i], NULL);
	for (unsigned int i = 0; i < ms; i++) {
		nanosleep(&little, NULL);
		pthread_kill(threads[1 + i % 2], SIGUSR1);
	}
	__atomic_store_n(&race.stop, true, __ATOMIC_RELAXED);
	ring_command(&race.ring, COSY_ASYNC_WORK);
	for (int i = 0; i < 4; i++) {
		/* A thread may be about to sleep, with any time: scribble() has written it. */
		while (pthread_tryjoin_np(threads[i], NULL)) {
			ring_command(&race.ring, COSY_ASYNC_WORK);
			nanosleep(&little, NULL);
		}
	}
	race.ring.page->calls_tail = race.ring.page->calls_head;
	executes_to_the_end(&race.ring);
	check(ring_command(&race.ring, COSY_RING_MIN) >= 0,
	      "the ring can still be entered after the races");
	ring_destroy(&race.ring);
	for (int i = 0; i < 8; i++) {
		close(race.sv[i][0]);
		close(race.sv[i][1]);
	}
}

/*
 * Connections come and go while receives wait for them, most of them without an event. Only as much
 * is kept as descriptors are open at the same time.
 */
#define AT_ONCE	256
static void vanish(unsigned int rounds)
{
	unsigned int waited = 0, ended = 0;
	static int sv[AT_ONCE][2];
	struct ring ring;
	char byte;

	ring_create(&ring, 1024);
	for (unsigned int i = 0; i < rounds; i++) {
		for (unsigned int k = 0; k < AT_ONCE; k++) {
			if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv[k]))
				die("socketpair");
			ring_receive(&ring, 1, sv[k][0], &byte, 1);
		}
		if (ring_execute(&ring) < 0)
			break;
		waited += ring.page->waiting;
		for (unsigned int k = 0; k < AT_ONCE; k++) {
			/* The peer first, or the socket for which a receive waits. */
			close(sv[k][k % 2]);
			if (k % 3 == 0)
				ring_command(&ring, COSY_ASYNC_CANCEL_FD | (unsigned int)sv[k][0]);
			else if (k % 3 == 1)
				ring_call(&ring, 0, COSY_RING_CANCEL, (unsigned int)sv[k][0], 1, 0, 0);
			close(sv[k][1 - k % 2]);
		}
		/* The others wait for sockets that do not exist any more. */
		ended += (unsigned int)ring_execute(&ring);
		while (ring.page->waiting)
			for (unsigned int k = 2; k < AT_ONCE; k += 3)
				ring_command(&ring, COSY_ASYNC_CANCEL_FD | (unsigned int)sv[k][0]);
		ring.head = ring.page->done_tail;
	}
	check(waited == rounds * AT_ONCE && ended < waited,
	      "%u of %u receives waited, and fewer ended: %u", waited, rounds * AT_ONCE, ended);
	ring_destroy(&ring);
}

static void *sleep_and_count(void *argument)
{
	return (void *)(uintptr_t)ring_command(argument, COSY_ASYNC_SLEEP | COSY_RING_MAX);
}

static void wait_until_asleep(const struct ring *ring)
{
	while (!loop_shows(getpid(), ring->loop.fd, "sleeps:"))
		sched_yield();
}

/* A ring with a thread that sleeps until one of @sv has data for a receive. */
static pthread_t begin_to_sleep(struct ring *ring, int *sv, char *byte)
{
	pthread_t thread;

	ring_create(ring, 64);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		die("socketpair");
	ring_receive(ring, 1, sv[0], byte, 1);
	pthread_create(&thread, NULL, sleep_and_count, ring);
	wait_until_asleep(ring);
	return thread;
}

/* The process loses the pages of a ring while a thread sleeps in it, and by a call of the ring. */
static void lost_pages(void)
{
	void *ret = NULL;
	struct ring ring;
	pthread_t thread;
	char byte = 0;
	int sv[2];

	thread = begin_to_sleep(&ring, sv, &byte);
	madvise(ring.page, ring.size, MADV_DONTNEED);
	madvise(ring.page, ring.size, MADV_REMOVE);
	check(mremap(ring.page, 0, ring.size, MREMAP_MAYMOVE) == MAP_FAILED,
	      "the pages cannot be mapped twice");
	check(!mprotect(ring.page, ring.size, PROT_NONE) && !munmap(ring.page, ring.size),
	      "the pages are unmapped");
	send(sv[1], "x", 1, 0);
	pthread_join(thread, &ret);
	check((uintptr_t)ret == (COSY_ASYNC_ENTERED | 1) && byte == 'x',
	      "a thread that sleeps in the ring receives without them: %#lx", (long)ret);
	destroy(&ring.loop);

	ring_create(&ring, 64);
	ring_call(&ring, 1, SYS_munmap, (uintptr_t)ring.page, ring.size, 0, 0);
	ring_call(&ring, 2, SYS_munmap, (uintptr_t)ring.loop.page, ring.loop.size, 0, 0);
	ring_call(&ring, 3, SYS_sendto, (unsigned int)sv[0], (uintptr_t)"yz", 2, 0);
	while (recv(sv[1], &byte, 1, MSG_DONTWAIT) != 1)
		ring_command(&ring, COSY_RING_MAX);
	check(byte == 'y', "a thread whose call unmaps them makes the next call");
	close(ring.loop.fd);
	close(sv[0]);
	close(sv[1]);
}

/* A filter comes while a thread sleeps. It is asked before the receive that is then made. */
static int filter_comes(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_recvfrom, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };
	struct ring ring;
	pthread_t thread;
	char byte = 0;
	int sv[2];

	thread = begin_to_sleep(&ring, sv, &byte);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		return 1;
	send(sv[1], "x", 1, 0);
	pthread_join(thread, NULL);
	if (!ring.page->ngiven && ring_execute(&ring))
		return 2;
	return byte || !ring_gave(&ring, 1, SYS_recvfrom, COSY_RING_WAITED) ? 3 : 0;
}

static void filtered(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(filter_comes());
	waitpid(pid, &status, 0);
	check(!status,
	      "a filter that was installed during the sleep prevents the receive: %#x", status);
}

/* Another process with the same memory, and with its own descriptors. */
static struct {
	struct ring ring;
	int fd, other[2];
	long long ret;
	pid_t pid;
} shared;

static int share(void *unused)
{
	(void)unused;
	dup2(shared.other[0], shared.fd);
	shared.ret = ring_command(&shared.ring, COSY_RING_MAX);
	close(shared.ring.loop.fd);
	return 0;
}

static void shared_memory(void)
{
	char *stack = must_map(65536), byte = 0;
	long long result;
	int sv[2];

	ring_create(&shared.ring, 64);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, shared.other))
		die("socketpair");
	shared.fd = sv[0];
	ring_receive(&shared.ring, 1, sv[0], &byte, 1);
	ring_execute(&shared.ring);
	send(sv[1], "x", 1, 0);
	send(shared.other[1], "y", 1, 0);
	waitpid(clone(share, stack + 65536, CLONE_VM | SIGCHLD, NULL), NULL, 0);
	check(shared.ret == (long long)(COSY_ASYNC_ENTERED | 1) &&
	      ring_collect(&shared.ring, &result) == 1 && result == -ECANCELED && !byte,
	      "ECANCELED: the descriptor is another file in the process that enters");
	ring_receive(&shared.ring, 2, sv[0], &byte, 1);
	check(ring_completes(&shared.ring, 2, 1) && byte == 'x',
	      "the other process has closed its descriptor, and the ring still works");
	ring_destroy(&shared.ring);
	munmap(stack, 65536);
	for (int i = 0; i < 2; i++) {
		close(sv[i]);
		close(shared.other[i]);
	}
}

/* A descriptor with a large number needs a long table, which is charged. Return how many may wait. */
static unsigned int with_large_numbers(struct ring *rings, unsigned int n, int number)
{
	unsigned int waiting = 0;
	char byte;
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv) || dup2(sv[0], number) != number)
		die("a large descriptor");
	/* All rings are made first, so that the tables take the rest of the quota. */
	for (unsigned int i = 0; i < n; i++)
		if (ring_create(&rings[i], 64))
			die("a ring");
	for (unsigned int i = 0; i < n; i++) {
		ring_receive(&rings[i], 1, number, &byte, 1);
		ring_execute(&rings[i]);
		waiting += rings[i].page->waiting;
	}
	while (n--)
		ring_destroy(&rings[n]);
	close(number);
	close(sv[0]);
	close(sv[1]);
	return waiting;
}

/* Each ring is charged, and what it keeps for a descriptor is, too. Nothing is leaked. */
static void memory(void)
{
	struct rlimit files = { 1 << 20, 1 << 20 };
	struct ring *rings = calloc(4096, sizeof(*rings));
	unsigned int n = 0, again = 0;
	int err = 0;

	if (setrlimit(RLIMIT_NOFILE, &files))
		die("RLIMIT_NOFILE");
	become_user(61003);
	n = with_large_numbers(rings, 64, (1 << 20) - 1);
	again = with_large_numbers(rings, 64, (1 << 20) - 1);
	check(n && n < 64 && n == again,
	      "tables for large descriptors are charged: %u of 64 rings have one, then %u",
	      n, again);
	n = again = 0;
	while (n < 4000 && !(err = ring_create(&rings[n], 4096)))
		n++;
	check(n > 4 && n < 4000 && (err == -EDQUOT || err == -ENOMEM),
	      "rings are charged: %u exist, then %s", n, strerror(-err));
	/* The last loop has no ring, or there is no loop. */
	if (rings[n].loop.page && rings[n].loop.page != MAP_FAILED)
		destroy(&rings[n].loop);
	while (n--)
		ring_destroy(&rings[n]);
	while (again < 5 && !ring_create(&rings[again], 4096))
		again++;
	check(again == 5, "the memory of rings that were destroyed can be used again");
	while (again--)
		ring_destroy(&rings[again]);
	free(rings);
}

/* The process ends while a thread sleeps in the ring, and receives wait. */
static void *sleep_for_ever(void *argument)
{
	ring_command(argument, COSY_ASYNC_SLEEP | COSY_RING_MAX);
	return NULL;
}

static void ending(void)
{
	unsigned int right = 0;
	int status;

	for (int i = 0; i < 24; i++) {
		pid_t pid = fork();

		if (!pid) {
			struct ring ring;
			pthread_t thread;
			char byte;
			int sv[2];

			ring_create(&ring, 64);
			socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
			ring_receive(&ring, 1, sv[0], &byte, 1);
			ring_execute(&ring);
			pthread_create(&thread, NULL, sleep_for_ever, &ring);
			if (i % 2)
				sched_yield();
			if (i % 3 == 0)
				execl("/proc/self/exe", "ends", "at once", NULL);
			if (i % 3 == 1)
				kill(getpid(), SIGKILL);
			_exit(0);
		}
		right += waitpid(pid, &status, 0) == pid && status == (i % 3 == 1 ? SIGKILL : 0);
	}
	check(right == 24, "24 processes with a sleeping thread end as they are made to: %u", right);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return 0;
	device = open(COSY_DEVICE, O_RDWR | O_CLOEXEC);
	if (!check(device >= 0, "the device is open"))
		return 1;
	indices();
	races(800);
	vanish(20);
	lost_pages();
	filtered();
	shared_memory();
	ending();
	memory();
	return finish();
}
