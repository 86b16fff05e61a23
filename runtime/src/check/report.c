/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * report.c - what the check of COSY_BATCH tells the person who runs the program.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/message.h"
#include "check/check.h"

static bool only_report;

void cosy_batch_report_init(void)
{
	const char *mode = secure_getenv("COSY_BATCH_CHECK");

	only_report = mode && !strcmp(mode, "report");
}

/* End the program, unless COSY_BATCH_CHECK=report. */
static void violation(void)
{
	if (!only_report)
		abort();
}

/*
 * With COSY_BATCH_CHECK=report: return true if this pair of sites has been reported, or so
 * many pairs that more would not help.
 */
static bool is_known(const char *site, const char *earlier)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct {
		const char *site, *earlier;
	} known[32];
	static size_t count;
	bool is = false;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < count; i++)
		is |= known[i].site == site && known[i].earlier == earlier;
	if (count == sizeof(known) / sizeof(known[0]))
		is = true;
	if (!is) {
		known[count].site = site;
		known[count++].earlier = earlier;
	}
	pthread_mutex_unlock(&lock);
	return is;
}

static const char *phase_text(unsigned int phase)
{
	static const char *const text[] = {
		[COSY_BATCH_COLLECT] = ", before its region, ",
		[COSY_BATCH_CALL] = ", in its region, ",
		[COSY_BATCH_FINISH] = ", after its region, ",
	};

	return text[phase];
}

void cosy_batch_describe(char *text, size_t size, const struct cosy_batch_access *a)
{
	static const char *const verbs[] = {
		[COSY_STAMP_READ] = "reads",
		[COSY_STAMP_WRITE] = "writes",
		[COSY_STAMP_UPDATE] = "adds to",
	};

	if (a->object)
		snprintf(text, size, "%s %s", a->verb, a->object);
	else
		snprintf(text, size, "%s %zu byte%s at %#llx",
			 a->verb ? a->verb : verbs[a->kind], a->size,
			 a->size == 1 ? "" : "s", (unsigned long long)a->address);
}

/* "has read": what an access of @kind did. */
static const char *earlier_text(bool is_object, enum cosy_stamp_kind kind)
{
	static const char *const memory[] = {
		[COSY_STAMP_READ] = "has read",
		[COSY_STAMP_WRITE] = "has written",
		[COSY_STAMP_UPDATE] = "has added to",
	};

	if (is_object)
		return kind == COSY_STAMP_READ ? "has used" : "has changed";
	return memory[kind];
}

void cosy_batch_report_order(const struct cosy_batch_loop *loop,
			     const struct cosy_batch_conflict *c)
{
	struct cosy_number now, then;
	const char *n = cosy_number(&now, loop->first + c->index + 1);
	const char *m = cosy_number(&then, loop->first + cosy_stamp_index(c->stamp) + 1);

	if (is_known(c->site, cosy_stamp_site(c->stamp)))
		return;
	cosy_message(loop->site, ": COSY_BATCH: iterations ", n, " and ", m,
		     " of this loop are not independent", NULL);
	cosy_message(c->site, ": iteration ", n, phase_text(c->phase), c->what, NULL);
	cosy_message(cosy_stamp_site(c->stamp), ": iteration ", m,
		     phase_text(cosy_stamp_phase(c->stamp)),
		     earlier_text(c->is_object, c->earlier),
		     " it already; the loop as written does that later", NULL);
	cosy_message(c->is_object ?
		     "do both on the same side of the region, or remove COSY_BATCH" :
		     "use a variable of the loop's body, or do both on the same side of the region",
		     "; see COSY_BATCH(3)", NULL);
	violation();
}

void cosy_batch_report_left(const struct cosy_batch_loop *loop,
			    const struct cosy_batch_conflict *c)
{
	struct cosy_number now, then;
	const char *n = cosy_number(&now, loop->first + loop->index + 1);
	const char *m = cosy_number(&then, loop->first + cosy_stamp_index(c->stamp) + 1);

	if (is_known(c->site, cosy_stamp_site(c->stamp)))
		return;
	cosy_message(loop->site, ": COSY_BATCH: iteration ", n, " has left this loop, "
		     "and a change by iteration ", m, " makes a difference", NULL);
	cosy_message(c->site, ": then the program ", c->what, NULL);
	cosy_message(cosy_stamp_site(c->stamp), ": iteration ", m,
		     phase_text(cosy_stamp_phase(c->stamp)),
		     earlier_text(c->is_object, c->earlier),
		     " it; the loop as written does not run that iteration", NULL);
	cosy_message("change it after the region, or leave the loop before the region; "
		     "see COSY_BATCH(3)", NULL);
	violation();
}

void cosy_batch_report_end(const struct cosy_batch_loop *loop, const char *how,
			   uint64_t pending)
{
	struct cosy_number number, next;

	cosy_message(loop->site, ": COSY_BATCH: iteration ",
		     cosy_number(&next, loop->first + loop->index + 1),
		     " of this loop leaves it by ", how, ", and ",
		     cosy_number(&number, pending),
		     " collected before it cannot be finished", NULL);
	cosy_message("return from the function, or leave the loop by break or goto; "
		     "see COSY_BATCH(3)", NULL);
	violation();
}
