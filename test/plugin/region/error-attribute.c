// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call of a function with the attribute error, behind a condition that the
// compiler decides, is removed as it is without a region: also where the code
// behind the condition does not return to the region.
// RUN: %clang -O1 -w -c -o %t.o %s
// RUN: %clang -O2 -w -c -o %t.o %s
#include <cosy.h>
#include <stdlib.h>
#include <unistd.h>

void too_small(void) __attribute__((__error__("too small")));
void use(char *);

struct key { char bytes[128]; };

char *checked(struct key *key)
{
	void *p = &key->bytes[0];

	COSY_START;
	getpid();
	if (__builtin_object_size(p, 0) < 32) {
		getpid();
		too_small();
		abort();
	}
	use(key->bytes);
	getpid();
	COSY_END;
	return key->bytes;
}
