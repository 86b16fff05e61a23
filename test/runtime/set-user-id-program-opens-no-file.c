/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A set-user-ID program opens no file for its regions, whatever the caller's environment is, and
 * runs them natively.
 */
// RUN: %compile -static %s -o %t -l:libcosy.a
// RUN: %vm env COSY_EXECUTOR=kernel %t | FileCheck --check-prefix=PLAIN %s
// The VM's /tmp is mounted nosuid.
// RUN: %vm sh -c 'mkdir -p /tmp/secure && mount -t tmpfs none /tmp/secure && cp %t /tmp/secure/prog && chmod 4755 /tmp/secure/prog && for by in auto kernel user; do COSY_STATS=/tmp/secure.stats COSY_DEBUG=1 COSY_EXECUTOR=$by setpriv --reuid=65534 --clear-groups /tmp/secure/prog || exit 1; done; umount /tmp/secure; test ! -e /tmp/secure.stats' 2>&1 | FileCheck %s
// PLAIN: secure 0: descriptors 1, region as a compound
// CHECK-COUNT-3: {{^}}secure 1: descriptors 0, region natively{{$}}
// CHECK-NOT: cosy:
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "region.h"

REGION(calls, CALLS, 12)

int main(void)
{
	uint64_t frame[4] = { 3 };
	int exit = (int)run(&calls, frame), open = 0;

	for (int fd = 0; fd < 1024; fd++) {
		char link[40], target[40] = { 0 };

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		if (readlink(link, target, sizeof(target) - 1) > 0)
			open += !strcmp(target, "/dev/cosy") ||
				!strcmp(target, "/tmp/secure.stats");
	}
	printf("secure %d: descriptors %d, region %s\n",
	       (int)getauxval(AT_SECURE), open,
	       exit ? "natively" : "as a compound");
	return 0;
}
