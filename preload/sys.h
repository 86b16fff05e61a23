/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sys.h - system calls without the C library, and so without errno.
 */
#ifndef COSY_PRELOAD_SYS_H
#define COSY_PRELOAD_SYS_H

/** cosy_sys() - make a system call; returns what the kernel returns */
static inline long cosy_sys(long nr, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return ret;
}

#endif /* COSY_PRELOAD_SYS_H */
