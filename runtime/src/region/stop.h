/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stop.h - why the last region of a thread ended early.
 */
#ifndef COSY_STOP_H
#define COSY_STOP_H

#include <stdint.h>

/**
 * cosy_stop_at() - set the result of cosy_last_error(): the region has reached a limit
 * @file: @line: the place that the region had reached
 * @function: the function that contains the region
 *
 * The strings are not copied; they must stay valid until the program ends. Async-signal-safe.
 */
void cosy_stop_at(const char *file, uint32_t line, const char *function);

#endif /* COSY_STOP_H */
