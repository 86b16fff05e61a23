/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A worker with short callbacks does not keep the structures of colours and calls that came with the colours that
 * it has stolen: in memory they are among those of the worker that has allocated them.
 */
// RUN: %cc %flags %s -o %t -L%lib -l:libcosy.a -Wl,--wrap=aligned_alloc -Wl,--wrap=free
// RUN: COSY_EXECUTOR=user %bounded %t
#include "team.h"

#define CHAINS	200u
#define LENGTH	100u
#define LINE	64u

void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *memory);

static struct cosy_team *team;
static unsigned int left[CHAINS];
static atomic_uint ended, freed;
/* What the first worker has allocated. Others only read it, after that worker has queued its callbacks. */
static void *allocated[4 * CHAINS];
static unsigned int count;
static __thread bool is_first;

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	void *memory = __real_aligned_alloc(alignment, size);

	if (is_first && count < sizeof(allocated) / sizeof(*allocated))
		allocated[count++] = memory;
	return memory;
}

void __wrap_free(void *memory)
{
	for (unsigned int i = 0; memory && !is_first && i < count; i++)
		freed += allocated[i] == memory;
	__real_free(memory);
}

/* Each callback makes the colour active, because it queues one of the other colour of its chain. */
static void go_on(void *arg)
{
	unsigned int *one = arg;

	if (--*one)
		EQUAL(cosy_team_call(team, (uintptr_t)one + *one % 2, go_on, one), 0);
	else
		ended++;
}

/* Queue all chains, and stay until others have run them. */
static void queue(void *gate)
{
	is_first = true;
	for (unsigned int i = 0; i < CHAINS; i++) {
		left[i] = LENGTH;
		EQUAL(cosy_team_call(team, (uintptr_t)&left[i], go_on, &left[i]), 0);
	}
	pass_gate(gate);
	is_first = false;
}

int main(void)
{
	struct gate gate = GATE;

	alarm(600);
	team = make_team(2);
	EQUAL(cosy_team_call(team, COSY_COLOUR_ALONE - 1, queue, &gate), 0);
	await_count(&ended, CHAINS);
	open_gate(&gate);
	EQUAL(cosy_team_wait(team, NULL), 0);
	/* A colour and a call of each chain, but for those that were freed before callbacks were found to be short. */
	CHECK(info_of(team).stolen >= CHAINS);
	CHECK(count > CHAINS);
	CHECK(freed >= CHAINS);
	EQUAL(cosy_team_destroy(team), 0);
	return 0;
}
