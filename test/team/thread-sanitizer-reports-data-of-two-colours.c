/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ThreadSanitizer reports data that callbacks of two colours use, also if one worker runs both, and
 * reports nothing if the colours are right.
 */
// RUN: %thread-sanitizer
// RUN: COSY_EXECUTOR=user %t right 1 2>&1 | %FileCheck --check-prefix=RIGHT %s
// RUN: COSY_EXECUTOR=user %t right 4 2>&1 | %FileCheck --check-prefix=RIGHT %s
// RUN: %not env COSY_EXECUTOR=user %t wrong 1 2>&1 | %FileCheck --check-prefix=WRONG %s
// RUN: %not env COSY_EXECUTOR=user %t wrong 4 2>&1 | %FileCheck --check-prefix=WRONG %s
// RIGHT-NOT: WARNING
// RIGHT: total 28000
// WRONG: WARNING: ThreadSanitizer: data race
// WRONG: add
// WRONG: Location is global 'total'
#include "team.h"

static struct cosy_team *team;
static unsigned int total;

struct item {
	unsigned int value;
	bool wrong;
};

/* Colour 0 alone uses @total. */
static void add(void *arg)
{
	struct item *item = arg;

	total += item->value;
	free(item);
}

/* More colours than the sanitizer can have fibers. */
static unsigned int computed[7001];

static void compute(void *arg)
{
	struct item *item = arg;
	char text[12];

	/* Variables of the stack are no common data, even if one worker calls both. */
	snprintf(text, sizeof(text), "%u", item->value);
	item->value = 2 * (unsigned int)atoi(text);
	computed[cosy_team_colour()]++;
	EQUAL(cosy_team_call(team, item->wrong ? cosy_team_colour() : 0, add, item), 0);
}

int main(int argc, char **argv)
{
	CHECK(argc == 3);
	team = make_team((uint32_t)atoi(argv[2]));
	for (uint64_t i = 0; i < 14000; i++) {
		struct item *item = malloc(sizeof(*item));

		*item = (struct item){ .value = 1, .wrong = !strcmp(argv[1], "wrong") };
		EQUAL(cosy_team_call(team, 1 + i % 7000, compute, item), 0);
	}
	EQUAL(cosy_team_wait(team, NULL), 0);
	printf("total %u\n", total);
	EQUAL(cosy_team_destroy(team), 0);
	return 0;
}
