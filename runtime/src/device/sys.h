/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sys.h - system calls without the C library.
 *
 * The run path must not change the program's errno, must not be a cancellation point where the
 * native code has none, and runs in signal handlers. So libcosy makes its system calls itself.
 * They return -errno. preload/ has no C library of its own, and uses them, too.
 */
#ifndef COSY_SYS_H
#define COSY_SYS_H

#ifndef __x86_64__
#error "libcosy knows the system-call convention of x86-64 only"
#endif

/** cosy_sys() - make a system call of at most three arguments; returns the kernel's result */
static inline long cosy_sys(long nr, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}

/** cosy_sys6() - make a system call of at most six arguments; returns the kernel's result */
static inline long cosy_sys6(long nr, long a, long b, long c, long d, long e,
			     long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

/* cosy_sys6() with an array of six arguments, of uint64_t or of the kernel's __u64. */
#define cosy_sys_args(nr, args)                                                \
	cosy_sys6(nr, (long)(args)[0], (long)(args)[1], (long)(args)[2],       \
		  (long)(args)[3], (long)(args)[4], (long)(args)[5])

#endif /* COSY_SYS_H */
