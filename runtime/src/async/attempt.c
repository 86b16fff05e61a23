/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * attempt.c - calls that do not block, in batches.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attempt.h"
#include "page.h"
#include "slot.h"

int cosy_attempts_create(struct cosy_attempts *attempts, uint32_t slots)
{
	/*
	 * Neither batch becomes larger than this, however many calls the module gives back. Untouched
	 * pages take no memory.
	 */
	attempts->batches[0] = malloc(2 * (size_t)slots * sizeof(*attempts->batch));
	if (!attempts->batches[0])
		return -ENOMEM;
	attempts->batches[1] = attempts->batches[0] + slots;
	attempts->batch = attempts->batches[0];
	return 0;
}

void cosy_attempts_destroy(const struct cosy_attempts *attempts)
{
	free(attempts->batches[0]);
}

struct cosy_attempt *cosy_attempt_add(struct cosy_attempts *attempts, const struct cosy_page *page,
				      struct cosy_slots *slots, uint32_t slot)
{
	const struct cosy_async_entry *entry = &page->entries[slot];
	struct cosy_attempt *a = &attempts->batch[attempts->count++];

	slots->all[slot].state = COSY_SLOT_ATTEMPT;
	a->nr = entry->nr;
	memcpy(a->args, entry->args, sizeof(a->args));
	a->slot = slot;
	return a;
}

struct cosy_attempt *cosy_attempts_take(struct cosy_attempts *attempts, uint32_t *n)
{
	struct cosy_attempt *made = attempts->batch;

	*n = attempts->count;
	attempts->batch = made == attempts->batches[0] ? attempts->batches[1] :
							 attempts->batches[0];
	attempts->count = 0;
	return made;
}
