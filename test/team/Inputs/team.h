/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * team.h - common code of the tests of teams.
 */
#ifndef TEST_TEAM_H
#define TEST_TEAM_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cosy/team.h>

#include "check.h"

static inline struct cosy_team *make_team(uint32_t workers)
{
	const struct cosy_team_options options = { .size = sizeof(options), .workers = workers };
	struct cosy_team *team;

	EQUAL(cosy_team_create(&team, &options), 0);
	return team;
}

static inline struct cosy_team_info info_of(struct cosy_team *team)
{
	struct cosy_team_info info;

	EQUAL(cosy_team_info(team, &info, sizeof(info)), 0);
	return info;
}

/* Wait until a counter of callbacks has a value. */
static inline void await_count(atomic_uint *counter, unsigned int value)
{
	while (*counter != value)
		sched_yield();
}

/* A gate at which callbacks wait, until the test opens it. */
struct gate {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	unsigned int inside;
	bool open;
};

#define GATE { .mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER }

/* A callback: wait until the gate is open. */
static inline void pass_gate(void *arg)
{
	struct gate *gate = arg;

	pthread_mutex_lock(&gate->mutex);
	gate->inside++;
	pthread_cond_broadcast(&gate->cond);
	while (!gate->open)
		pthread_cond_wait(&gate->cond, &gate->mutex);
	gate->inside--;
	pthread_mutex_unlock(&gate->mutex);
}

/* Wait until so many callbacks are at the gate. */
static inline void await_at_gate(struct gate *gate, unsigned int count)
{
	pthread_mutex_lock(&gate->mutex);
	while (gate->inside < count)
		pthread_cond_wait(&gate->cond, &gate->mutex);
	pthread_mutex_unlock(&gate->mutex);
}

static inline void open_gate(struct gate *gate)
{
	pthread_mutex_lock(&gate->mutex);
	gate->open = true;
	pthread_cond_broadcast(&gate->cond);
	pthread_mutex_unlock(&gate->mutex);
}

#endif /* TEST_TEAM_H */
