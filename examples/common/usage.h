/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * usage.h - end a program that was called with wrong arguments.
 */
#ifndef USAGE_H
#define USAGE_H

/** fail_usage() - refer to --help, after a message about the fault; exit with status 1 */
_Noreturn void fail_usage(void);

#endif /* USAGE_H */
