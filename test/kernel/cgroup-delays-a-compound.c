// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A process whose cgroup has more memory than memory.high is delayed whenever it returns to user mode.
 * A compound that exceeds the limit leaves for that, and does not go on without the delay.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define CGROUP	"/sys/fs/cgroup/cosy-delays"
#define MIB	(1ull << 20)
#define SIZE	4096
#define CALLS	3000
#define SLOTS	5
#define TRIES	5

enum { RESULT, BUFFER, FD, NREGS };

static void put(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(name);
	close(fd);
}

/* Load a compound that writes CALLS * SIZE bytes, without a back-edge. */
static __u64 load_writes(int dev)
{
	static struct cosy_op ops[CALLS * SLOTS + 1];

	for (unsigned int i = 0; i < CALLS; i++) {
		const struct cosy_op call[SLOTS] = {
			SYS(RESULT, SYS_write, 3), ARG(FD), ARG(BUFFER), ARGI(SIZE), MOV(RESULT, RESULT),
		};

		memcpy(&ops[i * SLOTS], call, sizeof(call));
	}
	ops[CALLS * SLOTS] = (struct cosy_op)EXIT(0);
	return must_load_ops(dev, ops, CALLS * SLOTS + 1, NREGS);
}

/* Return the number of entries that have written everything. */
static int count_complete(void)
{
	static char page[SIZE] = "x";
	int dev = open_device(), complete = 0;
	__u64 frame[NREGS], writes = load_writes(dev);
	struct cosy_run run;

	put(CGROUP "/cgroup.procs", "0");
	for (int i = 0; i < TRIES; i++) {
		int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);

		memset(&run, 0, sizeof(run));
		memset(frame, 0, sizeof(frame));
		frame[BUFFER] = (uintptr_t)page;
		frame[FD] = (__u64)fd;
		run.handle = writes;
		run.frame = (uintptr_t)frame;
		complete += enter(dev, &run) == done(0);
		printf("written: %lld\n", (long long)lseek(fd, 0, SEEK_CUR));
		close(fd);
	}
	return complete;
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
		status = count_complete();
		fflush(stdout);
		_exit(status);
	}
	waitpid(child, &status, 0);
	check(WIFEXITED(status) && !WEXITSTATUS(status),
	      "each of %d entries leaves when it exceeds memory.high, and not at its end: %#x", TRIES,
	      status);
	for (int i = 0; i < 1000 && rmdir(CGROUP); i++)
		usleep(10000);
	return finish();
}
