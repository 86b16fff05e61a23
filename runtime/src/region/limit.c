/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * limit.c - the limits of a region (COSY_START_WITH) while it runs.
 *
 * A region that can be stopped tests one of its registers at the beginning of each loop
 * iteration. If the register is 1, the region ends there, and its variables have the values
 * of that point.
 */
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include <cosy/format.h>

#include "device/sys.h"
#include "region/limit.h"
#include "region/stop.h"

static int64_t cpu_time(void)
{
	struct timespec now = { 0 };

	cosy_sys(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The line of the slot @pc; NULL and 0 if the image does not tell. */
static const char *line_of(const struct cosy_region *region, uint32_t pc,
			   uint32_t *line)
{
	const struct cosy_header *header = region->image;
	const struct cosy_op *ops = (const void *)(header + 1);
	const struct cosy_line *lines = (const void *)(ops + header->nops);
	const char *strings = (const void *)(lines + header->nlines);
	uint32_t n = 0;

	while (n < header->nlines && lines[n].pc <= pc)
		n++;
	if (!n) {
		*line = 0;
		return region->file;
	}
	*line = lines[n - 1].line;
	return strings + lines[n - 1].file;
}

static __attribute__((noreturn)) void kill_process(void)
{
	cosy_sys(SYS_kill, cosy_sys(SYS_getpid, 0, 0, 0), SIGKILL, 0);
	/* The first process of a container does not die of its own signals. */
	for (;;)
		cosy_sys(SYS_exit_group, 128 + SIGKILL, 0, 0);
}

void cosy_limiter_begin(struct cosy_limiter *limiter,
			const struct cosy_region *region)
{
	limiter->limits = region->limits;
	if (!limiter->limits)
		return;
	limiter->left = INT64_MAX;
	if (limiter->limits->max_operations &&
	    limiter->limits->policy != COSY_RESUME)
		limiter->left = (int64_t)limiter->limits->max_operations;
	if (limiter->limits->max_ms)
		limiter->begin = cpu_time();
}

bool cosy_limiter_stop(const struct cosy_region *region, uint64_t *frame,
		       uint32_t pc)
{
	const struct cosy_limits *limits = region->limits;
	const char *file;
	uint32_t line;

	if (!limits || limits->policy != COSY_STOP ||
	    limits->stop == COSY_NO_STOP)
		return false;
	file = line_of(region, pc, &line);
	cosy_stop_at(file, line, region->function);
	frame[limits->stop] = 1;
	return true;
}

void cosy_limiter_check(struct cosy_limiter *limiter,
		       const struct cosy_region *region, uint64_t *frame,
		       uint32_t pc)
{
	const struct cosy_limits *limits = limiter->limits;
	int64_t used;

	if (!limits || limits->policy == COSY_RESUME)
		return;
	if (limiter->left >= 0) {
		if (!limits->max_ms)
			return;
		used = cpu_time() - limiter->begin;
		/* In a child process the clock has begun anew. */
		if (used < 0)
			limiter->begin = 0;
		if (used < limits->max_ms * INT64_C(1000000))
			return;
	}
	if (limits->policy == COSY_KILL)
		kill_process();
	cosy_limiter_stop(region, frame, pc);
	limiter->limits = NULL;
}
