/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * single.h - system calls of the user executor, made by the module one at a time.
 */
#ifndef COSY_SINGLE_H
#define COSY_SINGLE_H

struct cosy_env;

/**
 * cosy_single_call() - make a system call of a run by the module's fast path
 * @env: the executor's environment, with the arguments
 * @nr:  the call's number
 *
 * For struct cosy_env::call. Calls that preload.def does not list, and calls that the
 * module does not make, are made as plain system calls. Async-signal-safe, thread-safe,
 * keeps errno. No cancellation point.
 *
 * Return: what the kernel returns, -errno on failure.
 */
long cosy_single_call(const struct cosy_env *env, unsigned int nr);

#endif /* COSY_SINGLE_H */
