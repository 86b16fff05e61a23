// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MemorySanitizer knows what the calls of a COSY_ASYNC function initialize, because no part of it becomes a compound.
// RUN: for o in -O0 -O2; do \
// RUN:   %cosy-cc $o -fsanitize=memory -Rpass=cosy %s -o %t 2>&1 | FileCheck --allow-empty --check-prefix=REMARK %s && \
// RUN:   for e in native user; do COSY_EXECUTOR=$e %t | FileCheck %s || exit 1; done || exit 1; \
// RUN: done
// REMARK-NOT: became a compound
#include <cosy/task.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

COSY_ASYNC static ssize_t count(int from)
{
	char in[64];
	ssize_t n, letters = 0;

	while ((n = recv(from, in, sizeof(in), 0)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			letters += in[i] == 'l';
		if (send(from, in, (size_t)n, 0) < 0)
			break;
	}
	return letters;
}

int main(void)
{
	struct cosy_loop *loop = NULL;
	struct cosy_async op = { 0 };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || write(pair[1], "hello", 5) != 5 ||
	    shutdown(pair[1], SHUT_WR) || cosy_loop_create(&loop, NULL) ||
	    COSY_SPAWN(loop, count(pair[0]), .op = &op) || cosy_wait_for(loop, &op, NULL))
		exit(2);
	// CHECK: {{^}}2 letters{{$}}
	printf("%d letters\n", (int)op.result);
	return 0;
}
