// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An exception that leaves a COSY_ASYNC function ends the program, as one that leaves a function that
// is noexcept. Functions that it calls may throw and catch.
// RUN: for level in -O0 -O2 '-O2 -flto'; do \
// RUN:   %cosy-cc --driver-mode=g++ $level -Wall -Wextra -Werror %s -o %t && \
// RUN:   for function in plain without_exceptions awaited allocating initializing; do \
// RUN:     COSY_EXECUTOR=user %bounded %t $function | grep -Fx "terminated by $function" || exit; done && \
// RUN:   COSY_EXECUTOR=user %bounded %t nothing | grep -Fx 'result 4' || exit; done
// RUN: %clangxx -O1 -fno-exceptions -DNO_EXCEPTIONS -c -o %t.o %s
// RUN: nm -u %t.o | %not grep _ZSt9terminatev
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <poll.h>
#include <unistd.h>

#include <cosy/task.h>

static const char *thrower;

/* Throws @name if the test does. */
__attribute__((noinline)) static int may_throw(const char *name)
{
#ifndef NO_EXCEPTIONS
	if (!std::strcmp(name, thrower))
		throw name;
#endif
	return 1;
}

struct Object {
	int value;

	explicit Object(const char *name) : value(may_throw(name)) {}
};

COSY_ASYNC static int plain(int n)
{
	usleep(1);
	return n * may_throw("plain");
}

COSY_ASYNC static int without_exceptions(int n) noexcept
{
	poll(nullptr, 0, 0);
	return n * may_throw("without_exceptions");
}

COSY_ASYNC static int awaited(int n)
{
	return plain(n) * may_throw("awaited");
}

COSY_ASYNC static int allocating(int n)
{
	Object *object = new Object("allocating");

	usleep(1);
	n *= object->value;
	delete object;
	return n;
}

COSY_ASYNC static int initializing(int n)
{
	static int value = may_throw("initializing");

	return n * value;
}

COSY_ASYNC static int all()
{
	return plain(1) * without_exceptions(1) + awaited(1) + allocating(1) + initializing(1);
}

static void terminated()
{
#ifndef NO_EXCEPTIONS
	try {
		throw;
	} catch (const char *name) {
		std::printf("terminated by %s\n", name);
	}
#endif
	std::fflush(stdout);
	std::_Exit(0);
}

int main(int argc, char **argv)
{
	struct cosy_async op = {};
	struct cosy_loop *loop;

	thrower = argv[argc - 1];
	std::set_terminate(terminated);
	if (cosy_loop_create(&loop, nullptr) || COSY_SPAWN(loop, all(), .op = &op))
		return 2;
#ifdef NO_EXCEPTIONS
	cosy_loop_run(loop);
#else
	try {
		cosy_loop_run(loop);
	} catch (...) {
		std::puts("caught");
		return 1;
	}
#endif
	std::printf("result %d\n", (int)op.result);
	return cosy_loop_destroy(loop);
}
