/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * exit.c - _exit() for programs with counts.
 *
 * The C library's _exit() runs no destructors, so the counts would not be printed. This file is
 * linked only into programs that call it. A definition in the program or in a sanitizer takes
 * precedence. Programs without regions call it, too, so it refers to nothing else of libcosy.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/export.h"
#include "device/sys.h"
#include "function/counters.h"

/* Weak: in libcosy.a it is there if regions are. */
extern __typeof__(cosy_stats_print_all) cosy_stats_print_all
	__attribute__((weak, visibility("hidden")));

COSY_EXPORT __attribute__((weak)) void _exit(int status)
{
	if (cosy_stats_print_all)
		cosy_stats_print_all();
	for (;;)
		cosy_sys(SYS_exit_group, status, 0, 0);
}

COSY_EXPORT __attribute__((weak)) void _Exit(int status)
{
	_exit(status);
}
