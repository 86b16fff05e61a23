// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The markers of a member function of a local class, and of a block, belong to that function.
// RUN: %clangxx -std=c++17 -fblocks -fsyntax-only -Xclang -verify %s
#include <cosy.h>
#include <unistd.h>

int main()
{
	struct Local {
		int jump(int x)
		{
			if (x) {
				COSY_START; // expected-note {{region starts here}}
				x += getppid() > 0;
			}
			COSY_END; // expected-error {{in another block}}
			return x;
		}
		int open(int x)
		{
			COSY_START; // expected-error {{COSY_START without COSY_END}}
			return x + getppid();
		}
	};
	int (^block)(int) = ^(int x) {
		COSY_START; // expected-error {{COSY_START without COSY_END}}
		return x + getppid();
	};
	return Local().jump(1) + Local().open(2) + block(3);
}
