// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The calls reach the function that the linkers have found: the program's own in another
 * file, a preloaded library's, a sanitizer's.
 */

// RUN: %cosy-cc -O2 -Wall -fcosy-auto -c %s -o %t.o
// RUN: %cc -O2 -Wall -DOWN -c %s -o %t.own.o
// RUN: %cosy-cc %t.o %t.own.o -o %t && %vm %t | FileCheck --check-prefix=OWN %s
// RUN: %cosy-cc -static %t.o %t.own.o -o %t && %vm %t | FileCheck --check-prefix=OWN %s
// OWN: size 77, not open

// RUN: %cc -O2 -Wall -DOWN -shared -fPIC %s -o %t.so
// RUN: %cosy-cc %t.o -o %t && %vm env LD_PRELOAD=%t.so %t | FileCheck --check-prefix=OWN %s
// RUN: %vm %t | FileCheck --check-prefix=LIBC %s
// LIBC: size 5, open

// RUN: %cosy-cc -O1 -fcosy-auto -fsanitize=address -DOVERFLOW %s -o %t && not %vm env ASAN_OPTIONS=strict_string_checks=1 %t 2>&1 | FileCheck --check-prefix=ASAN %s
// ASAN: AddressSanitizer: stack-buffer-overflow
// ASAN: {{stat|open}}

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef OWN

int stat(const char *path, struct stat *to)
{
	(void)path;
	to->st_size = 77;
	return 0;
}

#else

#include "../run/Inputs/device.h"

int main(void)
{
	char name[] = "/tmp/interposed-XXXXXX";
	struct stat st = { 0 };
	int fd = mkstemp(name);

	CHECK(fd >= 0 && write(fd, "12345", 5) == 5);
#ifdef OVERFLOW
	/* The interceptor checks the path: no end within the array. */
	name[sizeof(name) - 1] = 'x';
#endif
	for (int i = 0; i < 100; i++)
		CHECK(!stat(name, &st));
	CHECK(!unlink(name));
	printf("size %ld, %sopen\n", (long)st.st_size, device() < 0 ? "not " : "");
	return 0;
}

#endif
