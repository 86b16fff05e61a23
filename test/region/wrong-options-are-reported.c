// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Invalid options of COSY_START_WITH, and options that cannot be obeyed.
// RUN: %clang -fsyntax-only -Xclang -verify %s
// RUN: %clangxx -x c++ -fsyntax-only -Xclang -verify %s
// RUN: %clang -DENDLESS -S -o %t.s -Xclang -verify=endless %s
#include <cosy.h>
#include <unistd.h>

void use(int *p);

#ifdef ENDLESS
void endless(void)
{
	COSY_START_WITH(COSY_MAX_MS(1), COSY_AT_LIMIT(COSY_STOP)); // endless-error {{the end of this region is never reached, or in two places, so that its options cannot be obeyed}} endless-warning {{the end of this region is never reached}}
	for (;;)
		getpid();
	COSY_END;
}

void kept_native(int n)
{
	COSY_START_WITH(COSY_MAX_MS(1), COSY_AT_LIMIT(COSY_STOP)); // endless-note {{region starts here}}
	while (n--) {
		int a[n]; // endless-error {{region with a limit contains a variable-length array or alloca}}
		getpid();
		use(a);
	}
	COSY_END;
}
#else

void f(int n)
{
	COSY_START_WITH(1000); // expected-error {{COSY_START_WITH has an argument that is not an option of cosy.h; cosy-regions(7) lists the options}}
	COSY_END;
	COSY_START_WITH(n); // expected-error {{COSY_START_WITH has an argument that is not an option of cosy.h; cosy-regions(7) lists the options}}
	COSY_END;
	COSY_START_WITH(COSY_MAX_OPERATIONS(n)); // expected-error {{COSY_MAX_OPERATIONS has to be a constant}}
	COSY_END;
	COSY_START_WITH(COSY_MAX_OPERATIONS(0)); // expected-error {{COSY_MAX_OPERATIONS has to be 1 to 72057594037927936}}
	COSY_END;
	COSY_START_WITH(COSY_MAX_MS(1ull << 32)); // expected-error {{COSY_MAX_MS has to be 1 to 4294967295}}
	COSY_END;
	COSY_START_WITH(COSY_MAX_MS(1), COSY_AT_LIMIT(3)); // expected-error {{COSY_AT_LIMIT takes COSY_RESUME, COSY_STOP or COSY_KILL}}
	COSY_END;
	COSY_START_WITH(COSY_AT_LIMIT(COSY_STOP)); // expected-error {{COSY_AT_LIMIT without a limit; add COSY_MAX_OPERATIONS or COSY_MAX_MS}}
	COSY_END;
	COSY_START_WITH(COSY_MAX_MS(1), COSY_MAX_MS(1)); // expected-error {{an option of COSY_START_WITH is given twice}}
	COSY_END;
	COSY_START_WITH(COSY_STOP_ON_ERROR, COSY_MAX_OPERATIONS(8), COSY_STOP_ON_ERROR); // expected-error {{an option of COSY_START_WITH is given twice}}
	COSY_END;
	COSY_START_WITH((uint64_t)COSY_OPTION_MAX_MS); // expected-error {{COSY_MAX_MS has to be}}
	COSY_END;
	COSY_START_WITH(COSY_STOP); // expected-error {{COSY_RESUME, COSY_STOP and COSY_KILL are not options of COSY_START_WITH; write COSY_AT_LIMIT(COSY_STOP), for example}}
	COSY_END;
	COSY_START_WITH(COSY_RESUME, COSY_MAX_MS(1)); // expected-error {{are not options of COSY_START_WITH}}
	COSY_END;
	COSY_START_WITH(COSY_MAX_MS(1), COSY_KILL); // expected-error {{are not options of COSY_START_WITH}}
	COSY_END;
	COSY_START_WITH(COSY_MAX_MS(1), COSY_AT_LIMIT(COSY_STOP_ON_ERROR)); // expected-error {{COSY_AT_LIMIT takes COSY_RESUME, COSY_STOP or COSY_KILL}}
	COSY_END;
	COSY_START_WITH(COSY_MAX_OPERATIONS(1 << 20), COSY_MAX_MS(20 * 5), COSY_STOP_ON_ERROR, COSY_AT_LIMIT(COSY_KILL));
	COSY_END;
}
#endif
