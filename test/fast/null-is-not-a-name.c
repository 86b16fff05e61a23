// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NULL is not a name, even if something is mapped there: utimensat() then means the descriptor.
// REQUIRES: root
// RUN: %cosy-cc -O2 -Wall -Wextra -D_GNU_SOURCE %s -o %t
// RUN: %vm sh -c 'for executor in native user kernel; do COSY_EXECUTOR=$executor %t; done' | FileCheck %s
// CHECK-COUNT-3: Success
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cosy.h>

int main(void)
{
	char *zero = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	int dir = open("/tmp", O_RDONLY | O_DIRECTORY);

	if (zero == MAP_FAILED || dir < 0) {
		perror("mmap at 0, or open");
		return 1;
	}
	/* As a name, this is a file that does not exist. */
	__asm__ volatile("movl $0x78782f, (%0)" : : "r"(zero) : "memory");
	errno = 0;
	COSY_START;
	/* The C library's wrapper rejects NULL. */
	syscall(SYS_utimensat, dir, NULL, NULL, 0);
	COSY_END;
	puts(strerror(errno));
	return 0;
}
