/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * usage.h - arguments of programs: end one that was called with wrong ones.
 */
#ifndef USAGE_H
#define USAGE_H

/** fail_usage() - refer to --help, after a message about the fault; exit with status 1 */
_Noreturn void fail_usage(void);

/**
 * usage_number() - read a number, or end the program by fail_usage()
 * @text:   the number, in decimal
 * @option: the option whose argument it is, without "--"
 * @min:    the smallest one that is allowed
 * @max:    the largest one
 */
unsigned int usage_number(const char *text, const char *option, unsigned int min, unsigned int max);

#endif /* USAGE_H */
