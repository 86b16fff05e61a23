// SPDX-License-Identifier: GPL-2.0
/*
 * seccomp.c - evaluates the process's seccomp filters for a call.
 *
 * The evaluation has no side effects, but the kernel's own entry point also acts on the
 * verdict. Only calls with the verdict ALLOW are made here. All others are made from user
 * mode, where the kernel runs the filters.
 *
 * The chain of filters of the current thread needs no lock. Other threads can prepend
 * filters, which take effect when SYSCALL_WORK_SECCOMP or the chain is read next. No
 * filter is ever removed.
 */
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/fcntl.h>
#include <linux/filter.h>
#include <linux/nospec.h>
#include <linux/ptrace.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/seccomp.h>
#include <linux/signal.h>
#include <linux/unistd.h>

#include "call/call.h"
#include "kernel/internals.h"

#ifdef CONFIG_SECCOMP_FILTER

/* Offsets in struct seccomp_filter; 0 if unknown. */
static unsigned int cosy_filter_prev;
static unsigned int cosy_filter_prog;
static unsigned int cosy_filter_allowed;

/**
 * cosy_seccomp_init() - find the layout of filters in the running kernel
 *
 * If it is unknown, all calls of filtered processes are made from user mode.
 */
void cosy_seccomp_init(void)
{
	if (!cosy_has(COSY_NEEDS(seccomp_filter_prev) |
		      COSY_NEEDS(seccomp_filter_prog)))
		return;
	cosy_filter_prev =
		cosy_internal_offset(COSY_INTERNAL_seccomp_filter_prev);
	cosy_filter_prog =
		cosy_internal_offset(COSY_INTERNAL_seccomp_filter_prog);
	if (cosy_has(COSY_NEEDS(seccomp_filter_cache) |
		     COSY_NEEDS(action_cache_allow_native)))
		cosy_filter_allowed =
			cosy_internal_offset(COSY_INTERNAL_seccomp_filter_cache) +
			cosy_internal_offset(COSY_INTERNAL_action_cache_allow_native);
}

/* Read the newest filter's bitmap of the calls that all filters always allow. */
static bool cosy_seccomp_always_allows(const void *filter, unsigned int nr)
{
	if (!cosy_filter_allowed || nr >= NR_syscalls)
		return false;
	nr = array_index_nospec(nr, NR_syscalls);
	return test_bit(nr, filter + cosy_filter_allowed);
}

/**
 * cosy_seccomp_allows() - return true if the verdict on a call is ALLOW
 * @regs: its arguments
 * @nr:   its number
 *
 * Return: true if all filters of the current thread allow it.
 */
bool cosy_seccomp_allows(const struct pt_regs *regs, unsigned int nr)
{
	const void *filter;
	struct seccomp_data data;

	/* Like seccomp(): order the reads of mode and filter after the read of the flag. */
	smp_rmb();
	if (!cosy_filter_prev)
		return false;
	/* Another thread may set this thread's mode, once. */
	if (data_race(READ_ONCE(current->seccomp.mode)) != SECCOMP_MODE_FILTER)
		return false;
	/* Another thread may prepend a filter, which is complete before it is visible. */
	filter = data_race(READ_ONCE(current->seccomp.filter));
	if (!filter)
		return false;
	if (cosy_seccomp_always_allows(filter, nr))
		return true;

	data.nr = nr;
	data.arch = AUDIT_ARCH_X86_64;
	data.instruction_pointer = KSTK_EIP(current);
	data.args[0] = regs->di;
	data.args[1] = regs->si;
	data.args[2] = regs->dx;
	data.args[3] = regs->r10;
	data.args[4] = regs->r8;
	data.args[5] = regs->r9;
	while (filter) {
		const struct bpf_prog *prog =
			*(const struct bpf_prog **)(filter + cosy_filter_prog);
		u32 verdict = bpf_prog_run_pin_on_cpu(prog, &data);

		if ((verdict & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_ALLOW)
			return false;
		filter = *(const void **)(filter + cosy_filter_prev);
	}
	return true;
}

/**
 * cosy_seccomp_blocks_entry() - return true if the process's filters forbid another entry
 *
 * A call of the compound, or another thread, may have installed them during the run.
 *
 * Return: true if the verdict on another entry of this kind is not ALLOW.
 */
bool cosy_seccomp_blocks_entry(void)
{
	const struct pt_regs *entry = task_pt_regs(current);

	return (READ_ONCE(current_thread_info()->syscall_work) &
		SYSCALL_WORK_SECCOMP) &&
	       !cosy_seccomp_allows(entry, entry->orig_ax);
}

/*
 * The calls that the libraries make when they use the device, and that the program may not make. An
 * argument that a filter cannot know before, such as an address, is 0 here.
 */
static const struct {
	unsigned int nr;
	u64 args[4];
} cosy_library_calls[] = {
	{ __NR_lseek, { 0, COSY_RUN_TAG, COSY_RUN_WHENCE } },
	{ __NR_lseek, { 0, COSY_RUN_TAG, COSY_CALL_WHENCE } },
	{ __NR_openat, { AT_FDCWD, 0, O_RDWR | O_CLOEXEC } },
	{ __NR_ioctl, { 0, COSY_IOC_INFO } },
	{ __NR_ioctl, { 0, COSY_IOC_LOAD } },
	{ __NR_ioctl, { 0, COSY_IOC_UNLOAD } },
	{ __NR_ioctl, { 0, COSY_IOC_BIND } },
	{ __NR_ioctl, { 0, COSY_IOC_YIELD } },
	{ __NR_ioctl, { 0, COSY_IOC_HIDE } },
	{ __NR_ioctl, { 0, COSY_IOC_ASYNC } },
	{ __NR_ioctl, { 0, COSY_IOC_SHARE } },
	{ __NR_rt_sigprocmask, { SIG_BLOCK, 0, 0, sizeof(sigset_t) } },
	{ __NR_rt_sigprocmask, { SIG_SETMASK, 0, 0, sizeof(sigset_t) } },
	{ __NR_fcntl, { 0, F_GETFD } },
	{ __NR_fcntl, { 0, F_DUPFD_CLOEXEC } },
	{ __NR_prlimit64, { 0, RLIMIT_NOFILE } },
	{ __NR_fstat },
	{ __NR_getpid },
	{ __NR_close },
};

/**
 * cosy_seccomp_allows_device() - return true if the process may use the device
 *
 * Called when it is opened, because a filter may kill at the first call after that.
 *
 * Return: true if the verdict of its filters is ALLOW for each call that the libraries make.
 */
bool cosy_seccomp_allows_device(void)
{
	size_t i;

	if (!(READ_ONCE(current_thread_info()->syscall_work) & SYSCALL_WORK_SECCOMP))
		return true;
	for (i = 0; i < ARRAY_SIZE(cosy_library_calls); i++) {
		const u64 *args = cosy_library_calls[i].args;
		const struct pt_regs call = {
			.di = args[0],
			.si = args[1],
			.dx = args[2],
			.r10 = args[3],
		};

		if (!cosy_seccomp_allows(&call, cosy_library_calls[i].nr))
			return false;
	}
	return true;
}

/**
 * cosy_seccomp_allows_program() - return true if the process may run BPF programs
 *
 * Natively a process runs a program of type SYSCALL by bpf(2).
 *
 * Return: true if the verdict of its filters is ALLOW for bpf(BPF_PROG_TEST_RUN).
 */
bool cosy_seccomp_allows_program(void)
{
	const struct pt_regs call = {
		.di = BPF_PROG_TEST_RUN,
		.dx = sizeof(union bpf_attr),
	};

	return !(READ_ONCE(current_thread_info()->syscall_work) &
		 SYSCALL_WORK_SECCOMP) ||
	       cosy_seccomp_allows(&call, __NR_bpf);
}

#else

void cosy_seccomp_init(void)
{
}

bool cosy_seccomp_allows(const struct pt_regs *regs, unsigned int nr)
{
	return false;
}

bool cosy_seccomp_blocks_entry(void)
{
	return READ_ONCE(current_thread_info()->syscall_work) &
	       SYSCALL_WORK_SECCOMP;
}

bool cosy_seccomp_allows_device(void)
{
	return !cosy_seccomp_blocks_entry();
}

bool cosy_seccomp_allows_program(void)
{
	return !cosy_seccomp_blocks_entry();
}

#endif /* CONFIG_SECCOMP_FILTER */
