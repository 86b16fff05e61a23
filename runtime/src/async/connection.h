/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * connection.h - calls on sockets whose connection is made, ends, or is shut down.
 */
#ifndef COSY_LOOP_CONNECTION_H
#define COSY_LOOP_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/cosy_async.h>

struct cosy_descriptor;
struct cosy_loop;
struct cosy_slot;

/**
 * cosy_connection_made() - get the result of a connect(), whose socket is ready
 * @result: set to the result
 *
 * Return: false if the socket is not ready after all.
 */
bool cosy_connection_made(const struct cosy_async_entry *entry, int fd, long *result);

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
 * cosy_connection_ended() - test whether a call on a stream ends with its connection
 * @error: set to its error, or 0
 *
 * In TCP, the error stays for the next call after a partial transfer, and also if the call receives
 * no bytes: it ends with any event. A send of AF_UNIX gets the error, and raises no SIGPIPE.
 *
 * Return: true if the connection has ended while the call waited, and an attempt would have another
 * effect than the blocking call.
 */
bool cosy_connection_ended(const struct cosy_loop *loop, uint32_t slot, int *error);

/**
 * cosy_connection_send_ended() - the same for the next call, which waits to send on the stream
 * @error: set to its error
 *
 * Return: false if it waits, or is no call that sends on a stream of AF_UNIX.
 */
bool cosy_connection_send_ended(const struct cosy_slot *s, const struct cosy_descriptor *d,
				int *error);

/**
 * cosy_connection_is_shut_down() - test whether a socket is shut down for receiving
 *
 * Blocking calls then end without data, but those that do not block return -EAGAIN on datagram
 * sockets, and on listening ones of AF_UNIX.
 */
bool cosy_connection_is_shut_down(const struct cosy_slot *s, const struct cosy_descriptor *d);

/**
 * cosy_connection_is_over() - test whether a datagram socket is shut down for receiving, and has no data
 *
 * Return: true if recvfrom() returns 0, and with MSG_DONTWAIT -EAGAIN.
 */
bool cosy_connection_is_over(int fd);

/**
 * cosy_connection_is_missing() - test whether a socket has no connection, and poll() does not tell
 *
 * A receive then fails at once.
 */
bool cosy_connection_is_missing(int fd);

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
 * Return: the result of the call, or without @ended the error of creating that socket.
 */
long cosy_receive_nothing(const struct cosy_async_entry *entry, bool ended);

#endif /* COSY_LOOP_CONNECTION_H */
