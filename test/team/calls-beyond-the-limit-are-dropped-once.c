/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Load shedding: calls beyond the limit of length, or older than the limit of age, are dropped, each
 * once, in the order of their colour. So are all calls after cosy_team_stop() that can be dropped.
 */
// RUN: %compile
// RUN: COSY_EXECUTOR=user %bounded %t
#include "team.h"

static struct cosy_team *team;
static unsigned int order, dropped, ran;

static void run(void *arg)
{
	EQUAL((uintptr_t)arg, order);
	order++;
	ran++;
}

static void drop(void *arg)
{
	EQUAL((uintptr_t)arg, order);
	order++;
	dropped++;
}

static void queue(unsigned int count, bool can_drop)
{
	for (uintptr_t i = 0; i < count; i++) {
		const struct cosy_callback call = { .fn = run, .arg = (void *)i,
						.drop = can_drop ? drop : NULL };

		EQUAL(cosy_team_call_with(team, 1, &call), 0);
	}
}

/* Queue @count calls while the only worker is busy, and let them run after @ms. */
static void fill(unsigned int count, bool can_drop, unsigned int ms, bool stop)
{
	struct gate gate = GATE;

	order = dropped = ran = 0;
	EQUAL(cosy_team_call(team, 0, pass_gate, &gate), 0);
	await_at_gate(&gate, 1);
	queue(count, can_drop);
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
	if (stop) {
		cosy_team_stop(team);
		EQUAL(cosy_team_call(team, 1, run, NULL), -ESHUTDOWN);
	}
	open_gate(&gate);
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(ran + dropped, count);
}

int main(void)
{
	struct cosy_team_options options = { .size = sizeof(options), .workers = 1,
					     .max_queued = 10 };

	alarm(600);
	EQUAL(cosy_team_create(&team, &options), 0);
	fill(50, true, 0, false);
	/* The one at the gate counts. */
	EQUAL(ran, 10);
	fill(50, false, 0, false);
	EQUAL(ran, 50);
	EQUAL(info_of(team).dropped, 40);
	EQUAL(cosy_team_destroy(team), 0);

	options = (struct cosy_team_options){ .size = sizeof(options), .workers = 1,
					      .max_age_ms = 50 };
	EQUAL(cosy_team_create(&team, &options), 0);
	fill(20, true, 100, false);
	EQUAL(dropped, 20);
	fill(20, false, 100, false);
	EQUAL(dropped, 0);
	CHECK(info_of(team).oldest_ms > 50);
	fill(20, true, 0, true);
	EQUAL(dropped, 20);
	EQUAL(cosy_team_destroy(team), 0);
	return 0;
}
