// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Endless compounds can be killed immediately, and do not block other tasks.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"
#include "share.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* The endless compound has begun. */
static volatile bool *begun;

static void forever(int dev, __u64 handle, __u64 *frame)
{
	struct cosy_run run;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memset(&run, 0, sizeof(run));
	run.handle = handle;
	run.frame = (__u64)(uintptr_t)frame;
	*begun = true;
	for (;;) {
		if (enter(dev, &run) != COSY_RUN_LEFT)
			_exit(1);
		run.status = COSY_AGAIN;
	}
}

/* A child that runs it without end, and has run it for some time. */
static pid_t start_forever(int dev, __u64 handle, __u64 *frame)
{
	pid_t pid;

	*begun = false;
	pid = fork();
	if (!pid)
		forever(dev, handle, frame);
	while (!*begun)
		usleep(1000);
	usleep(50000);
	return pid;
}

static void test_kill(int dev, __u64 handle, __u64 *frame, const char *what)
{
	double best = 1000;
	int status = 0;

	for (double begin = now(); best >= 0.05 && now() - begin < PATIENCE;) {
		pid_t pid = start_forever(dev, handle, frame);
		double start = now();

		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		start = now() - start;
		if (start < best)
			best = start;
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			break;
	}
	check(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && best < 0.05,
	      "SIGKILL in %s: dead within %.1f ms", what, best * 1e3);
}

/* Two tasks on one CPU: one in an endless compound, one that counts time. */
static void test_fair(int dev, __u64 handle, __u64 *frame, const char *what)
{
	double gap = 1, share = 0;
	cpu_set_t one;
	int status;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (double begin = now();
	     (share <= 0.3 || gap >= 1) && now() - begin < PATIENCE;) {
		pid_t pid = start_forever(dev, handle, frame);

		share = count_time(&gap);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	check(share > 0.3 && gap < 1, "beside %s: %.0f %% of the CPU, waits at most %.1f ms",
	      what, share * 100, gap * 1e3);
}

int main(void)
{
	int dev = open_device();
	__u64 frame[6] = { 0 };
	char *area = must_map(4 << 20);
	__u64 loop = must_load(dev, 6, JMP(0));
	__u64 calls = must_load(dev, 6, SYS(0, SYS_getpid, 0), JMP(0));
	__u64 copies = must_load(dev, 6, COPY(1, 2, 3), JMP(0));
	__u64 faults = must_load(dev, 6, SYS(0, SYS_madvise, 3), ARG(1), ARGI(4 << 20),
				 ARGI(MADV_DONTNEED), FILL(1, 4, 3), JMP(0));
	struct cosy_op *ops = calloc(100001, sizeof(*ops));
	struct image *im;
	__u64 straight;

	begun = mmap(NULL, sizeof(*begun), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	if (begun == MAP_FAILED)
		die("mmap");
	frame[1] = (__u64)(uintptr_t)area;
	frame[2] = (__u64)(uintptr_t)area + (1 << 20);
	frame[3] = 1 << 20;
	frame[4] = 1;

	/* No back-edge and no call for a long time. */
	for (int i = 0; i < 100000; i++)
		ops[i] = (struct cosy_op)COPY(1, 2, 3);
	ops[100000] = (struct cosy_op)EXIT(0);
	im = make_image(ops, 100001, 6, 6, 0, 0);
	straight = load_image(dev, im);

	test_kill(dev, loop, frame, "an empty loop");
	test_kill(dev, calls, frame, "a loop of calls");
	test_kill(dev, copies, frame, "a loop of copies");
	test_kill(dev, faults, frame, "a loop of page faults");
	test_kill(dev, straight, frame, "100,000 copies in a row");
	test_fair(dev, loop, frame, "an empty loop");
	test_fair(dev, calls, frame, "a loop of calls");
	test_fair(dev, straight, frame, "100,000 copies in a row");
	return finish();
}
