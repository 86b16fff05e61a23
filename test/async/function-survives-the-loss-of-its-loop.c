/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * COSY_ASYNC functions continue in user mode when the module cannot be entered any more: in a child,
 * with a filter, and after the loop's descriptor was closed. Destroying a loop cancels what waits.
 */
// RUN: %async-compile -O0
// RUN: %everywhere
// RUN: %async-compile -O2
// RUN: %everywhere
// RUN: %vm env COSY_EXECUTOR=kernel COSY_STATS=1 %t 2>&1 | %FileCheck %s
// CHECK-DAG: passed
// CHECK-DAG: serving.h:{{[0-9]+}}: executor=kernel runs=
// RUN: %async-compile -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
// RUN: %vm env COSY_EXECUTOR=kernel %t
#include <sys/wait.h>

#include "serving.h"

/* Serve one connection by a separate loop. */
static void serve_one_request(void)
{
	static struct connection c;
	struct cosy_async op = { 0 };
	int fds[2];

	open_pair(fds);
	c = (struct connection){ .fd = fds[0] };
	EQUAL(COSY_SPAWN(loop, serve(&c), .op = &op), 0);
	EQUAL(send(fds[1], "one", 3, 0), 3);
	settle();
	CHECK(receives(fds[1], "<one>"));
	EQUAL(close(fds[1]), 0);
	EQUAL(result_of(loop, &op), 0);
	close_fd(fds[0]);
}

/* A child has no loop, but can create one. */
static void children(void)
{
	static struct connection c;
	struct cosy_async op = { 0 };
	int fds[2], status;
	pid_t child;

	open_pair(fds);
	c.fd = fds[0];
	EQUAL(COSY_SPAWN(loop, serve(&c), .op = &op), 0);
	settle();
	child = fork();
	if (!child) {
		EQUAL(cosy_loop_destroy(loop), 0);
		EQUAL(cosy_loop_create(&loop, NULL), 0);
		serve_one_request();
		EQUAL(cosy_loop_destroy(loop), 0);
		_exit(0);
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	EQUAL(send(fds[1], "still", 5, 0), 5);
	settle();
	CHECK(receives(fds[1], "<still>"));
	EQUAL(close(fds[1]), 0);
	EQUAL(result_of(loop, &op), 0);
	close_fd(fds[0]);
}

/* Install a filter that forbids entering the module, in the middle of a compound. */
static void forbidden(void)
{
	static struct connection c;
	struct cosy_async op = { 0 };
	int fds[2], status;
	pid_t child = fork();

	if (!child) {
		EQUAL(cosy_loop_destroy(loop), 0);
		EQUAL(cosy_loop_create(&loop, NULL), 0);
		open_pair(fds);
		c.fd = fds[0];
		EQUAL(COSY_SPAWN(loop, serve(&c), .op = &op), 0);
		settle();
		forbid_lseek(0);
		EQUAL(send(fds[1], "one", 3, 0), 3);
		settle();
		CHECK(receives(fds[1], "<one>"));
		EQUAL(close(fds[1]), 0);
		EQUAL(result_of(loop, &op), 0);
		EQUAL(cosy_loop_destroy(loop), 0);
		_exit(0);
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
}

/*
 * A thread that waits in the module for blocking calls ends, although no thread can enter to wake
 * it.
 */
static void forbidden_threads(void)
{
	struct cosy_async op = { 0 };
	pid_t child = fork();
	int fds[2], status;

	if (!child) {
		EQUAL(cosy_loop_destroy(loop), 0);
		EQUAL(cosy_loop_create(&loop, NULL), 0);
		open_pair(fds);
		EQUAL(cosy_async_fsync(loop, &op, fds[0]), 0);
		EQUAL(result_of(loop, &op), -EINVAL);
		forbid_lseek(0);
		signal(SIGALRM, SIG_DFL);
		alarm(300);
		EQUAL(cosy_loop_destroy(loop), 0);
		_exit(0);
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
}

static void losing_module(void)
{
	static struct connection connections[3];
	struct cosy_async ops[3] = { 0 }, sends[3] = { 0 };
	struct cosy_loop_info info;
	int fds[3][2], full[3][2];

	signal(SIGPIPE, count_broken_pipe);
	for (int i = 0; i < 3; i++) {
		open_pair(full[i]);
		make_and_wait(&sends[i], (enum call)i, full[i][0], 1);
	}
	for (int i = 0; i < 3; i++) {
		open_pair(fds[i]);
		connections[i].fd = fds[i][0];
		EQUAL(COSY_SPAWN(loop, serve(&connections[i]), .op = &ops[i]), 0);
	}
	for (int i = 0; i < 2; i++)
		EQUAL(send(fds[i][1], "before", 6, 0), 6);
	settle();
	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	EQUAL(close_loops(), info.kernel);
	/* The peers close before user mode continues the calls. */
	for (int i = 0; i < 3; i++)
		EQUAL(close(full[i][1]), 0);
	for (int i = 0; i < 3; i++)
		EQUAL(send(fds[i][1], "after", 5, 0), 5);
	settle();
	for (int i = 0; i < 2; i++)
		CHECK(receives(fds[i][1], "<before><after>"));
	CHECK(receives(fds[2][1], "<after>"));
	for (int i = 0; i < 3; i++) {
		EQUAL(result_of(loop, &sends[i]), -ECONNRESET);
		close_fd(full[i][0]);
	}
	EQUAL(broken_pipes, 0);
	signal(SIGPIPE, SIG_IGN);
	EQUAL(cosy_cancel(loop, &ops[2]), 0);
	EQUAL(result_of(loop, &ops[2]), -ECANCELED);
	for (int i = 0; i < 3; i++) {
		EQUAL(close(fds[i][1]), 0);
		EQUAL(result_of(loop, &ops[i]), i < 2 ? 0 : -ECANCELED);
		close_fd(fds[i][0]);
	}
	serve_one_request();
}

/* Waiting calls are cancelled. */
static void destroying(void)
{
	static struct connection c;
	struct cosy_async op = { 0 };
	int fds[2];

	open_pair(fds);
	c = (struct connection){ .fd = fds[0] };
	EQUAL(COSY_SPAWN(loop, serve(&c), .op = &op), 0);
	EQUAL(send(fds[1], "x", 1, 0), 1);
	settle();
	EQUAL(cosy_loop_destroy(loop), 0);
	CHECK(!cosy_async_pending(&op));
	EQUAL(op.result, -ECANCELED);
	EQUAL(c.replies, 1);
	EQUAL(close(fds[0]), 0);
	EQUAL(close(fds[1]), 0);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	children();
	forbidden();
	forbidden_threads();
	losing_module();
	destroying();
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	destroying();
	puts("passed");
	return 0;
}
