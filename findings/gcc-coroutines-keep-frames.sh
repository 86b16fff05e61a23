#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# gcc 12.2.0 and C++20's symmetric transfer, by which one coroutine resumes another without a frame of the stack: with -O2 that is
# so, and with -O2 and a sanitizer it is not. Each co_await leaves frames that stay until the outermost resume() returns,
# so a loop needs stack for each iteration, which the program that is shipped does not, and a sanitizer's run ends for want of
# stack where the program would not. By -fsanitize=address it is 544 bytes for each iteration of the loop below, by
# thread 80, by undefined none. -O1, -Og and -O2 -fno-optimize-sibling-calls are alike. clang 19.1.7 needs the same
# stack for any number of iterations, with all of these and with -O0. The manual of gcc does not connect
# coroutines and sanitizers; an issue of libcoro (273) tells of gcc with -O0.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

version=12.2.0-14+deb12u1
llvm=1:19.1.7-3~deb12u1
unpack gcc-12=$version g++-12=$version cpp-12=$version libgcc-12-dev=$version libstdc++-12-dev=$version libasan8=$version \
	libtsan2=$version libubsan1=$version libisl23 libmpc3 libmpfr6 clang-19=$llvm libclang-cpp19=$llvm libllvm19=$llvm \
	libclang-common-19-dev=$llvm libclang-rt-19-dev=$llvm
cat >loop.cpp <<'END'
#include <coroutine>
#include <cstdio>
#include <cstdlib>

static char *outermost;
static long deepest;

struct Task {
	struct promise_type {
		std::coroutine_handle<> next = std::noop_coroutine();

		struct Final {
			bool await_ready() noexcept { return false; }
			std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept
			{
				return ended.promise().next;
			}
			void await_resume() noexcept {}
		};

		Task get_return_object() { return { std::coroutine_handle<promise_type>::from_promise(*this) }; }
		std::suspend_always initial_suspend() { return {}; }
		Final final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::abort(); }
	};

	std::coroutine_handle<promise_type> handle;

	bool await_ready() { return false; }
	std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter)
	{
		handle.promise().next = awaiter;
		return handle;
	}
	void await_resume() { handle.destroy(); }
};

static __attribute__((noinline)) void measure()
{
	long depth = outermost - (char *)__builtin_frame_address(0);

	if (depth > deepest)
		deepest = depth;
}

static Task leaf()
{
	measure();
	co_return;
}

static Task loop(int iterations)
{
	for (int i = 0; i < iterations; i++)
		co_await leaf();
}

int main(int, char **argv)
{
	Task task = loop(std::atoi(argv[1]));

	outermost = (char *)__builtin_frame_address(0);
	task.handle.resume();
	task.handle.destroy();
	std::printf("%ld\n", deepest);
}
END

# growth COMPILER OPTION... - compile, and print how many bytes of stack an iteration needs.
growth() {
	"$@" -std=c++20 loop.cpp -o loop
	echo $((($(./loop 110) - $(./loop 10)) / 100))
}

some() {
	local bytes
	bytes=$(growth "$@")
	((bytes > 0)) && echo some || echo "$bytes"
}

expect "gcc -O2" 0 "$(growth g++-12 -O2)"
expect "gcc -O2 -fsanitize=address" 544 "$(growth g++-12 -O2 -fsanitize=address)"
expect "gcc -O2 -fsanitize=thread" 80 "$(growth g++-12 -O2 -fsanitize=thread)"
expect "gcc -O2 -fsanitize=undefined" 0 "$(growth g++-12 -O2 -fsanitize=undefined)"
expect "gcc -O2 -fno-optimize-sibling-calls" some "$(some g++-12 -O2 -fno-optimize-sibling-calls)"
for option in -O0 -O1 -Og; do
	expect "gcc $option" some "$(some g++-12 $option)"
done
for option in -O0 -O1 -Og -O2 "-O2 -fsanitize=address" "-O2 -fsanitize=thread" "-O2 -fno-optimize-sibling-calls"; do
	# shellcheck disable=SC2086 # some are two options
	expect "clang $option" 0 "$(growth clang++-19 $option)"
done
