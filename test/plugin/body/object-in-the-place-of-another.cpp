// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With -fstrict-vtable-pointers, a virtual call after std::launder() is that of the new object.
// RUN: %build/bin/cosy-c++ -O2 -Wno-cosy -fstrict-vtable-pointers %s -o %t && %run-all --only native,user %t | FileCheck %s
#include <cosy.h>
#include <new>
#include <stdio.h>
#include <unistd.h>

struct First {
	virtual int number() { return 1; }
};

struct Second : First {
	int number() override { return 2; }
};

__attribute__((noinline, optnone)) static First *create(void *at)
{
	return new (at) First;
}

__attribute__((noinline, optnone)) static void replace(First *object)
{
	new (object) Second;
}

int main()
{
	alignas(First) char place[sizeof(Second)];
	First *object = create(place);
	int result;

	COSY_START;
	close(-1);
	result = object->number();
	replace(object);
	result = result * 10 + std::launder(object)->number();
	close(-1);
	COSY_END;
	// CHECK: {{^}}12{{$}}
	printf("%d\n", result);
	return 0;
}
