/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * output.h - end a program after all of its output was written.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

/**
 * output_finish() - write the rest of standard output, and exit
 * @status:  the exit status
 * @trouble: the exit status if the output cannot be written, after a message; not 0
 */
_Noreturn void output_finish(int status, int trouble);

#endif /* OUTPUT_H */
