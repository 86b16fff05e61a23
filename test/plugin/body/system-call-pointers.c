// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * system-call-pointers.c - calls of stat() and similar functions through pointers: of one of two functions, of
 * a member of a structure, of a parameter, of a pointer from another file, and of a function that is not libc's.
 * The system calls take no up-call. With -fcosy-auto, calls outside of regions go through the module.
 */
// RUN: %cosy-cc -O2 -DOTHER_FILE -c %s -o %t.other.o
// RUN: %cosy-cc -O2 -Wno-cosy-up-call-in-loop %s %t.other.o -o %t
// RUN: rm -f %t.link && ln -s /etc/passwd %t.link
// RUN: %run-all --vm %t %t.link | %FileCheck %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t %t.link 2>&1 | %FileCheck --check-prefix=STATS %s
// RUN: %cosy-cc -O0 -Wno-cosy-up-call-in-loop %s %t.other.o -o %t.O0
// RUN: %run-all %t.O0 %t.link | %FileCheck %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t.O0 %t.link 2>&1 | %FileCheck --check-prefix=STATS %s
// RUN: %cosy-cc -O2 -flto -DOTHER_FILE -c %s -o %t.other.bc
// RUN: %cosy-cc -O2 -flto -Wno-cosy-up-call-in-loop %s %t.other.bc -o %t.lto
// RUN: %run-all %t.lto %t.link | %FileCheck %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t.lto %t.link 2>&1 | %FileCheck --check-prefix=STATS %s

// In a static program the functions are in the program. Code compiled with -fno-pie gives them addresses there, which
// do not show whether they are libc's. So the calls stay up-calls.
// RUN: %cosy-cc -O2 -static -Wno-cosy-up-call-in-loop %s %t.other.o -o %t.static
// RUN: %run-all %t.static %t.link | %FileCheck %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t.static %t.link 2>&1 | %FileCheck --check-prefix=STATS %s
// RUN: %cosy-cc -O2 -fno-pie -no-pie -w %s %t.other.o -o %t.nopie
// RUN: %run-all %t.nopie %t.link | %FileCheck %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t.nopie %t.link 2>&1 | %FileCheck --check-prefix=NO-PIE %s
// NO-PIE: executor=user runs=1 syscalls=0 entries=0 upcalls=10

// The program's own stat() is called by its name and through pointers.
// RUN: %cosy-cc -O2 -DOWN_STAT -c %s -o %t.own.o
// RUN: %cosy-cc -O2 -Wno-cosy-up-call-in-loop %s %t.other.o %t.own.o -o %t.own
// RUN: %t.own %t.link | %FileCheck --check-prefix=OWN %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t.own %t.link 2>&1 | %FileCheck --check-prefixes=FOREIGN,OWN %s
// FOREIGN: runs natively: stat() is not the C library's function
// RUN: %cosy-cc -O2 -flto -DOWN_STAT -c %s -o %t.own.bc
// RUN: %cosy-cc -O2 -flto -Wno-cosy-up-call-in-loop %s %t.other.bc %t.own.bc -o %t.own.lto
// RUN: %run-all %t.own.lto %t.link | %FileCheck --check-prefix=OWN %s

// RUN: %cosy-cc -O2 -fcosy-auto -Rpass=cosy -Wno-cosy-up-call-in-loop -c %s -o %t.auto.o 2>&1 | %FileCheck --check-prefix=AUTO %s
// RUN: %cosy-cc -fcosy-auto %t.auto.o %t.other.o -o %t.auto
// RUN: %run-all %t.auto %t.link | %FileCheck %s
// RUN: %cosy-cc -fcosy-auto %t.auto.o %t.other.o %t.own.o -o %t.auto.own
// RUN: env COSY_EXECUTOR=user %t.auto.own %t.link | %FileCheck --check-prefix=OWN %s
#ifndef OWN_STAT
#include <cosy.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef int (*status_function)(const char *, struct stat *);

status_function from_other_file(void);

#ifdef OTHER_FILE
status_function from_other_file(void)
{
	return lstat;
}
#else

struct operations {
	int (*check)(const char *, int);
	char *(*directory)(char *, size_t);
};

static struct operations operations = { access, getcwd };

static int never(const char *name, struct stat *st)
{
	(void)st;
	return *name == '/';
}

static __attribute__((noinline)) int of_parameter(status_function f, const char *name)
{
	struct stat st;

	// AUTO: system-call-pointers.c:[[#@LINE+1]]:{{.*}} the call of 'stat' goes through the module
	return f(name, &st) ? -errno : (int)(st.st_mode & S_IFMT);
}

int main(int argc, char **argv)
{
	status_function volatile functions[] = { stat, never };
	status_function one = argc > 2 ? stat : lstat, other = from_other_file();
	status_function f = functions[0];
	struct stat st;
	unsigned int sum = 0, checks = 0, others = 0;
	int ret, err = 0;

	// STATS: system-call-pointers.c:[[#@LINE+1]]: executor=user runs=1 syscalls=10 entries=0{{$}}
	COSY_START;
	for (int i = 0; i < 10; i++) {
		if (!one(argv[1], &st))
			sum += st.st_mode & S_IFMT;
	}
	COSY_END;
	// STATS: system-call-pointers.c:[[#@LINE+1]]: executor=user runs=1 syscalls=20 entries=0{{$}}
	COSY_START;
	for (int i = 0; i < 10; i++) {
		checks += operations.check(argv[1], R_OK) == 0;
		ret = f("/nonexistent", &st);
		err += ret ? errno : 0;
	}
	COSY_END;
	// STATS: system-call-pointers.c:[[#@LINE+1]]: executor=user runs=1 syscalls=10 entries=0{{$}}
	COSY_START;
	for (int i = 0; i < 10; i++)
		others += other(argv[1], &st) == 0 && S_ISLNK(st.st_mode);
	COSY_END;
	printf("%o %u %d %u\n", sum / 10, checks, err / 10, others);
	printf("%o %d %d\n", of_parameter(f, argv[1]), of_parameter(f, "/nonexistent"),
	       of_parameter(functions[1], "/") < 0);
	return 0;
}
#endif
// CHECK: 120000 10 2 10
// CHECK-NEXT: 100000 -2 1
// OWN: 120000 10 5 10
// OWN-NEXT: 40000 -5 1
#else
struct stat;

int stat(const char *name, struct stat *st);
int *__errno_location(void);

int stat(const char *name, struct stat *st)
{
	if (name[1] != 'n' && name[1] != 'o') {
		((unsigned int *)st)[6] = 040000;
		return 0;
	}
	*__errno_location() = 5;
	return -1;
}
#endif
