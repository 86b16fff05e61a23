// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The entry for a single call. With any arguments it makes the requested call or none. The
 * descriptor at the limit costs one more, for every process that uses it.
 */

// RUN: %cc -O1 -Wall -I%root/kernel/cosy/uapi %s -o %t && %vm %t

#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/cosy.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../Inputs/asleep.h"
#include "../Inputs/check.h"

static int fd;

static long enter_at(const void *call)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret)
			 : "0"((long)SYS_lseek), "D"((long)fd),
			   "S"(COSY_RUN_TAG | (uint64_t)(uintptr_t)call),
			   "d"((long)COSY_CALL_WHENCE)
			 : "rcx", "r11", "memory");
	return ret;
}

static struct stat st;

static struct cosy_call stat_of(const char *path)
{
	return (struct cosy_call){
		.nr = SYS_newfstatat,
		.args = { AT_FDCWD, (uintptr_t)path, (uintptr_t)&st, 0, ~0ull, ~0ull },
	};
}

static int result(long ret)
{
	CHECK((uint64_t)ret >> 32 == COSY_CALL_DONE >> 32);
	return (int)ret;
}

static void addresses(void)
{
	const long size = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);
	struct cosy_call call = stat_of("/");
	char *last = pages + size - sizeof(call);

	CHECK(pages != MAP_FAILED);
	EQUAL(munmap(pages + size, size), 0);
	memcpy(last, &call, sizeof(call));
	EQUAL(result(enter_at(last)), 0);
	CHECK(S_ISDIR(st.st_mode));
	for (size_t i = 1; i <= sizeof(call); i++)
		EQUAL(enter_at(last + i), -EFAULT);
	EQUAL(enter_at(NULL), -EFAULT);
	EQUAL(enter_at((void *)(1l << 47)), -EFAULT);
	/* Without the tag, below and above it, and in the kernel. */
	EQUAL(lseek(fd, (long)&call, COSY_CALL_WHENCE), -1);
	EQUAL(errno, ESPIPE);
	EQUAL(lseek(fd, 0, COSY_CALL_WHENCE), -1);
	EQUAL(errno, ESPIPE);
	EQUAL(lseek(fd, -1, COSY_CALL_WHENCE), -1);
	CHECK(errno);
	EQUAL(lseek(fd, 0xffffffff81000000L, COSY_CALL_WHENCE), -1);
	CHECK(errno);
	/* It is only read, so it may be read-only. */
	EQUAL(mprotect(pages, size, PROT_READ), 0);
	EQUAL(result(enter_at(last)), 0);
	call.args[1] = (uintptr_t)(pages + size);
	EQUAL(result(enter_at(&call)), -EFAULT);
	call = stat_of("/");
	call.args[2] = (uintptr_t)pages;
	EQUAL(result(enter_at(&call)), -EFAULT);
	call.args[2] = 0xffffffff81000000;
	EQUAL(result(enter_at(&call)), -EFAULT);
}

/* Only calls of preload.def are made, for example neither close() nor exit(). */
static void numbers(void)
{
	static const uint32_t never[] = {
		SYS_read, SYS_close, SYS_dup2, SYS_fork, SYS_execve, SYS_exit, SYS_exit_group,
		SYS_rt_sigreturn, SYS_lseek, SYS_close_range, SYS_seccomp, SYS_prctl, SYS_mmap,
		512, 1u << 31, ~0u,
	};
	struct cosy_call call = stat_of("/");
	int made = 0;

	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++) {
		call.nr = never[i];
		EQUAL(enter_at(&call), (long)(COSY_CALL_LEFT | COSY_CALL_UNKNOWN));
	}
	/* With arguments that have no effect. */
	for (call.nr = 0; call.nr < 1024; call.nr++) {
		for (int i = 0; i < 6; i++)
			call.args[i] = ~0ull;
		long ret = enter_at(&call);

		if (ret != (long)(COSY_CALL_LEFT | COSY_CALL_UNKNOWN)) {
			CHECK(result(ret) < 0);
			made++;
		}
	}
	CHECK(made > 10 && made < 40);
	EQUAL(call.status, 0);
}

static int find_links(const char *name)
{
	return result(enter_at(&(struct cosy_call){ .nr = COSY_CALL_REALPATH,
						     .args = { (uintptr_t)name } }));
}

/* COSY_CALL_REALPATH, below a root that the module looks names up on. */
static void links(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlink, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 99),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };
	char top[] = "/tmp/single-XXXXXX", name[300] = "/dir";
	pid_t child = fork();
	int status;

	if (!child) {
		EQUAL(unshare(CLONE_NEWNS), 0);
		EQUAL(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
		CHECK(mkdtemp(top));
		EQUAL(mount("single", top, "tmpfs", 0, NULL), 0);
		EQUAL(chdir(top), 0);
		EQUAL(mkdir("dir", 0755), 0);
		EQUAL(mkdir("dir/closed", 0700), 0);
		EQUAL(mkdir("dir/closed/in", 0755), 0);
		EQUAL(symlink("dir", "link"), 0);
		EQUAL(symlink("closed", "dir/link"), 0);
		EQUAL(chroot("."), 0);
		CHECK(!find_links("/dir") && !find_links("/dir/closed/in"));
		EQUAL(find_links("/link"), -EAGAIN);
		EQUAL(find_links("/dir/link"), -EAGAIN);
		EQUAL(find_links("/link/closed"), -EAGAIN);
		EQUAL(find_links("/"), -EAGAIN);
		EQUAL(find_links("dir"), -EAGAIN);
		EQUAL(find_links(""), -EAGAIN);
		EQUAL(find_links("/missing"), -EAGAIN);
		EQUAL(find_links("/dir/../dir"), -EAGAIN);
		EQUAL(find_links(NULL), -EAGAIN);
		EQUAL(find_links((void *)~0ul), -EAGAIN);
		EQUAL(find_links((void *)0xffffffff81000000), -EAGAIN);
		memset(name + 4, '/', 290);
		EQUAL(find_links(name), -EAGAIN);
		setfsuid(65534);
		CHECK(!find_links("/dir/closed"));
		EQUAL(find_links("/dir/closed/in"), -EAGAIN);
		setfsuid(0);
		EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
		EQUAL(enter_at(&(struct cosy_call){ .nr = COSY_CALL_REALPATH }),
		      (long)(COSY_CALL_LEFT | COSY_CALL_FILTERED));
		_exit(0);
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
}

static void random_calls(void)
{
	struct cosy_call call;

	srandom(1);
	for (int i = 0; i < 20000; i++) {
		call = stat_of("/");
		call.nr = random() % 4 ? random() % 500 : SYS_newfstatat;
		for (int a = 0; a < 6; a++)
			if (random() % 2)
				call.args[a] = (uint64_t)random() << (random() % 64);
		/* No call that opens, creates or changes a name. */
		if (call.nr != SYS_newfstatat && call.nr != SYS_statx && call.nr != SYS_access)
			call.args[0] = call.args[1] = call.args[2] = call.args[3] = ~0ull;
		call.args[2] = random() % 2 ? ~0ull : (uintptr_t)&st;
		call.args[4] = ~0ull;
		enter_at(&call);
	}
}

/* A tracer of a thread sees its calls. */
static void traced(void)
{
	struct cosy_call call = stat_of("/");
	pid_t child = fork();
	int status;

	if (!child) {
		EQUAL(ptrace(PTRACE_TRACEME, 0, NULL, NULL), 0);
		_exit(enter_at(&call) != (long)(COSY_CALL_LEFT | COSY_CALL_TRACED));
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
}

static void on_signal(int signal)
{
	(void)signal;
}

static void interrupted(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	char name[] = "/tmp/single-XXXXXX/fifo";
	struct cosy_call call = { .nr = SYS_openat };
	pid_t child, self = getpid();

	name[18] = '\0';
	CHECK(mkdtemp(name));
	name[18] = '/';
	EQUAL(mkfifo(name, 0600), 0);
	EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
	call.args[0] = AT_FDCWD;
	call.args[1] = (uintptr_t)name;
	call.args[2] = O_RDONLY;
	child = fork();
	if (!child) {
		wait_until_asleep_in_module(self);
		kill(self, SIGUSR1);
		_exit(0);
	}
	EQUAL(enter_at(&call), -EINTR);
	EQUAL(call.status, COSY_CALL_INTERRUPTED);
	EQUAL(waitpid(child, NULL, 0), child);
	/* A call that must be repeated returns that. */
	call.args[2] = O_RDONLY | O_NONBLOCK;
	CHECK(result(enter_at(&call)) >= 0);
}

static void hidden(void)
{
	struct rlimit limit, small = { 20, 20 };
	struct stat a, b;
	int copy;

	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	for (unsigned int i = 0; i < 32; i++) {
		copy = ioctl(fd, COSY_IOC_HIDE);
		EQUAL(copy, (int)(limit.rlim_cur + COSY_HIDE_FIRST + i));
		EQUAL(fcntl(copy, F_GETFD), FD_CLOEXEC);
	}
	EQUAL(ioctl(fd, COSY_IOC_HIDE), -1);
	EQUAL(errno, EMFILE);
	EQUAL(fstat(fd, &a), 0);
	EQUAL(fstat(copy, &b), 0);
	EQUAL(a.st_rdev, b.st_rdev);
	EQUAL(syscall(SYS_close_range, limit.rlim_cur, ~0u, 0), 0);
	/* Above a limit that would enlarge tables. */
	if (limit.rlim_max > COSY_HIDE_MAX) {
		limit.rlim_cur = COSY_HIDE_MAX + 1;
		EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
		EQUAL(ioctl(fd, COSY_IOC_HIDE), -1);
		EQUAL(errno, ERANGE);
	}
	EQUAL(setrlimit(RLIMIT_NOFILE, &small), 0);
	EQUAL(ioctl(fd, COSY_IOC_HIDE), 20 + COSY_HIDE_FIRST);
	EQUAL(enter_at(&(struct cosy_call){ .nr = ~0u }),
	      (long)(COSY_CALL_LEFT | COSY_CALL_UNKNOWN));
}

int main(void)
{
	fd = open(COSY_DEVICE, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	addresses();
	numbers();
	links();
	random_calls();
	traced();
	interrupted();
	hidden();
	return 0;
}
