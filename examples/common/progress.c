// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * progress.c - a line on standard error that shows the progress of long work.
 */
#include "progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

/* Seconds between two lines. */
enum { INTERVAL = 1 };

static bool shown;

void progress_clear(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}

/* Return true if a line is due. The old line is then erased. */
static bool is_due(void)
{
	static time_t next;
	time_t now = time(NULL);

	if (!next)
		next = now + INTERVAL;
	if (now < next)
		return false;
	next = now + INTERVAL;
	progress_clear();
	shown = true;
	return true;
}

void progress_show(uint64_t files, uint64_t bytes)
{
	if (is_due())
		fprintf(stderr, "%" PRIu64 " files, %.1f MB", files, bytes / 1e6);
}

void progress_show_part(const char *what, uint64_t done, uint64_t all)
{
	if (is_due())
		fprintf(stderr, "%s: %.0f %%", what, 100.0 * done / all);
}
