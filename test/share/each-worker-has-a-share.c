/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Each worker of a team has a share, which is destroyed with the team. Workers hand descriptors over.
 */
// RUN: %compile
// RUN: %everywhere
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <cosy/share.h>
#include <cosy/team.h>

#include "check.h"

#define WORKERS	3

static struct cosy_team *team;
static pthread_barrier_t barrier;
static struct cosy_share *shares[WORKERS];
static int ends[2], writes;

/* All workers wait here, so each one has one of these callbacks. */
static void begin(void *arg)
{
	const long index = (long)arg;

	shares[index] = cosy_team_share(8);
	CHECK(shares[index]);
	/* The maximum of the first call. */
	CHECK(cosy_team_share(1000) == shares[index]);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < WORKERS; i++)
		CHECK((shares[i] == shares[index]) == (i == index));
	for (int i = 0; i < 8; i++) {
		const int fd = cosy_share_dup(shares[index], 0);

		CHECK(fd >= 0);
		EQUAL(cosy_share_close(shares[index], fd), 0);
	}
	if (!index) {
		writes = cosy_share_dup(shares[0], ends[1]);
		CHECK(writes >= 0);
		close(ends[1]);
	}
	pthread_barrier_wait(&barrier);
	if (index == 1)
		writes = cosy_share_give(shares[0], writes, cosy_team_share(0));
	pthread_barrier_wait(&barrier);
	if (index == 1)
		EQUAL(cosy_share_write(shares[1], writes, "w", 1), 1);
	else
		EQUAL(cosy_share_write(shares[index], writes, "w", 1), -EBADF);
}

int main(void)
{
	const struct cosy_team_options options = { .size = sizeof(options), .workers = WORKERS };
	char c;

	CHECK(!cosy_team_share(8));
	EQUAL(errno, EPERM);
	EQUAL(pipe(ends), 0);
	pthread_barrier_init(&barrier, NULL, WORKERS);
	EQUAL(cosy_team_create(&team, &options), 0);
	for (long i = 0; i < WORKERS; i++)
		EQUAL(cosy_team_call(team, (uint64_t)i + 1, begin, (void *)i), 0);
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(read(ends[0], &c, 1), 1);
	EQUAL(cosy_team_destroy(team), 0);
	EQUAL(read(ends[0], &c, 1), 0);
	return 0;
}
