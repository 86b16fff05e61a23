// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A program that is started below a seccomp filter which allows what the program does natively, and
 * kills for all other calls, as the filters of service managers do. It ends as natively, under cosy run,
 * with -fcosy-auto and with a region, with the module and without it. If the filter also allows the
 * calls that the libraries make, the module is used.
 */

// RUN: %cc -O1 -Wall %s -o %t
// RUN: %cosy-cc -O2 -Wall -DREGION %s -o %t.region
// RUN: %cosy-cc -O2 -Wall -fcosy-auto %s -o %t.auto
// RUN: %S/Inputs/below-filter %build %t none
// RUN: %vm %S/Inputs/below-filter %build %t module

#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "Inputs/device.h"

#ifdef REGION
#include <cosy.h>
#else
#define COSY_START
#define COSY_END
#endif

/* What a dynamically linked program needs, and calls on files. */
static const int always[] = {
	SYS_arch_prctl, SYS_brk, SYS_execve, SYS_exit, SYS_exit_group, SYS_futex, SYS_getrandom,
	SYS_mmap, SYS_mprotect, SYS_munmap, SYS_prlimit64, SYS_rseq, SYS_rt_sigreturn,
	SYS_set_robust_list, SYS_set_tid_address, SYS_clock_gettime, SYS_getpid, SYS_read,
	SYS_write, SYS_pread64, SYS_pwrite64, SYS_writev, SYS_close, SYS_lseek, SYS_openat,
	SYS_open, SYS_stat, SYS_lstat, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_access,
	SYS_faccessat, SYS_faccessat2, SYS_readlink, SYS_readlinkat, SYS_getdents64, SYS_getcwd,
	SYS_unlink, SYS_statfs, SYS_fstatfs,
};

static const int commands[] = { F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC };

static void set_filter(const char *more)
{
	struct sock_filter code[128];
	unsigned short n = 0;
	struct sock_fprog program = { .filter = code };

#define ADD(...) code[n++] = (struct sock_filter)__VA_ARGS__
#define ALLOW(nr) do {							\
	ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1));		\
	ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));		\
} while (0)
	ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		ALLOW(always[i]);
	if (strstr(more, "ioctl"))
		ALLOW(SYS_ioctl);
	if (strstr(more, "signal"))
		ALLOW(SYS_rt_sigprocmask);
	ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 1, 0));
	ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])));
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		ALLOW(commands[i]);
	ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	program.len = n;
	EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* The status of files, in a region if that is compiled. */
static __attribute__((noinline)) long count(int n, char *const *names)
{
	struct stat st;
	long found = 0;
	int i, j;

	COSY_START;
	for (i = 0; i < 100; i++)
		for (j = 0; j < n; j++)
			found += stat(names[j], &st) == 0;
	COSY_END;
	return found;
}

/*
 * PROGRAM filter SET COMMAND...	execute COMMAND below a filter
 * PROGRAM count NAME...		use the files, and print whether the device is open
 */
int main(int argc, char **argv)
{
	CHECK(argc > 3);
	if (!strcmp(argv[1], "filter")) {
		set_filter(argv[2]);
		execv(argv[3], argv + 3);
		err(1, "%s", argv[3]);
	}
	printf("%ld files, device %s\n", count(argc - 2, argv + 2), device() < 0 ? "closed" : "open");
	return 0;
}
