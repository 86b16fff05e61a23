// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A process whose cgroup has more memory than memory.high is delayed whenever it returns to user mode.
 * A compound that takes more leaves for that, and does not go on without the delay.
 */
// RUN: %compile %s -o %t
// The first cgroup makes the kernel change its code. An emulated processor may still execute what was there,
// so this has a VM of its own with one processor.
// RUN: %root/scripts/vm/run --smp 1 -- %t
#include "compound.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define CGROUP	"/sys/fs/cgroup/cosy-delays"
#define HIGH	(4u << 20)
/* As many pages as the kernel charges at a time. With more it would delay the call itself. */
#define SIZE	(64 * 4096)
#define CALLS	3000
#define WRITE_SLOTS 4
#define TRIES	5

enum { RESULT, BUFFER, FD, NREGS };

static void put(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(name);
	close(fd);
}

/* Load a compound that writes SIZE bytes, and then makes other calls, without a back-edge. */
static __u64 load_write(int dev)
{
	static struct cosy_op ops[WRITE_SLOTS + CALLS + 1] = {
		SYS(RESULT, SYS_write, 3), ARG(FD), ARG(BUFFER), ARGI(SIZE),
	};

	for (unsigned int i = 0; i < CALLS; i++)
		ops[WRITE_SLOTS + i] = (struct cosy_op)SYS(RESULT, SYS_getppid, 0);
	ops[WRITE_SLOTS + CALLS] = (struct cosy_op)EXIT(0);
	return must_load_ops(dev, ops, WRITE_SLOTS + CALLS + 1, NREGS);
}

/* Exceed the limit natively, and return the number of compounds that leave after their write. */
static int count_delayed(void)
{
	static char data[SIZE];
	int dev = open_device(), fd = open("/tmp", O_TMPFILE | O_RDWR, 0600), delayed = 0;
	__u64 frame[NREGS] = { 0 };
	struct cosy_run run;

	put(CGROUP "/cgroup.procs", "0");
	for (unsigned int i = 0; i < HIGH / SIZE; i++)
		if (write(fd, data, SIZE) != SIZE)
			die("write");
	frame[BUFFER] = (uintptr_t)data;
	frame[FD] = (__u64)fd;
	for (int i = 0; i < TRIES; i++) {
		memset(&run, 0, sizeof(run));
		run.handle = load_write(dev);
		run.frame = (uintptr_t)frame;
		delayed += enter(dev, &run) == COSY_RUN_LEFT && run.status == COSY_AGAIN &&
			   run.pc == WRITE_SLOTS;
	}
	return delayed;
}

int main(void)
{
	int status = 0;
	pid_t child;

	mount("none", "/sys/fs/cgroup", "cgroup2", 0, NULL);
	put("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	if (mkdir(CGROUP, 0755))
		die(CGROUP);
	put(CGROUP "/memory.high", "4M");
	fflush(stdout);
	child = fork();
	if (!child) {
		status = count_delayed();
		fflush(stdout);
		_exit(status);
	}
	waitpid(child, &status, 0);
	/* The kernel charges for each CPU, so in one of them the call may exceed nothing. */
	check(WIFEXITED(status) && WEXITSTATUS(status) > TRIES / 2,
	      "compounds leave after the call that exceeds memory.high: %d of %d", WEXITSTATUS(status), TRIES);
	for (int i = 0; i < 1000 && rmdir(CGROUP); i++)
		usleep(10000);
	return finish();
}
