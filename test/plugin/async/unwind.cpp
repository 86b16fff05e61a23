// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions can be unwound that follow the coroutine's function that is never called. lld keeps
// the unwind information of one function per address, so no function may be empty.
// RUN: %clangxx -O2 -S -emit-llvm %s -o - | %FileCheck %s
// RUN: %clangxx -O2 -pthread -fuse-ld=lld %s -o %t -L%lib -l:libcosy.a
// RUN: COSY_EXECUTOR=user %t
// CHECK-LABEL: define internal {{(fastcc )?}}void @{{.*}}first{{.*}}.cosy.destroy(
// CHECK-NEXT: call void @llvm.trap()
// CHECK-NEXT: unreachable
#include <unistd.h>

#include <cosy/task.h>

static int fds[2];

COSY_ASYNC static int first(char c)
{
	return write(fds[1], &c, 1) == 1 && read(fds[0], &c, 1) == 1 ? c : -1;
}

static int catches(int value)
{
	try {
		if (value)
			throw value;
	} catch (int thrown) {
		return thrown * 10;
	}
	return 1;
}

COSY_ASYNC static int second()
{
	return catches(first(3)) + catches(first(0));
}

int main()
{
	struct cosy_loop *loop;
	struct cosy_async op = {};

	if (pipe(fds) || cosy_loop_create(&loop, nullptr) ||
	    COSY_SPAWN(loop, second(), .op = &op) || cosy_wait_for(loop, &op, nullptr))
		return 2;
	return op.result != 31;
}
