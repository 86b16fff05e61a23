/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * create.h - creates and destroys loops.
 */
#ifndef COSY_LOOP_CREATE_H
#define COSY_LOOP_CREATE_H

#include <stdbool.h>
#include <stdint.h>

struct cosy_group;
struct cosy_loop;

/**
 * cosy_loop_quiesce() - prevent calls that cannot be cancelled
 *
 * Return: true with the lock taken; while it is held, no such call runs or begins. false if a
 * thread makes such a call.
 */
bool cosy_loop_quiesce(struct cosy_loop *loop);

/** cosy_loop_close() - complete all operations, end the threads, and release the lock */
void cosy_loop_close(struct cosy_loop *loop);

/** cosy_loop_free() - free a closed loop */
void cosy_loop_free(struct cosy_loop *loop);

/** cosy_loop_join() - make a new loop a member of a group; @member: its number, from 1 */
void cosy_loop_join(struct cosy_loop *loop, struct cosy_group *group, uint16_t member);

#endif /* COSY_LOOP_CREATE_H */
