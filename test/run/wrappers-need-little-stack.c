// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Handlers of signals call wrappers, and open the device, on an alternate stack that has 1 KiB
 * more than the kernel needs.
 */

// RUN: %cc -O1 -Wall -Wl,-z,now %s -o %t
// RUN: %cosy-cc -fcosy-auto -O1 -Wall -Wl,-z,now %s -o %t.auto
// RUN: %t closed
// RUN: %build/bin/cosy run %t closed
// RUN: %t.auto closed
// RUN: %vm %build/bin/cosy run %t open
// RUN: %vm %t.auto open
// The names of programs that are left alone are read there, too: the name is the last one of many.
// RUN: %vm unshare -m sh -c 'cp /etc/ld.so.cache /tmp/stack-cache && mount -t tmpfs none /etc && cp /tmp/stack-cache /etc/ld.so.cache && mkdir /etc/cosy && seq -f name-%%g 300 >/etc/cosy/run-except && %build/bin/cosy run %t open && basename %t >>/etc/cosy/run-except && %build/bin/cosy run %t closed'

#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "Inputs/device.h"

#define GUARD	65536

static int handled;

static void on_signal(int signal)
{
	struct stat st;
	int fd = open("/", O_RDONLY);

	(void)signal;
	if (fd >= 0 && !close(fd) && !stat("/", &st) && stat("/missing", &st) == -1 &&
	    errno == ENOENT)
		handled++;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	size_t size = getauxval(AT_MINSIGSTKSZ) + 1024;
	stack_t stack = { .ss_size = size };
	char *memory;

	EQUAL(argc, 2);
	memory = mmap(NULL, 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	EQUAL(mprotect(memory + GUARD, GUARD, PROT_READ | PROT_WRITE), 0);
	stack.ss_sp = memory + GUARD;
	EQUAL(sigaltstack(&stack, NULL), 0);
	EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
	for (int i = 0; i < 200; i++)
		EQUAL(raise(SIGUSR1), 0);
	EQUAL(handled, 200);
	EQUAL(has_device(), !strcmp(argv[1], "open"));
	return 0;
}
