/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * polling.h - the thread of a processor polls for work before it sleeps; options of processors.
 */
#ifndef COSY_LOOP_POLLING_H
#define COSY_LOOP_POLLING_H

#include <stdbool.h>
#include <stdint.h>

#include <cosy/async.h>

struct cosy_cpu;

/** cosy_cpu_read_options() - read the program's options, or NULL. Return: 0, -EINVAL or -EACCES */
int cosy_cpu_read_options(struct cosy_cpu_options *known, const struct cosy_cpu_options *options);

/**
 * cosy_cpu_set_options() - let a processor, whose thread has started, have options
 *
 * Return: 0; -EACCES: it may not have its priority; another error of pthread_setschedparam().
 */
int cosy_cpu_set_options(struct cosy_cpu *cpu, const struct cosy_cpu_options *options);

/** cosy_cpu_poll_ns() - return how long the thread of a processor polls */
uint64_t cosy_cpu_poll_ns(const struct cosy_cpu_options *options);

/** cosy_cpu_works() - note that a processor has work, so that it polls before it sleeps next */
void cosy_cpu_works(struct cosy_cpu *cpu);

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
