/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Regions that lose by their up-calls. A run that has begun continues in user mode, and other runs
 * are native. Both make calls with names through the module. So marking the loop costs nothing,
 * and the calls gain, in one long run and in parallel threads. On one CPU that counts
 * instructions: at most 0.9 of the native number.
 */
// RUN: %cosy-cc -O2 -Wall -Werror -Wno-cosy-up-call-in-loop %s -o %t
// RUN: %cosy-cc -O2 -Wall -Werror -Wno-cosy-up-call-in-loop -c %s -o %t.o && %clang %t.o -o %t.so -L%lib -lcosy -Wl,-rpath,%lib
// RUN: %cosy-cc -O2 -Wall -Werror -Wno-cosy-up-call-in-loop -flto %s -o %t.lto
// RUN: %vm sh -c 'for p in %t %t.so %t.lto; do COSY_EXECUTOR=auto COSY_STATS=1 $p 1 5000 2>&1; COSY_EXECUTOR=auto COSY_STATS=1 $p 6 500 2>&1; done' | FileCheck %s
// CHECK-COUNT-3: region-that-loses-by-up-calls-leaves.c:[[#]]: executor=kernel runs=1 syscalls={{[0-9]+}} entries={{[0-9]+}} upcalls=5000{{[[:space:]].*}}5000 of 5000{{[[:space:]].*[[:space:]]}}3000 of 3000

// RUN: %root/scripts/vm/run --icount -- sh -c 'for p in %t %t.so %t.lto; do for n in "1 5000" "6 1000"; do %build/bench/unmodified-measure -n 3 -a COSY_EXECUTOR=native -b COSY_EXECUTOR=auto $p $n; done; done' >%t.figures
// RUN: awk '{ print "native:", $1, "auto:", $2; bad += !($1 && $2 <= 0.9 * $1); n++ } END { exit bad || n != 6 }' %t.figures

// A filter that forbids the call, and a signal in it, have the native effect.
// RUN: %vm sh -c 'for e in native auto; do COSY_EXECUTOR=$e %t filter; done' | FileCheck --check-prefix=FILTER %s
// FILTER: 0 of 5000, 5000 times Permission denied
// FILTER-NEXT: 0 of 5000, 5000 times Permission denied
#include <cosy.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *const names[] = { "/tmp", "/proc", "/dev", "/usr" };
static long failed, error;

struct part {
	long n, found;
};

static void *look(void *data)
{
	struct part *part = data;
	struct stat st;
	long i;

	COSY_START;
	for (i = 0; i < part->n; i++) {
		if (lstat(names[i & 3], &st)) {
			error = errno;
			failed++;
		} else {
			part->found++;
		}
		/* One up-call for the four of them. */
		part->found += !getenv("PATH");
		part->found += !!getenv("NO SUCH NAME");
		part->found += !!getenv("NO SUCH");
		part->found += !!getenv("NO");
	}
	COSY_END;
	return NULL;
}

/* newfstatat() fails. A compound gets the filter's result like the plain call. */
static void forbid(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		exit(1);
}

int main(int argc, char **argv)
{
	bool filter = argc == 2;
	long threads = filter ? 1 : atol(argv[1]), n = filter ? 5000 : atol(argv[2]);
	struct part parts[16] = { 0 };
	pthread_t ids[16];
	long found = 0;

	if (filter)
		forbid();
	for (int i = 0; i < threads; i++) {
		parts[i].n = n;
		if (threads == 1)
			look(&parts[i]);
		else if (pthread_create(&ids[i], NULL, look, &parts[i]))
			return 1;
	}
	for (int i = 0; i < threads; i++) {
		if (threads > 1)
			pthread_join(ids[i], NULL);
		found += parts[i].found;
	}
	printf("%ld of %ld", found, threads * n);
	if (failed)
		printf(", %ld times %s", failed, strerror((int)error));
	printf("\n");
	return 0;
}
