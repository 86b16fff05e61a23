// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a COSY_ASYNC function does nothing between a send() that has sent all its bytes and a recv() from
// the same descriptor, both are one operation: cosy_task_reply(). Nothing else may happen between them, and
// the recv() needs no value that others could change meanwhile.
// RUN: %clang -O2 -S -emit-llvm -fno-inline %s -o - | FileCheck %s
// RUN: %clang -O2 -S -emit-llvm -fno-inline %s -o - | opt -passes=verify -disable-output
// RUN: %clang -O0 -S -emit-llvm %s -o - | FileCheck %s --check-prefix=UNOPTIMIZED
// UNOPTIMIZED-NOT: cosy_task_reply
// UNOPTIMIZED: }
#include <cosy/task.h>
#include <errno.h>
#include <sys/socket.h>

size_t answer(const char *request, size_t n, char *out);
void count(void);
extern int answered;

struct connection {
	int fd;
	size_t have;
	char in[64], out[64];
};

// CHECK-LABEL: define {{.*}}@until_the_end.cosy.resume(
// CHECK-DAG: call void @cosy_task_reply(ptr {{.*}}, i64 {{.*}}, i64 {{.*}}, i64 {{.*}}, i64 16384, i64 {{.*}}, i64 {{.*}})
// CHECK-DAG: call zeroext i1 @cosy_task_received(
// CHECK: {{^}}}
COSY_ASYNC ssize_t until_the_end(int fd)
{
	char in[64], out[64];
	ssize_t n;

	while ((n = recv(fd, in, sizeof(in), 0)) > 0) {
		size_t size = answer(in, (size_t)n, out);

		if (send(fd, out, size, MSG_NOSIGNAL) != (ssize_t)size)
			return -errno;
	}
	return n;
}

// A part of a request: the place in the buffer is computed.
// CHECK-LABEL: define {{.*}}@a_part.cosy.resume(
// CHECK-DAG: call void @cosy_task_reply(
// CHECK-DAG: call zeroext i1 @cosy_task_received(
// CHECK: {{^}}}
COSY_ASYNC ssize_t a_part(struct connection *c)
{
	const int fd = c->fd;
	size_t have = 0;
	ssize_t n;

	while ((n = recv(fd, c->in + have, sizeof(c->in) - have, 0)) > 0) {
		int size;

		have += (size_t)n;
		size = (int)answer(c->in, have, c->out);
		if (!size)
			continue;
		have = 0;
		if (send(fd, c->out, (size_t)size, 0) < size)
			break;
	}
	return n;
}

// CHECK-LABEL: define {{.*}}@straight.cosy.resume(
// CHECK: call void @cosy_task_reply(
// CHECK: {{^}}}
COSY_ASYNC ssize_t straight(int fd, char *in, char *out, size_t size)
{
	if (send(fd, out, size, 0) <= 0)
		return -1;
	return recv(fd, in, size + 1, 0);
}

// A store between them is visible to others, who would see it too late.
// CHECK-LABEL: define {{.*}}@counts.cosy.resume(
// CHECK-NOT: cosy_task_reply
// CHECK: {{^}}}
COSY_ASYNC ssize_t counts(int fd, char *in, char *out, size_t size)
{
	if (send(fd, out, size, 0) < 0)
		return -1;
	answered++;
	return recv(fd, in, size, 0);
}

// CHECK-LABEL: define {{.*}}@calls.cosy.resume(
// CHECK-NOT: cosy_task_reply
// CHECK: {{^}}}
COSY_ASYNC ssize_t calls(int fd, char *in, char *out, size_t size)
{
	if (send(fd, out, size, 0) < 0)
		return -1;
	count();
	return recv(fd, in, size, 0);
}

// Another function can change the descriptor while this one sends.
// CHECK-LABEL: define {{.*}}@loads.cosy.resume(
// CHECK-NOT: cosy_task_reply
// CHECK: {{^}}}
COSY_ASYNC ssize_t loads(struct connection *c)
{
	if (send(c->fd, c->out, 5, 0) < 0)
		return -1;
	return recv(c->fd, c->in, sizeof(c->in), 0);
}

// The size is known only after the send().
// CHECK-LABEL: define {{.*}}@sizes.cosy.resume(
// CHECK-NOT: cosy_task_reply
// CHECK: {{^}}}
COSY_ASYNC ssize_t sizes(int fd, char *in, char *out, size_t size)
{
	ssize_t sent = send(fd, out, size, 0);

	if (sent < 0)
		return -1;
	return recv(fd, in, (size_t)sent, 0);
}

// CHECK-LABEL: define {{.*}}@other_descriptor.cosy.resume(
// CHECK-NOT: cosy_task_reply
// CHECK: {{^}}}
COSY_ASYNC ssize_t other_descriptor(int from, int to, char *in, char *out, size_t size)
{
	if (send(to, out, size, 0) < 0)
		return -1;
	return recv(from, in, size, 0);
}

// CHECK-LABEL: define {{.*}}@peeks.cosy.resume(
// CHECK-NOT: cosy_task_reply
// CHECK: {{^}}}
COSY_ASYNC ssize_t peeks(int fd, char *in, char *out, size_t size)
{
	if (send(fd, out, size, 0) < 0)
		return -1;
	return recv(fd, in, size, MSG_PEEK);
}

// After a part of the data, this function does something else.
// CHECK-LABEL: define {{.*}}@sends_again.cosy.resume(
// CHECK-NOT: cosy_task_reply
// CHECK: {{^}}}
COSY_ASYNC ssize_t sends_again(int fd, char *in, char *out, size_t size, size_t limit)
{
	ssize_t sent = send(fd, out, size, 0);

	if (sent < (ssize_t)limit)
		return -1;
	return recv(fd, in, size, 0);
}

// The size is the result of another call, which is lowered before.
// CHECK-LABEL: define {{.*}}@size_of_the_last.cosy.resume(
// CHECK: call void @cosy_task_reply(
// CHECK: {{^}}}
COSY_ASYNC ssize_t size_of_the_last(int fd, char *in, size_t size)
{
	for (;;) {
		ssize_t n = recv(fd, in, size, 0);

		if (n <= 0)
			return n;
		if (send(fd, in, (size_t)n, 0) != n)
			return -1;
		size = (size_t)n;
	}
}

// The bytes that are sent are fewer than the number with which the result is compared.
// CHECK-LABEL: define {{.*}}@truncates.cosy.resume(
// CHECK-NOT: cosy_task_reply
// CHECK: {{^}}}
COSY_ASYNC ssize_t truncates(int fd, char *in, char *out, size_t size)
{
	if (send(fd, out, (unsigned)size, 0) != (ssize_t)size)
		return -1;
	return recv(fd, in, 64, 0);
}
