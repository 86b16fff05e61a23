// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions in C++ coroutines: the compound ends where one is suspended, and the next one
// begins when it is resumed. Up-calls resume other coroutines.
// RUN: %clangxx -std=c++20 -O0 -c -o %t.o -Rpass=cosy -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: %clangxx -std=c++20 -O2 -c -o %t.o -Rpass=cosy -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: %cosy-cc --driver-mode=g++ -std=c++20 -O0 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc --driver-mode=g++ -std=c++20 -O2 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
#include <cosy.h>
#include <coroutine>
#include <cstdio>
#include <unistd.h>

struct Numbers {
	struct promise_type {
		int value = 0;
		promise_type() {} // or it would be initialised by the coroutine's arguments
		Numbers get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int n)
		{
			value = n;
			return {};
		}
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
};

static Numbers suspended_in_region(int n)
{
	int squares[3] = {};

	for (int i = 0; i < 3; i++) {
		// CHECK: coroutines.cpp:[[#@LINE+1]]:{{.*}}part of the region became a compound
		COSY_START;
		squares[i] = n * n + (getpid() < 0);
		n += 1 + (getppid() < 0);
		// CHECK-DAG: coroutines.cpp:[[#@LINE+1]]:{{.*}}leaves the compound for native code: a point where the coroutine is suspended
		co_yield squares[i];
		squares[i] += getpid() > 0;
		n += getppid() < 0;
		COSY_END;
	}
	co_yield squares[0] + squares[1] + squares[2];
}

static Numbers suspended_between(int n)
{
	COSY_START;
	n += getpid() > 0;
	n += getpid() > 0;
	COSY_END;
	co_yield n;
	COSY_START;
	n *= 2 + (getpid() < 0);
	n -= getpid() < 0;
	COSY_END;
	co_yield n;
}

static int resume_in_region(Numbers numbers)
{
	int sum = 0;

	COSY_START;
	while (!numbers.handle.done()) {
		sum = 10 * sum + numbers.handle.promise().value + (getpid() < 0);
		numbers.handle.resume();
		sum += getppid() < 0;
	}
	COSY_END;
	numbers.handle.destroy();
	return sum;
}

int main()
{
	// OUT: {{^}}4 9 16 32 32{{$}}
	Numbers numbers = suspended_in_region(2);
	for (int i = 0; i < 5; i++) {
		numbers.handle.resume();
		std::printf("%d%c", numbers.handle.promise().value, i < 4 ? ' ' : '\n');
	}
	numbers.handle.destroy();
	// OUT-NEXT: {{^}}204{{$}}
	std::printf("%d\n", resume_in_region(suspended_between(15)));
	// OUT-NEXT: {{^}}5092{{$}}
	std::printf("%d\n", resume_in_region(suspended_in_region(2)));
	return 0;
}
