// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A process gets only its own data from a run that is left, no earlier contents of the
 * kernel's stack.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#include <signal.h>
#include <sys/time.h>

static void ignore(int sig)
{
	(void)sig;
}

/* A call with a deep stack, which leaves addresses there. */
static void fill_stack(void)
{
	size_t size = 1 << 20;
	char *p = must_map(size);

	*p = 1;
	p = mremap(p, size, 2 * size, MREMAP_MAYMOVE);
	if (p == MAP_FAILED || munmap(p, 2 * size))
		die("mremap");
}

/* An endless loop is left for a signal, which has no value. */
int main(void)
{
	const struct itimerval soon = { .it_value.tv_usec = 500 };
	int dev = open_device(), left = 0;
	__u64 frame[4] = { 0 }, handle = must_load(dev, 4, JMP(0), EXIT(0)), told = 0;

	signal(SIGALRM, ignore);
	for (int i = 0; i < 2000 && left < 500; i++) {
		struct cosy_run run = { .handle = handle, .frame = (uintptr_t)frame,
					.errno_addr = (uintptr_t)&errno, .value = 1 };

		setitimer(ITIMER_REAL, &soon, NULL);
		fill_stack();
		if (enter(dev, &run) != COSY_RUN_LEFT || run.status != COSY_AGAIN)
			continue;
		left++;
		told |= run.value;
	}
	check(left, "an endless loop is left for signals, %d times", left);
	check(!told, "and no more than that is reported (%#llx)", told);
	return finish();
}
