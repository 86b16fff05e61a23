/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * output.h - end a program once all of its output is out.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

/**
 * output_finish() - write what is left of standard output, and exit
 * @status:  the exit status
 * @trouble: that where the output could not be written, after a message; not 0
 */
_Noreturn void output_finish(int status, int trouble);

#endif /* OUTPUT_H */
