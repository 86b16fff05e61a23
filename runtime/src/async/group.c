/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * group.c - which loops of a group know a descriptor, and which of them a close has to ask.
 */
#include <errno.h>
#include <stdlib.h>

#include "calls.h"
#include "descriptor.h"
#include "group.h"

int cosy_group_create(struct cosy_group *group)
{
	/* Untouched pages take no memory. */
	group->known = calloc(COSY_MAX_FD, sizeof(*group->known));
	return group->known ? 0 : -ENOMEM;
}

void cosy_group_destroy(struct cosy_group *group)
{
	free(group->known);
}

void cosy_group_note(struct cosy_descriptors *fds, int fd)
{
	struct cosy_group *group = fds->group;
	uint16_t *known = &group->known[fd], before = __atomic_load_n(known, __ATOMIC_RELAXED), after;
	uint32_t end = __atomic_load_n(&group->end, __ATOMIC_RELAXED);

	do {
		if (before == fds->member || before == COSY_KNOWN_BY_SEVERAL)
			break;
		after = before ? COSY_KNOWN_BY_SEVERAL : fds->member;
	} while (!__atomic_compare_exchange_n(known, &before, after, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	while (end <= (uint32_t)fd &&
	       !__atomic_compare_exchange_n(&group->end, &end, (uint32_t)fd + 1, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

void cosy_group_note_call(struct cosy_descriptors *fds, long nr, const uint64_t args[6])
{
	/* A close leaves nothing that another loop's close would have to end. */
	if (cosy_how(nr) == COSY_HOW_CLOSE)
		return;
	for (uint8_t mask = cosy_fd_mask(nr), i = 0; mask; mask >>= 1, i++)
		if (mask & 1 && (uint32_t)args[i] < COSY_MAX_FD)
			cosy_group_note(fds, (int)args[i]);
}

bool cosy_group_is_known(const struct cosy_descriptors *fds, uint32_t first, uint32_t last)
{
	const struct cosy_group *group = fds->group;
	const uint32_t end = group ? __atomic_load_n(&group->end, __ATOMIC_RELAXED) : 0;

	for (uint32_t fd = first; fd <= last && fd < end; fd++) {
		const uint16_t known = __atomic_load_n(&group->known[fd], __ATOMIC_RELAXED);

		if (known && known != fds->member)
			return true;
	}
	return false;
}

void cosy_question_drop(const struct cosy_descriptors *fds, uint32_t slot)
{
	struct cosy_question *question = fds->questions;

	while (question->slot != slot)
		question = question->next;
	question->slot = COSY_NO_SLOT;
}

void cosy_question_end(struct cosy_descriptors *fds, struct cosy_question *question)
{
	struct cosy_question **link = &fds->questions;

	while (*link != question)
		link = &(*link)->next;
	__atomic_store_n(link, question->next, __ATOMIC_RELAXED);
	free(question);
}

/*
 * The program orders its operations on a descriptor, in all loops, before the close, and the close before
 * the next use of the number. So relaxed accesses are enough here.
 */
uint32_t cosy_group_closes(struct cosy_descriptors *fds, uint32_t first, uint32_t last,
			   struct cosy_question *question)
{
	struct cosy_group *group = fds->group;
	const uint32_t end = __atomic_load_n(&group->end, __ATOMIC_RELAXED);
	uint32_t asked = 0;

	for (uint32_t fd = first; fd <= last && fd < end; fd++) {
		uint16_t known = __atomic_load_n(&group->known[fd], __ATOMIC_RELAXED);

		if (!known)
			continue;
		/* A close that asks may still be cancelled. Until it is made, this loop may know the descriptor. */
		__atomic_store_n(&group->known[fd], question ? fds->member : 0, __ATOMIC_RELAXED);
		if (known != fds->member)
			asked += group->tell(group, fds->member, known, (int)fd, question);
	}
	return asked;
}
