/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * short.h - the programs that `cosy run` executes without its library. cosy-profile predicts by the same
 * lists.
 */
#ifndef COSY_SHORT_H
#define COSY_SHORT_H

#include "reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * cosy_is_short_program() - find out whether a program makes too few calls for the library
 * @reader: reads the arguments
 * @path:   the program; "" if that is not known
 * @argv:   its name and its arguments, followed by NULL
 *
 * A process that maps the library takes about 70,000 instructions more, and gets them back
 * with some 50 calls through the module. The programs that are listed in short.c make fewer calls, if
 * they have few names of files as arguments, and are not told to descend into directories. The programs
 * that they execute are native then, so shells and other programs that mostly execute others are
 * not in the list.
 */
bool cosy_is_short_program(struct reader *reader, const char *path, char *const *argv);

#ifdef __cplusplus
}
#endif

#endif /* COSY_SHORT_H */
