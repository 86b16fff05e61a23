// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function that is noexcept cannot call what may throw, as poll() when its thread is cancelled.
// RUN: %clangxx -O1 -c -o %t.o -Xclang -verify %s
// RUN: %clangxx -O1 -fno-exceptions -c -o %t.o %s
#include <poll.h>

#include <cosy/task.h>

COSY_ASYNC static int waits(int n) noexcept
{
	return poll(nullptr, 0, n); // expected-error {{a COSY_ASYNC function that is noexcept cannot call a function that may throw; remove noexcept}}
}

COSY_ASYNC static int returns(int n) noexcept
{
	return n;
}

int spawn(struct cosy_loop *loop)
{
	return COSY_SPAWN(loop, waits(1)) + COSY_SPAWN(loop, returns(1));
}
