/* SPDX-License-Identifier: GPL-2.0 */
/*
 * async.h - syscall pages that the module executes.
 */
#ifndef COSY_ASYNC_ASYNC_H
#define COSY_ASYNC_ASYNC_H

#include <linux/compiler.h>

#include <linux/cosy_async.h>

/* loop.c */
long cosy_loop_create(struct cosy_async_create __user *arg);

#endif /* COSY_ASYNC_ASYNC_H */
