// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which parts of COSY_ASYNC functions run natively, because their compounds would cost more.
// RUN: %clang -O2 -c -o %t.o -Rpass-missed=cosy %s 2>&1 | FileCheck %s
#include <cosy/task.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct connection {
	int fd;
	size_t have;
	char in[512], out[600];
};

/* Its calls are those of stdio, so it is one up-call. */
static int answer(struct connection *c, const char *line)
{
	char key[64], value[256];
	int n = sscanf(line, "%63s %255s", key, value);

	if (n == 2)
		return sprintf(c->out, "%s is %s\n", key, value);
	if (n == 1 && strcmp(key, "quit"))
		return sprintf(c->out, "%s?\n", key);
	return -1;
}

/* The loop ends after the first send unless the socket is full. */
COSY_ASYNC int send_all(int fd, const char *p, size_t n)
{
	ssize_t r;

	while (n) {
		// CHECK-DAG: [[#@LINE+1]]:7: remark: this part runs natively, with an operation of the loop for each call: it only answers
		r = send(fd, p, n, MSG_NOSIGNAL);
		if (r < 0)
			return -1;
		p += r;
		n -= (size_t)r;
	}
	return 0;
}

/* Each request leads to answer(), although two conditions come before. */
COSY_ASYNC ssize_t serve(struct connection *c)
{
	ssize_t n;
	char *end;
	int len;

	// CHECK-DAG: [[#@LINE+1]]:14: remark: this part runs natively, {{.*}} its compound would cost about 5{{[0-9][0-9][0-9]}} instructions for each request, most of them for up-calls
	while ((n = recv(c->fd, c->in + c->have, sizeof(c->in) - 1 - c->have, 0)) > 0) {
		c->have += (size_t)n;
		while ((end = memchr(c->in, '\n', c->have))) {
			*end = 0;
			len = answer(c, c->in);
			if (len < 0) {
				n = 0;
				goto out;
			}
			if (send_all(c->fd, c->out, (size_t)len)) {
				n = -errno;
				goto out;
			}
			c->have -= (size_t)(end + 1 - c->in);
			memmove(c->in, end + 1, c->have);
		}
		if (c->have == sizeof(c->in) - 1)
			c->have = 0;
	}
out:
	close(c->fd);
	return n < 0 ? -errno : n;
}

/* What is done only after an error does not count. */
COSY_ASYNC ssize_t echo(struct connection *c)
{
	ssize_t n;

	// CHECK-NOT: [[#@LINE+1]]:{{[0-9]+}}: remark: this part runs natively
	while ((n = recv(c->fd, c->in, sizeof(c->in), 0)) > 0) {
		if (send(c->fd, c->in, (size_t)n, MSG_NOSIGNAL) < 0) {
			perror("send");
			break;
		}
	}
	return n;
}
