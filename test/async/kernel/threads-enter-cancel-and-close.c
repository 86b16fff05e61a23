// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Threads send, close, cancel and enter at the same time. Each entry completes or is cancelled.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/entries.h"

#include <pthread.h>
#include <signal.h>

/* Threads send, close and enter at the same time. Each entry completes or is cancelled. */
#define PAIRS 16
/* Each takes about 10 ms with the kernel's checkers. */
#define STEPS 2000

static struct {
	struct loop loop;
	int sv[PAIRS][2];
	bool stop;
} race;

static void *sender(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;

	while (!__atomic_load_n(&race.stop, __ATOMIC_RELAXED)) {
		/* The last one gets no data, so that it can be cancelled. */
		int i = rand_r(&seed) % (PAIRS - 1);

		send(race.sv[i][1], "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (rand_r(&seed) % 8 == 0)
			recv(race.sv[i][0], &seed, 1, MSG_DONTWAIT);
	}
	return NULL;
}

static void *intruder(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&race.stop, __ATOMIC_RELAXED)) {
		long long ret = enter_loop(&race.loop, COSY_ASYNC_CANCEL | 63);

		if (ret != -EBUSY && ret != -ENOENT)
			check(false, "a second thread gets EBUSY or ENOENT, not %lld", ret);
		readable(race.loop.fd);
	}
	return NULL;
}

static void races(void)
{
	unsigned int submitted = 0, completed = 0, cancelled = 0, waits = 0;
	bool inside[PAIRS] = { false };
	pthread_t threads[3];
	unsigned int seed = 1;
	char bytes[PAIRS];
	int index;

	create(&race.loop, 64);
	for (int i = 0; i < PAIRS; i++)
		pair(i % 2 ? 0 : 3, race.sv[i]);
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, sender, (void *)(i + 1));
	pthread_create(&threads[2], NULL, intruder, NULL);
	for (int step = 0; step < STEPS || !completed || !cancelled; step++) {
		int i = rand_r(&seed) % PAIRS;
		long long ret;

		if (!inside[i]) {
			submit_recv(&race.loop, (uint32_t)i, race.sv[i][0], &bytes[i]);
			inside[i] = true;
			submitted++;
		} else if (rand_r(&seed) % 4 == 0 &&
			   race.loop.page->submit_head == race.loop.tail) {
			while ((ret = enter_loop(&race.loop, COSY_ASYNC_CANCEL | (unsigned int)i)) == -EBUSY)
				;
			/* It completes when its compound has ended. */
			cancelled += ret == (long long)COSY_ASYNC_ENTERED;
		} else if (rand_r(&seed) % 256 == 0) {
			/* Another connection replaces this one. */
			close(race.sv[i][1]);
			close(race.sv[i][0]);
			pair(i % 2 ? 0 : 3, race.sv[i]);
		}
		enter_loop(&race.loop, COSY_ASYNC_MAX_DONE);
		while ((index = collect(&race.loop)) >= 0) {
			if (index >= PAIRS || !inside[index])
				check(false, "entry %d completes once", index);
			else
				inside[index] = false;
			completed++;
		}
	}
	race.stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	while (race.loop.page->submit_head != race.loop.tail)
		execute(&race.loop);
	for (unsigned int i = 0; i < PAIRS; i++)
		waits += enter_loop(&race.loop, COSY_ASYNC_CANCEL | i) == (long long)COSY_ASYNC_ENTERED;
	execute(&race.loop);
	while ((index = collect(&race.loop)) >= 0)
		completed++;
	check(submitted == completed, "%u submitted, %u completed, %u cancelled, %u waited", submitted,
	      completed, cancelled, waits);
	for (int i = 0; i < PAIRS; i++) {
		close(race.sv[i][0]);
		close(race.sv[i][1]);
	}
	destroy(&race.loop);
}

int main(void)
{
	device = open_device();
	races();
	return finish();
}
