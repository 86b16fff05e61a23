/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * module.c - shares whose tables are in the kernel.
 *
 * The descriptor of a share is an ordinary one. The program may close it, which ends the share.
 */
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include <linux/cosy.h>

#include "device/device.h"
#include "device/sys.h"
#include "share/share.h"

static long command(const struct cosy_share *share, unsigned int command, void *arg)
{
	const long ret = cosy_sys(SYS_ioctl, share->fd, command, (long)arg);

	/* The share was closed; perhaps another file has its number. */
	return ret == -ESHUTDOWN || ret == -ENOTTY ? -EBADF : ret;
}

/* Make a share. Return 0, -ENODEV if there is no module, or another error. */
int cosy_share_in_module(struct cosy_share *share)
{
	struct cosy_share_create create = { .size = sizeof(create), .max = share->max };
	const int device = cosy_device_get_own();
	long ret;

	if (device < 0)
		return -ENODEV;
	ret = cosy_sys(SYS_ioctl, device, COSY_IOC_SHARE, (long)&create);
	/* A module without shares, or a device that was closed meanwhile. */
	if (ret == -ENOTTY || ret == -EBADF)
		return -ENODEV;
	if (ret)
		return (int)ret;
	share->fd = create.fd;
	share->id = create.id;
	return 0;
}

/* Return true if another process, whose child this one is, has made the share. */
bool share_is_of_parent_in_module(const struct cosy_share *share)
{
	return command(share, COSY_SHARE_COUNT, NULL) == -EPERM;
}

/* Close all descriptors of a share, and its own one. */
void share_close_in_module(struct cosy_share *share)
{
	long count = share->ended ? 0 : command(share, COSY_SHARE_COUNT, NULL);

	/* A child's copy of a share of its parent. */
	if (count == -EPERM && share->owner != cosy_sys(SYS_getpid, 0, 0, 0))
		count = 0;
	/* If it fails, the program has closed the share, and its number may be that of another file. */
	if (count >= 0)
		cosy_sys(SYS_close, share->fd, 0, 0);
}

/* Close all descriptors of a share, while calls of other threads use its own one. */
void share_end_in_module(struct cosy_share *share)
{
	share->ended = !command(share, COSY_SHARE_END, NULL);
}

/* Return the number of descriptors. */
uint32_t cosy_share_count_in_module(const struct cosy_share *share)
{
	const long ret = command(share, COSY_SHARE_COUNT, NULL);

	return ret < 0 ? 0 : (uint32_t)ret;
}

/* Copy, close or move a descriptor, as COSY_SHARE_MOVE says. Return the new one or -errno. */
static int move_descriptor(struct cosy_share *share, int fd, int to, unsigned int flags)
{
	struct cosy_share_move move = {
		.size = sizeof(move),
		.flags = flags,
		.fd = (uint32_t)fd,
		.to = to,
	};

	return (int)command(share, COSY_SHARE_MOVE, &move);
}

/* Give a descriptor to another share. Return the new one or -errno. */
int cosy_share_give_in_module(struct cosy_share *share, int fd, struct cosy_share *to)
{
	const int copy = move_descriptor(share, fd, to->fd, COSY_SHARE_COPY);

	if (copy < 0)
		return copy;
	/* Only now, because it may have failed, and before another file has the number. */
	share_forget(fd);
	if (move_descriptor(share, fd, -1, COSY_SHARE_CLOSE) != -EBADF)
		return copy;
	/* Another thread has taken it. */
	move_descriptor(to, copy, -1, COSY_SHARE_CLOSE);
	return -EBADF;
}

/* Install a descriptor in the table of the process. Return the new one or -errno. */
int cosy_share_install_in_module(struct cosy_share *share, int fd, int flags)
{
	/*
	 * Try whether there is room. Closing a copy of the share's own descriptor would end the share. A copy of
	 * @fd would not do either: where epoll_ctl() is made with copies in the table of the process, the next copy
	 * has to have the number that the first one had.
	 */
	const long probe = cosy_sys(SYS_eventfd2, 0, EFD_CLOEXEC, 0);

	if (probe < 0)
		return (int)probe;
	cosy_sys(SYS_close, probe, 0, 0);
	if (share_number(share, fd) < 0)
		return -EBADF;
	share_forget(fd);
	return move_descriptor(share, fd, -1, flags ? COSY_SHARE_CLOEXEC : 0);
}

/* Move an ordinary descriptor into the share. */
static long move_in(struct cosy_share *share, int fd)
{
	const int ret = move_descriptor(share, fd, -1, COSY_SHARE_IN);

	cosy_sys(SYS_close, fd, 0, 0);
	return ret;
}

static long move_pair_in(struct cosy_share *share, int *fds)
{
	const int first = (int)move_in(share, fds[0]), second = (int)move_in(share, fds[1]);

	fds[0] = first;
	fds[1] = second;
	if (first >= 0 && second >= 0)
		return 0;
	if (first >= 0)
		cosy_share_close(share, first);
	if (second >= 0)
		cosy_share_close(share, second);
	return first < 0 ? first : second;
}

/*
 * Close a descriptor where tracers, filters and audit rules see it: a close() of its number, which the table of the
 * process does not have. If that fails otherwise, because of a filter, the descriptor stays open.
 */
static long close_outside(struct cosy_share *share, int fd)
{
	long ret = -EBADF;

	if (share_number(share, fd) < 0)
		return ret;
	ret = cosy_sys(SYS_close, fd, 0, 0);
	return ret == -EBADF ? move_descriptor(share, fd, -1, COSY_SHARE_CLOSE) : ret;
}

/* Make a call in the table of the process, where tracers, filters and audit rules see it. */
static long call_outside(struct cosy_share *share, const struct share_kind *kind, long nr,
			 const uint64_t *args)
{
	const uint32_t made = share_count_made(kind);
	uint64_t given[6];
	uint32_t copied = 0;
	long ret = 0;

	if (nr == SYS_close)
		return close_outside(share, (int)args[0]);
	for (int i = 0; i < 6 && ret >= 0; i++) {
		given[i] = args[i];
		if (!share_translates(kind, nr, args, i))
			continue;
		ret = move_descriptor(share, (int)args[i], -1, COSY_SHARE_CLOEXEC | COSY_SHARE_COPY);
		if (ret < 0)
			break;
		given[i] = (uint64_t)ret;
		copied |= 1u << i;
	}
	/* Check this before the call. After it, a connection that it has accepted, for example, would be lost. */
	if (ret >= 0 && made && cosy_share_count_in_module(share) + made > share->max)
		ret = -EMFILE;
	if (ret >= 0) {
		ret = cosy_sys_args(nr, given);
		if (kind->makes == SHARE_RESULT && ret >= 0)
			ret = move_in(share, (int)ret);
		else if (kind->makes >= SHARE_PAIR && !ret)
			ret = move_pair_in(share, (int *)(uintptr_t)given[kind->makes - SHARE_PAIR]);
	}
	for (int i = 0; i < 6; i++) {
		if (copied >> i & 1)
			cosy_sys(SYS_close, (long)given[i], 0, 0);
	}
	return ret;
}

/* Make a call. Return its result or -errno. */
long cosy_share_call_in_module(struct cosy_share *share, const struct share_kind *kind, long nr,
			       const uint64_t *args)
{
	struct cosy_call call = {
		.nr = (uint32_t)nr,
		.args = { args[0], args[1], args[2], args[3], args[4], args[5] },
	};
	const long ret = cosy_sys(SYS_lseek, share->fd, (long)(COSY_RUN_TAG | (uintptr_t)&call),
				  COSY_CALL_WHENCE);

	if (share_done(ret))
		return (int)ret;
	if ((uint64_t)ret >> 32 == COSY_CALL_LEFT >> 32)
		return call_outside(share, kind, nr, args);
	/* The share was closed; perhaps another file has its number. */
	return ret >= 0 || ret == -ESHUTDOWN || ret == -ESPIPE || ret == -ENXIO ? -EBADF : ret;
}

/* Call a function with a copy of a descriptor. */
long share_lend_in_module(struct cosy_share *share, int fd, long (*use)(int copy, void *arg), void *arg)
{
	const int copy = move_descriptor(share, fd, -1, COSY_SHARE_CLOEXEC | COSY_SHARE_COPY);
	long ret;

	if (copy < 0)
		return copy;
	ret = use(copy, arg);
	cosy_sys(SYS_close, copy, 0, 0);
	return ret;
}
