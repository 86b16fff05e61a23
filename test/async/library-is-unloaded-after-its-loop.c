// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A shared library that has destroyed its loop can be unloaded: none of the loop's threads executes
 * its code any more.
 */

// RUN: %cosy-cc -g -O1 -Wall -Wextra -Werror -fPIC -shared -DLIBRARY %s -o %t.so
// RUN: %cc -g -O1 -Wall -Wextra -Werror %s -o %t
// RUN: COSY_EXECUTOR=user %bounded %t %t.so
// RUN: %vm env COSY_EXECUTOR=user %t %t.so
// RUN: %vm env COSY_EXECUTOR=auto %t %t.so
// RUN: %vm env COSY_EXECUTOR=kernel %t %t.so

#define _GNU_SOURCE
#include <err.h>
#include <sched.h>
#include <stdlib.h>

#include "../Inputs/check.h"

int use(void);

#ifdef LIBRARY

#include <cosy/async.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The threads that this thread starts have the same policy. */
static void set_policy(int policy)
{
	struct sched_param param = { .sched_priority = 0 };

	EQUAL(sched_setscheduler(0, policy, &param), 0);
}

int use(void)
{
	struct cosy_async op = { .done = NULL };
	struct cosy_loop *loop;
	int fd = memfd_create("unload", MFD_CLOEXEC);

	CHECK(fd >= 0);
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	set_policy(SCHED_IDLE);
	EQUAL(cosy_async_call(loop, &op, SYS_fsync, fd, 0, 0, 0, 0, 0), 0);
	EQUAL(cosy_wait_for(loop, &op, NULL), 0);
	set_policy(SCHED_OTHER);
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(close(fd), 0);
	return (int)op.result;
}

#else

#include <dlfcn.h>
#include <unistd.h>

/* On one CPU, a thread of the loop does not run while this one does. */
static void use_one_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CHECK(cpu >= 0);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	EQUAL(sched_setaffinity(0, sizeof(set), &set), 0);
}

int main(int argc, char **argv)
{
	EQUAL(argc, 2);
	use_one_cpu();
	for (int i = 0; i < 20; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		__typeof__(use) *function;

		if (!library)
			errx(1, "%s", dlerror());
		function = (__typeof__(use) *)dlsym(library, "use");
		CHECK(function);
		EQUAL(function(), 0);
		EQUAL(dlclose(library), 0);
		/* The threads that are left run. */
		sched_yield();
		usleep(1000);
	}
	return 0;
}

#endif
