/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nowait.h - calls that are made only if they need not wait.
 */
#ifndef COSY_NOWAIT_H
#define COSY_NOWAIT_H

#include <linux/types.h>

long cosy_nowait_call(unsigned int nr, const u64 *args);

#endif /* COSY_NOWAIT_H */
