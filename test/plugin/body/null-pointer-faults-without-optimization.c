// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// At -O0, and with -fno-delete-null-pointer-checks, a region that stores by a null pointer ends with SIGSEGV,
// after the calls before the store, as native code does.
// RUN: for o in -O0 "-O2 -fno-delete-null-pointer-checks"; do \
// RUN:   %clang $o -w %s -o %t -L%lib -l:libcosy.a && \
// RUN:   for e in native user; do COSY_EXECUTOR=$e %t || exit 1; done || exit 1; \
// RUN: done
#include <cosy.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void store(int *bad, int fd, int conditional)
{
	COSY_START;
	for (int i = 0; i < 3; i++) {
		write(fd, "x", 1);
		if (!conditional || i == 1)
			*bad = 1;
	}
	COSY_END;
}

/* Return the number of calls before the fault, or -1 without a fault. */
static int calls_of(int conditional)
{
	char bytes[8];
	int fds[2], status;
	pid_t child;

	if (pipe(fds))
		return -1;
	child = fork();
	if (!child) {
		store(0, fds[1], conditional);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
		return -1;
	close(fds[1]);
	return (int)read(fds[0], bytes, sizeof(bytes));
}

int main(void)
{
	int always = calls_of(0), second = calls_of(1);

	printf("faults after %d and %d calls\n", always, second);
	return always != 1 || second != 2;
}
