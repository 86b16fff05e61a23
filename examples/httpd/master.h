/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * master.h - the process that starts the workers.
 */
#ifndef MASTER_H
#define MASTER_H

/**
 * master_run() - serve until a signal ends the server
 * @argv: how the program was called, for SIGUSR2
 *
 * Return: the exit status.
 */
int master_run(char **argv);

#endif /* MASTER_H */
