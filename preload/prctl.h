/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * prctl.h - the options of prctl() that change which system calls a thread may make. Assembler
 * cannot include <linux/prctl.h>, which defines a structure.
 */
#ifndef COSY_PRELOAD_PRCTL_H
#define COSY_PRELOAD_PRCTL_H

#define PR_SET_SECCOMP			22
#define PR_SET_SYSCALL_USER_DISPATCH	59

#endif /* COSY_PRELOAD_PRCTL_H */
