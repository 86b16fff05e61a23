/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stop.c - why the last region of a thread ended early.
 */
#include <cosy.h>

#include <errno.h>
#include <stdbool.h>

#include <cosy/region.h>

#include "device/export.h"
#include "region/stop.h"

static _Thread_local COSY_TLS struct cosy_stop failure;
static _Thread_local COSY_TLS bool failed;

COSY_EXPORT void cosy_stop_reset(void)
{
	failed = false;
}

COSY_EXPORT void cosy_stop_failed(const struct cosy_place *place)
{
	failure = (struct cosy_stop){
		.file = place->file,
		.function = place->function,
		.call = place->call,
		.line = place->line,
		.error = errno,
	};
	failed = true;
}

void cosy_stop_at(const char *file, uint32_t line, const char *function)
{
	failure = (struct cosy_stop){
		.file = file,
		.function = function,
		.line = line,
		.error = ETIME,
	};
	failed = true;
}

COSY_EXPORT void cosy_stop_limited(void)
{
	errno = ETIME;
}

COSY_EXPORT const struct cosy_stop *cosy_last_error(void)
{
	return failed ? &failure : NULL;
}
