// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Threads enter, send, cancel and close at the same time. An endless compound does not keep other
 * entries or signals away.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/compounds.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static __u64 endless_compound;

static void execute_without_end(struct loop *loop)
{
	static __u64 frame[NREGS + 1];

	start(loop, 0, endless_compound, frame, 0, 0);
	for (;;)
		enter_loop(loop, COSY_ASYNC_MAX_DONE);
}

/* An endless compound prevents neither other entries nor a signal. */
static void endless(void)
{
	static __u64 frames[2][NREGS + 1];
	unsigned int completed = 0;
	struct loop loop;
	int status;
	pid_t child;

	endless_compound = LOAD_FOR_LOOPS(ADDI(ROUNDS, ROUNDS, 1), JMP(0));
	create(&loop, 64);
	start(&loop, 0, endless_compound, frames[0], 0, 0);
	start(&loop, 1, endless_compound, frames[1], 0, 0);
	for (uint32_t i = 2; i < 34; i++)
		submit(&loop, i, 0, SYS_getpid, 0, 0, 0, 0);
	for (int i = 0; i < 100; i++)
		completed += (unsigned int)enter_loop(&loop, COSY_ASYNC_MAX_DONE);
	check(completed == 32, "32 calls complete beside endless compounds: %u", completed);
	check(readable(loop.fd), "the loop stays readable, because endless compounds are ready");
	destroy(&loop);
	child = start_executing(execute_without_end);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	check(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
	      "SIGKILL ends a process that executes an endless compound");
}

/*
 * Threads that enter, send, cancel and close at the same time. Each compound ends once.
 */
#define PAIRS 8
#define MOVES 2000000

static struct {
	struct loop loop;
	int sv[PAIRS][2];
	bool stop;
} race;

static void *disturb(void *unused)
{
	unsigned int seed = 1;

	while (!__atomic_load_n(&race.stop, __ATOMIC_RELAXED)) {
		unsigned int i = (unsigned int)rand_r(&seed) % PAIRS;
		char got[64];

		switch (rand_r(&seed) % 6) {
		case 0:
			enter_loop(&race.loop, COSY_ASYNC_CANCEL_FD | (unsigned int)race.sv[i][0]);
			break;
		case 1:
			enter_loop(&race.loop, 1);
			break;
		case 2:
			close(dup(race.loop.fd));
			break;
		case 3:
			recv(race.sv[i][1], got, sizeof(got), MSG_DONTWAIT);
			break;
		default:
			send(race.sv[i][1], "data", 4, MSG_DONTWAIT | MSG_NOSIGNAL);
			break;
		}
	}
	return unused;
}

static void racing(void)
{
	static __u64 frames[PAIRS][NREGS + 1];
	static char buffers[PAIRS][64];
	bool inside[PAIRS] = { false };
	unsigned int ended = 0, left = 0, wrong = 0, started = 0;
	pthread_t threads[2];

	create(&race.loop, 64);
	for (int i = 0; i < PAIRS; i++)
		pair(race.sv[i]);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, disturb, NULL);
	for (int move = 0; move < MOVES && (ended < 50 || left < 50); move++) {
		uint32_t n = (uint32_t)move % PAIRS;
		int index;

		if (!inside[n]) {
			frames[n][FD] = (__u64)race.sv[n][0];
			frames[n][BUF] = (uintptr_t)buffers[n];
			frames[n][SIZE] = sizeof(buffers[n]);
			frames[n][ROUNDS] = 0;
			start(&race.loop, n, echo, frames[n], 0, 0);
			inside[n] = true;
			started++;
		}
		if (move % 16 == 0)
			enter_loop(&race.loop, COSY_ASYNC_CANCEL | n);
		enter_loop(&race.loop, COSY_ASYNC_MAX_DONE);
		while ((index = collect(&race.loop)) >= 0) {
			const struct cosy_async_entry *entry = &race.loop.entries[index];

			wrong += index >= PAIRS || !inside[index];
			if (entry->status == COSY_ENTRY_LEFT) {
				left++;
				start(&race.loop, (uint32_t)index, echo, frames[index],
				      (uint32_t)entry->args[1], COSY_COMPOUND_RESUMED);
				continue;
			}
			wrong += entry_result(&race.loop, index) != 1 ||
				 ((long long)frames[index][GOT] != -ECANCELED &&
				  (long long)frames[index][SENT] != -ECANCELED);
			inside[index] = false;
			ended++;
		}
	}
	__atomic_store_n(&race.stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	check(!wrong && ended && left,
	      "each compound completes once: %u started, %u ended, %u given back, %u wrong",
	      started, ended, left, wrong);
	for (int i = 0; i < PAIRS; i++) {
		close(race.sv[i][0]);
		close(race.sv[i][1]);
	}
	destroy(&race.loop);
}

int main(void)
{
	device = open_device();
	load_all();
	endless();
	racing();
	return finish();
}
