// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A shared library that has destroyed its loop can be unloaded: none of the loop's threads executes
 * its code any more.
 */

// RUN: %cosy-cc -g -O1 -Wall -Wextra -Werror -fPIC -shared -DLIBRARY %s -o %t.so
// RUN: %cc -g -O1 -Wall -Wextra -Werror %s -o %t
// RUN: COSY_EXECUTOR=user timeout 600 %t %t.so
// RUN: %vm env COSY_EXECUTOR=user timeout 900 %t %t.so
// RUN: %vm env COSY_EXECUTOR=auto timeout 900 %t %t.so
// RUN: %vm env COSY_EXECUTOR=kernel timeout 900 %t %t.so

#define _GNU_SOURCE
#include <err.h>
#include <sched.h>
#include <stdlib.h>

#define CHECK(condition) do {						\
	if (!(condition))						\
		err(1, "%s:%d: %s", __FILE__, __LINE__, #condition);	\
} while (0)

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

	CHECK(!sched_setscheduler(0, policy, &param));
}

int use(void)
{
	struct cosy_async op = { .done = NULL };
	struct cosy_loop *loop;
	int fd = memfd_create("unload", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK(!cosy_loop_create(&loop, NULL));
	set_policy(SCHED_IDLE);
	CHECK(!cosy_async_call(loop, &op, SYS_fsync, fd, 0, 0, 0, 0, 0));
	CHECK(!cosy_wait_for(loop, &op, NULL));
	set_policy(SCHED_OTHER);
	CHECK(!cosy_loop_destroy(loop) && !close(fd));
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
	CHECK(!sched_setaffinity(0, sizeof(set), &set));
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	use_one_cpu();
	for (int i = 0; i < 20; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		__typeof__(use) *function;

		if (!library)
			errx(1, "%s", dlerror());
		function = (__typeof__(use) *)dlsym(library, "use");
		CHECK(function && !function() && !dlclose(library));
		/* The threads that are left run. */
		sched_yield();
		usleep(1000);
	}
	return 0;
}

#endif
