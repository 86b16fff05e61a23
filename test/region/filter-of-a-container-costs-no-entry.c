// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Compounds are not left because of a filter like Docker's, which lists the allowed
 * calls and checks the arguments of some.
 */
// RUN: %cosy-cc -O2 %s -o %t -I%root/compound-ir
// RUN: %run-all --vm %t | %FileCheck %s
// RUN: %vm env COSY_EXECUTOR=kernel COSY_STATS=1 %t 2>&1 | %FileCheck --check-prefix=STATS %s

// The listed calls do not leave, although the time slice may be used up sometimes. Only the call
// that is not listed leaves.
// STATS-DAG: filter-of-a-container-costs-no-entry.c:[[#ALLOWED:]]: executor=kernel runs=1 syscalls=4000 entries={{[1-9][0-9]?[0-9]?$}}
// STATS-DAG: executor=kernel runs=1 syscalls=3 entries={{[2-9]}} steps=1{{$}}
#include "Inputs/filter.h"

#include <cosy.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

static const int all[] = {
#define COSY_SYSCALL(nr, name, args, nested) nr,
#include "syscalls.def"
};

/* Not in Docker's list without capabilities. */
static const int unlisted[] = {
	SYS_acct, SYS_bpf, SYS_chroot, SYS_delete_module, SYS_finit_module, SYS_fsmount,
	SYS_init_module, SYS_kexec_load, SYS_mount, SYS_open_by_handle_at, SYS_perf_event_open,
	SYS_pivot_root, SYS_quotactl, SYS_reboot, SYS_sethostname, SYS_setns, SYS_settimeofday,
	SYS_swapon, SYS_syslog, SYS_umount2, SYS_unshare, SYS_vhangup,
};

static int listed(int nr)
{
	if (nr == SYS_socket || nr == SYS_fcntl)
		return 0;	/* depends on their arguments */
	for (size_t i = 0; i < sizeof(unlisted) / sizeof(*unlisted); i++)
		if (unlisted[i] == nr)
			return 0;
	return 1;
}

static void confine(void)
{
	static struct sock_filter code[2 * sizeof(all) / sizeof(*all) + 16];
	static const struct sock_filter head[] = {
		LOAD(arch), EQUAL(0xc000003e, 1, 0), RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		EQUAL(SYS_socket, 0, 4),
		LOAD(args[0]), EQUAL(AF_VSOCK, 0, 1),
		RETURN(SECCOMP_RET_ERRNO | EPERM), RETURN(SECCOMP_RET_ALLOW),
		EQUAL(SYS_fcntl, 0, 4),
		LOAD(args[1]), EQUAL(F_GETFL, 0, 1),
		RETURN(SECCOMP_RET_ALLOW), RETURN(SECCOMP_RET_ERRNO | EPERM),
	};
	size_t n = sizeof(head) / sizeof(*head);

	memcpy(code, head, sizeof(head));
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (!listed(all[i]))
			continue;
		code[n++] = (struct sock_filter)EQUAL(all[i], 0, 1);
		code[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
	}
	code[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ERRNO | EPERM);
	install(code, n * sizeof(*code), 0);
}

static __attribute__((noinline)) long allowed(int fd)
{
	struct stat st;
	long sum = 0;
	char byte = 0;
	int i;

	COSY_START;
	for (i = 0; i < 1000; i++) {
		sum += pwrite(fd, &byte, 1, i);
		sum += pread(fd, &byte, 1, i);
		fstat(fd, &st);
		sum += fcntl(fd, F_GETFL) & O_ACCMODE;
	}
	COSY_END;
	return sum + st.st_size;
}

static __attribute__((noinline)) int refused(int fd, int family)
{
	int ret;

	COSY_START;
	lseek(fd, 0, SEEK_SET);
	ret = socket(family, SOCK_STREAM, 0);
	lseek(fd, 0, SEEK_SET);
	COSY_END;
	return ret;
}

int main(void)
{
	int fd = fileno(tmpfile());

	confine();
	// CHECK: allowed: 5000
	printf("allowed: %ld\n", allowed(fd));
	// CHECK: refused: -1 Operation not permitted
	printf("refused: %d", refused(fd, AF_VSOCK));
	printf(" %s\n", strerror(errno));
	return 0;
}
