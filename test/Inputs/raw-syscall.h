/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * raw-syscall.h - for tests of libcosy-preload.so: system calls that it does not interpose
 */
#ifndef RAW_SYSCALL_H
#define RAW_SYSCALL_H

#include <errno.h>
#include <stdarg.h>

/* syscall() for calls of at most four arguments, which libcosy-preload.so does not see. */
static inline long raw_syscall(long nr, ...)
{
	long args[4], ret;
	va_list list;

	va_start(list, nr);
	for (int i = 0; i < 4; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	__asm__ volatile("mov %5, %%r10; syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(args[0]), "S"(args[1]), "d"(args[2]), "r"(args[3])
			 : "rcx", "r10", "r11", "memory");
	if (ret >= 0 || ret < -4095)
		return ret;
	errno = (int)-ret;
	return -1;
}

#endif /* RAW_SYSCALL_H */
