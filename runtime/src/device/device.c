/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * device.c - the descriptor of /dev/cosy.
 *
 * One per process and copy of libcosy; descriptor.c chooses its number. The
 * program may close it, or open something else under its number: an entry
 * through another file does nothing, and the device is opened again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/cosy.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <valgrind/valgrind.h>

#include <cosy/exec.h>
#include <cosy/format.h>

#include "device/descriptor.h"
#include "device/device.h"
#include "device/file.h"
#include "device/message.h"
#include "device/sys.h"

/* Values of cosy_device_fd that are not descriptors. PAUSED(PAUSED(fd)) is fd again. */
#define NONE		(-1)
#define PAUSED(fd)	(-2 - (fd))
/* Ticks of the time-stamp counter, some seconds. */
#define PAUSED_TICKS	(1ull << 33)

int cosy_device_fd = NONE;

static bool blocked;		/* by a filter: cosy_device_block() has been called */
static uint64_t paused_until;	/* by the time-stamp counter */
static uint64_t device_rdev;	/* the device number of the descriptor */
static int device_pid;		/* the process that opened it */
static int refused_pid;		/* a child of vfork() or clone() that was refused */

/* Return: 0 and the module's answer; -errno if this is not the module's file. */
static long ask(int fd, struct cosy_info *info)
{
	return cosy_sys(SYS_ioctl, fd, COSY_IOC_INFO, (long)info);
}

static bool is_among(uint32_t version, uint32_t oldest, uint32_t newest)
{
	return oldest <= version && version <= newest;
}

/*
 * Open the device, check it, and set @info as far as the module answers. Valgrind does not know what the
 * module writes, and would report it as uninitialised.
 */
static int open_device(struct cosy_info *info)
{
	long ret;
	int fd;

	*info = (struct cosy_info){ .size = sizeof(*info) };
	if (RUNNING_ON_VALGRIND)
		return -EOPNOTSUPP;
	fd = cosy_file_open();
	if (fd < 0)
		return fd;

	ret = ask(fd, info);
	if (ret < 0)
		ret = -ENODEV;
	else if (!is_among(COSY_ABI, info->oldest_abi, info->abi) ||
		 !is_among(COSY_VERSION, info->oldest_format, info->format))
		ret = -EPROTO;
	else if (info->flags & COSY_INFO_TRACED)
		ret = -EBUSY;
	if (ret < 0) {
		cosy_file_close(fd);
		return (int)ret;
	}
	return cosy_descriptor_hide(fd);
}

/* Return: the device number @fd refers to, 0 if it is no character device. */
static uint64_t character_device(int fd)
{
	struct stat st;

	if (cosy_sys(SYS_fstat, fd, (long)&st, 0) < 0 || !S_ISCHR(st.st_mode))
		return 0;
	return st.st_rdev;
}

static bool is_ours(int fd)
{
	uint64_t rdev = __atomic_load_n(&device_rdev, __ATOMIC_RELAXED);

	return fd >= 0 && rdev && character_device(fd) == rdev;
}

static int pid(void)
{
	return (int)cosy_sys(SYS_getpid, 0, 0, 0);
}

/* The calling thread. The module's answer is of this thread; older modules do not know it. */
static int thread(const struct cosy_info *info)
{
	return info->thread ? (int)info->thread : (int)cosy_sys(SYS_gettid, 0, 0, 0);
}

/*
 * Return true in a child of vfork(), which has the number @self and the module's answer @info, if it has one.
 *
 * libc knows the numbers of the threads that it has made, and that of the child of its fork(). In a child of
 * vfork() it knows that of the parent's thread. The same is true in a child of clone(), which has a copy of
 * its parent's memory: it counts as a child of vfork(), too. A child in a new PID namespace is not recognised
 * if it has the same number there as its parent in another namespace.
 */
static bool is_in_vfork(int self, const struct cosy_info *info)
{
	const int known = (int)cosy_env_tid(NULL);

	return known != self && known != thread(info);
}

bool cosy_device_is_in_vfork(void)
{
	return is_in_vfork(pid(), &(const struct cosy_info){});
}

/*
 * Open the device again, and replace @old by the new descriptor. Return it, or -errno. A child of vfork() must
 * not do that: its parent, which has the same variables, does not have the descriptor.
 */
static int replace(int old, struct cosy_info *info)
{
	const int known = (int)cosy_env_tid(NULL), refused = __atomic_load_n(&refused_pid, __ATOMIC_RELAXED);
	int fd, self;

	if (cosy_device_is_blocked())
		return -EPERM;
	/* A child of clone() may run regions for long. */
	if (refused && refused != known && refused == pid())
		return -EBUSY;
	fd = open_device(info);
	if (fd < 0)
		return fd;
	self = pid();
	if (is_in_vfork(self, info)) {
		cosy_file_close(fd);
		__atomic_store_n(&refused_pid, self, __ATOMIC_RELAXED);
		return -EBUSY;
	}
	__atomic_store_n(&device_rdev, character_device(fd), __ATOMIC_RELAXED);
	if (!__atomic_compare_exchange_n(&cosy_device_fd, &old, fd, false,
					 __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
		cosy_file_close(fd);
		return old >= 0 ? old : -EBUSY;
	}
	__atomic_store_n(&device_pid, self, __ATOMIC_RELAXED);
	/* If the program uses the number for a file of its own, that file stays open. */
	if (old != fd && is_ours(old))
		cosy_file_close(old);
	return fd;
}

void cosy_device_pause(void)
{
	int fd = __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED);

	__atomic_store_n(&paused_until, __builtin_ia32_rdtsc() + PAUSED_TICKS,
			 __ATOMIC_RELAXED);
	while (fd >= 0 &&
	       !__atomic_compare_exchange_n(&cosy_device_fd, &fd, PAUSED(fd),
					    true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

bool cosy_device_is_paused(void)
{
	/* The counter begins again at 0 if the machine was suspended to a disk meanwhile. */
	return __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED) < NONE &&
	       __atomic_load_n(&paused_until, __ATOMIC_RELAXED) -
			       __builtin_ia32_rdtsc() <= PAUSED_TICKS;
}

/* End a pause. Return the descriptor, or NONE. */
static int end_pause(void)
{
	int fd = __atomic_load_n(&cosy_device_fd, __ATOMIC_ACQUIRE);

	while (fd < NONE) {
		if (__atomic_compare_exchange_n(&cosy_device_fd, &fd,
						PAUSED(fd), true,
						__ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return PAUSED(fd);
	}
	return fd;
}

int cosy_device_get(void)
{
	struct cosy_info info;
	int fd;

	if (cosy_device_is_paused())
		return -EBUSY;
	fd = end_pause();
	return is_ours(fd) ? fd : replace(fd, &info);
}

int cosy_device_get_own(void)
{
	struct cosy_info info;
	int fd;

	if (cosy_device_is_paused())
		return -EBUSY;
	fd = end_pause();
	return is_ours(fd) && cosy_device_is_own(fd) ? fd : replace(fd, &info);
}

/* A child in another PID namespace may have its parent's number, so the module is asked, too. */
bool cosy_device_is_own(int fd)
{
	struct cosy_info info = { .size = sizeof(info) };

	return __atomic_load_n(&device_pid, __ATOMIC_RELAXED) == pid() &&
	       ask(fd, &info) >= 0 && !(info.flags & COSY_INFO_INHERITED);
}

int cosy_device_file(void)
{
	int fd = __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED);

	return fd < NONE ? PAUSED(fd) : fd;
}

void cosy_device_close(void)
{
	int fd = __atomic_exchange_n(&cosy_device_fd, NONE, __ATOMIC_ACQ_REL);

	if (fd < NONE)
		fd = PAUSED(fd);
	if (is_ours(fd))
		cosy_file_close(fd);
}

/* The only reference to preload/ (state.h). It is NULL if the program makes no single calls. */
extern void cosy_after_filter(void)
	__attribute__((weak, visibility("hidden")));

void cosy_device_block(void)
{
	if (&cosy_after_filter)
		cosy_after_filter();
	__atomic_store_n(&blocked, true, __ATOMIC_RELAXED);
	/* It stays open: closing it is a system call, too. */
	__atomic_store_n(&cosy_device_fd, NONE, __ATOMIC_RELAXED);
}

bool cosy_device_is_blocked(void)
{
	return __atomic_load_n(&blocked, __ATOMIC_RELAXED);
}

bool cosy_device_gone(int error)
{
	switch (error) {
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
	case -EINTR:
	case -EBUSY:
	/* Another thread has closed the descriptor meanwhile. */
	case -EBADF:
		return false;
	default:
		return true;
	}
}

/* The module knows versions @oldest to @newest of @what, and not @version. */
static void explain_versions(const char *what, uint32_t oldest, uint32_t newest,
			     uint32_t version)
{
	struct cosy_number from, to, needs;

	cosy_message("module has ", what, " ", cosy_number(&from, oldest),
		     oldest == newest ? "" : " to ",
		     oldest == newest ? "" : cosy_number(&to, newest),
		     ", this program needs ", cosy_number(&needs, version),
		     NULL);
}

static void explain_failure(int error, const struct cosy_info *info)
{

	switch (-error) {
	case ENOENT:
	case ENXIO:
		cosy_message("cannot open " COSY_DEVICE ": module not loaded"
			     " (try: sudo modprobe cosy; see cosy(4))", NULL);
		break;
	case EACCES:
	case EPERM:
		cosy_message("cannot open " COSY_DEVICE ": permission denied"
			     " (it is meant to have mode 0666)", NULL);
		break;
	case EPROTO:
		if (!is_among(COSY_ABI, info->oldest_abi, info->abi))
			explain_versions("ABI", info->oldest_abi, info->abi,
					 COSY_ABI);
		else
			explain_versions("compound format", info->oldest_format,
					 info->format, COSY_VERSION);
		break;
	case EBUSY:
		cosy_message("the program is being traced or debugged: its"
			     " regions run natively", NULL);
		break;
	case EOPNOTSUPP:
		cosy_message("valgrind does not know what the module writes:"
			     " regions run natively", NULL);
		break;
	case ENODEV:
		cosy_message(COSY_DEVICE " is not the Cosy module's device, or"
			     " the module is older than this program", NULL);
		break;
	default:
		cosy_message("cannot open " COSY_DEVICE ": ", strerror(-error),
			     NULL);
	}
}

bool cosy_device_available(bool explain)
{
	enum { UNKNOWN, YES, NO };
	static int available;
	int known = __atomic_load_n(&available, __ATOMIC_ACQUIRE);
	struct cosy_info info;
	int fd;

	if (known != UNKNOWN)
		return known == YES;

	fd = replace(NONE, &info);
	if (!__atomic_compare_exchange_n(&available, &known,
					 fd < 0 ? NO : YES, false,
					 __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
		return known == YES;
	if (fd < 0 && explain)
		explain_failure(fd, &info);
	return fd >= 0;
}
