// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With COSY_REQUIRED a program that is compiled without the plugin is an error.
// RUN: %clang -DCOSY_REQUIRED -fsyntax-only %s
// RUN: %cc -I%include -fsyntax-only %s
// RUN: %not %cc -I%include -DCOSY_REQUIRED -fsyntax-only %s 2>&1 | FileCheck %s
// CHECK: error: "COSY_REQUIRED: the Cosy plugin is missing; compile with cosy-cc"
#include <cosy.h>
#include <unistd.h>

int main(void)
{
	int n = 0;

	COSY_START;
	for (int i = 0; i < 10; i++)
		n += getpid() > 0;
	COSY_END;
	return n != 10;
}
