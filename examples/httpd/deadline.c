// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * deadline.c - lists of what waits.
 */
#include "deadline.h"

#include <stddef.h>

static struct deadline lists[DEADLINE_KINDS];

void deadline_init(void)
{
	for (int i = 0; i < DEADLINE_KINDS; i++)
		lists[i].next = lists[i].previous = &lists[i];
}

void deadline_clear(struct deadline *deadline)
{
	if (!deadline->next)
		return;
	deadline->previous->next = deadline->next;
	deadline->next->previous = deadline->previous;
	deadline->next = NULL;
}

void deadline_set(struct deadline *deadline, enum deadline_kind kind, uint32_t now)
{
	struct deadline *list = &lists[kind];

	deadline_clear(deadline);
	deadline->kind = kind;
	deadline->since = now;
	deadline->next = list;
	deadline->previous = list->previous;
	list->previous->next = deadline;
	list->previous = deadline;
}

void deadline_expire(enum deadline_kind kind, uint32_t before,
		     void (*expired)(struct deadline *deadline))
{
	struct deadline *list = &lists[kind], *first;

	/* Times are compared by their difference, so that they may wrap. */
	while ((first = list->next) != list && (int32_t)(before - first->since) >= 0) {
		deadline_clear(first);
		expired(first);
	}
}
