// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * state.c - the slow paths: who is next, and the descriptor of /dev/cosy.
 *
 * The process must not see that there is a descriptor of ours. Its number is one
 * that no call gives the process (COSY_IOC_HIDE); where that cannot be had the
 * device is not used, unless the limit is so high that programs do not reach the
 * number. It is closed on exec. The process may close it: an entry through a
 * number that is free, or another file, fails without an effect, and is made
 * natively.
 *
 * Opening costs some 20,000 instructions, a call through the module saves more
 * than 1,000. So a process makes its first calls natively: most make few.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>

#include <cosy/costs.h>

#include "next.h"
#include "state.h"
#include "sys.h"

#define SIG_BLOCK	0
#define SIG_SETMASK	2

/* With each fork the calls that are waited for double, up to that. */
#define MAX_CALLS	(1 << 12)
/* A program that closes the device so often is not worth it. */
#define MAX_LOST	4

#define PR_SET_SECCOMP	22

int *__errno_location(void);

int cosy_device = COSY_DEVICE_CLOSED;
uint8_t cosy_routes[COSY_FUNCTIONS];
void *cosy_nexts[COSY_FUNCTIONS];

static unsigned int calls;		/* made natively since it was closed */
static unsigned int calls_needed = COSY_PRELOAD_NATIVE_CALLS;
static unsigned int lost;		/* how often the program has closed it */
static int shared = -1;		/* the regions' descriptor, if it is used */
static int lost_device = -1;	/* what the program has closed last */

static const char names[] =
#define COSY_PRELOAD_IF(function, name, ...) #function "\0"
#include <preload.def>
#define COSY_WATCHED(function, notice) #function "\0"
#include "watched.def"
	;

const char *cosy_function_name(enum cosy_function function)
{
	const char *name = names;

	while (function--) {
		while (*name++)
			;
	}
	return name;
}

void *cosy_resolve(enum cosy_function function)
{
	enum cosy_route route;
	void *next = cosy_next(function, &route);

	__atomic_store_n(&cosy_nexts[function], next, __ATOMIC_RELAXED);
	/* If another library interposes it, too, that library has to see the calls. */
	__atomic_store_n(&cosy_routes[function], route, __ATOMIC_RELEASE);
	return next;
}

/* Return true if the descriptor is the device's now. */
static bool is_device(int fd)
{
	struct cosy_call none = { .nr = ~0u };

	return cosy_sys(__NR_lseek, fd, (long)(COSY_RUN_TAG | (uintptr_t)&none),
			COSY_CALL_WHENCE, 0) ==
	       (long)(COSY_CALL_LEFT | COSY_CALL_UNKNOWN);
}

/* Give a descriptor a number that the program does not miss. */
static long hide(long fd)
{
	long hidden = cosy_sys(__NR_ioctl, fd, COSY_IOC_HIDE, 0, 0);

	if (hidden == -ERANGE)
		hidden = cosy_sys(__NR_fcntl, fd, F_DUPFD_CLOEXEC,
				  COSY_HIDE_MAX, 0);
	cosy_sys(__NR_close, fd, 0, 0, 0);
	return hidden;
}

/* Return: the descriptor, or what cosy_device is without one. */
static int open_device(void)
{
	uint64_t all = ~0ull, mask;
	long fd;

	/* No signal handler sees the lower number, or leaves by longjmp() before it is closed. */
	cosy_sys(__NR_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&mask,
		 sizeof(mask));
	fd = cosy_sys(__NR_openat, AT_FDCWD, (long)COSY_DEVICE,
		      O_RDWR | O_CLOEXEC, 0);
	if (fd >= 0 && is_device((int)fd)) {
		fd = hide(fd);
	} else if (fd >= 0) {
		cosy_sys(__NR_close, fd, 0, 0, 0);
		fd = -ENODEV;
	}
	cosy_sys(__NR_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0,
		 sizeof(mask));
	if (fd >= 0)
		return (int)fd;
	/* That may pass; all else does not. */
	return fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM ?
		       COSY_DEVICE_CLOSED :
		       COSY_DEVICE_OFF;
}

/*
 * Change cosy_device from @from to @to. Fails if another thread has changed it
 * meanwhile: what it has set then stays, COSY_DEVICE_OFF above all.
 */
static bool change_device(int *from, int to)
{
	return __atomic_compare_exchange_n(&cosy_device, from, to, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Return true if @fd is not to be closed here. */
static bool is_shared(int fd)
{
	return __atomic_load_n(&shared, __ATOMIC_ACQUIRE) == fd;
}

/* Close the device, if the process has not put something else in its place. */
static void close_device(int state)
{
	int fd = __atomic_load_n(&cosy_device, __ATOMIC_RELAXED);

	do {
		if (fd == COSY_DEVICE_OFF)
			return;
		/* The thread that opens it finds out that it is not wanted. */
		if (fd < 0 && state == COSY_DEVICE_CLOSED)
			return;
	} while (!change_device(&fd, state));
	__atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
	if (fd >= 0 && !is_shared(fd) && is_device(fd))
		cosy_sys(__NR_close, fd, 0, 0, 0);
}

/* Return: the regions' descriptor; negative if there is none, or it has been closed. */
static int device_to_share(void)
{
	int fd = cosy_shared_device();

	return fd == __atomic_load_n(&lost_device, __ATOMIC_RELAXED) ?
		       COSY_DEVICE_CLOSED :
		       fd;
}

/*
 * Use @fd, which the regions have open. Whether the process is to be left alone is not asked:
 * the regions use it already.
 */
static bool share_device(int fd)
{
	int closed = COSY_DEVICE_CLOSED;

	__atomic_store_n(&shared, fd, __ATOMIC_RELEASE);
	return change_device(&closed, fd) || closed >= 0;
}

/*
 * Open the device; other threads' calls are native meanwhile. If one of them has
 * turned the device off by the end, this descriptor stays open and unused: the
 * filter that it is turned off for may kill for closing it.
 */
static bool try_device(void)
{
	int opening = COSY_DEVICE_OPENING, closed = COSY_DEVICE_CLOSED, fd;

	if (!change_device(&closed, COSY_DEVICE_OPENING))
		return closed >= 0;
	__atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
	fd = COSY_DEVICE_OFF;
	if (!cosy_left_alone() &&
	    __atomic_load_n(&cosy_device, __ATOMIC_RELAXED) == opening)
		fd = open_device();
	return change_device(&opening, fd) && fd >= 0;
}

/* Count a call. Return true if so many have been made that opening the device pays. */
static bool enough_calls(void)
{
	unsigned int made = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);

	/* The environment is searched once, as most processes make few calls. */
	return made >= __atomic_load_n(&calls_needed, __ATOMIC_RELAXED) ||
	       (made == 1 && cosy_from_first_call());
}

bool cosy_prepare(enum cosy_function function)
{
	int device = __atomic_load_n(&cosy_device, __ATOMIC_RELAXED), fd;

	/* Without it the call cannot be made at all. */
	if (!__atomic_load_n(&cosy_nexts[function], __ATOMIC_RELAXED))
		cosy_resolve(function);
	if (device == COSY_DEVICE_OFF)
		return false;
	/* What is open already does not have to pay. */
	fd = device < 0 ? device_to_share() : device;
	if (fd < 0 && !enough_calls())
		return false;
	if (__atomic_load_n(&cosy_routes[function], __ATOMIC_ACQUIRE) ==
	    COSY_ROUTE_UNKNOWN)
		cosy_resolve(function);
	if (__atomic_load_n(&cosy_routes[function], __ATOMIC_RELAXED) ==
	    COSY_ROUTE_MODULE)
		return device >= 0 ||
		       (fd >= 0 ? share_device(fd) : try_device());
	/* What has been counted until now were perhaps calls of this function. */
	__atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
	return false;
}

/* The program has closed the device, and what is there now is its own. */
static void lose_device(void)
{
	int fd = __atomic_load_n(&cosy_device, __ATOMIC_RELAXED);
	unsigned int times = __atomic_add_fetch(&lost, 1, __ATOMIC_RELAXED);

	__atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&lost_device, fd, __ATOMIC_RELAXED);
	if (fd >= 0)
		change_device(&fd, times < MAX_LOST ? COSY_DEVICE_CLOSED :
						      COSY_DEVICE_OFF);
}

bool cosy_not_made(enum cosy_function function, const struct cosy_call *call,
		   long ret)
{
	if (call->status == COSY_CALL_INTERRUPTED && ret == -EINTR)
		return true;
	switch ((uint64_t)ret) {
	case COSY_CALL_LEFT | COSY_CALL_TRACED:
		close_device(COSY_DEVICE_OFF);
		break;
	case COSY_CALL_LEFT | COSY_CALL_UNKNOWN:
	case COSY_CALL_LEFT | COSY_CALL_FILTERED:
		__atomic_store_n(&cosy_routes[function], COSY_ROUTE_NEXT,
				 __ATOMIC_RELAXED);
		break;
	default:
		lose_device();
		break;
	}
	return false;
}

long cosy_failed(long result)
{
	*__errno_location() = (int)-result;
	return -1;
}

void cosy_before_fork(void)
{
	unsigned int needed = __atomic_load_n(&calls_needed, __ATOMIC_RELAXED);
	int fd = __atomic_load_n(&cosy_device, __ATOMIC_RELAXED);

	if (fd < 0 || is_shared(fd))
		return;
	close_device(COSY_DEVICE_CLOSED);
	if (needed < MAX_CALLS)
		__atomic_store_n(&calls_needed, 2 * needed, __ATOMIC_RELAXED);
}

void cosy_before_filter(void)
{
	close_device(COSY_DEVICE_OFF);
}

void cosy_after_filter(void)
{
	/* The descriptor stays open: closing it is a system call, too. */
	__atomic_store_n(&cosy_device, COSY_DEVICE_OFF, __ATOMIC_RELAXED);
}

void cosy_before_prctl(long option)
{
	if ((int)option == PR_SET_SECCOMP)
		cosy_before_filter();
}

void cosy_before_syscall(long nr, long arg0)
{
	if (nr == __NR_seccomp)
		cosy_before_filter();
	else if (nr == __NR_prctl)
		cosy_before_prctl(arg0);
}
