/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * static-libc.c - recognises libc's functions in a statically linked program.
 *
 * Such a program is one object that contains libc, so addresses do not tell where a function is
 * from. A function counts as libc's if it makes a system call itself, which a program's
 * own function of that name does not do. Since glibc 2.41, functions at which a thread can be
 * cancelled call __syscall_cancel() instead, which is internal to libc. A function also counts as
 * libc's if libc has a second name for it that is reserved for libc.
 */
#include <stddef.h>
#include <string.h>

#include "device/static-libc.h"

/* More bytes than any of libc's functions has before its SYSCALL, or its call. */
#define MAX_SIZE	64

/* Weak: libc has it since 2.41. */
extern const char libc__syscall_cancel[] __asm__("__syscall_cancel")
	__attribute__((weak, visibility("hidden")));

static bool is_register(unsigned char modrm)
{
	return modrm >> 6 == 3;
}

/* disp8(%rsp), or if @mod is 0, (%rsp). The bits of REX would mean %r12. */
static bool is_stack(unsigned char rex, const unsigned char *modrm, unsigned int mod)
{
	return !(rex & 3) && (modrm[0] & 0xc7) == (mod << 6 | 4) && modrm[1] == 0x24;
}

/* (%reg); 4 and 5 mean other addresses. */
static bool is_pointer(unsigned char modrm)
{
	return modrm >> 6 == 0 && (modrm & 6) != 4;
}

/*
 * The size of the instruction at @code, if it changes only registers and the stack and goes
 * on with the next instruction, or forward; 0 of all others.
 */
static size_t harmless(const unsigned char *code)
{
	size_t rex = (code[0] & 0xf0) == 0x40;
	const unsigned char *op = code + rex;

	switch (op[0]) {
	case 0x31:				/* xor */
	case 0x63:				/* movslq */
	case 0x85:				/* test */
		return is_register(op[1]) ? rex + 2 : 0;
	case 0x89:				/* mov */
		if (is_stack(rex ? code[0] : 0, &op[1], 1))
			return rex + 4;
		return is_register(op[1]) ? rex + 2 : 0;
	case 0x64:				/* mov %fs:offset, %reg: the stack protector */
		return !rex && op[1] == 0x48 && op[2] == 0x8b && (op[3] & 0xc7) == 0x04 &&
				       op[4] == 0x25 ? 9 : 0;
	case 0x68:				/* push $imm32 */
		return rex + 5;
	case 0x6a:				/* push $imm8 */
		return rex + 2;
	case 0x83:				/* cmp $imm8, %reg and the like */
		return is_register(op[1]) ? rex + 3 : 0;
	case 0x80:				/* cmpb $imm8, variable(%rip) */
		return op[1] == 0x3d ? rex + 7 : 0;
	case 0x81:				/* cmp $imm32, %reg and the like */
		return is_register(op[1]) ? rex + 6 : 0;
	case 0x74:				/* je, jne */
	case 0x75:
		return op[1] < 0x80 ? rex + 2 : 0;
	case 0x0f:				/* movaps %xmm, (%rsp); je, jne */
		if (op[1] == 0x29 && is_stack(rex ? code[0] : 0, &op[2], 0))
			return rex + 4;
		return (op[1] | 1) == 0x85 && op[5] < 0x80 ? rex + 6 : 0;
	case 0xb8 ... 0xbf:			/* mov $imm32, %reg */
		return rex && code[0] & 8 ? 0 : rex + 5;
	case 0xf3:				/* movdqu (%reg), %xmm; endbr64 */
		if (op[1] == 0x0f && op[2] == 0x6f && is_pointer(op[3]))
			return rex + 4;
		return op[1] == 0x0f && op[2] == 0x1e && op[3] == 0xfa ?
			       rex + 4 : 0;
	default:
		return 0;
	}
}

/* Return true if the instruction at @code makes a system call, or has libc make it. */
static bool enters_kernel(const unsigned char *code)
{
	int32_t offset;

	if (code[0] == 0x0f && code[1] == 0x05)		/* syscall */
		return true;
	if (code[0] != 0xe8)				/* call */
		return false;
	memcpy(&offset, &code[1], sizeof(offset));
	return libc__syscall_cancel &&
	       (uintptr_t)code + 5 + (uintptr_t)(intptr_t)offset ==
		       (uintptr_t)libc__syscall_cancel;
}

/*
 * Return true if the function has no effects before its system call. A program's own
 * function may, for example, count calls or forward them.
 */
static bool makes_system_call(uintptr_t function, uintptr_t end)
{
	const unsigned char *code = (const unsigned char *)function;
	size_t size = end - function, i = 0, next;

	/* No instruction is longer than 15 bytes. */
	while (size >= 15 && i < size - 15 && i < MAX_SIZE) {
		if (enters_kernel(&code[i]))
			return true;
		next = harmless(&code[i]);
		if (!next)
			return false;
		i += next;
	}
	return false;
}

/*
 * Functions of a static libc that do more before the system call, leave it to another function,
 * or make none, by their second names. Weak: a reference links none of them,
 * and other versions of libc may not have the name.
 */
#define LIBC_ALIASES(X)							\
	X(__stat64) X(__fstat64) X(__lstat64) X(__libc_fcntl64)		\
	X(__nanosleep) X(__clock_gettime) X(__clock_getres)		\
	X(__utime) X(__utimes) X(__futimesat) X(__libc_open64)		\
	X(__libc_openat64) X(__faccessat) X(__getdents64) X(__ioctl)	\
	X(__mknod) X(__mknodat) X(__mmap64) X(__mremap) X(__ppoll)	\
	X(__prctl) X(__pselect) X(__libc_recvmsg)			\
	X(__pthread_mutex_lock) X(__pthread_mutex_trylock)		\
	X(__pthread_mutex_unlock) X(__getrandom)			\
	X(__sched_getaffinity_new) X(__libc_select) X(__libc_sigwaitinfo)

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
