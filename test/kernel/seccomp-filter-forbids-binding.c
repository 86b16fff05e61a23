// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A process whose seccomp filter forbids running BPF programs by bpf(2)
 * cannot run one by binding it. Earlier bindings remain, like open descriptors.
 */
// Linux 6.1 has no BPF arenas.
// UNSUPPORTED: kernel-6.1
// RUN: %compile-bpf %S/Inputs/functions.bpf.c -o %t.bpf.o
// RUN: %compile-dynamic %s -o %t -lbpf
// RUN: %vm flock /tmp/function-time %t %t.bpf.o
#include "function.h"

#include <sys/wait.h>

#include "filter.h"

static int dev;
static struct segment seg;
static struct bpf_object *object;

/* Every command of bpf(), for filter(). */
#define ANY_COMMAND	(-1)

/* Bind before and after a filter is set; @error is the error of the second one. */
static void bind_filtered(int command, unsigned int action, int error)
{
	struct cosy_bind bind = { .base = (uintptr_t)seg.base, .pointers = 1 };
	__u64 before = must_bind(dev, object, &seg, "arguments");
	__u64 after = load_caller(dev), frame[7] = { 0 };
	int fd = function(object, "arguments");
	struct cosy_run run;
	long ret;

	filter(SYS_bpf, command, action);
	ret = bind_function(dev, after, fd, &bind);
	check(ret == -error,
	      "a filter for bpf(%d), %#x, decides about the binding: %ld", command, action, ret);
	ret = call(dev, after, frame, &run, NULL, 1, 1);
	if (error)
		check(ret == COSY_RUN_LEFT && run.status == COSY_UPCALL && frame[0] == 0x5555,
		      "the program does not run: %#lx", ret);
	else
		check(ret == done(0), "the program runs: %#lx", ret);

	ret = call(dev, before, frame, &run, NULL, 1, 1);
	check(ret == done(0), "what was bound before runs: %#lx", ret);
	check(bind_function(dev, before, fd, &bind) == -error,
	      "a program that was bound before is bound again only if the filter allows it");
	check(!bind_function(dev, before, -1, &bind),
	      "a program that was bound before can be removed");
}

/* In a child, because a filter is permanent. */
static void test_filtered(int command, unsigned int action, int error)
{
	pid_t pid;
	int status = 0;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		failures = 0;
		bind_filtered(command, action, error);
		fflush(stdout);
		_exit(failures != 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("fork");
	check(!status,
	      "the checks with a filter for bpf(%d), %#x, pass: status %#x",
	      command, action, status);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	dev = open_device();
	seg = segment_create();
	object = functions_load(dev, argv[1], &seg);
	test_filtered(ANY_COMMAND, SECCOMP_RET_ERRNO | EACCES, EPERM);
	/* Binding does not kill the process, because the filter is only evaluated. */
	test_filtered(ANY_COMMAND, SECCOMP_RET_KILL_PROCESS, EPERM);
	test_filtered(BPF_PROG_TEST_RUN, SECCOMP_RET_ERRNO | EACCES, EPERM);
	test_filtered(BPF_PROG_LOAD, SECCOMP_RET_ERRNO | EACCES, 0);
	test_filtered(ANY_COMMAND, SECCOMP_RET_ALLOW, 0);
	return finish();
}
