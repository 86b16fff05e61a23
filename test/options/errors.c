// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options of COSY_START_WITH that are none.
// RUN: %clang -fsyntax-only -Xclang -verify %s
// RUN: %clangxx -x c++ -fsyntax-only -Xclang -verify %s
#include <cosy.h>

void f(int n)
{
	COSY_START_WITH(1000); // expected-error {{an option of COSY_START_WITH is none of cosy.h}}
	COSY_END;
	COSY_START_WITH(n); // expected-error {{an option of COSY_START_WITH is none of cosy.h}}
	COSY_END;
	COSY_START_WITH(COSY_MAX_OPERATIONS(n)); // expected-error {{COSY_MAX_OPERATIONS has to be a constant}}
	COSY_END;
	COSY_START_WITH(COSY_MAX_OPERATIONS(0)); // expected-error {{COSY_MAX_OPERATIONS has to be 1 to 72057594037927936}}
	COSY_END;
	COSY_START_WITH(COSY_MAX_MS(1ull << 32)); // expected-error {{COSY_MAX_MS has to be 1 to 4294967295}}
	COSY_END;
	COSY_START_WITH(COSY_MAX_MS(1), COSY_AT_LIMIT(3)); // expected-error {{COSY_AT_LIMIT has to be 0 to 2}}
	COSY_END;
	COSY_START_WITH(COSY_AT_LIMIT(COSY_STOP)); // expected-error {{COSY_AT_LIMIT without a limit; add COSY_MAX_OPERATIONS or COSY_MAX_MS}}
	COSY_END;
	COSY_START_WITH((uint64_t)COSY_OPTION_MAX_MS); // expected-error {{COSY_MAX_MS has to be}}
	COSY_END;
	COSY_START_WITH(COSY_MAX_OPERATIONS(1 << 20), COSY_MAX_MS(20 * 5), COSY_STOP_ON_ERROR, COSY_AT_LIMIT(COSY_KILL));
	COSY_END;
}
