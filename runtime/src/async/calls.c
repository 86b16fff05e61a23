/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * calls.c - which calls there are, how each one waits, and what it does with descriptors.
 */
#include <fcntl.h>
#include <sys/syscall.h>

#include <cosy/calls.h>

#include "device/sys.h"
#include "calls.h"

enum { NESTED = 0, LEAVE = COSY_HOW_REFUSED };

/* The C library may be older than the table. */
enum {
#define COSY_SYSCALL(nr, name, args, nested) NR_##name = nr,
#include <syscalls.def>
};

/* waits.def overrides syscalls.def, which says only DISK or REFUSED. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const uint8_t how_table[] = {
#define COSY_SYSCALL(nr, name, args, nested) [nr] = nested,
#include <syscalls.def>
#define COSY_WAITS(name, how) [NR_##name] = COSY_HOW_##how,
#include "waits.def"
};
#pragma GCC diagnostic pop

static const bool moves_table[sizeof(how_table)] = {
#define COSY_MOVES(name) [NR_##name] = true,
#include "waits.def"
};

/* By number: a bit for each argument that is a descriptor. */
static const uint8_t fd_masks[] = {
#define COSY_SYSCALL(nr, name, args, nested) [nr] = COSY_DESCRIPTOR_MASK(args),
#include <syscalls.def>
};

enum cosy_how cosy_how(long nr)
{
	if ((unsigned long)nr >= sizeof(how_table))
		return COSY_HOW_REFUSED;
	return how_table[nr];
}

bool cosy_call_moves(long nr)
{
	return (unsigned long)nr < sizeof(moves_table) &&
	       (moves_table[nr] || cosy_call_parks((uint32_t)nr));
}

uint8_t cosy_fd_mask(long nr)
{
	return nr >= 0 && (unsigned long)nr < sizeof(fd_masks) ? fd_masks[nr] : 0;
}

bool cosy_takes_fd(long nr)
{
	return cosy_fd_mask(nr) & 1;
}

bool cosy_takes_fds(long nr)
{
	return cosy_fd_mask(nr) > 1;
}

bool cosy_call_uses(long nr, const uint64_t args[6], uint32_t first, uint32_t last)
{
	enum cosy_how how = cosy_how(nr);

	if (how == COSY_HOW_DIRECT || how == COSY_HOW_CLOSE)
		return false;
	for (uint8_t mask = cosy_fd_mask(nr), i = 0; mask; mask >>= 1, i++)
		if (mask & 1 && cosy_fd_is_in((int)args[i], first, last))
			return true;
	return false;
}

bool cosy_call_may_last(long nr)
{
	enum cosy_how how = cosy_how(nr);

	/* The file may be a FIFO. */
	if (how == COSY_HOW_NOWAIT)
		return nr == SYS_open || nr == SYS_openat;
	return how != COSY_HOW_DISK && how != COSY_HOW_CLOSE;
}

bool cosy_has_offset(uint32_t nr)
{
	return nr == SYS_pread64 || nr == SYS_preadv || nr == SYS_pwrite64 ||
	       nr == SYS_pwritev;
}

/* Return true if dup2() or dup3() fails, or has nothing to do. */
static bool closes_nothing(long nr, const uint64_t args[6])
{
	return (uint32_t)args[0] == (uint32_t)args[1] ||
	       (nr == SYS_dup3 && (int)args[2] & ~O_CLOEXEC) ||
	       cosy_sys(SYS_fcntl, (int)args[0], F_GETFD, 0) < 0;
}

void cosy_named_range(long nr, const uint64_t args[6], uint32_t *first, uint32_t *last)
{
	switch (nr) {
	case SYS_dup2:
	case SYS_dup3:
		*first = *last = (uint32_t)args[1];
		break;
	case SYS_close_range:
		*first = (uint32_t)args[0];
		*last = (uint32_t)args[1];
		/* It does not close the descriptors of shares. */
		if (*last >= COSY_OF_SHARE)
			*last = COSY_OF_SHARE - 1;
		if (args[2]) {
			*first = 1;
			*last = 0;
		}
		break;
	default:
		*first = *last = (uint32_t)args[0];
		break;
	}
}

void cosy_closed_range(long nr, const uint64_t args[6], uint32_t *first, uint32_t *last)
{
	cosy_named_range(nr, args, first, last);
	if ((nr == SYS_dup2 || nr == SYS_dup3) && closes_nothing(nr, args)) {
		*first = 1;
		*last = 0;
	}
}
