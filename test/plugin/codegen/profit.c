// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gain of a region: warnings if it certainly loses, remarks with figures
// and advice, all of it also in the YAML record.
// RUN: %clang -O0 -S -o %t.s -Xclang -verify %s
// RUN: %clang -O2 -S -o %t.s -Xclang -verify %s
// RUN: %clang -O2 -S -o %t.s -w -Rpass=cosy -Rpass-missed=cosy -Rpass-analysis=cosy %s 2>&1 | FileCheck %s
// RUN: %clang -O2 -S -o %t.s -w -fsave-optimization-record -foptimization-record-file=%t.yaml %s
// RUN: FileCheck --check-prefix=YAML %s < %t.yaml
// RUN: %not %clang -O2 -S -o %t.s -fplugin-arg-cosy-Werror=cosy-few-calls %s 2>&1 | FileCheck --check-prefix=ERROR %s
#include <cosy.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ERROR: error: region makes at most 2 system calls {{.*}} [-Werror,-Wcosy-few-calls]
int few(int n)
{
	COSY_START; // expected-warning {{region makes at most 2 system calls each time it is entered: as a compound it takes longer than natively}}
	if (n)
		n = getpid() + getppid();
	else
		n = getpid();
	COSY_END;
	return n;
}

// CHECK: profit.c:[[#@LINE+3]]:2: remark: entering and leaving costs about 567 instructions, a system call saves about 197; the region makes at most 4 system calls, and its operations cost up to {{[0-9]+}}; as a compound the region usually takes 1{{[0-9][0-9]}} less (221 less to {{[0-9]+}} more) [-Rpass-analysis=cosy]
int enough(int n)
{
	COSY_START;
	n = getpid() + getppid();
	if (n)
		n += getuid() + getgid();
	COSY_END;
	return n;
}

// CHECK: profit.c:[[#@LINE+3]]:2: remark: entering and leaving costs {{.*}}; the region makes at most 5 system calls, and its operations cost up to {{[0-9]+}}, its 1 up-call about 749; as a compound the region usually takes 3{{[0-9][0-9]}} more (331 more to {{[0-9]+}} more) [-Rpass-analysis=cosy]
int few_with_up_calls(int n, FILE *f)
{
	COSY_START; // expected-warning {{at most 5 system calls and at least 1 up-call each time}}
	n = getpid() + getppid() + getuid() + getgid() + geteuid();
	rewind(f);
	COSY_END;
	return n;
}

/* It wins over a plain call, not over a single call through the module. */
int name(const char *path, struct stat *st)
{
	int n;

	COSY_START; // expected-warning {{region makes at most 1 system call each time it is entered: as a compound it usually takes longer than single calls through the module, which its native code makes; take the loop around it into the region}}
	n = stat(path, st);
	COSY_END;
	return n;
}

// CHECK: profit.c:[[#@LINE+5]]:2: remark: entering and leaving costs {{.*}}; as a compound the region usually takes 37{{[0-9][0-9]}} less (3933 less to {{[0-9]+}} more); its native code saves up to {{[0-9]+}} by single calls through the module [-Rpass-analysis=cosy]
int names_without_loop(const char *path, const char *other, struct stat *st)
{
	int n;

	COSY_START;
	n = stat(path, st);
	n += stat(other, st);
	COSY_END;
	return n;
}

/* At best a read saves more than the entry costs. */
long one_read(int fd, char *bytes)
{
	long n;

	COSY_START; // expected-warning {{region makes at most 1 system call each time it is entered: as a compound it usually takes longer than natively; take the loop around it into the region}}
	n = read(fd, bytes, 100);
	COSY_END;
	return n;
}

// CHECK: profit.c:[[#@LINE+5]]:2: remark: entering and leaving costs {{.*}}; as a compound the region usually takes 4{{[0-9][0-9]}} less (1095 less to {{[0-9]+}} more) [-Rpass-analysis=cosy]
long two_reads(int fd, char *bytes)
{
	long n;

	COSY_START;
	n = read(fd, bytes, 100);
	n += read(fd, bytes + 100, 100);
	COSY_END;
	return n;
}

/* The number of iterations is not known. */
int loop(int n)
{
	int sum = 0;

	// The number of iterations is not known, so there is no figure for the region.
	// CHECK: profit.c:[[#@LINE+1]]:2: remark: entering and leaving costs {{.*}} if its loops iterate once, and its operations then cost up to {{[0-9]+}} [-Rpass-analysis=cosy]
	COSY_START;
	// CHECK: profit.c:[[#@LINE+1]]:{{.*}}: remark: an iteration of this loop makes at most 1 system call, to save about 197 instructions; its operations cost up to {{[0-9]+}}; as a compound it usually takes 1{{[0-9]+}} less (197 less to 1{{[0-9]+}} less) [-Rpass-analysis=cosy]
	while (sum < n)
		sum += getpid();
	COSY_END;
	return sum;
}

/* The saving of the native code is reported, too. */
int names(const char *path, int n)
{
	int sum = 0;

	COSY_START;
	// CHECK: profit.c:[[#@LINE+1]]:{{.*}}: remark: an iteration of this loop makes at most 2 system calls, to save about 394, with fast paths up to 2447 instructions; its operations cost up to {{[0-9]+}}; as a compound it usually takes 19{{[0-9][0-9]}} less (2447 less to {{[0-9]+}} less); its native code saves up to 1375 by single calls through the module
	for (int i = 0; i < n; i++)
		sum += access(path, getpid());
	COSY_END;
	return sum;
}

int up_call_each_round(int n, FILE *f)
{
	int sum = 0;

	COSY_START; // expected-note {{region starts here}}
	// CHECK: profit.c:[[#@LINE+4]]:3: remark: leaves the kernel for an up-call: call of rewind; it costs about 749 instructions, what 4 system calls save; call it before or after the region
	// CHECK: profit.c:[[#@LINE+1]]:{{.*}}: remark: an iteration of this loop makes at most 3 system calls, to save about 591 instructions; its operations cost up to {{[0-9]+}}, its 1 up-call about 749; as a compound it usually takes 2{{[0-9]+}} more (158 more to 2{{[0-9]+}} more)
	for (int i = 0; i < n; i++) {
		sum += getpid() + getppid() + getuid();
		rewind(f); // expected-warning {{each iteration of this loop leaves the kernel, here for the call of rewind, and makes at most 3 system calls}}
	}
	COSY_END;
	return sum;
}

/* It wins over plain calls, not over single calls, which its native code makes. */
int single_call_is_better(const char *path, int n, FILE *f)
{
	struct stat st;
	int sum = 0;

	COSY_START; // expected-note {{region starts here}}
	for (int i = 0; i < n; i++) {
		sum += stat(path, &st);
		rewind(f); // expected-warning {{and makes at most 1 system call: it usually takes longer than natively}}
	}
	COSY_END;
	return sum;
}

/* readdir() and dirfd() have remedies of their own. */
int directory(DIR *dir)
{
	struct dirent *entry;
	struct stat st;
	int sum = 0;

	COSY_START; // expected-note {{region starts here}}
	// CHECK: profit.c:[[#@LINE+2]]:{{.*}}: remark: leaves the kernel for an up-call: call of readdir{{(64)?}}; {{.*}}; read the directory by getdents64, or collect its names by COSY_BATCH or cosy_dir_read
	// CHECK: profit.c:[[#@LINE+2]]:{{.*}}: remark: leaves the kernel for an up-call: call of dirfd; {{.*}}; its result does not change: call it before the region
	while ((entry = readdir(dir)))
		sum += fstatat(dirfd(dir), entry->d_name, &st, 0); // expected-warning {{it usually takes longer than natively}}
	COSY_END;
	return sum;
}

/* An up-call while the file is open makes its descriptor an ordinary one. */
long hashed(const char *path, char *bytes, FILE *f)
{
	long n;

	COSY_START; // expected-warning {{makes at most 3 system calls and at least 1 up-call each time it is entered: as a compound it usually takes longer than single calls through the module, which its native code makes; move what leaves the kernel out of it}}
	// CHECK: profit.c:[[#@LINE+1]]:{{.*}}: remark: the descriptor is private: it is closed here and passed to no other code; an up-call before the close, in line [[#@LINE+3]], makes it an ordinary one each time, which costs about 690 instructions
	int fd = open(path, O_RDONLY);
	n = read(fd, bytes, 100);
	rewind(f);
	close(fd);
	COSY_END;
	return n;
}

/* An iteration that ends early makes no up-call; LLVM makes two loops of it. */
int up_call_after_continue(int n, FILE *f)
{
	int sum = 0;

	COSY_START;
	// CHECK-NOT: profit.c:[[#@LINE+2]]:{{.*}} iteration of this loop
	// CHECK: profit.c:[[#@LINE+1]]:{{.*}}: remark: an iteration of this loop makes at most 2 system calls, {{.*}} its 0 to 2 up-calls about 1498; as a compound it usually takes {{[0-9]+}} more (394 less to {{[0-9]+}} more)
	for (int i = 0; i < n; i++) {
		if (getpid() < i)
			continue;
		rewind(f);
		sum += i + getppid();
		if (sum & 1)
			clearerr(f);
	}
	// CHECK-NOT: profit.c:[[#@LINE-8]]:{{.*}} iteration of this loop
	COSY_END;
	return sum;
}

/* An up-call on an error path is possible, not usual. */
int up_call_if_it_fails(int fd, char *bytes, int n)
{
	int sum = 0;

	COSY_START;
	// CHECK: profit.c:[[#@LINE+1]]:{{.*}}: remark: an iteration of this loop makes at most 1 system call, {{.*}} its 0 to 1 up-call about 749; as a compound it usually takes 4{{[0-9][0-9]}} less (831 less to {{[0-9]+}} more)
	for (int i = 0; i < n; i++)
		if (pread(fd, bytes, 100, i) < 0)
			perror("pread");
	COSY_END;
	return sum;
}

/* A call that returns 0 when it succeeds usually does, however its result is compared. */
double up_call_if_it_succeeds(int fd, int n)
{
	double sum = 0;
	struct stat st;

	COSY_START;
	// CHECK: profit.c:[[#@LINE+1]]:{{.*}}: remark: an iteration of this loop makes at most 1 system call, {{.*}} its 0 to 1 up-call about 749; as a compound it usually takes 4{{[0-9][0-9]}} more (831 less to {{[0-9]+}} more)
	for (int i = 0; i < n; i++)
		if (fstat(fd, &st) == 0)
			sum = sum * 0.5 + st.st_size;
	COSY_END;
	return sum;
}

int up_call_if_no_success(const char *name, int n)
{
	struct stat st;

	COSY_START;
	// CHECK: profit.c:[[#@LINE+1]]:{{.*}}: remark: an iteration of this loop makes at most 1 system call, {{.*}} its 0 to 1 up-call about 749; as a compound it usually takes 2{{[0-9][0-9][0-9]}} less (2250 less to {{[0-9]+}} more)
	for (int i = 0; i < n; i++)
		if (stat(name, &st) != 0)
			perror(name);
	COSY_END;
	return st.st_size;
}

/* A write extends its file, unless there is a seek. */
void appends(int fd, const char *bytes, int n)
{
	COSY_START;
	// CHECK: profit.c:[[#@LINE+1]]:{{.*}}: remark: an iteration of this loop makes at most 1 system call, {{.*}} as a compound it usually takes 1{{[0-9][0-9]}} less (831 less to
	for (int i = 0; i < n; i++)
		write(fd, bytes, 100);
	COSY_END;
}

void overwrites(int fd, const char *bytes, int n)
{
	COSY_START;
	lseek(fd, 0, SEEK_SET);
	// CHECK: profit.c:[[#@LINE+1]]:{{.*}}: remark: an iteration of this loop makes at most 1 system call, {{.*}} as a compound it usually takes 4{{[0-9][0-9]}} less (831 less to
	for (int i = 0; i < n; i++)
		write(fd, bytes, 100);
	COSY_END;
}

/* Operations on many bytes cost more than others. */
void lines(int fd, const char *line, const char *end)
{
	COSY_START;
	// CHECK: profit.c:[[#@LINE+1]]:{{.*}}: remark: an iteration of this loop makes at most 1 system call, {{.*}} its operations cost up to 3{{[0-9][0-9]}}; as a compound it usually takes 1{{[0-9][0-9]}} more
	while ((line = memchr(line, '\n', end - line)))
		write(fd, line++, 1);
	COSY_END;
}

/* Calls inside compensate for it; and an error path is not an iteration. */
int up_call_each_outer_round(int n, FILE *f)
{
	int sum = 0;

	COSY_START;
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < n; k++)
			sum += getpid();
		rewind(f);
	}
	for (int i = 0; i < n; i++)
		if (chdir("/") < 0)
			// CHECK: remark: leaves the kernel for an up-call: call of perror; {{.*}}; collect the output, and print it after the region
			perror("/");
	COSY_END;
	return sum;
}

/* Code around a back-edge that is not a loop has no known count either. */
int irreducible(int n)
{
	COSY_START;
	if (n & 1)
		goto second;
first:
	n -= getpid() > 0;
second:
	n -= getppid() > 0;
	if (n > 0)
		goto first;
	COSY_END;
	return n;
}

static int recursive(int n) { return n < 2 ? n : recursive(n - 1) + recursive(n - 2); }

void advice(int n, int (*f)(int), long *p, double *d)
{
	COSY_START;
	for (int i = 0; i < n; i++) {
		n += getpid() + getppid() + getuid() + getgid() + geteuid() + getegid();
		if (n == 1)
			// CHECK: up-call: call through a pointer; {{.*}}; a call by name can be taken into the region
			f(1);
		if (n == 2)
			// CHECK: up-call: call of recursive; {{.*}}; a function is taken into the region if it is small, neither recursive nor variadic
			n += recursive(n);
		if (n == 3)
			// CHECK: up-call: atomic operation; {{.*}}; atomic accesses to aligned integers and pointers are operations
			__atomic_fetch_add(d, 1.5, __ATOMIC_SEQ_CST);
		if (n == 4)
			// CHECK: up-call: floating point; {{.*}}; do it before or after the region
			*d *= 1.5;
		if (n == 5)
			// CHECK: up-call: call of malloc; {{.*}}; allocate before the region, and free after it
			*p = (long)malloc(10);
		if (n == 6)
			// CHECK: up-call: inline assembly
			asm volatile("nop");
	}
	COSY_END;
}

// YAML: --- !Passed
// YAML-NEXT: Pass:            cosy
// YAML-NEXT: Name:            Compound
// YAML-NEXT: DebugLoc:        { File: {{.*}}profit.c{{.*}}, Line: [[#]], Column: 2 }
// YAML-NEXT: Function:        few
// YAML: SystemCalls: 4 system calls
// YAML: --- !Analysis
// YAML-NEXT: Pass:            cosy
// YAML-NEXT: Name:            Region
// YAML: --- !Missed
// YAML-NEXT: Pass:            cosy
// YAML-NEXT: Name:            UpCall
// YAML: Why: call of rewind
// YAML: Advice: {{.*}}call it before or after the region
