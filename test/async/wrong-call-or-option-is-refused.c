/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls that a loop cannot make are refused when they are submitted, and so are wrong options of a
 * loop, also those of programs of other versions.
 */
// RUN: %compile
// RUN: %everywhere
#include <limits.h>
#include <sys/syscall.h>

#include "loop.h"

static struct cosy_loop *loop;

static void refused(void)
{
	static const long calls[] = { SYS_exit, SYS_fork, SYS_execve,
				      SYS_rt_sigreturn, SYS_ptrace, -1,
				      LONG_MAX, 100000 };
	struct cosy_async op = { 0 };
	struct cosy_loop_options options = { .size = sizeof(options) };
	struct cosy_loop *other;

	for (unsigned int i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		EQUAL(cosy_async_call(loop, &op, calls[i], 0, 0, 0, 0, 0, 0),
		      -ENOTSUP);
	CHECK(!cosy_async_pending(&op));
	EQUAL(cosy_wait(loop, COSY_WAIT_MAX + 1, NULL), -EINVAL);
	EQUAL(cosy_wait(loop, 1, &(struct timespec){ .tv_nsec = -1 }), -EINVAL);
	EQUAL(cosy_async_fcntl(loop, &op, 0, 9, 0), -EINVAL);

	options.entries = (1u << 20) + 1;
	EQUAL(cosy_loop_create(&other, &options), -EINVAL);
	options.entries = 0;
	options.size = 0;
	EQUAL(cosy_loop_create(&other, &options), -EINVAL);
}

/* Programs of other versions, with options that one side does not know. */
static void versions(void)
{
	struct {
		struct cosy_loop_options known;
		uint32_t more[4];
	} newer = { .known = { .size = sizeof(newer) } };
	struct cosy_loop_options older = { .size = 4, .entries = ~0u };
	struct cosy_loop_info info;
	struct cosy_loop *other;

	EQUAL(cosy_loop_create(&other, &newer.known), 0);
	EQUAL(cosy_loop_destroy(other), 0);
	newer.more[2] = 1;
	EQUAL(cosy_loop_create(&other, &newer.known), -EINVAL);
	EQUAL(cosy_loop_create(&other, &older), 0);
	EQUAL(cosy_loop_destroy(other), 0);

	memset(&info, 0x55, sizeof(info));
	EQUAL(cosy_loop_info(loop, &info, 8), 0);
	CHECK(info.submitted < 1000000);
	EQUAL(info.completed, 0x5555555555555555);
}

int main(void)
{
	loop = make_loop();
	refused();
	versions();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
