// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * progress.c - a line on standard error that says how far long work is.
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

void progress_show(uint64_t files, uint64_t bytes)
{
	static time_t next;
	time_t now = time(NULL);

	if (!next)
		next = now + INTERVAL;
	if (now < next)
		return;
	next = now + INTERVAL;
	progress_clear();
	fprintf(stderr, "%" PRIu64 " files, %.1f MB", files, bytes / 1e6);
	shown = true;
}
