/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * coroutine.h - parts of functions that the module executes as compounds.
 */
#ifndef COSY_LOOP_COROUTINE_H
#define COSY_LOOP_COROUTINE_H

#include <stdbool.h>
#include <stdint.h>

struct cosy_task;

/**
 * cosy_coroutine_run() - continue the compound of a task that is suspended for it
 *
 * Return: true if the compound was submitted; another thread may then resume the task. False if
 * it has ended: the value of the task is its exit, or -1 if nothing was executed.
 */
bool cosy_coroutine_run(struct cosy_task *task);

/**
 * cosy_coroutine_done() - the entry of a task that is suspended for a compound is complete
 * @result: result of the entry
 *
 * Return: as cosy_coroutine_run().
 */
bool cosy_coroutine_done(struct cosy_task *task, int64_t result);

#endif /* COSY_LOOP_COROUTINE_H */
