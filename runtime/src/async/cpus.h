/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cpus.h - the processors of a loop come and go.
 */
#ifndef COSY_LOOP_CPUS_H
#define COSY_LOOP_CPUS_H

#include <stdbool.h>

#include <cosy/async.h>

/** cosy_cpus_add_info() - add what the processors have done */
void cosy_cpus_add_info(const struct cosy_loop *loop, struct cosy_loop_info *info);

/**
 * cosy_cpus_quiesce() - cosy_loop_quiesce() for the loops of all processors
 *
 * Call it without the lock.
 *
 * Return: true if their threads rest and their locks are taken; false if nothing has changed.
 */
bool cosy_cpus_quiesce(struct cosy_loop *loop);

/** cosy_cpus_go_on() - undo a cosy_cpus_quiesce() that has returned true */
void cosy_cpus_go_on(struct cosy_loop *loop);

/** cosy_cpus_destroy() - remove quiescent processors; the loop completes what was sent to them */
void cosy_cpus_destroy(struct cosy_loop *loop);

/** cosy_cpus_destroy_in_child() - free a child's copy of the processors */
void cosy_cpus_destroy_in_child(struct cosy_loop *loop);

#endif /* COSY_LOOP_CPUS_H */
