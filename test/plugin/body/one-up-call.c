// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function is one up-call where its code in the compound would cost as much: each path leaves the
// kernel, and the system calls save less than that costs. Others are taken into the region.
// RUN: %clang -O2 -g -w -c -o %t.o -fplugin-arg-cosy-dump -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: %clang -O0 -w -c -o %t.o -fplugin-arg-cosy-dump %s 2>&1 | FileCheck --check-prefix=COUNTS %s
// RUN: %clang -O2 -w -c -o %t.o -fplugin-arg-cosy-dump -fplugin-arg-cosy-no-outline %s 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: %cosy-cc -O0 -w %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 -w %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 -flto -w %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
#include <cosy.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The paths out of it lead to different places, so the code is not one piece.
static int has_words(const char *s)
{
	return atoi(s) == 12 && strpbrk(s, "xyz") && strtod(s, NULL) > 11;
}

// CHECK: one-up-call.c:[[#@LINE+13]]:{{.*}}: leaves the kernel for an up-call: call of has_words; {{.*}}; taken into the region, its own calls would cost as much or more
// CHECK-LABEL: .compound "leaves_each_way"
// CHECK: .upcalls 1
// COUNTS-LABEL: .compound "leaves_each_way"
// COUNTS: .upcalls 1
// NONE-LABEL: .compound "leaves_each_way"
// NONE: .upcalls 3
static int leaves_each_way(const char *const *lines)
{
	int n;

	COSY_START;
	for (n = 0; n < 4 && getpid() > 0; n++)
		if (!has_words(lines[n]))
			break;
	COSY_END;
	return n;
}

static void set(const char *name, const char *value)
{
	if (getuid() != 4000000000) {
		setenv(name, value, 1);
		unsetenv("OTHER");
		setenv("LAST", name, 1);
	} else {
		abort();
	}
}

// One system call saves less than two up-calls cost.
// CHECK-LABEL: .compound "calls_less_than_it_leaves"
// CHECK: .upcalls 1
// CHECK-NOT: getuid
// CHECK: upcall
// COUNTS-LABEL: .compound "calls_less_than_it_leaves"
// COUNTS: .upcalls 1
static int calls_less_than_it_leaves(void)
{
	int n = 0;

	COSY_START;
	n += getpid() > 0;
	set("NAME", "value");
	n += getppid() >= 0;
	COSY_END;
	return n;
}

static int read_number(const char *path)
{
	char text[16] = "";
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return -1;
	read(fd, text, sizeof(text) - 1);
	close(fd);
	return atoi(text) >= 0;
}

// A path that makes system calls only.
// CHECK-LABEL: .compound "calls_more"
// CHECK: .upcalls 2
// CHECK: openat
// CHECK: upcall
// COUNTS-LABEL: .compound "calls_more"
// COUNTS: .upcalls 2
// COUNTS: openat
static int calls_more(void)
{
	int n = 0;

	COSY_START;
	n += getpid() > 0;
	n += read_number("/proc/self/does-not-exist");
	n += read_number("/proc/sys/kernel/pid_max");
	COSY_END;
	return n;
}

static void warn(int n, FILE *to)
{
	if (n < 0)
		fputs("negative\n", to);
}

// Usually it does not leave.
// CHECK-LABEL: .compound "leaves_on_errors"
// CHECK: br.4
// CHECK: upcall
static int leaves_on_errors(int n)
{
	COSY_START;
	n += getpid() > 0;
	warn(n, stdout);
	n += getppid() >= 0;
	COSY_END;
	return n;
}

// What it does is counted, so only what has no operation is left to native code.
// CHECK-LABEL: .compound "counts"
// CHECK: .upcalls 3
static int counts(const char *const *lines)
{
	int n;

	COSY_START_WITH(COSY_MAX_OPERATIONS(1000000), COSY_AT_LIMIT(COSY_KILL));
	for (n = 0; n < 4 && getpid() > 0; n++)
		if (!has_words(lines[n]))
			break;
	COSY_END;
	return n;
}

int main(void)
{
	static const char *const lines[] = { "12 x", "12.5 z", "12 a", "12 x" };

	// OUT: 2
	printf("%d\n", leaves_each_way(lines));
	// OUT-NEXT: 2 value NAME
	printf("%d ", calls_less_than_it_leaves());
	printf("%s %s\n", getenv("NAME"), getenv("LAST"));
	// OUT-NEXT: 1
	printf("%d\n", calls_more());
	// OUT-NEXT: 2
	printf("%d\n", leaves_on_errors(0));
	// OUT-NEXT: 2
	printf("%d\n", counts(lines));
	return 0;
}
