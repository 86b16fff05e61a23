// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A process below a filter that kills for a call that the libraries make for the device cannot open it: it makes
 * all calls natively, and lives. The module knows all these calls, apart from those listed here.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

// RUN: grep -rhoE '\b(SYS|__NR)_[a-z_0-9]+' --include=*.[ch] %root/preload %root/runtime/src/device \
// RUN:   %root/runtime/src/region %root/runtime/src/function | sed -E 's/^(SYS|__NR)_//' | sort -u >%t.made
// RUN: (grep -oE '\{ __NR_[a-z_0-9]+' %root/kernel/cosy/call/seccomp.c | sed 's/.*__NR_//'; \
// RUN:   sed -n 's|^// OTHER: \([a-z_0-9]*\) .*|\1|p' %s) | sort -u >%t.known
// RUN: test -s %t.made
// RUN: comm -23 %t.made %t.known | not grep .
// RUN: grep -rhoE 'COSY_IOC_[A-Z]+' --include=*.[ch] %root/preload %root/runtime/src | sort -u >%t.made
// RUN: grep -ohE 'COSY_IOC_[A-Z]+' %root/kernel/cosy/call/seccomp.c | sort -u >%t.known
// RUN: test -s %t.made
// RUN: comm -23 %t.made %t.known | not grep .
//
// The dynamic linker makes these, too:
// OTHER: access before exec
// OTHER: mmap before exec, for the memory of stopped runs, and for counts
// OTHER: mprotect for the text of glibc, not below a filter
// OTHER: munmap like mmap
// OTHER: read for the list of exceptions
// Only with what the user or the program asks for:
// OTHER: bpf user functions
// OTHER: madvise user functions
// OTHER: gettid user functions
// OTHER: clock_gettime limits of regions
// OTHER: getdents64 closes of large ranges in loops, and shares without the module
// OTHER: getcwd COSY_STATS
// OTHER: write COSY_STATS, COSY_DEBUG
// Not below a filter:
// OTHER: capget before a process limits its capabilities
// OTHER: capset before a process limits its capabilities
// OTHER: prctl before a process limits its capabilities
// These end the process:
// OTHER: exit_group limits of regions, exits in regions
// OTHER: kill limits of regions
// OTHER: rt_tgsigqueueinfo failures of functions
// OTHER: tgkill failures of functions
#include "compound.h"
#include "filter.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* A call, with the value of its argument number @arg. */
struct library_call {
	int nr;
	unsigned int arg;
	unsigned int value;
};

/* Return the error of opening the device below a filter, or 0. */
static int error_below(const struct library_call *call)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		filter_argument(call->nr, call->arg, call->value, SECCOMP_RET_KILL_PROCESS);
		_exit(open("/dev/cosy", O_RDWR | O_CLOEXEC) < 0 ? errno : 0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		die("child");
	return WEXITSTATUS(status);
}

int main(void)
{
	static const struct library_call made[] = {
		{ SYS_lseek, 2, COSY_RUN_WHENCE },
		{ SYS_lseek, 2, COSY_CALL_WHENCE },
		{ SYS_ioctl, 1, COSY_IOC_INFO },
		{ SYS_ioctl, 1, COSY_IOC_LOAD },
		{ SYS_ioctl, 1, COSY_IOC_UNLOAD },
		{ SYS_ioctl, 1, COSY_IOC_BIND },
		{ SYS_ioctl, 1, COSY_IOC_YIELD },
		{ SYS_ioctl, 1, COSY_IOC_HIDE },
		{ SYS_ioctl, 1, COSY_IOC_ASYNC },
		{ SYS_ioctl, 1, COSY_IOC_SHARE },
		{ SYS_rt_sigprocmask, 0, SIG_BLOCK },
		{ SYS_rt_sigprocmask, 0, SIG_SETMASK },
		{ SYS_fcntl, 1, F_GETFD },
		{ SYS_fcntl, 1, F_DUPFD_CLOEXEC },
		{ SYS_prlimit64, 1, RLIMIT_NOFILE },
		{ SYS_fstat, 1, 0 },
		{ SYS_getpid, 0, 0 },
		{ SYS_close, 0, 0 },
	};
	const struct library_call other = { SYS_ioctl, 1, 0x5401 };

	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		check(error_below(&made[i]) == EPERM,
		      "a filter for call %d with %#x forbids the device: %d", made[i].nr,
		      made[i].value, error_below(&made[i]));
	check(!error_below(&other), "a filter for another call does not");
	return finish();
}
