/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stop.h - why the last region of a thread ended early.
 */
#ifndef COSY_STOP_H
#define COSY_STOP_H

#include <stdint.h>

/**
 * cosy_stop_at() - a region ends since it has reached a limit
 * @file: @line: where it was; lives as long as the program
 * @function: the function it is in
 *
 * What cosy_last_error() tells from now on. Async-signal-safe.
 */
void cosy_stop_at(const char *file, uint32_t line, const char *function);

#endif /* COSY_STOP_H */
