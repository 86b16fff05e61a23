// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region of a shared library contains the library's functions, unless another object replaces them: libcosy
// sees that when the library is loaded, and the region runs natively. What cannot be replaced is not compared.
// RUN: for o in -O0 -O2; do \
// RUN:   for flags in -DNONE -fsemantic-interposition -fno-semantic-interposition -fvisibility=hidden \
// RUN:     -fvisibility=protected -Wl,-Bsymbolic; do \
// RUN:     %clang $o -w -DLIBRARY $flags -fPIC -shared %s -o %t.so -L%lib -l:libcosy.a && \
// RUN:     %cc $o %s %t.so -o %t && \
// RUN:     COSY_STATS=1 COSY_EXECUTOR=user %t >%t.out 2>&1 && FileCheck --check-prefix=OWN %s <%t.out || \
// RUN:       { echo "$o $flags"; cat %t.out; exit 1; }; \
// RUN:     %cc $o -DREPLACE %s %t.so -o %t && \
// RUN:     COSY_EXECUTOR=native %t >%t.native && \
// RUN:     COSY_STATS=1 COSY_EXECUTOR=user %t >%t.out 2>%t.err && cmp %t.native %t.out && \
// RUN:     case $flags in \
// RUN:     -DNONE|-fsemantic-interposition) FileCheck --check-prefix=REPLACED %s <%t.err;; \
// RUN:     *) FileCheck --check-prefix=OWN %s <%t.err;; \
// RUN:     esac || { echo "replaced: $o $flags"; cat %t.out %t.err; exit 1; }; \
// RUN:   done || exit 1; \
// RUN: done
//
// A static library that was compiled with -fPIC.
// RUN: %clang -O2 -w -DLIBRARY -fPIC -c %s -o %t.o
// RUN: %cc -O2 %s %t.o -o %t -L%lib -l:libcosy.a
// RUN: COSY_STATS=1 COSY_EXECUTOR=user %t 2>&1 | FileCheck --check-prefix=OWN %s
//
// OWN-NOT: upcalls=
// OWN: executor=user runs=1 syscalls=20 entries=0{{$}}
//
// REPLACED: runs natively: has_length() of its file is replaced by that of the program or of another library
#ifdef LIBRARY

#include <cosy.h>
#include <unistd.h>

int has_length(int fd, long length)
{
	return lseek(fd, 0, SEEK_END) == length;
}

__attribute__((noinline)) long twice(long length)
{
	return 2 * length;
}

__attribute__((visibility("default"))) int work(int fd)
{
	int found = 0;

	COSY_START;
	for (long i = 0; i < 20; i++)
		found += has_length(fd, twice(i));
	COSY_END;
	return found;
}

#else

#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int work(int fd);

#ifdef REPLACE
int has_length(int fd, long length)
{
	return length == 4 ? 100 : 0;
}
#endif

int main(void)
{
	int fd = memfd_create("file", 0);

	if (ftruncate(fd, 6))
		return 1;
	printf("%d\n", work(fd));
	return 0;
}

#endif
