/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * thread-id.c - the number of the thread, for native code of regions.
 */
#include <cosy/exec.h>
#include <cosy/region.h>

#include "device/export.h"

COSY_EXPORT uint32_t cosy_thread_id(void)
{
	return cosy_env_tid(NULL);
}
