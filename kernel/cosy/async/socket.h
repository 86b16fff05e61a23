/* SPDX-License-Identifier: GPL-2.0 */
/*
 * socket.h - the state of a socket: whether it listens, and whether it has anything to receive.
 */
#ifndef COSY_ASYNC_SOCKET_H
#define COSY_ASYNC_SOCKET_H

#include <linux/fs.h>
#include <linux/in.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include <linux/socket.h>
#include <linux/tcp.h>
#include <linux/types.h>

#include <net/sock.h>
#include <net/tcp_states.h>

extern const struct file_operations *cosy_socket_ops;
struct socket *cosy_socket_find(struct file *file);

/**
 * cosy_socket_of() - get the socket of a file
 * @file: the file, or NULL
 *
 * The kernel's sock_from_file() compares with operations that modules do not know. They are noted
 * when a socket is seen for the first time; after that no call is needed.
 *
 * Return: the socket, or NULL.
 */
static __always_inline struct socket *cosy_socket_of(struct file *file)
{
	if (!file)
		return NULL;
	if (likely(file->f_op == READ_ONCE(cosy_socket_ops)))
		return file->private_data;
	return cosy_socket_find(file);
}

/**
 * cosy_socket_is_shut() - test whether a socket is shut down for receiving
 * @socket: the socket
 *
 * If it has no data, calls that may wait end: datagram sockets return 0, and listening ones of
 * AF_UNIX -EINVAL. Calls that do not wait fail with -EAGAIN, also after the event.
 *
 * Return: true if it is shut down.
 */
static inline bool cosy_socket_is_shut(const struct socket *socket)
{
	const struct sock *sk = READ_ONCE(socket->sk);

	return sk && READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN;
}

/* Return true if a stream uses TCP. IPV6_ADDRFORM may change AF_INET6 to AF_INET meanwhile. */
static inline bool cosy_stream_is_tcp(const struct sock *sk)
{
	unsigned short family = READ_ONCE(sk->sk_family);

	return (family == AF_INET || family == AF_INET6) && sk->sk_protocol == IPPROTO_TCP;
}

static inline bool cosy_sk_is_tcp(const struct sock *sk)
{
	return sk->sk_type == SOCK_STREAM && cosy_stream_is_tcp(sk);
}

/**
 * cosy_socket_is_tcp() - test whether a socket uses TCP
 * @socket: the socket
 *
 * Return: true if it does.
 */
static inline bool cosy_socket_is_tcp(const struct socket *socket)
{
	const struct sock *sk = READ_ONCE(socket->sk);

	return sk && cosy_sk_is_tcp(sk);
}

static inline bool cosy_tcp_is_repaired(const struct sock *sk)
{
	if (!cosy_sk_is_tcp(sk))
		return false;
	/* The program may change it at any time. */
	return data_race(!!tcp_sk(sk)->repair);
}

/**
 * cosy_socket_may_ask() - test whether a socket's poll() reports whether recvfrom() would wait
 * @socket: the socket
 *
 * It does not for a listening socket and for one of TCP in repair mode, where recvfrom() fails, and
 * with SO_RCVLOWAT, where poll() waits for more bytes.
 *
 * Return: true if it does.
 */
static inline bool cosy_socket_may_ask(const struct socket *socket)
{
	const struct sock *sk = READ_ONCE(socket->sk);

	return sk && READ_ONCE(sk->sk_state) != TCP_LISTEN &&
	       READ_ONCE(sk->sk_rcvlowat) <= 1 && likely(!cosy_tcp_is_repaired(sk));
}

/**
 * cosy_socket_receive_fails() - test whether a socket of TCP has an error
 * @socket: the socket
 *
 * A call that has waited to receive no bytes must not be made then: it would take the error.
 *
 * Return: true if it has.
 */
static inline bool cosy_socket_receive_fails(const struct socket *socket)
{
	const struct sock *sk = READ_ONCE(socket->sk);

	return sk && cosy_sk_is_tcp(sk) && READ_ONCE(sk->sk_err);
}

static inline bool cosy_unix_is_stream(const struct sock *sk)
{
	return READ_ONCE(sk->sk_family) == AF_UNIX && sk->sk_type == SOCK_STREAM;
}

static inline bool cosy_unix_send_is_shut(const struct sock *sk)
{
	return sk && cosy_unix_is_stream(sk) && READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN;
}

/**
 * cosy_socket_send_is_shut() - test whether a stream of AF_UNIX is shut down for sending
 * @socket: the socket
 *
 * Closing the peer does that, and so does shutting it down for receiving. Both wake all waiters,
 * but poll() reports nothing after the latter.
 *
 * Return: true if it is.
 */
static inline bool cosy_socket_send_is_shut(const struct socket *socket)
{
	return cosy_unix_send_is_shut(READ_ONCE(socket->sk));
}

/**
 * cosy_socket_send_ends() - test whether a send that has waited ends with the connection
 * @socket: the socket
 *
 * On streams of AF_UNIX, a call that has waited takes the socket's error, and raises no SIGPIPE. A
 * call that begins does the opposite, and must not be made instead.
 *
 * Return: 0 if the call has to be made, otherwise its error.
 */
static inline int cosy_socket_send_ends(const struct socket *socket)
{
	struct sock *sk = READ_ONCE(socket->sk);

	return cosy_unix_send_is_shut(sk) ? sock_error(sk) ?: -EPIPE : 0;
}

static inline bool cosy_tcp_is_empty(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return READ_ONCE(tp->rcv_nxt) == READ_ONCE(tp->copied_seq);
}

/**
 * cosy_socket_is_idle() - test whether a socket certainly has nothing to receive
 * @socket: the socket
 *
 * For the most usual sockets, it checks under which conditions unix_poll() and tcp_poll() report no
 * input. poll() takes six times as many instructions.
 *
 * Return: true if it has nothing; false if only poll() can find out.
 */
static inline bool cosy_socket_is_idle(const struct socket *socket)
{
	const struct sock *sk = READ_ONCE(socket->sk);

	if (!sk || sk->sk_type != SOCK_STREAM ||
	    READ_ONCE(sk->sk_state) != TCP_ESTABLISHED || READ_ONCE(sk->sk_err) ||
	    READ_ONCE(sk->sk_shutdown))
		return false;
	if (READ_ONCE(sk->sk_family) == AF_UNIX) {
		if (!skb_queue_empty_lockless(&sk->sk_receive_queue))
			return false;
	} else if (!cosy_stream_is_tcp(sk) || !cosy_tcp_is_empty(sk)) {
		return false;
	}
	return !sk_is_readable((struct sock *)sk);
}

#endif /* COSY_ASYNC_SOCKET_H */
