// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A compound that makes one long call after the other holds up no grace period of
 * RCU tasks. The end of a function tracer waits for one.
 *
 * In Debian's 6.1: later kernels make each run leave for work of their own, ten times a second.
 */
// REQUIRES: long
// RUN: %compile %s -o %t
// RUN: %root/scripts/vm/run --kernel 6.1 -- timeout 900 %t
#include "compound.h"

#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define TRACER	"/sys/kernel/tracing/instances/cosy/"
#define CALLS	4000
#define SIZE	(32u << 20)
/* Slots of one of the calls, with the store of its number. */
#define SLOTS	6

enum { RESULT, BUFFER, NUMBER, WHERE, NREGS };

/* What the processes share. */
static struct {
	__u64 calls;
	__u64 ended;
} *shared;

static __u64 value_of(const __u64 *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static void put(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(name);
	close(fd);
}

/* Enter once, and read for minutes. */
static void make_long_calls(void)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC), dev = open(COSY_DEVICE, O_RDWR | O_CLOEXEC);
	static struct cosy_op ops[CALLS * SLOTS + 1];
	static __u64 frame[NREGS];
	struct cosy_run run = { .frame = (uintptr_t)frame };

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (unsigned int i = 0; i < CALLS; i++) {
		const struct cosy_op call[SLOTS] = {
			SYS(RESULT, SYS_read, 3), ARGI(zero), ARG(BUFFER), ARGI(SIZE),
			CONST(NUMBER, i + 1), STORE(8, WHERE, NUMBER),
		};

		memcpy(&ops[i * SLOTS], call, sizeof(call));
	}
	ops[CALLS * SLOTS] = (struct cosy_op)EXIT(0);
	frame[BUFFER] = (uintptr_t)must_map(SIZE);
	frame[WHERE] = (uintptr_t)&shared->calls;
	run.handle = must_load_ops(dev, ops, CALLS * SLOTS + 1, NREGS);
	enter(dev, &run);
	__atomic_store_n(&shared->ended, 1, __ATOMIC_RELEASE);
	_exit(0);
}

int main(void)
{
	__u64 before;
	pid_t pid;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	mount("none", "/sys/kernel/tracing", "tracefs", 0, NULL);
	if (shared == MAP_FAILED || mkdir(TRACER, 0700))
		die(TRACER);
	put(TRACER "set_ftrace_filter", "do_nanosleep");
	pid = fork();
	if (!pid)
		make_long_calls();
	while (!value_of(&shared->calls) && !waitpid(pid, NULL, WNOHANG))
		usleep(1000);
	before = value_of(&shared->calls);
	put(TRACER "current_tracer", "function");
	put(TRACER "current_tracer", "nop");
	check(before && !value_of(&shared->ended),
	      "a tracer has ended before the compound: call %llu of %u", value_of(&shared->calls), CALLS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	rmdir(TRACER);
	return finish();
}
