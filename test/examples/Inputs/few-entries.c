// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * few-entries.c - for LD_PRELOAD: a server of lines takes RLIMIT_NOFILE to be lower than it is, so that its
 * loop has fewer entries than there are descriptors.
 */
#include <sys/resource.h>

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
	(void)resource;
	*limit = (struct rlimit){ 7, 7 };
	return 0;
}
