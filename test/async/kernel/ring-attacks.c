// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Attacks on rings of loops by a process that writes to them, uses their descriptors, and ends
 * threads at any moment. ring.c tests the normal behaviour.
 */

// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

#include "Inputs/ring.h"

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
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
	check(ring_command(&ring, 64) >= 0, "2^32 calls");
	/* Entries that do not complete: an end by the number of completions is not enough. */
	for (int i = 0; i < 64; i++)
		ring.calls[i] = (struct cosy_ring_entry){ .nr = COSY_RING_NOP };
	tail = ring.page->calls_head;
	ring.page->calls_tail = tail - 1;
	check(ring_command(&ring, 64) >= 0 && ring.page->calls_head - tail < 1024,
	      "2^32 entries that do not complete: %u are executed at once",
	      ring.page->calls_head - tail);
	ring.page->calls_tail = ring.page->calls_head;
	ring.page->receives_tail = ring.page->receives_head - 1;
	check(ring_command(&ring, 64) >= 0, "2^32 receives");
	ring.page->receives_tail = ring.page->receives_head;
	ring.page->calls_head = ring.page->receives_head = ring.page->done_tail = 0x12345678;
	ring.page->ngiven = ring.page->waiting = ~0u;
	ring.page->calls = ring.page->receives = ring.page->done = ring.page->nentries = ~0u;
	ring_command(&ring, 64);
	check(ring.page->ngiven <= COSY_RING_MAX && ring.page->waiting <= 64,
	      "the module does not read what it writes");
	/* More receives wait than there are places. */
	for (int i = 0; i < 200; i++) {
		int fds[2];

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
			die("socketpair");
		ring.receives[ring.page->receives_head % 64] = (struct cosy_ring_entry){
			.nr = SYS_recvfrom, .op = 1, .args = { (uint64_t)fds[0], (uintptr_t)&byte, 1 },
		};
		ring.page->receives_tail = ring.page->receives_head + 1;
		ring_command(&ring, 64);
	}
	check(ring.page->waiting >= 200, "%u receives wait", ring.page->waiting);
	tail = ring.page->receives_head;
	ring_command(&ring, COSY_ASYNC_CANCEL);
	check(tail - ring.page->receives_head >= 200 && !ring.page->waiting,
	      "they overwrite each other when they are put back");
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
			COSY_RING_CANCEL, SYS_fork, SYS_getppid,
		};

		entry += next_random(&state) % 64;
		entry->nr = numbers[next_random(&state) % 8];
		entry->op = next_random(&state) % 16;
		entry->args[0] = (uint64_t)race.sv[next_random(&state) % 8][next_random(&state) % 2];
		entry->args[1] = (uintptr_t)page + next_random(&state) % (uint32_t)race.ring.size;
		entry->args[2] = next_random(&state) % 3 * next_random(&state) % 100;
		entry->args[3] = next_random(&state) % 8 ? 0 : next_random(&state);
		entry->args[4] = next_random(&state) % 8 ? 0 : next_random(&state);
		race.ring.page->calls_tail += next_random(&state) % 3;
		race.ring.page->receives_tail += next_random(&state) % 3;
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
		uint64_t what = 1 + random % 64;

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

/* Close sockets, and let others have their numbers. */
static void *replace_sockets(void *unused)
{
	uint32_t state = 3;

	while (!__atomic_load_n(&race.stop, __ATOMIC_RELAXED)) {
		unsigned int i = next_random(&state) % 8;
		int sv[2];

		if (socketpair(AF_UNIX, next_random(&state) % 2 ? SOCK_STREAM : SOCK_DGRAM, 0, sv))
			die("socketpair");
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
	check(ring_command(&race.ring, 1) >= 0, "the ring can still be entered");
	ring_destroy(&race.ring);
	for (int i = 0; i < 8; i++) {
		close(race.sv[i][0]);
		close(race.sv[i][1]);
	}
}

/* Each ring is charged, and what it keeps for a descriptor is, too. Nothing is left behind. */
static void memory(void)
{
	struct rlimit files = { 4096, 4096 };
	struct ring *rings = calloc(4096, sizeof(*rings));
	unsigned int n = 0, again = 0;
	int err = 0;

	setrlimit(RLIMIT_NOFILE, &files);
	while (n < 4000 && !(err = ring_create(&rings[n], 4096)))
		n++;
	check(n > 4 && n < 4000 && (err == -EDQUOT || err == -ENOMEM), "%u rings: %s", n,
	      strerror(-err));
	/* The last loop has no ring, or there is no loop. */
	if (rings[n].loop.page && rings[n].loop.page != MAP_FAILED)
		destroy(&rings[n].loop);
	while (n--)
		ring_destroy(&rings[n]);
	while (again < 5 && !ring_create(&rings[again], 4096))
		again++;
	check(again == 5, "the memory is given back");
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
		waitpid(pid, &status, 0);
	}
	check(true, "processes end");
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return 0;
	device = open(COSY_DEVICE, O_RDWR | O_CLOEXEC);
	if (!check(device >= 0, "the device"))
		return 1;
	indices();
	races(800);
	memory();
	ending();
	return finish();
}
