// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Observers of system calls see those of a compound. ptrace and tracing send all calls
 * to user mode, seccomp those that it does not allow. In a separate VM, because tracepoints see
 * the calls of all processes.
 */
// RUN: %compile %s -o %t
// RUN: %root/scripts/vm/run -- %t
#include "compound.h"

#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "filter.h"

static __u64 frame[4];
static struct cosy_run run;

static bool traced(long ret)
{
	return ret == COSY_RUN_LEFT && run.status == COSY_STEP &&
	       run.value == COSY_STEP_TRACED;
}

/* This call only. */
static bool refused(long ret)
{
	return ret == COSY_RUN_LEFT && run.status == COSY_STEP &&
	       run.value == COSY_STEP_CALL;
}

static void test_ptrace(int dev, __u64 getpid_handle)
{
	volatile __u64 *running = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	__u64 endless = must_load(dev, 4, SYS(0, SYS_getpid, 0), STORE(8, 1, 0), JMP(0));
	int status, attached[2];
	char c = 0;
	pid_t pid;

	if (running == MAP_FAILED || pipe(attached))
		die("mmap, pipe");
	/* The child runs calls without end; the parent attaches in the middle. */
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		frame[1] = (__u64)(uintptr_t)running;
		_exit(traced(run_frame(dev, endless, frame, &run)) && run.pc == 0 ? 7 : 1);
	}
	while (!*running)
		usleep(1000);
	if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD))
		die("ptrace");
	ptrace(PTRACE_INTERRUPT, pid, 0, 0);
	waitpid(pid, &status, 0);
	check(WIFSTOPPED(status), "a tracer stops a compound in the middle");
	/* From now on it traces system calls, like strace. */
	while (WIFSTOPPED(status)) {
		ptrace(PTRACE_SYSCALL, pid, 0, 0);
		waitpid(pid, &status, 0);
	}
	check(WIFEXITED(status) && WEXITSTATUS(status) == 7,
	      "under a tracer its calls are left to user mode");

	/* A debugger does not trace calls, but needs the place of the native code. */
	pid = fork();
	if (!pid) {
		struct cosy_info info = { .size = sizeof(info) };

		if (read(attached[0], &c, 1) != 1 || ioctl(dev, COSY_IOC_INFO, &info) ||
		    info.flags != (COSY_INFO_TRACED | COSY_INFO_UNFILTERED | COSY_INFO_INHERITED))
			_exit(1);
		_exit(run_frame(dev, getpid_handle, frame, &run) == -EBUSY ? 7 : 2);
	}
	if (ptrace(PTRACE_SEIZE, pid, 0, 0) || write(attached[1], &c, 1) != 1)
		die("ptrace");
	waitpid(pid, &status, 0);
	check(WIFEXITED(status) && WEXITSTATUS(status) == 7,
	      "under any tracer a compound does not begin");
}

static bool write_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

static void test_tracepoint(int dev, __u64 getpid_handle)
{
	static const char *const names[] = {
		"/sys/kernel/tracing/events/raw_syscalls/sys_enter/enable",
		"/sys/kernel/debug/tracing/events/raw_syscalls/sys_enter/enable",
	};
	long ret;

	for (int i = 0; i < 2; i++) {
		if (!write_file(names[i], "1"))
			continue;
		ret = run_frame(dev, getpid_handle, frame, &run);
		write_file(names[i], "0");
		check(traced(ret), "the raw_syscalls tracepoint sees calls");
		check(run_frame(dev, getpid_handle, frame, &run) == done(0),
		      "and they run again when it is off");
		return;
	}
	printf("not checked: tracing is not mounted\n");
}

/* Children with filters of all kinds. */
static void test_seccomp(int dev, __u64 getpid_handle)
{
	static const unsigned int actions[] = {
		SECCOMP_RET_ERRNO | 5, SECCOMP_RET_TRAP, SECCOMP_RET_LOG,
		SECCOMP_RET_TRACE, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD,
	};
	__u64 getppid_handle = must_load(dev, 4, SYS(0, SYS_getppid, 1), ARG(1), EXIT(0));
	int status;
	pid_t pid;

	for (unsigned int i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
		pid = fork();
		if (!pid) {
			struct cosy_info info = { .size = sizeof(info) };
			long ret;

			filter(SYS_getppid, -1, actions[i]);
			if (ioctl(dev, COSY_IOC_INFO, &info) || info.flags != COSY_INFO_INHERITED)
				_exit(5);
			/* A second filter that allows it. */
			if (i % 2)
				filter(SYS_sync, -1, SECCOMP_RET_ERRNO);
			if (!refused(run_frame(dev, getppid_handle, frame, &run)))
				_exit(3);
			ret = run_frame(dev, getpid_handle, frame, &run);
			_exit(ret == done(0) && frame[0] == (__u64)getpid() ? 0 : 4);
		}
		waitpid(pid, &status, 0);
		check(WIFEXITED(status) && !WEXITSTATUS(status),
		      "a call that the filter answers with %#x is left to user mode, others run",
		      actions[i]);
	}

	pid = fork();
	if (!pid) {
		long ret;

		filter(SYS_getppid, 1, SECCOMP_RET_ERRNO | 5);
		frame[1] = 1;
		if (!refused(run_frame(dev, getppid_handle, frame, &run)))
			_exit(3);
		frame[1] = 2;
		ret = run_frame(dev, getppid_handle, frame, &run);
		_exit(ret == done(0) ? 0 : 4);
	}
	waitpid(pid, &status, 0);
	check(WIFEXITED(status) && !WEXITSTATUS(status), "a filter that looks at arguments");
}

/* The compound counts in frame[1]'s place. */
static volatile __u64 counted;

static void *sync_filter(void *arg)
{
	while (!counted)
		usleep(1000);
	filter_with(SYS_getppid, 0, -1, SECCOMP_RET_ERRNO | 5, SECCOMP_FILTER_FLAG_TSYNC);
	return arg;
}

/* Another thread installs a filter on this one while it runs. */
static void test_tsync(int dev)
{
	__u64 endless = must_load(dev, 4, SYS(0, SYS_getppid, 0), ADDI(2, 2, 1), STORE(8, 1, 2),
				  JMP(0));
	int status;
	pid_t pid = fork();

	if (!pid) {
		pthread_t thread;

		alarm(300);
		frame[1] = (__u64)(uintptr_t)&counted;
		frame[2] = 0;
		pthread_create(&thread, NULL, sync_filter, NULL);
		if (!refused(run_frame(dev, endless, frame, &run)))
			_exit(1);
		pthread_join(thread, NULL);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	check(WIFEXITED(status) && !WEXITSTATUS(status),
	      "a filter put on a running compound by TSYNC");
}

int main(void)
{
	int dev = open_device();
	__u64 getpid_handle = must_load(dev, 4, SYS(0, SYS_getpid, 0), EXIT(0));

	test_ptrace(dev, getpid_handle);
	test_tracepoint(dev, getpid_handle);
	test_seccomp(dev, getpid_handle);
	test_tsync(dev);
	return finish();
}
