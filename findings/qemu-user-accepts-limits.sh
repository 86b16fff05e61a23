#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# QEMU 7.2 in user mode: setrlimit() of RLIMIT_AS, RLIMIT_DATA or RLIMIT_STACK returns 0 and does nothing, so getrlimit() returns
# the old value, and memory is not limited. Other limits are passed on to the host, and hold. So a build or a test that
# limits its memory by ulimit, to fail early, runs without a limit. Nothing was found about it in QEMU's
# documentation; an issue of QEMU (1895) is about the size of the stack.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack qemu-user=1:7.2+dfsg-7+deb12u18+b3
cat >limits.c <<'END'
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

static void limit(const char *name, int resource, rlim_t value)
{
	struct rlimit old, set;
	int result;

	getrlimit(resource, &old);
	set = old;
	set.rlim_cur = value;
	result = setrlimit(resource, &set);
	getrlimit(resource, &set);
	printf("%s %s, ", name, result ? "refused" : set.rlim_cur == value ? "set" :
	       set.rlim_cur == old.rlim_cur ? "as before" : "another");
}

int main(void)
{
	limit("files", RLIMIT_NOFILE, 100);
	limit("core", RLIMIT_CORE, 4096);
	limit("stack", RLIMIT_STACK, 1 << 20);
	limit("data", RLIMIT_DATA, 64 << 20);
	limit("memory", RLIMIT_AS, 64 << 20);
	printf("256 MiB %s\n", mmap(NULL, 256 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	       MAP_FAILED ? "refused" : "mapped");
	return 0;
}
END
cc -Wall -o limits limits.c
expect "natively" "files set, core set, stack set, data set, memory set, 256 MiB refused" "$(./limits)"
expect "qemu-x86_64" "files set, core set, stack as before, data as before, memory as before, 256 MiB mapped" \
	"$(qemu-x86_64 ./limits)"
