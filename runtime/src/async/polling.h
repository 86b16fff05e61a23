/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * polling.h - the thread of a processor polls for work before it sleeps.
 */
#ifndef COSY_LOOP_POLLING_H
#define COSY_LOOP_POLLING_H

#include <stdbool.h>
#include <stdint.h>

struct cosy_cpu;

/**
 * cosy_cpu_until() - return the time until which the thread of a processor may wait without a check
 * @until: the time until which it has to wait, or UINT64_MAX
 */
uint64_t cosy_cpu_until(uint64_t until);

/**
 * cosy_cpu_polls() - before the thread of a processor sleeps, poll for entries
 * @waits: entries wait for what epoll or the module reports, which the caller has to check
 *
 * Releases the lock of the processor's loop meanwhile.
 *
 * Return: true if the thread must not sleep: there is work, or the time to poll is not over.
 */
bool cosy_cpu_polls(struct cosy_cpu *cpu, bool waits);

#endif /* COSY_LOOP_POLLING_H */
