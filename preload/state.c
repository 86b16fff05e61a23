// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * state.c - the slow paths: the next functions, and the descriptor of /dev/cosy.
 *
 * The process must not notice the descriptor. No call returns its number to the process
 * (COSY_IOC_HIDE). Without such a number the device is not used, unless the limit is so high
 * that programs do not reach a number from COSY_HIDE_MAX on. The descriptor is closed on exec.
 * The process may close it: an entry through a free number or another file fails without an
 * effect, and the call is made natively.
 *
 * Opening the device costs about 20,000 instructions, and a call through the module saves more
 * than 1,000. Most processes make few calls, so the first calls are native.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>

#include <cosy/costs.h>

#include "device/call.h"
#include "device/file.h"
#include "next.h"
#include "state.h"

#define SIG_BLOCK	0
#define SIG_SETMASK	2

/* Each fork doubles the number of calls before the device is opened, up to this maximum. */
#define MAX_CALLS	(1 << 12)
/* After the program has closed the device this many times, it is not opened again. */
#define MAX_LOST	4

int *__errno_location(void);

union cosy_device cosy_device = { .fd = COSY_DEVICE_CLOSED };
uint8_t cosy_routes[COSY_FUNCTIONS];
void *cosy_nexts[COSY_FUNCTIONS];
const char *cosy_single_threaded;
bool cosy_exact_cancellation;

static unsigned int calls;		/* native calls since the device was closed */
static unsigned int calls_needed = COSY_PRELOAD_NATIVE_CALLS;
static unsigned int lost;		/* number of times the program closed the device */
static int shared = -1;		/* the regions' descriptor, if it is used */
static int lost_device = -1;	/* the descriptor that the program closed last */
static int opened_by;		/* the process that opened the device last */

static const char names[] =
#define COSY_PRELOAD_IF(function, name, ...) #function "\0"
#include <preload.def>
#define COSY_WATCHED(function, notice) #function "\0"
#include "watched.def"
#define COSY_REALPATH(function) #function "\0"
#include "realpath.def"
#define COSY_LIBC(function) #function "\0"
#include "libc.def"
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
	/* If another library also interposes the function, that library must see the calls. */
	__atomic_store_n(&cosy_routes[function], route, __ATOMIC_RELEASE);
	return next;
}

static int pid(void)
{
	return (int)cosy_sys(__NR_getpid, 0, 0, 0);
}

static int device_fd(void)
{
	return __atomic_load_n(&cosy_device.fd, __ATOMIC_RELAXED);
}

static union cosy_device read_device(void)
{
	return (union cosy_device){ .all = __atomic_load_n(&cosy_device.all, __ATOMIC_RELAXED) };
}

/*
 * Change cosy_device from @device to @fd, and set @device to what it is then. Fails if another thread has
 * changed it since @device was read, even to the same number. Then the value of that thread stays, above all
 * COSY_DEVICE_OFF.
 */
static bool change_device(union cosy_device *device, int fd)
{
	union cosy_device to = { .fd = fd, .changes = device->changes + 1 };

	if (!__atomic_compare_exchange_n(&cosy_device.all, &device->all, to.all, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return false;
	*device = to;
	return true;
}

/*
 * Ask the module whether the process may use the device. A process below a seccomp filter may be
 * killed for any call that it does not make natively. So this is a call that the dynamic linker
 * makes for each program. It returns no descriptor, except for other files and older modules.
 */
static int ask_module(void)
{
	long ret = cosy_sys(__NR_openat, AT_FDCWD, (long)COSY_DEVICE,
			    O_RDONLY | O_CLOEXEC);

	if (ret >= 0) {
		cosy_file_close((int)ret);
		return -ENODEV;
	}
	return ret == -EINVAL ? 0 : (int)ret;
}

/* Open the device, with signals blocked. Return the descriptor, or -errno. */
static int open_hidden(void)
{
	int fd;

	/* It may have been turned off meanwhile. */
	if (cosy_is_in_except_file() || device_fd() != COSY_DEVICE_OPENING)
		fd = -EPERM;
	else
		fd = cosy_file_open();
	if (fd >= 0 && cosy_file_is_device(fd)) {
		fd = cosy_file_hide(fd);
	} else if (fd >= 0) {
		cosy_file_close(fd);
		fd = -ENODEV;
	}
	return fd;
}

/* Return the value of cosy_device for a descriptor, or for -errno. Only some errors are temporary. */
static int state_of(int fd)
{
	if (fd >= 0)
		return fd;
	return fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM ?
		       COSY_DEVICE_CLOSED :
		       COSY_DEVICE_OFF;
}

/* Return true if @fd is the regions' descriptor, which must not be closed here. */
static bool is_shared(int fd)
{
	return __atomic_load_n(&shared, __ATOMIC_ACQUIRE) == fd;
}

/*
 * Close the device, unless the process uses its number for another file now. A thread that is opening it
 * notices that. So the child of a fork does not wait for a thread that it does not have.
 */
static void close_device(int state)
{
	union cosy_device device = read_device();
	int fd;

	do {
		fd = device.fd;
		if (fd == COSY_DEVICE_OFF || fd == state)
			return;
	} while (!change_device(&device, state));
	__atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
	if (fd >= 0 && !is_shared(fd) && cosy_file_is_device(fd))
		cosy_file_close(fd);
}

/* Return the regions' descriptor; negative if there is none, or if it was closed. */
static int device_to_share(void)
{
	int fd = cosy_shared_device();

	return fd == __atomic_load_n(&lost_device, __ATOMIC_RELAXED) ?
		       COSY_DEVICE_CLOSED :
		       fd;
}

/*
 * Use @fd, the regions' descriptor. Does not call cosy_always_native(), because the regions already
 * use the device.
 */
static bool share_device(int fd)
{
	union cosy_device device = read_device();

	__atomic_store_n(&shared, fd, __ATOMIC_RELEASE);
	if (device.fd == COSY_DEVICE_CLOSED)
		change_device(&device, fd);
	return device.fd >= 0;
}

/*
 * Open the device, with signals blocked. Calls of other threads are native meanwhile. If another thread turns
 * the device off before a filter, this descriptor stays open and unused, because the filter may
 * kill the process for closing it. Return the value of cosy_device.
 */
static int open_device(void)
{
	union cosy_device device = read_device();
	int fd;

	if (device.fd != COSY_DEVICE_CLOSED || !change_device(&device, COSY_DEVICE_OPENING))
		return device.fd;
	fd = open_hidden();
	__atomic_store_n(&opened_by, pid(), __ATOMIC_RELAXED);
	if (!change_device(&device, state_of(fd)) && fd >= 0 && device.fd != COSY_DEVICE_OFF)
		cosy_file_close(fd);
	return device.fd;
}

/*
 * Open the device, if the module permits it. Return true if it is open. A handler of a signal could see the
 * lower number, or leave for ever before the descriptor is known. So signals are blocked, but not before the
 * module has answered: a filter may kill the process for that.
 */
static bool try_device(void)
{
	union cosy_device device = read_device();
	uint64_t all = ~0ull, mask;
	int error, fd;

	__atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
	if (device.fd != COSY_DEVICE_CLOSED)
		return device.fd >= 0;
	error = cosy_always_native() ? -EPERM : ask_module();
	if (error) {
		change_device(&device, state_of(error));
		return device.fd >= 0;
	}
	cosy_sys6(__NR_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&mask,
		  sizeof(mask), 0, 0);
	fd = open_device();
	cosy_sys6(__NR_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0,
		  sizeof(mask), 0, 0);
	return fd >= 0;
}

/* Count a call. Return true after enough calls for opening the device. */
static bool enough_calls(void)
{
	unsigned int made = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);

	return made >= __atomic_load_n(&calls_needed, __ATOMIC_RELAXED) ||
	       (made == 1 && cosy_opens_at_first_call());
}

int cosy_count_call(void)
{
	if (device_fd() == COSY_DEVICE_CLOSED && cosy_is_loaded() && enough_calls())
		try_device();
	return device_fd();
}

bool cosy_prepare(enum cosy_function function)
{
	uint8_t route;
	int device = device_fd(), fd;

	/* The native call needs it. */
	if (!__atomic_load_n(&cosy_nexts[function], __ATOMIC_RELAXED))
		cosy_resolve(function);
	if (device == COSY_DEVICE_OFF || !cosy_is_loaded())
		return false;
	/* A device that is already open can be used at the first call. */
	fd = device < 0 ? device_to_share() : device;
	if (fd < 0 && !enough_calls())
		return false;
	if (__atomic_load_n(&cosy_routes[function], __ATOMIC_ACQUIRE) ==
	    COSY_ROUTE_UNKNOWN)
		cosy_resolve(function);
	route = __atomic_load_n(&cosy_routes[function], __ATOMIC_RELAXED);
	if (route == COSY_ROUTE_MODULE)
		return device >= 0 ||
		       (fd >= 0 ? share_device(fd) : try_device());
	/* The calls that were counted may be calls of this function. */
	__atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
	return false;
}

/*
 * Forget the descriptor @fd, because an entry failed with it. The program has closed it, and its number now
 * belongs to the program. Or another thread has closed it since the entry read the number, such as before a
 * fork. Then a descriptor that was opened later is kept, which may have the same number, also if that happens
 * after the test.
 */
static void forget_device(int fd)
{
	union cosy_device device = read_device();
	unsigned int times = __atomic_load_n(&lost, __ATOMIC_RELAXED) + 1;

	if (fd < 0 || device.fd != fd || cosy_file_is_device(fd))
		return;
	__atomic_store_n(&lost_device, fd, __ATOMIC_RELAXED);
	if (!change_device(&device, times < MAX_LOST ? COSY_DEVICE_CLOSED : COSY_DEVICE_OFF)) {
		/* It was opened again, perhaps with this number. */
		__atomic_compare_exchange_n(&lost_device, &fd, -1, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
		return;
	}
	__atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&lost, times, __ATOMIC_RELAXED);
}

bool cosy_not_made(enum cosy_function function, const struct cosy_call *call,
		   long ret, int fd)
{
	switch (cosy_call_answer(call, ret)) {
	case COSY_ANSWER_RESULT:
		return true;
	case COSY_ANSWER_TRACED:
		close_device(COSY_DEVICE_OFF);
		break;
	case COSY_ANSWER_NEVER:
		__atomic_store_n(&cosy_routes[function], COSY_ROUTE_NEXT,
				 __ATOMIC_RELAXED);
		break;
	case COSY_ANSWER_LOST:
		forget_device(fd);
		break;
	}
	return false;
}

long cosy_failed(long result)
{
	*__errno_location() = (int)-result;
	return -1;
}

/*
 * Close the device, unless the regions use it. Return true if it was open. A child of vfork() has the memory of
 * its parent, of which another thread may have opened the device since, and cannot close the parent's
 * descriptor: the parent would forget it.
 */
static bool close_own_device(void)
{
	int fd = device_fd();

	if (is_shared(fd) || (fd >= 0 && __atomic_load_n(&opened_by, __ATOMIC_RELAXED) != pid()))
		return false;
	close_device(COSY_DEVICE_CLOSED);
	return fd >= 0;
}

void cosy_before_fork(void)
{
	unsigned int needed = __atomic_load_n(&calls_needed, __ATOMIC_RELAXED);

	if (close_own_device() && needed < MAX_CALLS)
		__atomic_store_n(&calls_needed, 2 * needed, __ATOMIC_RELAXED);
}

void cosy_before_limit(void)
{
	close_own_device();
}

void cosy_before_filter(void)
{
	close_device(COSY_DEVICE_OFF);
}

void cosy_after_filter(void)
{
	/* The descriptor stays open, because the filter may also forbid closing it. */
	union cosy_device device = read_device();

	while (!change_device(&device, COSY_DEVICE_OFF))
		;
}

void cosy_before_prctl(long option)
{
	switch ((int)option) {
#define COSY_WATCHED_OPTION(name, number) case number:
#include "watched.def"
		cosy_before_filter();
		break;
	default:
		break;
	}
}

/* The calls of cosy_before_NOTICE(). */
#define BEFORE_filter	cosy_before_filter()
#define BEFORE_limit	cosy_before_limit()
#define BEFORE_prctl	cosy_before_prctl(arg0)

void cosy_before_syscall(long nr, long arg0)
{
	switch (nr) {
#define COSY_WATCHED_CALL(name, notice)	\
	case __NR_##name:		\
		BEFORE_##notice;	\
		break;
#include "watched.def"
	default:
		break;
	}
}
