// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++: the function itself makes calls that unwind to its destructors or handlers,
// with compounds between them. An exception that is not caught here passes
// through a compound.
// RUN: %clangxx -O0 -c -o %t.o -Rpass=cosy -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: %clangxx -O2 -c -o %t.o -Rpass=cosy -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: %cosy-cc --driver-mode=g++ -O0 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc --driver-mode=g++ -O2 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
#include <cosy.h>
#include <cstdio>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

struct Guard {
	const char *name;
	~Guard() { std::printf("left %s\n", name); }
};
__attribute__((noinline)) void may_throw(int n)
{
	if (n == 3)
		throw std::runtime_error("three");
}

__attribute__((noinline)) static int cleanup(int n)
{
	int sum = 0;

	COSY_START;
	for (int i = 0; i < n; i++) {
		Guard g{"cleanup"};
		sum += getpid() > 0;
		sum += getppid() > 0;
		// CHECK: exceptions.cpp:[[#@LINE+1]]:{{.*}}remark: leaves the compound for native code: a cleanup or an exception handler
		may_throw(i);
		sum += 10 * (getpid() > 0);
		sum += 10 * (getppid() > 0);
	}
	COSY_END;
	return sum;
}

__attribute__((noinline)) static int handler(int n)
{
	int sum = 0;

	COSY_START;
	for (int i = 0; i < n; i++) {
		try {
			sum += getpid() > 0;
			may_throw(i);
			sum += 10 * (getppid() > 0);
		} catch (const std::exception &e) {
			sum += 1000 * (getpid() > 0);
			std::printf("caught %s\n", e.what());
			if (n == 6)
				return -sum;
		}
		sum += getppid() > 0;
	}
	COSY_END;
	return sum;
}

__attribute__((noinline)) static int through(int n)
{
	Guard *none = nullptr;
	int sum = none != nullptr;

	// CHECK: exceptions.cpp:[[#@LINE+1]]:{{.*}}remark: region became a compound: {{.*}} 1 up-call
	COSY_START;
	for (int i = 0; i < n; i++) {
		sum += getpid() > 0;
		// CHECK: exceptions.cpp:[[#@LINE+1]]:{{.*}}remark: leaves the kernel for an up-call: call of
		may_throw(i);
	}
	COSY_END;
	return sum;
}

static size_t strings(int n)
{
	std::string all;

	COSY_START;
	for (int i = 0; i < n; i++) {
		std::string one(i, 'x');
		one += getpid() > 0 ? "yes" : "no";
		all += one + std::to_string(getppid() > 0);
	}
	COSY_END;
	return all.size() * 100 + all.find("s1");
}

template <typename T> static T plain(T n)
{
	T sum = 0;
	auto add = [&](T by) { sum += by * (getpid() > 0); };

	COSY_START;
	for (T i = 0; i < n; i++)
		add(i);
	COSY_END;
	return sum;
}

struct Reader {
	int fd;
	long size() { COSY_START; long n = lseek(fd, 0, SEEK_END); COSY_END; return n; }
};

int main()
{
	// OUT: left cleanup
	// OUT-NEXT: left cleanup
	// OUT-NEXT: 44
	std::printf("%d\n", cleanup(2));
	try {
		// OUT-NEXT: left cleanup
		// OUT-NEXT: left cleanup
		// OUT-NEXT: left cleanup
		// OUT-NEXT: left cleanup
		// OUT-NEXT: main: three
		cleanup(9);
	} catch (const std::runtime_error &e) {
		std::printf("main: %s\n", e.what());
	}
	// OUT-NEXT: caught three
	// OUT-NEXT: 1050
	std::printf("%d\n", handler(5));
	// OUT-NEXT: caught three
	// OUT-NEXT: -1037
	std::printf("%d\n", handler(6));
	try {
		// OUT-NEXT: 3
		std::printf("%d\n", through(3));
		// OUT-NEXT: through: three
		through(4);
	} catch (const std::runtime_error &e) {
		std::printf("through: %s\n", e.what());
	}
	// OUT-NEXT: 3002
	std::printf("%zu\n", strings(5));
	// OUT-NEXT: 45 10
	std::printf("%d %ld\n", plain(10), plain(5L));
	Reader r{open("/etc/hostname", 0)};
	std::printf("%d\n", r.size() >= 0);
	return 0;
}
