/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * watch.c - a thread that reports callbacks which do not return.
 */
#include <pthread.h>
#include <signal.h>

#include "async/lock.h"
#include "team/team.h"

/**
 * struct watched - what the watchdog knows about a worker
 * @ran:      callbacks that it had run
 * @since:    when the thread first saw it run the next one; 0: it does not run one
 * @reported: that was reported
 */
struct watched {
	uint64_t ran;
	uint64_t since;
	bool reported;
};

static void look_at(struct cosy_team *team, uint32_t index, struct watched *seen, uint64_t now)
{
	const struct cosy_team_options *options = &team->options;
	const struct cosy_worker *worker = team->workers[index];
	const uint64_t ran = team_get(&worker->ran);
	struct cosy_team_stuck what = { .worker = index };
	uint64_t ms;

	if (!team_get(&worker->busy)) {
		seen->since = 0;
		return;
	}
	if (!seen->since || ran != seen->ran) {
		*seen = (struct watched){ .ran = ran, .since = now };
		return;
	}
	ms = (now - seen->since) / 1000000;
	if (seen->reported || ms < options->stuck_ms)
		return;
	seen->reported = true;
	what.colour = team_get(&worker->number);
	what.ms = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
	options->stuck(team, &what, options->data);
}

void *team_watch(void *arg)
{
	struct cosy_team *team = arg;
	const uint32_t every = team->options.stuck_ms / 2 + 1;
	struct watched seen[COSY_TEAM_MAX] = { 0 };
	sigset_t all;

	/* The program's handlers run in its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	while (!team_acquire(&team->watch_ends)) {
		team_sleep(&team->watch_ends, 0, every * UINT64_C(1000000));
		for (uint32_t i = 0; i < team_acquire(&team->nworkers); i++)
			look_at(team, i, &seen[i], cosy_clock());
	}
	return NULL;
}
