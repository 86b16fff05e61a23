/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * watch.c - a thread that reports callbacks which do not return.
 */
#include "team/team.h"

/**
 * struct watched - what the watchdog knows about a worker
 * @ran:      callbacks that it had run
 * @ms:	      how long it has been running the next one, at least
 * @reported: that was reported
 */
struct watched {
	uint64_t ran;
	uint32_t ms;
	bool reported;
};

static void look_at(struct cosy_team *team, uint32_t index, struct watched *seen, uint32_t passed)
{
	const struct cosy_team_options *options = &team->options;
	const struct cosy_worker *worker = team->workers[index];
	const uint64_t ran = team_get(&worker->ran);
	struct cosy_team_stuck what = { .worker = index };

	if (!team_get(&worker->busy) || ran != seen->ran) {
		*seen = (struct watched){ .ran = ran };
		return;
	}
	seen->ms += passed;
	if (seen->reported || seen->ms < options->stuck_ms)
		return;
	seen->reported = true;
	what.colour = team_get(&worker->number);
	what.ms = seen->ms;
	options->stuck(team, &what, options->data);
}

void *team_watch(void *arg)
{
	struct cosy_team *team = arg;
	const uint32_t every = team->options.stuck_ms / 2 + 1;
	struct watched seen[COSY_TEAM_MAX] = { 0 };

	while (!team_acquire(&team->watch_ends)) {
		team_sleep(&team->watch_ends, 0, every * UINT64_C(1000000));
		for (uint32_t i = 0; i < team_acquire(&team->nworkers); i++)
			look_at(team, i, &seen[i], every);
	}
	return NULL;
}
