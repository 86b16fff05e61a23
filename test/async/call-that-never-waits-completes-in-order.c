/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operations whose calls never wait. They are submitted to the module immediately, if it is
 * loaded. Their results, their order, and the fate of operations that have not been executed are
 * the same with and without it.
 */
// RUN: %compile
// RUN: %everywhere
#include <limits.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "filter.h"
#include "loop.h"

#define BATCH 70

static struct cosy_loop *loop;
static struct cosy_async ops[BATCH];
static unsigned int called;

static void count(struct cosy_async *op)
{
	EQUAL(op->result, getpid());
	called++;
}

/* Submit another one, whose result is discarded. */
static void submit_more(struct cosy_async *op)
{
	EQUAL(op->result, getpid());
	called++;
	if (called < 500) {
		EQUAL(cosy_async_getpid(loop, op), 0);
		EQUAL(cosy_async_getpid(loop, NULL), 0);
	}
}

/* The module makes calls from the first batch that is large enough. */
static void batches(void)
{
	static const unsigned int sizes[] = { 3, 1, 2, 3, 64, BATCH, 1 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		called = 0;
		for (unsigned int n = 0; n < sizes[i]; n++) {
			ops[n] = (struct cosy_async){ .done = count };
			EQUAL(cosy_async_getpid(loop, &ops[n]), 0);
			EQUAL(cosy_async_getpid(loop, &ops[n]), -EBUSY);
		}
		while (called < sizes[i])
			CHECK(cosy_wait(loop, 1, NULL) > 0);
		EQUAL(called, sizes[i]);
		EQUAL(cosy_wait(loop, 1, NULL), 0);
	}
	called = 0;
	for (unsigned int n = 0; n < 4; n++) {
		ops[n].done = submit_more;
		EQUAL(cosy_async_getpid(loop, &ops[n]), 0);
	}
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(called, 503);
	memset(ops, 0, sizeof(ops));
}

static unsigned int order_of[64];

/* Called in order, also if the callback of an earlier one waits. */
static void wait_in_callback(struct cosy_async *op)
{
	const unsigned int i = (unsigned int)(op - ops);

	EQUAL(op->result, getpid());
	order_of[called++] = i;
	if (i % 5 == 2)
		CHECK(cosy_wait(loop, 0, NULL) >= 0);
	if (i % 7 == 3)
		CHECK(cosy_wait(loop, 1, NULL) >= 0);
}

/* Batches end at any place of a small page. Some operations have no callback. */
static void small_page(void)
{
	const struct cosy_loop_options options = { .size = sizeof(options), .entries = 64 };
	struct cosy_loop *usual = loop;

	EQUAL(cosy_loop_create(&loop, &options), 0);
	for (unsigned int round = 0; round < 200; round++) {
		const unsigned int n = 1 + round * 23 % 64;
		unsigned int callbacks = 0;

		called = 0;
		for (unsigned int i = 0; i < n; i++) {
			ops[i] = (struct cosy_async){
				.done = i % 3 == round % 3 ? NULL : wait_in_callback,
			};
			callbacks += ops[i].done != NULL;
			EQUAL(cosy_async_getpid(loop, &ops[i]), 0);
		}
		EQUAL(cosy_loop_run(loop), 0);
		EQUAL(called, callbacks);
		for (unsigned int i = 0; i < n; i++) {
			CHECK(!cosy_async_pending(&ops[i]));
			EQUAL(ops[i].result, getpid());
		}
		for (unsigned int i = 1; i < called; i++)
			CHECK(order_of[i] > order_of[i - 1]);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	loop = usual;
	memset(ops, 0, sizeof(ops));
}

/* More operations than the page has entries, if entries without an operation were not freed. */
static void silent(void)
{
	for (unsigned int i = 0; i < 300; i++) {
		for (unsigned int n = 0; n < 64; n++)
			EQUAL(cosy_async_getppid(loop, NULL), 0);
		EQUAL(cosy_wait(loop, 0, NULL), 0);
	}
	EQUAL(cosy_loop_run(loop), 0);
}

/* All entries are submitted, so no more is possible. */
static void full(void)
{
	unsigned int n = 0;

	while (!cosy_async_getppid(loop, NULL))
		n++;
	EQUAL(n, 4096);
	EQUAL(cosy_async_getppid(loop, &ops[0]), -EAGAIN);
	CHECK(!cosy_async_pending(&ops[0]));
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(cosy_async_getppid(loop, &ops[0]), 0);
	EQUAL(result_of(loop, &ops[0]), getppid());
}

/*
 * Operations before a close are executed before it, later ones after it. A read that waits for an event,
 * because the file does not support RWF_NOWAIT, is cancelled.
 */
static void order(bool fifo)
{
	char buffer[4] = "";
	bool attempted;
	int fds[2];

	for (unsigned int around = 0; around < 3; around++) {
		if (fifo)
			open_fifo(fds);
		else
			EQUAL(pipe(fds), 0);
		attempted = has_nowait(fds[0]);
		CHECK(!fifo || !attempted);
		EQUAL(write(fds[1], "abc", 3), 3);
		for (unsigned int n = 0; n < around; n++)
			EQUAL(cosy_async_getpid(loop, NULL), 0);
		EQUAL(cosy_async_dup(loop, &ops[0], fds[0]), 0);
		EQUAL(cosy_async_read(loop, &ops[1], fds[0], buffer, 3), 0);
		EQUAL(cosy_async_lseek(loop, &ops[2], fds[0], 0, SEEK_CUR), 0);
		EQUAL(cosy_async_close(loop, &ops[3], fds[0]), 0);
		EQUAL(cosy_async_lseek(loop, &ops[4], fds[0], 0, SEEK_CUR), 0);
		EQUAL(cosy_async_dup(loop, &ops[5], fds[0]), 0);
		for (unsigned int n = 0; n < around; n++)
			EQUAL(cosy_async_getpid(loop, NULL), 0);
		EQUAL(cosy_loop_run(loop), 0);
		CHECK(ops[0].result >= 0);
		EQUAL(ops[1].result, attempted ? 3 : -ECANCELED);
		EQUAL(ops[2].result, -ESPIPE);
		EQUAL(ops[3].result, 0);
		EQUAL(ops[4].result, -EBADF);
		EQUAL(ops[5].result, -EBADF);
		close((int)ops[0].result);
		close(fds[1]);
	}
}

/* An operation that has not been executed is cancelled, and has no effect. */
static void cancelled(void)
{
	int file = open("/proc/self/exe", O_RDONLY);

	CHECK(file >= 0);
	for (unsigned int n = 1; n <= 6; n++) {
		EQUAL(lseek(file, 0, SEEK_SET), 0);
		for (unsigned int i = 0; i < n; i++)
			EQUAL(cosy_async_lseek(loop, &ops[i], file, 1 + (long)i, SEEK_CUR), 0);
		EQUAL(cosy_cancel(loop, &ops[n / 2]), 0);
		/* Again, because it is only marked. */
		EQUAL(cosy_cancel(loop, &ops[n / 2]), 0);
		EQUAL(cosy_loop_run(loop), 0);
		for (unsigned int i = 0; i < n; i++) {
			if (i == n / 2)
				EQUAL(ops[i].result, -ECANCELED);
			else
				CHECK(ops[i].result > 0);
			EQUAL(cosy_cancel(loop, &ops[i]), -ENOENT);
		}
		EQUAL(lseek(file, 0, SEEK_CUR), (long)(n * (n + 1) / 2 - (n / 2 + 1)));
	}
	/* They do not wait for the descriptor. */
	for (unsigned int i = 0; i < 4; i++)
		EQUAL(cosy_async_lseek(loop, &ops[i], file, 0, SEEK_SET), 0);
	EQUAL(cosy_cancel_fd(loop, file), 0);
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 0; i < 4; i++)
		EQUAL(ops[i].result, 0);
	close(file);
}

static bool readable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

/* A poll of the loop reports submitted operations. */
static void outside(void)
{
	struct cosy_loop *other = make_loop();
	int fd = cosy_loop_fd(other);

	CHECK(fd >= 0);
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < 8; i++)
			EQUAL(cosy_async_getpid(other, &ops[i]), 0);
		CHECK(readable(fd));
		EQUAL(cosy_wait(other, 8, NULL), 8);
	}
	EQUAL(cosy_loop_destroy(other), 0);
}

static void destroyed(bool beside_thread)
{
	struct cosy_loop *other = make_loop();
	int file = open("/proc/self/exe", O_RDONLY), err;

	for (unsigned int i = 0; i < 3; i++)
		EQUAL(cosy_async_getpid(other, &ops[i]), 0);
	EQUAL(cosy_wait(other, 3, NULL), 3);
	/* A thread makes its call, now or later. */
	if (beside_thread) {
		EQUAL(cosy_async_fsync(other, NULL, file), 0);
		EQUAL(cosy_wait(other, 0, NULL), 0);
	}
	for (unsigned int i = 0; i < 5; i++)
		EQUAL(cosy_async_lseek(other, &ops[i], file, 1, SEEK_CUR), 0);
	do
		err = cosy_loop_destroy(other);
	while (err == -EBUSY);
	EQUAL(err, 0);
	for (unsigned int i = 0; i < 5; i++)
		EQUAL(ops[i].result, -ECANCELED);
	EQUAL(lseek(file, 0, SEEK_CUR), 0);
	close(file);
}

/* A child has no loop, whatever was submitted before. */
static void forked(void)
{
	int status;
	pid_t child;

	for (unsigned int i = 0; i < 3; i++)
		EQUAL(cosy_async_getpid(loop, &ops[i]), 0);
	child = fork();
	if (!child) {
		EQUAL(cosy_async_getpid(loop, &ops[3]), -EPERM);
		EQUAL(cosy_loop_destroy(loop), 0);
		_exit(0);
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	EQUAL(cosy_wait(loop, 3, NULL), 3);
	for (unsigned int i = 0; i < 3; i++)
		EQUAL(ops[i].result, getpid());
}

/* A filter has the same effect as without the module. */
static void filtered(void)
{
	/* It applies to operations that were submitted before. */
	for (unsigned int i = 0; i < 6; i++)
		EQUAL(i % 2 ? cosy_async_getppid(loop, &ops[i]) : cosy_async_getpid(loop, &ops[i]),
		      0);
	forbid(SYS_getppid, 77, 0);
	for (unsigned int round = 0; round < 2; round++) {
		EQUAL(cosy_loop_run(loop), 0);
		for (unsigned int i = 0; i < 6; i++)
			EQUAL(ops[i].result, i % 2 ? -77 : getpid());
		for (unsigned int i = 0; i < 6; i++)
			EQUAL(i % 2 ? cosy_async_getppid(loop, &ops[i]) :
				      cosy_async_getpid(loop, &ops[i]), 0);
	}
	EQUAL(cosy_loop_run(loop), 0);
}

int main(void)
{
	loop = make_loop();
	batches();
	small_page();
	silent();
	full();
	order(false);
	order(true);
	cancelled();
	outside();
	destroyed(false);
	destroyed(true);
	forked();
	filtered();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
