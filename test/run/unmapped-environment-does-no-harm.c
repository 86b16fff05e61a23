// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A program whose environment contains a variable in memory that it has unmapped, as after
 * dlclose() of a library that has called putenv(), runs as long as it does not look for a variable
 * itself.
 */

// RUN: %cc -O1 -Wall %s -o %t
// RUN: %cosy-cc -fcosy-auto -O1 -Wall %s -o %t.auto
// RUN: %t closed
// RUN: %build/bin/cosy run %t closed
// RUN: %t.auto closed
// RUN: %vm %build/bin/cosy run %t open
// RUN: %vm env COSY_EXECUTOR=kernel %build/bin/cosy run %t open
// RUN: %vm env COSY_EXECUTOR=native %build/bin/cosy run %t closed
// RUN: %vm %t.auto open

#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

#include "Inputs/device.h"

int main(int argc, char **argv)
{
	static const char variable[] = "VARIABLE=value";
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EQUAL(argc, 2);
	CHECK(page != MAP_FAILED);
	memcpy(page, variable, sizeof(variable));
	/* In the place of the first one, so that every search reads it. */
	environ[0] = page;
	EQUAL(munmap(page, 4096), 0);
	warm_up();
	EQUAL(has_device(), !strcmp(argv[1], "open"));
	return 0;
}
