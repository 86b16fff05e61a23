// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * session.c - receive a name, and send the file, encrypted.
 *
 * The callbacks of a session have its colour, so they need no lock. Those of different sessions, which
 * encrypt, run on several processors at the same time.
 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "protocol.h"

/*
 * struct session - a client
 * @op:	     receives, or sends
 * @timer:   ends the session
 * @close:   closes @fd
 * @pending: how many of these are pending
 * @ending:  end() was called
 * @have:    bytes of @hello that were received
 * @size:    bytes that are sent
 * @longer:  @timer runs for the second time
 * @first:   the next message is the first one
 * @last:    the message that is sent is the last one
 */
struct session {
	struct cosy_coloured op, timer, close;
	struct sessions *sessions;
	unsigned int pending;
	int fd, file;
	size_t have, size;
	bool ending, longer, first, last;
	unsigned char status;
	crypto_secretstream_xchacha20poly1305_state out;
	struct hello hello;
	unsigned char plain[PROTOCOL_CHUNK];
	unsigned char sealed[PROTOCOL_HEADER + PROTOCOL_CHUNK + PROTOCOL_SEAL];
};

static void received(struct cosy_coloured *op);
static void sent(struct cosy_coloured *op);

/*
 * A session has one colour. While one of its operations is outstanding, the colour stays on its worker, so all
 * of them are in this loop.
 */
static struct cosy_loop *loop(void)
{
	return cosy_team_loop();
}

static struct cosy_async *colour(struct session *s, struct cosy_coloured *op,
				 void (*done)(struct cosy_coloured *op))
{
	op->op.data = s;
	return cosy_colour(op, (uintptr_t)s, done);
}

static void closed(struct cosy_coloured *op);

/*
 * End the session: called first when nothing more is to be sent or received, and then by each operation that
 * completes. The last one frees the session.
 *
 * At first another operation is outstanding, so this is the loop that knows the descriptor, and has to close it.
 */
static void end(struct session *s)
{
	if (!s->ending) {
		s->ending = true;
		if (cosy_async_pending(&s->op.op))
			cosy_cancel(loop(), &s->op.op);
		if (cosy_async_pending(&s->timer.op))
			cosy_cancel(loop(), &s->timer.op);
		if (cosy_async_close(loop(), colour(s, &s->close, closed), s->fd)) {
			cosy_team_rejected(&s->close);
			close(s->fd);
		} else {
			s->pending++;
		}
	}
	if (s->pending)
		return;
	if (s->file >= 0)
		close(s->file);
	atomic_fetch_sub(&s->sessions->current, 1);
	sodium_memzero(s, sizeof(*s));
	free(s);
}

static void closed(struct cosy_coloured *op)
{
	struct session *s = op->op.data;

	s->pending--;
	end(s);
}

static void submitted(struct session *s, struct cosy_coloured *op, int err)
{
	if (err) {
		cosy_team_rejected(op);
		end(s);
	} else {
		s->pending++;
	}
}

static void receive(struct session *s)
{
	submitted(s, &s->op, cosy_async_recv(loop(), colour(s, &s->op, received), s->fd,
					     (unsigned char *)&s->hello + s->have,
					     sizeof(s->hello) - s->have, 0));
}

/* Seal the next part of the file, and send it. @header bytes are in s->sealed already. */
static void send_part(struct session *s, size_t header)
{
	size_t size = 0;
	ssize_t n = 0;

	if (s->first)
		s->plain[size++] = s->status;
	s->first = false;
	while (s->file >= 0 && size < PROTOCOL_CHUNK) {
		n = read(s->file, s->plain + size, PROTOCOL_CHUNK - size);
		if (n <= 0)
			break;
		size += (size_t)n;
	}
	/* Without a last message the client knows that something is missing. */
	if (n < 0) {
		end(s);
		return;
	}
	s->last = size < PROTOCOL_CHUNK;
	crypto_secretstream_xchacha20poly1305_push(&s->out, s->sealed + header, NULL, s->plain, size,
						   NULL, 0, s->last ?
						   crypto_secretstream_xchacha20poly1305_TAG_FINAL : 0);
	s->size = header + size + PROTOCOL_SEAL;
	submitted(s, &s->op, cosy_async_send(loop(), colour(s, &s->op, sent), s->fd, s->sealed,
					     s->size, MSG_NOSIGNAL));
}

static void open_file(struct session *s, const char *name)
{
	static const struct open_how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	struct stat st;

	s->file = (int)syscall(SYS_openat2, s->sessions->root, name, &how, sizeof(how));
	if (s->file < 0) {
		s->status = (unsigned char)errno;
	} else if (fstat(s->file, &st) || !S_ISREG(st.st_mode)) {
		s->status = EACCES;
		close(s->file);
		s->file = -1;
	}
}

/* Derive the keys, and open the name. Return false if the client does not know the server's key. */
static bool accept_hello(struct session *s)
{
	unsigned char in_key[crypto_kx_SESSIONKEYBYTES], out_key[crypto_kx_SESSIONKEYBYTES];
	crypto_secretstream_xchacha20poly1305_state in;
	char name[PROTOCOL_NAME];
	bool ok;

	ok = !crypto_kx_server_session_keys(in_key, out_key, s->sessions->public_key,
					    s->sessions->secret_key, s->hello.key) &&
	     !crypto_secretstream_xchacha20poly1305_init_pull(&in, s->hello.header, in_key) &&
	     !crypto_secretstream_xchacha20poly1305_pull(&in, (unsigned char *)name, NULL, NULL,
							 s->hello.name, sizeof(s->hello.name), NULL, 0) &&
	     !name[PROTOCOL_NAME - 1];
	if (ok) {
		crypto_secretstream_xchacha20poly1305_init_push(&s->out, s->sealed, out_key);
		open_file(s, name);
	}
	sodium_memzero(in_key, sizeof(in_key));
	sodium_memzero(out_key, sizeof(out_key));
	sodium_memzero(&in, sizeof(in));
	return ok;
}

static void received(struct cosy_coloured *op)
{
	struct session *s = op->op.data;

	s->pending--;
	if (op->op.result <= 0 || s->ending) {
		end(s);
		return;
	}
	s->have += (size_t)op->op.result;
	if (s->have < sizeof(s->hello))
		receive(s);
	else if (accept_hello(s))
		send_part(s, PROTOCOL_HEADER);
	else
		end(s);
}

static void sent(struct cosy_coloured *op)
{
	struct session *s = op->op.data;

	s->pending--;
	/* A send transfers everything, unless it fails or is cancelled after a part. */
	if (op->op.result != (int64_t)s->size || s->last || s->ending) {
		if (op->op.result == (int64_t)s->size && !s->status)
			atomic_fetch_add(&s->sessions->served, 1);
		end(s);
		return;
	}
	send_part(s, 0);
}

/* A client that has sent no request by then would keep others away. One that has sent it has more time. */
static void timed_out(struct cosy_coloured *op)
{
	struct session *s = op->op.data;
	const bool requested = s->have == sizeof(s->hello);

	s->pending--;
	if (s->ending || s->longer || !requested) {
		end(s);
		return;
	}
	s->longer = true;
	submitted(s, &s->timer, cosy_async_timer(loop(), colour(s, &s->timer, timed_out),
						 &s->sessions->answer_time, 0));
}

static void begin(void *arg)
{
	struct session *s = arg;

	if (cosy_async_timer(loop(), colour(s, &s->timer, timed_out), &s->sessions->request_time, 0)) {
		cosy_team_rejected(&s->timer);
		end(s);
		return;
	}
	s->pending++;
	receive(s);
}

void session_start(struct sessions *sessions, int fd)
{
	struct session *s = NULL;

	if (atomic_fetch_add(&sessions->current, 1) < sessions->maximum)
		s = calloc(1, sizeof(*s));
	if (!s) {
		atomic_fetch_sub(&sessions->current, 1);
		close(fd);
		return;
	}
	s->sessions = sessions;
	s->fd = fd;
	s->file = -1;
	s->first = true;
	if (cosy_team_call(sessions->team, (uintptr_t)s, begin, s))
		end(s);
}
