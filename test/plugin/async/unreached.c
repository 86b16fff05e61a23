// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function that exists nowhere may be called if the optimizations of ordinary functions prove
// that the call is never reached: in a COSY_ASYNC function, where less is known, too. The same
// applies to functions with the attribute error.
// RUN: for level in -O1 -O2 -O3 '-O2 -flto' '-O2 -g -fno-pie -no-pie' '-O2 -DERRORS'; do \
// RUN:   %cosy-cc $level -w %s -o %t && COSY_EXECUTOR=user %t || exit; done
// RUN: %clang -O2 -w -DOTHERS -c %s -o %t.o && nm -u %t.o | FileCheck --check-prefix=OTHERS %s
// RUN: %clang -O0 -w -c %s -o %t.o && nm -u %t.o | FileCheck --check-prefix=PLAIN %s
// RUN: not %clang -O2 -w -DERRORS -DOTHERS -c %s -o %t.o 2>&1 | FileCheck --check-prefix=ERROR %s
#include <unistd.h>

#include <cosy/task.h>

#ifdef ERRORS
#define UNREACHED __attribute__((error("reached")))
#else
#define UNREACHED
#endif

// OTHERS-DAG: U bad_change
// OTHERS-DAG: w bad_flag
// OTHERS-DAG: w bad_local
// OTHERS-DAG: w bad_result
// OTHERS-DAG: U not_constant
// PLAIN-DAG: U bad_flag
// PLAIN-DAG: U bad_local
// PLAIN-DAG: U bad_result
UNREACHED void bad_flag(void);
UNREACHED void bad_local(void);
UNREACHED void bad_result(void);
UNREACHED void bad_change(void);
void not_constant(void);

static int flag; /* never written */

COSY_ASYNC static int four(void)
{
	read(-1, NULL, 0);
	return 4;
}

COSY_ASYNC static void check(const int *p)
{
	read(-1, NULL, 0);
	if (*p)
		bad_flag();
}

static void set(int *p)
{
	*p = 3;
}

COSY_ASYNC static int whole(void)
{
	int local;

	set(&local);
	read(-1, NULL, 0);
	if (local != 3)
		bad_local();
	if (four() != 4)
		bad_result();
	check(&flag);
	return local;
}

#ifdef OTHERS
/* It runs after the variable has changed. */
COSY_ASYNC static void later(const int *p)
{
	if (*p)
		// ERROR: error: call to 'bad_change' declared with 'error' attribute
		// ERROR-NOT: error: call
		bad_change();
}

void start(struct cosy_loop *loop)
{
	int changes = 0;

	if (!COSY_SPAWN(loop, later(&changes))) {
		changes = 1;
		cosy_loop_run(loop);
	}
}

/* The compiler knows less about a coroutine's values. */
COSY_ASYNC int knows(void)
{
	int n;

	set(&n);
	read(-1, NULL, 0);
	if (!__builtin_constant_p(n))
		not_constant();
	return n;
}
#endif

int main(void)
{
	struct cosy_async op = { 0 };
	struct cosy_loop *loop;

	if (cosy_loop_create(&loop, NULL) || COSY_SPAWN(loop, whole(), .op = &op) ||
	    cosy_wait_for(loop, &op, NULL))
		return 1;
	return op.result != 3 || cosy_loop_destroy(loop);
}
