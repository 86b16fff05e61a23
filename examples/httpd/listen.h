/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * listen.h - the sockets that listen. They are handed on to the next server by the protocol of
 * sd_listen_fds(3), so systemd can make them, too.
 */
#ifndef LISTEN_H
#define LISTEN_H

/**
 * listen_open() - take the sockets of the environment, or else make those of the options
 * @sockets: out: the sockets; room for CONFIG_LISTEN_MAX
 *
 * Ends the program, after a message, if that fails.
 *
 * Return: their number.
 */
unsigned int listen_open(int *sockets);

/** listen_print() - print "listening on ADDRESS" for each socket */
void listen_print(const int *sockets, unsigned int count);

/** listen_hand_on() - let the program that this process is about to execute take the sockets */
void listen_hand_on(const int *sockets, unsigned int count);

/** listen_remove() - remove the paths of unix sockets that listen_open() has made */
void listen_remove(void);

#endif /* LISTEN_H */
