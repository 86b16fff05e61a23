// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Threads read, write, splice, cancel, and replace pipes by others. Each compound ends once.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/pipes.h"

#include <pthread.h>
#include <sys/eventfd.h>

/*
 * Threads that read, write, splice, cancel, and replace pipes by others. Each compound ends once.
 */
#define PIPES 6
#define MOVES 200000

static struct {
	struct loop loop;
	int fds[PIPES][2];
	bool stop;
} race;

static void *disturb(void *unused)
{
	static const char data[8192];
	unsigned int seed = (unsigned int)(uintptr_t)unused;

	while (!__atomic_load_n(&race.stop, __ATOMIC_RELAXED)) {
		unsigned int i = (unsigned int)rand_r(&seed) % PIPES;
		uint64_t one = 1;
		char got[8192];
		int fds[2];

		switch (rand_r(&seed) % 8) {
		case 0:
			enter_loop(&race.loop, COSY_ASYNC_CANCEL_FD | (unsigned int)race.fds[i][0]);
			break;
		case 1:
			close(dup(race.loop.fd));
			break;
		case 2:
			if (pipe2(fds, O_NONBLOCK))
				die("pipe2");
			dup2(fds[0], race.fds[i][0]);
			dup2(fds[1], race.fds[i][1]);
			close_pipe(fds);
			break;
		case 3:
			fds[0] = eventfd(0, EFD_NONBLOCK);
			dup2(fds[0], race.fds[i][rand_r(&seed) % 2]);
			close(fds[0]);
			break;
		case 4:
			splice(race.fds[i][0], NULL, race.fds[(i + 1) % PIPES][1], NULL, 100,
			       SPLICE_F_NONBLOCK);
			break;
		case 5:
			read(race.fds[i][0], got, sizeof(got));
			break;
		default:
			if (write(race.fds[i][1], &one, 8) == 8)
				write(race.fds[i][1], data, sizeof(data));
			break;
		}
	}
	return NULL;
}

static void racing(void)
{
	static __u64 frames[2 * PIPES][NREGS + 1];
	static char buffers[2 * PIPES][BUFFER];
	bool inside[2 * PIPES] = { false };
	unsigned int ended = 0, left = 0, wrong = 0;
	pthread_t threads[2];

	create(&race.loop, 64);
	for (int i = 0; i < PIPES; i++)
		open_pipe(race.fds[i], O_NONBLOCK);
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, disturb, (void *)(i + 1));
	for (int move = 0; move < MOVES && (ended < 500 || left < 50); move++) {
		uint32_t n = (uint32_t)move % (2 * PIPES);
		int index;

		if (!inside[n]) {
			prepare(frames[n], race.fds[n / 2][n % 2], buffers[n], n % 2 ? BUFFER : 100);
			start(&race.loop, n, n % 2 ? writing : reading, frames[n], 0, 0);
			inside[n] = true;
		}
		if (move % 16 == 0)
			enter_loop(&race.loop, COSY_ASYNC_CANCEL | n);
		enter_loop(&race.loop, COSY_ASYNC_MAX_DONE);
		while ((index = collect(&race.loop)) >= 0) {
			wrong += index >= 2 * PIPES || !inside[index];
			inside[index] = false;
			left += race.loop.entries[index].status == COSY_ENTRY_LEFT;
			ended += race.loop.entries[index].status == COSY_ENTRY_DONE;
		}
	}
	__atomic_store_n(&race.stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	check(!wrong && ended && left,
	      "each compound completes once: %u ended, %u were left, %u completed wrongly",
	      ended, left, wrong);
	for (int i = 0; i < PIPES; i++)
		close_pipe(race.fds[i]);
	destroy(&race.loop);
}

int main(void)
{
	signal(SIGPIPE, on_signal);
	device = open_device();
	load_all();
	if (!have_pipes())
		return finish();
	racing();
	return finish();
}
