// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Calls of many kinds inside a compound have the same effect as outside, also those that
 * change their thread.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Change CPUs a thousand times, in the kernel. */
static void test_affinity(int dev)
{
	cpu_set_t old, masks[2];
	__u64 frame[6] = { 0 };
	__u64 handle = must_load(dev, 6,
		SYS(0, SYS_sched_setaffinity, 3), ARGI(0), ARGI(sizeof(cpu_set_t)), ARG(2),
		BR(0, NE, 0, 10),
		SYS(0, SYS_sched_setaffinity, 3), ARGI(0), ARGI(sizeof(cpu_set_t)), ARG(3),
		LOOP(1, 4, 0), EXIT(0));
	struct cosy_run run;
	long ret;

	sched_getaffinity(0, sizeof(old), &old);
	CPU_ZERO(&masks[0]);
	CPU_ZERO(&masks[1]);
	CPU_SET(0, &masks[0]);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &masks[1]);
	frame[2] = (__u64)(uintptr_t)&masks[0];
	frame[3] = (__u64)(uintptr_t)&masks[1];
	frame[4] = 1000;
	ret = run_frame(dev, handle, frame, &run);
	check(ret == done(0) && frame[0] == 0 && frame[1] == 1000 &&
	      sched_getcpu() == sysconf(_SC_NPROCESSORS_ONLN) - 1,
	      "1,000 times to the other CPU");
	sched_setaffinity(0, sizeof(old), &old);
}

/* Map, fault in, write, read back, unmap: all inside. */
static void test_memory(int dev)
{
	__u64 frame[4] = { 0 };
	__u64 handle = must_load(dev, 4,
		SYS(1, SYS_mmap, 6), ARGI(0), ARGI(1 << 20), ARGI(PROT_READ | PROT_WRITE),
		ARGI(MAP_PRIVATE | MAP_ANONYMOUS), ARGI(-1), ARGI(0),
		CONST(2, 77), STORE(8, 1, 2), LOAD(8, 3, 1),
		SYS(0, SYS_munmap, 2), ARG(1), ARGI(1 << 20),
		STORE(8, 1, 2), EXIT(0));
	struct cosy_run run;
	long ret = run_frame(dev, handle, frame, &run);

	check(ret == COSY_RUN_LEFT && run.status == COSY_STEP &&
	      run.value == COSY_STEP_FAULT && run.pc == 13 && frame[3] == 77 && !frame[0],
	      "mmap, store, load, munmap, and a fault at what was unmapped");
}

static void test_signal_mask(int dev)
{
	sigset_t block, old, now_set;
	__u64 frame[4] = { 0 };
	__u64 handle = must_load(dev, 4, SYS(0, SYS_rt_sigprocmask, 4), ARGI(SIG_BLOCK),
				 ARG(1), ARG(2), ARGI(8), EXIT(0));
	struct cosy_run run;
	long ret;

	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	frame[1] = (__u64)(uintptr_t)&block;
	frame[2] = (__u64)(uintptr_t)&old;
	ret = run_frame(dev, handle, frame, &run);
	sigprocmask(SIG_BLOCK, NULL, &now_set);
	check(ret == done(0) && sigismember(&now_set, SIGUSR1), "rt_sigprocmask() changes the mask of the thread");
	sigprocmask(SIG_UNBLOCK, &block, NULL);
}

/* Write a file, read it back in the same compound, all six arguments. */
static void test_files(int dev)
{
	static const char name[] = "/tmp/cosy-calls";
	static const char text[] = "compound\n";
	char back[16] = "";
	struct stat st;
	__u64 frame[6] = { 0, 0, 0, (__u64)(uintptr_t)name, (__u64)(uintptr_t)text,
			   (__u64)(uintptr_t)back };
	__u64 handle = must_load(dev, 6,
		SYS(0, SYS_openat, 4), ARGI(AT_FDCWD), ARG(3),
		ARGI(O_RDWR | O_CREAT | O_TRUNC), ARGI(0600),
		SYS(1, SYS_write, 3), ARG(0), ARG(4), ARGI(sizeof(text) - 1),
		SYS(2, SYS_pread64, 4), ARG(0), ARG(5), ARGI(sizeof(back)), ARGI(1),
		SYS(1, SYS_close, 1), ARG(0), EXIT(0));
	struct cosy_run run;
	long ret = run_frame(dev, handle, frame, &run);

	check(ret == done(0) && frame[2] == sizeof(text) - 2 && frame[1] == 0 &&
	      !strcmp(back, "ompound\n") && !stat(name, &st) &&
	      st.st_size == sizeof(text) - 1 && (st.st_mode & 0777) == 0600,
	      "open, write, pread, close");
	unlink(name);
}

/* Calls that need the state of a real entry. */
static void test_left(int dev)
{
	static const long numbers[] = {
		SYS_fork, SYS_vfork, SYS_clone, SYS_clone3, SYS_execve, SYS_execveat,
		SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_restart_syscall,
		SYS_ptrace, SYS_prctl, SYS_arch_prctl, 511, 100000,
		COSY_MAX_CALL_NR,
	};
	unsigned int wrong = 0;
	__u64 frame[2] = { 0 };
	struct cosy_run run;

	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		__u64 handle = must_load(dev, 2, SYS(0, numbers[i], 0), EXIT(0));

		if (run_frame(dev, handle, frame, &run) != COSY_RUN_LEFT ||
		    run.status != COSY_STEP || run.value != COSY_STEP_CALL || run.pc) {
			printf("call %ld was made\n", numbers[i]);
			wrong++;
		}
	}
	check(!wrong, "calls that may not be nested are left to user mode");
}

/* Results that mean something else inside the kernel, without a signal. */
static void test_odd_results(int dev)
{
	const long long results[] = { -512, -513, -514, -516, -529, -1, -4095, -4096 };
	__u64 handle = must_load(dev, 3, SYS(0, SYS_lseek, 3), ARG(1), ARG(2), ARGI(SEEK_SET),
				 EXIT(0));
	int fd = open("/proc/self/mem", O_RDONLY);
	__u64 frame[3] = { 0, (__u64)fd };
	struct cosy_run run;

	for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++) {
		frame[0] = 0;
		frame[2] = (__u64)results[i];
		check(run_frame(dev, handle, frame, &run) == done(0) &&
		      (long long)frame[0] == results[i], "a call returns %lld", results[i]);
	}
	close(fd);
}

int main(void)
{
	int dev = open_device();

	test_affinity(dev);
	test_memory(dev);
	test_signal_mask(dev);
	test_files(dev);
	test_left(dev);
	test_odd_results(dev);
	return finish();
}
