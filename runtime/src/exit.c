/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * exit.c - _exit() for programs that are counted.
 *
 * _exit() runs no destructors, so nobody else would print their counts. Linked
 * only into programs that call it; a definition of the program's own, or of a
 * sanitizer, comes before this one.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "export.h"
#include "stats.h"
#include "sys.h"

COSY_EXPORT __attribute__((weak)) void _exit(int status)
{
	cosy_stats_print_all();
	for (;;)
		cosy_sys(SYS_exit_group, status, 0, 0);
}

COSY_EXPORT __attribute__((weak)) void _Exit(int status)
{
	_exit(status);
}
