// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * calls.c - properties of a system call by its number.
 */
#include <cosy/calls.h>

static const bool call_nests[] = {
#define NESTED true
#define LEAVE false
#define COSY_SYSCALL(nr, name, args, nested) [nr] = nested,
#include "../syscalls.def"
#undef NESTED
#undef LEAVE
};

bool cosy_call_nests(cosy_u32 nr)
{
	return nr < sizeof(call_nests) / sizeof(call_nests[0]) &&
	       call_nests[nr];
}

bool cosy_call_parks(cosy_u32 nr)
{
	enum {
#define COSY_SYSCALL(nr, name, args, nested) NR_##name = nr,
#include "../syscalls.def"
	};

	switch (nr) {
#define COSY_PARKS(name) case NR_##name:
#include "../syscalls.def"
		return true;
	default:
		return false;
	}
}
