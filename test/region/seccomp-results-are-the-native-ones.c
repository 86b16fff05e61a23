// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Every result of a seccomp filter for one of a region's calls, alone and with further
 * filters. The region gets the same result as the native code, and resumes in the kernel
 * afterwards.
 */
// RUN: %cosy-cc -O2 -pthread %s -o %t
// The traced child reports that it runs natively.
// RUN: %run-all --vm --ignore-stderr %t | %FileCheck %s
// RUN: %vm env COSY_EXECUTOR=kernel COSY_STATS=1 %t stats 2>&1 | %FileCheck --check-prefix=STATS %s

// In each iteration, the call that is not allowed is made in user mode. That takes one further
// entry, and no run is finished in user mode. Pending work of the kernel may add some.
// STATS: executor=kernel runs=1 syscalls=12 entries={{([5-9]|[1-9][0-9])}} steps=4
#define _GNU_SOURCE
#include "Inputs/filter.h"

#include <cosy.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>

#define ROUNDS 4

static int file;
static long results[ROUNDS];
static int errors[ROUNDS];

/* The filters act on the second of three calls. */
static __attribute__((noinline)) void region(void)
{
	int i, wrong = 0;

	COSY_START;
	for (i = 0; i < ROUNDS; i++) {
		if (lseek(file, i, SEEK_SET) != i)
			wrong++;
		errno = 0;
		results[i] = fchmod(file, 0600);
		errors[i] = errno;
		if (lseek(file, 0, SEEK_CUR) != i)
			wrong++;
	}
	COSY_END;
	for (i = 0; i < ROUNDS; i++)
		printf(" %ld(%s)", results[i], errors[i] ? strerrorname_np(errors[i]) : "0");
	printf("%s\n", wrong ? ", other calls failed" : "");
}

static void plain(unsigned int verdict)
{
	on_call(SYS_fchmod, verdict, 0);
	region();
}

static void on_sigsys(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	static int times;

	printf(" [signal %d code %d errno %d call %d arch %x]", sig, info->si_code,
	       info->si_errno, info->si_syscall, info->si_arch);
	/* Emulation: the handler stores the result of the call. */
	if (times++)
		uc->uc_mcontext.gregs[REG_RAX] = times == 2 ? 42 : -ELOOP;
}

static void trapped(unsigned int verdict)
{
	struct sigaction action = { .sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO };

	sigaction(SIGSYS, &action, NULL);
	plain(verdict);
}

static void *in_a_thread(void *verdict)
{
	plain(*(unsigned int *)verdict);
	return NULL;
}

static void killed_thread(unsigned int verdict)
{
	pthread_t thread;

	pthread_create(&thread, NULL, in_a_thread, &verdict);
	pthread_join(thread, NULL);
	printf(" the others live on\n");
}

/* The supervisor: answers, denies, lets the call continue, answers again. */
static void *supervise(void *fd)
{
	struct seccomp_notif request;
	struct seccomp_notif_resp answer;

	for (int i = 0; i < ROUNDS; i++) {
		memset(&request, 0, sizeof(request));
		if (ioctl(*(int *)fd, SECCOMP_IOCTL_NOTIF_RECV, &request))
			return NULL;
		printf(" [asked for %d(.., %llo)]", request.data.nr, request.data.args[1]);
		memset(&answer, 0, sizeof(answer));
		answer.id = request.id;
		if (i == 1)
			answer.error = -ELOOP;
		else if (i == 2)
			answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		else
			answer.val = 7 + i;
		ioctl(*(int *)fd, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
	return NULL;
}

static void notified(unsigned int verdict)
{
	pthread_t thread;
	int fd = on_call(SYS_fchmod, verdict, SECCOMP_FILTER_FLAG_NEW_LISTENER);

	pthread_create(&thread, NULL, supervise, &fd);
	region();
	pthread_join(thread, NULL);
}

/* A tracer that sees only the calls that the filter sends to it. */
static void traced(unsigned int verdict)
{
	struct user_regs_struct regs;
	unsigned long message;
	int status, times = 0;
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		plain(verdict);
		/* Without counts, which _exit() prints, because a traced process runs natively. */
		syscall(SYS_exit_group, 0);
	}
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESECCOMP);
	ptrace(PTRACE_CONT, pid, 0, 0);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8)) {
			ptrace(PTRACE_GETEVENTMSG, pid, 0, &message);
			ptrace(PTRACE_GETREGS, pid, 0, &regs);
			printf(" [traced %lu: %llu(.., %llo)]", message, regs.orig_rax, regs.rsi);
			if (times++ == 1) {
				regs.orig_rax = (unsigned long long)-1;
				regs.rax = 99;
				ptrace(PTRACE_SETREGS, pid, 0, &regs);
			}
		}
		ptrace(PTRACE_CONT, pid, 0, 0);
	}
	printf(" ended %d\n", status);
}

/* The strictest action applies, and of several errors the one of the newest filter. */
static void stacked(unsigned int verdict)
{
	on_call(SYS_fchmod, SECCOMP_RET_LOG, 0);
	on_call(SYS_fchmod, verdict, 0);
	on_call(SYS_fchmod, SECCOMP_RET_ERRNO | ENOTTY, 0);
	on_call(SYS_sync, SECCOMP_RET_KILL_PROCESS, 0);
	on_call(SYS_fchmod, SECCOMP_RET_ALLOW, 0);
	region();
}

static void in_a_child(const char *name, void (*act)(unsigned int), unsigned int verdict)
{
	int status;
	pid_t pid;

	printf("%s:", name);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		setvbuf(stdout, NULL, _IONBF, 0);
		act(verdict);
		exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf(" signal %d%s\n", WTERMSIG(status), WCOREDUMP(status) ? ", core" : "");
}

int main(int argc, char **argv)
{
	(void)argv;
	file = fileno(tmpfile());
	if (argc > 1) {
		plain(SECCOMP_RET_ERRNO | EXDEV);
		return 0;
	}
	// CHECK: allow: 0(0) 0(0) 0(0) 0(0)
	in_a_child("allow", plain, SECCOMP_RET_ALLOW);
	// CHECK-NEXT: log: 0(0) 0(0) 0(0) 0(0)
	in_a_child("log", plain, SECCOMP_RET_LOG);
	// CHECK-NEXT: errno: -1(EXDEV) -1(EXDEV) -1(EXDEV) -1(EXDEV)
	in_a_child("errno", plain, SECCOMP_RET_ERRNO | EXDEV);
	// CHECK-NEXT: errno 0: 0(0) 0(0) 0(0) 0(0)
	in_a_child("errno 0", plain, SECCOMP_RET_ERRNO);
	// CHECK-NEXT: trace: -1(ENOSYS) -1(ENOSYS) -1(ENOSYS) -1(ENOSYS)
	in_a_child("trace", plain, SECCOMP_RET_TRACE | 5);
	// CHECK-NEXT: traced: [traced 5: 91(.., 600)] {{.*}} 0(0) 99(0) 0(0) 0(0)
	// CHECK-NEXT:  ended 0
	in_a_child("traced", traced, SECCOMP_RET_TRACE | 5);
	// CHECK-NEXT: trap: [signal 31 code 1 errno 9 call 91 arch c000003e] {{.*}} 91(0) 42(0) -1(ELOOP) -1(ELOOP)
	in_a_child("trap", trapped, SECCOMP_RET_TRAP | 9);
	// CHECK-NEXT: trap, no handler: signal 31
	in_a_child("trap, no handler", plain, SECCOMP_RET_TRAP);
	// CHECK-NEXT: kill thread: the others live on
	in_a_child("kill thread", killed_thread, SECCOMP_RET_KILL_THREAD);
	// CHECK-NEXT: kill process: signal 31
	in_a_child("kill process", plain, SECCOMP_RET_KILL_PROCESS);
	// CHECK-NEXT: unknown action: signal 31
	in_a_child("unknown action", plain, 0x00200000);
	// CHECK-NEXT: notify: [asked for 91(.., 600)] {{.*}} 7(0) -1(ELOOP) 0(0) 10(0)
	in_a_child("notify", notified, SECCOMP_RET_USER_NOTIF);
	// CHECK-NEXT: notify, without a listener: -1(ENOSYS) -1(ENOSYS) -1(ENOSYS) -1(ENOSYS)
	in_a_child("notify, without a listener", plain, SECCOMP_RET_USER_NOTIF);
	// CHECK-NEXT: stacked errors: -1(ENOTTY) -1(ENOTTY) -1(ENOTTY) -1(ENOTTY)
	in_a_child("stacked errors", stacked, SECCOMP_RET_ERRNO | EXDEV);
	// CHECK-NEXT: stacked, kill: signal 31
	in_a_child("stacked, kill", stacked, SECCOMP_RET_KILL_PROCESS);
	return 0;
}
