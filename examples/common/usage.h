/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * usage.h - end a program that was called in a wrong way.
 */
#ifndef USAGE_H
#define USAGE_H

/** fail_usage() - point to --help, after a message that says what is wrong; status 1 */
_Noreturn void fail_usage(void);

#endif /* USAGE_H */
