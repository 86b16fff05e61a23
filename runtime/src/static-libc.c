/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * static-libc.c - recognises libc's functions in a statically linked program.
 *
 * Such a program is one object with libc in it, and says no more where a function
 * is from. A function counts as libc's if it makes a system call itself, which a
 * program's own function of the name does not, or if libc has it by a second name
 * that is reserved for libc.
 */
#include <stddef.h>

#include "static-libc.h"

/*
 * Is there a SYSCALL before the first RET? The bytes may also be parts of other
 * instructions; a RET that is none only makes the answer no.
 */
static bool makes_system_call(uintptr_t function, uintptr_t end)
{
	const unsigned char *bytes = (const unsigned char *)function;
	size_t size = end - function < 256 ? end - function : 256;

	for (size_t i = 0; i + 1 < size && bytes[i] != 0xc3; i++)
		if (bytes[i] == 0x0f && bytes[i + 1] == 0x05)
			return true;
	return false;
}

/*
 * Functions of a static libc that leave the system call to another one, by their
 * second names. Weak: a reference links none of them, and other versions of libc
 * may not have the name.
 */
#define LIBC_ALIASES(X)							\
	X(__stat64) X(__fstat64) X(__lstat64) X(__libc_fcntl64)		\
	X(__nanosleep) X(__clock_gettime) X(__clock_getres)		\
	X(__utime) X(__utimes) X(__futimesat)

#define DECLARE(name) \
	extern const char libc##name[] __asm__(#name)			\
		__attribute__((weak, visibility("hidden")));
LIBC_ALIASES(DECLARE)
#undef DECLARE

static bool has_alias(uintptr_t function)
{
#define ADDRESS(name) (uintptr_t)libc##name,
	const uintptr_t aliases[] = { LIBC_ALIASES(ADDRESS) };
#undef ADDRESS

	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++)
		if (aliases[i] == function)
			return true;
	return false;
}

bool cosy_static_libc_contains(uintptr_t function, uintptr_t end)
{
	return has_alias(function) || makes_system_call(function, end);
}
