// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * capabilities.c - finds out whether programs can open this library after they have lost capabilities.
 *
 * A program that root executes gets the capabilities of the bounding set, and with SECBIT_NOROOT none. Before
 * that, access() and open() succeed by capabilities that the program will not have. So the library is opened
 * without capabilities before a process changes one of the two, which only prctl() does. Then exec.c knows
 * without further calls. Without root, access() uses no capabilities.
 */
#include <asm/unistd.h>
#include <linux/capability.h>
#include <linux/fcntl.h>
#include <linux/prctl.h>
#include <stddef.h>

#include "device/sys.h"
#include "next.h"
#include "watched.h"

#define SIG_BLOCK	0
#define SIG_SETMASK	2

bool cosy_needs_capabilities;

/* Return true if this thread can open the library without capabilities. */
static bool opens_without(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct old[_LINUX_CAPABILITY_U32S_3], none[_LINUX_CAPABILITY_U32S_3];
	uint64_t all = ~0ull, mask;
	long fd = -1;

	if (cosy_sys(__NR_capget, (long)&header, (long)old, 0))
		return false;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		none[i] = old[i];
		none[i].effective = 0;
	}
	/* A handler must not run without its capabilities. */
	cosy_sys6(__NR_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&mask, sizeof(mask), 0, 0);
	if (!cosy_sys(__NR_capset, (long)&header, (long)none, 0)) {
		fd = cosy_sys(__NR_openat, AT_FDCWD, (long)cosy_own_path(), O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			cosy_sys(__NR_close, fd, 0, 0);
		cosy_sys(__NR_capset, (long)&header, (long)old, 0);
	}
	cosy_sys6(__NR_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
	return fd >= 0;
}

/* Return true if programs may have fewer capabilities after this option of prctl(). */
static bool takes_capabilities(int option)
{
	switch (option) {
#define COSY_CAPABILITY_OPTION(name, number) case number:
#include "watched.def"
		return true;
	default:
		return false;
	}
}

void cosy_before_capabilities(long option)
{
	static bool asked;

	if (!takes_capabilities((int)option))
		return;
	/* A process calls prctl() for each capability. */
	if (__atomic_exchange_n(&asked, true, __ATOMIC_RELAXED) || !cosy_own_path())
		return;
	/* A filter may kill the process for these calls. */
	if (cosy_sys(__NR_prctl, PR_GET_SECCOMP, 0, 0) > 0 || !opens_without())
		__atomic_store_n(&cosy_needs_capabilities, true, __ATOMIC_RELAXED);
}
