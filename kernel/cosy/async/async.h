/* SPDX-License-Identifier: GPL-2.0 */
/*
 * async.h - syscall pages that the module executes.
 */
#ifndef COSY_ASYNC_ASYNC_H
#define COSY_ASYNC_ASYNC_H

#include <linux/compiler.h>

#include <linux/cosy_async.h>

struct file;

/* calls.c */
void cosy_coroutine_init(void);

/* ring.c */
void cosy_ring_init(void);

/* loop.c */
long cosy_loop_create(struct file *file, struct cosy_async_create __user *arg);

/* work.c */
void cosy_works_start(void);
void cosy_works_stop(void);

#endif /* COSY_ASYNC_ASYNC_H */
