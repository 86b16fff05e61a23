// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Processes that observe, forbid or interpose system calls. Their native behaviour is unchanged
 * under cosy run.
 */

// RUN: %cc -O1 -Wall %s -o %t -DPROGRAM
// RUN: %cc -O1 -Wall -shared -fPIC %s -o %t.so
// RUN: %vm sh -c 'for part in kill errno inherited strict dispatched traced; do %build/bin/cosy run %t $part || exit 1; %t $part native || exit 1; done'

// Another library that interposes stat() sees each call, before Cosy's library and after it.
// RUN: %vm sh -c 'LD_PRELOAD=%t.so %build/bin/cosy run %t interposed' | FileCheck --check-prefix=OTHER %s
// RUN: %vm sh -c 'LD_PRELOAD=$(%build/bin/cosy run --print):%t.so %t interposed' | FileCheck --check-prefix=OTHER %s
// OTHER: 1000 calls

// Programs that must be left alone do not open the device, whatever path names them.
// RUN: %vm sh -c 'cp %t /tmp/alone && cosy="%build/bin/cosy run" && $cosy /tmp/alone opened && ! COSY_EXECUTOR=native $cosy /tmp/alone opened 2>&1 && ! COSY_RUN_EXCEPT=ls:alone $cosy /tmp/alone opened 2>&1 && COSY_RUN_EXCEPT=alon:alonee:/tmp/alone $cosy /tmp/alone opened' | FileCheck --check-prefix=ALONE %s
// ALONE-COUNT-2: not open

// Without the module, or with another file in its place, one attempt is made for all calls.
// RUN: %vm unshare -m bash -c 'mount --bind /dev/null /dev/cosy; %build/bin/cosy run %t attempts'
// RUN: %vm unshare -m bash -c 'mount -t tmpfs none /dev; touch /dev/cosy; chmod 0 /dev/cosy; %build/bin/cosy run %t attempts'
// RUN: %vm %build/bin/cosy run %t attempts

// A program that would not find the library, such as in a container, is executed without it. So the
// dynamic linker prints no message.
// RUN: %vm %build/bin/cosy run unshare -m sh -c 'mount -t tmpfs none %build/lib/cosy-preload && stat -c %%n /etc/passwd' 2>&1 | FileCheck --check-prefix=MISSING %s
// MISSING-NOT: {{.}}
// MISSING: {{^}}/etc/passwd

// With the library in /etc/ld.so.preload, all programs load it. Those that have gained privileges
// by exec do not use it.
// RUN: %vm unshare -m bash -c 'cp /etc/ld.so.cache /tmp/cache; mount -t tmpfs none /etc; cp /tmp/cache /etc/ld.so.cache; %build/bin/cosy run --print >/etc/ld.so.preload; mount -o remount,suid /tmp; cp %t /tmp/privileged && %t opened && chgrp 12345 /tmp/privileged && chmod 2755 /tmp/privileged && /tmp/privileged closed && chmod 755 /tmp/privileged && /tmp/privileged opened'

// 32-bit and static programs are executed without a message.
// RUN: printf 'int main(void) { return 0; }' >%t.static.c && %cc -static %t.static.c -o %t.static
// RUN: %vm %build/bin/cosy run %t.static 2>&1 | count 0

#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#ifndef PROGRAM

#include <dlfcn.h>

static int calls;

int stat(const char *path, struct stat *to)
{
	static int (*next)(const char *, struct stat *);

	if (!next)
		next = dlsym(RTLD_NEXT, "stat");
	calls++;
	return next(path, to);
}

__attribute__((destructor)) static void print(void)
{
	printf("%d calls\n", calls);
}

#else

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <link.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "Inputs/device.h"

static bool native;

static void set_filter(struct sock_filter *code, unsigned short size, bool by_syscall)
{
	struct sock_fprog program = { size, code };

	EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	if (by_syscall)
		EQUAL(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program), 0);
	else
		EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* From now on a call of @nr has the result @action. */
static void filter(int nr, unsigned int action, bool by_syscall)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	set_filter(code, sizeof(code) / sizeof(*code), by_syscall);
}

/* From now on lseek() with @whence kills. */
static void filter_whence(unsigned int whence)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_lseek, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, whence, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	set_filter(code, sizeof(code) / sizeof(*code), false);
}

static void expect_success(void (*function)(void))
{
	pid_t child = fork();
	int status;

	if (!child) {
		function();
		_exit(0);
	}
	EQUAL(waitpid(child, &status, 0), child);
	if (status)
		errx(1, "status %x", status);
}

static void kill_by_prctl(void)
{
	warm_up();
	filter(SYS_lseek, SECCOMP_RET_KILL_PROCESS, false);
	warm_up();
}

static void kill_by_syscall(void)
{
	warm_up();
	filter(SYS_lseek, SECCOMP_RET_KILL_PROCESS, true);
	warm_up();
	EQUAL(syscall(SYS_getpid), getpid());
	CHECK(syscall(SYS_pread64, 0, NULL, 0, 0, 0) <= 0);
}

/* A forbidden call fails with the filter's error, whether it was made before or not. */
static void forbidden(void)
{
	struct stat st;

	warm_up();
	filter(SYS_newfstatat, SECCOMP_RET_ERRNO | 99, false);
	for (int i = 0; i < 100; i++)
		CHECK(stat("/", &st) == -1 && errno == 99 && !access("/", F_OK));
}

static void kill_seek_data(void)
{
	filter_whence(SEEK_DATA);
}

static void kill_seek_hole(void)
{
	filter_whence(SEEK_HOLE);
}

static void kill_lseek(void)
{
	filter(SYS_lseek, SECCOMP_RET_KILL_PROCESS, false);
}

static void fail_rmdir(void)
{
	filter(SYS_rmdir, SECCOMP_RET_ERRNO | 99, false);
}

/* After exec the filter exists before the library. */
static void inherited(char *self, void (*set)(void), char *part)
{
	pid_t child = fork();
	int status;

	if (!child) {
		set();
		execl(self, self, part, native ? "native" : NULL, NULL);
		_exit(1);
	}
	EQUAL(waitpid(child, &status, 0), child);
	if (status)
		errx(1, "%s: status %x", part, status);
}

static void fails_always(void)
{
	struct stat st;

	for (int i = 0; i < 300; i++)
		CHECK(rmdir("/") == -1 && errno == 99 && !stat("/", &st));
	EQUAL((device() < 0), native);
}

static void strict(void)
{
	warm_up();
	EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT), 0);
	syscall(SYS_exit, 0);
}

static volatile sig_atomic_t dispatched_calls;
static char selector = SYSCALL_DISPATCH_FILTER_ALLOW;

static void on_dispatch(int signal)
{
	(void)signal;
	selector = SYSCALL_DISPATCH_FILTER_ALLOW;
	dispatched_calls++;
}

/* Dispatch all system calls but those of libc's code. */
static int dispatch_others(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	if (!strstr(info->dlpi_name, "libc.so.6"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X)
			EQUAL(prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, info->dlpi_addr + segment->p_vaddr, segment->p_memsz, &selector),
			      0);
	}
	return 1;
}

/* The handler sees none of libc's calls. */
static void dispatched(void)
{
	struct stat st;

	warm_up();
	CHECK(signal(SIGSYS, on_dispatch) != SIG_ERR);
	CHECK(dl_iterate_phdr(dispatch_others, NULL));
	for (int i = 0; i < 100; i++) {
		selector = SYSCALL_DISPATCH_FILTER_BLOCK;
		EQUAL(stat("/", &st), 0);
		selector = SYSCALL_DISPATCH_FILTER_ALLOW;
	}
	EQUAL(dispatched_calls, 0);
}

/* A tracer sees the calls by their numbers, from the first to the last. */
static void traced(void)
{
	int status, seen = 0, in = 0, others = 0;
	struct user_regs_struct regs;
	struct stat st;
	pid_t child;

	child = fork();
	if (!child) {
		warm_up();
		raise(SIGSTOP);
		for (int i = 0; i < 100; i++)
			stat("/", &st);
		_exit(0);
	}
	EQUAL(waitpid(child, &status, WUNTRACED), child);
	CHECK(WIFSTOPPED(status));
	EQUAL(ptrace(PTRACE_SEIZE, child, NULL, PTRACE_O_TRACESYSGOOD), 0);
	EQUAL(kill(child, SIGCONT), 0);
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			in = !in;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80) && !in) {
			EQUAL(ptrace(PTRACE_GETREGS, child, NULL, &regs), 0);
			if (regs.orig_rax == SYS_newfstatat)
				seen++;
			else
				others++;
		}
		ptrace(PTRACE_SYSCALL, child, NULL, NULL);
	}
	/* The first entry, one to check the descriptor, and close() belong to Cosy. */
	if (seen < 98 || others > 8)
		errx(1, "%d calls and %d others", seen, others);
}

/* How often /dev/cosy, or the file in its place, is opened in thousands of calls. */
static void attempts(void)
{
	int watch = inotify_init1(IN_NONBLOCK), opens = 0;
	char events[4096];
	struct stat st;
	ssize_t n;

	CHECK(inotify_add_watch(watch, "/dev/cosy", IN_OPEN) > 0);
	for (int i = 0; i < 5000; i++)
		EQUAL(stat("/", &st), 0);
	n = read(watch, events, sizeof(events));
	for (char *p = events; n > 0 && p < events + n;
	     p += sizeof(struct inotify_event) + ((struct inotify_event *)p)->len)
		opens++;
	/* Equal consecutive events are merged. */
	CHECK(opens <= 1);
}

int main(int argc, char **argv)
{
	const char *part = argv[1];

	native = argc > 2;
	if (!strcmp(part, "kill")) {
		expect_success(kill_by_prctl);
		expect_success(kill_by_syscall);
	} else if (!strcmp(part, "errno")) {
		expect_success(forbidden);
	} else if (!strcmp(part, "inherited")) {
		inherited(argv[0], kill_lseek, "closed");
		/* The tag of entries. A filter may check it, too. */
		inherited(argv[0], kill_seek_data, "closed");
		inherited(argv[0], kill_seek_hole, "closed");
		inherited(argv[0], fail_rmdir, "fails");
	} else if (!strcmp(part, "strict")) {
		expect_success(strict);
	} else if (!strcmp(part, "dispatched")) {
		expect_success(dispatched);
	} else if (!strcmp(part, "traced")) {
		traced();
	} else if (!strcmp(part, "attempts")) {
		attempts();
	} else if (!strcmp(part, "fails")) {
		fails_always();
	} else if (!strcmp(part, "interposed")) {
		struct stat st;

		for (int i = 0; i < 1000; i++)
			EQUAL(stat("/", &st), 0);
	} else {
		warm_up();
		if ((device() >= 0) != !strcmp(part, "opened"))
			errx(1, "the device is %sopen", device() < 0 ? "not " : "");
	}
	return 0;
}

#endif
