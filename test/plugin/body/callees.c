// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * callees.c - calls through pointers of a type that more functions have than a pointer is compared with.
 * LLVM or the initial value of a variable says which of them is called: of a structure of operations
 * that is never written, here and as a parameter of a function that two regions call; of a static variable
 * that gets one of two functions; of a structure in another file, with link-time optimisation. If the
 * pointer was changed to another function, it is an up-call with the same result.
 */
// RUN: %cosy-cc -O2 -DOTHER_FILE -c %s -o %t.other.o
// RUN: %cosy-cc -O2 -Wno-cosy-up-call-in-loop -Rpass-missed=cosy -c %s -o %t.o 2>&1 \
// RUN:   | %FileCheck --check-prefix=REMARK %s
// RUN: %cosy-cc %t.o %t.other.o -o %t
// RUN: %run-all %t | %FileCheck %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | %FileCheck --check-prefixes=STATS,ONE-FILE %s
// RUN: %cosy-cc -O0 -Wno-cosy-up-call-in-loop %s %t.other.o -o %t.O0
// RUN: %run-all %t.O0 | %FileCheck %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t.O0 2>&1 | %FileCheck --check-prefixes=STATS,ONE-FILE %s
// RUN: %cosy-cc -O2 -flto -DOTHER_FILE -c %s -o %t.other.bc
// RUN: %cosy-cc -O2 -flto -Wno-cosy-up-call-in-loop %s %t.other.bc -o %t.lto
// RUN: %run-all %t.lto | %FileCheck %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t.lto 2>&1 | %FileCheck --check-prefixes=STATS,PROGRAM %s

#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

struct operations {
	long (*first)(long), (*second)(long), (*third)(long), (*fourth)(long);
};

extern struct operations others;

#ifdef OTHER_FILE
static long other(long v)
{
	return v * 7 - 1;
}

struct operations others = { .third = other };
#else

static long plus(long v) { return v + 1; }
static long twice(long v) { return v * 2; }
static long flip(long v) { return v ^ 3; }
static long minus(long v) { return v - 4; }
static long with(long v) { return v | 5; }

static struct operations operations = { plus, twice, flip, minus };
static struct operations reversed = { minus, flip, twice, plus };
static struct operations changed = { plus, plus, plus, plus };
static long (*chosen)(long);

static long of_parameter(const struct operations *o, long v)
{
	for (int i = 0; i < 10; i++)
		v = o->third(v) + 1;
	return v;
}

int main(int argc, char **argv)
{
	struct operations *volatile unknown = &changed;
	long v = argc;

	// STATS: callees.c:[[#@LINE+1]]: executor=user runs=1 syscalls=50 entries=0{{$}}
	COSY_START;
	for (int i = 0; i < 50; i++) {
		v = operations.fourth(v);
		getppid();
	}
	COSY_END;
	// STATS: callees.c:[[#@LINE+1]]: executor=user runs=1 syscalls=2 entries=0{{$}}
	COSY_START;
	getppid();
	v = of_parameter(&operations, v);
	getppid();
	COSY_END;
	// STATS: callees.c:[[#@LINE+1]]: executor=user runs=1 syscalls=2 entries=0{{$}}
	COSY_START;
	getppid();
	v = of_parameter(&reversed, v);
	getppid();
	COSY_END;
	chosen = argv[argc] ? plus : twice;
	// STATS: callees.c:[[#@LINE+1]]: executor=user runs=1 syscalls=10 entries=0{{$}}
	COSY_START;
	for (int i = 0; i < 10; i++) {
		// REMARK: callees.c:[[#@LINE+1]]:{{.*}} up-call: call through a pointer other than plus, twice; {{.*}}; a profile can
		v = chosen(v);
		getppid();
	}
	COSY_END;
	// ONE-FILE: callees.c:[[#@LINE+2]]: executor=user runs=1 syscalls=10 entries=0 upcalls=10{{$}}
	// PROGRAM: callees.c:[[#@LINE+1]]: executor=user runs=1 syscalls=10 entries=0{{$}}
	COSY_START;
	for (int i = 0; i < 10; i++) {
		// REMARK: callees.c:[[#@LINE+1]]:{{.*}} up-call: call through a pointer; {{.*}}; a call by name can be
		v = others.third(v) & 0xffff;
		getppid();
	}
	COSY_END;
	unknown->second = with;
	// STATS: callees.c:[[#@LINE+1]]: executor=user runs=1 syscalls=10 entries=0 upcalls=10{{$}}
	COSY_START;
	for (int i = 0; i < 10; i++) {
		v = changed.second(v) + 1;
		getppid();
	}
	COSY_END;
	printf("%ld\n", v);
	return 0;
}
#endif
// CHECK: 56576
