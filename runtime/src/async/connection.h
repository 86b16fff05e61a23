/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * connection.h - calls on sockets whose connection is made, ends, or is shut down.
 */
#ifndef COSY_LOOP_CONNECTION_H
#define COSY_LOOP_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/cosy_async.h>

struct cosy_loop;

/** cosy_connection_ready() - finish a connect(), whose socket is ready, with its result */
void cosy_connection_ready(struct cosy_loop *loop, uint32_t slot);

/** cosy_connection_has_backlog() - test whether connect() fails with EAGAIN if a backlog is full */
bool cosy_connection_has_backlog(int fd);

/**
 * cosy_connection_opens() - test whether a call with MSG_FASTOPEN has begun to open a connection
 *
 * The blocking call waits for it, and then sends. This one has to be made again with the same
 * arguments.
 */
bool cosy_connection_opens(const struct cosy_async_entry *entry, int64_t result);

/**
 * cosy_connection_ended() - finish a call on a stream whose connection has ended while it waited
 *
 * Return: false if an attempt has the effect of the blocking call; nothing was done.
 */
bool cosy_connection_ended(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_connection_shut_down() - finish a call that would block, and ends because of a shutdown()
 *
 * Return: false if it waits.
 */
bool cosy_connection_shut_down(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_connection_is_at_mark() - test whether the next byte of a stream is urgent
 *
 * A call with MSG_WAITALL that has received something ends there.
 */
bool cosy_connection_is_at_mark(int fd);

/** cosy_connection_lingers() - return true if close() may wait until a socket has sent its data */
bool cosy_connection_lingers(const struct cosy_loop *loop, int fd);

/**
 * cosy_receive_nothing() - make a recvmsg(), or a recvfrom(), on another socket, which has no data
 * @ended: its connection has ended without an error, and the call sets the lengths and the flags in
 *	   its arguments; otherwise the call is a recvmsg(), and does not wait
 *
 * Return: the result of the call, or the error of creating the socket.
 */
long cosy_receive_nothing(const struct cosy_async_entry *entry, bool ended);

#endif /* COSY_LOOP_CONNECTION_H */
