// SPDX-License-Identifier: GPL-2.0
/*
 * functions.c - run isolated user functions, which are BPF programs.
 *
 * Loading a program takes privileges; running it takes only its descriptor, as everywhere
 * in the kernel. It may be any program of type SYSCALL. So nothing here depends on what the
 * program does: its context holds numbers of the caller, and its results go only to the
 * caller.
 *
 * A program as cosy/function.h describes it gets more. A probe on the tracepoint of page
 * faults sees an access that faults, and uses up the program's budget. When the budget is
 * used up, the program calls cosy_function_yield(), which lets other tasks run and returns
 * whether to continue. A program that can be resumed is suspended for what a compound
 * leaves for: signals, other work, the end of the time slice. Its state is then in the
 * process's memory, as the registers are, and is not trusted either.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/printk.h>

#include "function/binding.h"
#include "function/function.h"
#include "function/invocation.h"
#include "kernel/internals.h"

/**
 * cosy_functions_init() - prepare to run user functions if this kernel supports them
 *
 * Otherwise they run natively, and the rest of the module works.
 */
void cosy_functions_init(void)
{
	if (!cosy_faults_init() ||
	    !cosy_has(COSY_NEEDS(bpf_arena_get_kern_vm_start)) ||
	    (IS_ENABLED(CONFIG_SECURITY) && !cosy_has(COSY_NEEDS(security_bpf)))) {
		pr_info("user functions run natively: this kernel does not support them\n");
		return;
	}
	cosy_functions_work = cosy_bindings_init() && cosy_yield_init();
}

/**
 * cosy_functions_available() - return true if functions can be bound
 *
 * Return: true if cosy_functions_init() succeeded.
 */
bool cosy_functions_available(void)
{
	return cosy_functions_work;
}

/**
 * cosy_functions_exit() - the reverse of cosy_functions_init()
 *
 * The only bindings left are those that wait to be freed.
 */
void cosy_functions_exit(void)
{
	cosy_bindings_exit();
	cosy_yield_exit();
	cosy_faults_exit();
}
