/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * share.c - <cosy/share.h>: decides where the table of a share is, and makes the calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cosy/calls.h>

#include "async/calls.h"
#include "device/device.h"
#include "device/export.h"
#include "device/extensible.h"
#include "device/options.h"
#include "device/sys.h"
#include "share/share.h"

#define DEFAULT_MAX	64u

static const uint8_t makes[SHARE_CALLS] = {
#define COSY_SHARES(name, what) [SYS_##name] = SHARE_##what,
#define COSY_SHARES_PAIR(name, arg) [SYS_##name] = SHARE_PAIR + (arg),
#include <syscalls.def>
};

int share_number(const struct cosy_share *share, int64_t fd)
{
	const int64_t number = fd - share_descriptor(share, 0);

	return number >= 0 && number < COSY_SHARE_MAX ? (int)number : -EBADF;
}

int share_descriptor(const struct cosy_share *share, uint32_t number)
{
	return (int)(COSY_SHARE_FD | share->id << COSY_SHARE_ID_SHIFT | number);
}

bool share_makes(long nr, const uint64_t args[6])
{
	return nr >= 0 && nr < SHARE_CALLS && makes[nr] != SHARE_REFUSED &&
	       cosy_share_allows((unsigned int)nr, args[1], args[2]);
}

bool share_translates(const struct share_kind *kind, long nr, const uint64_t *args, int i)
{
	if (!(kind->mask >> i & 1))
		return false;
	if (nr == SYS_openat && (int)args[i] == AT_FDCWD)
		return false;
	/* These take ordinary descriptors, too. */
	return (nr != SYS_dup && (nr != SYS_epoll_ctl || i)) || (uint32_t)args[i] & COSY_SHARE_FD;
}

static void free_table(struct cosy_share *share)
{
	if (share->fd < 0)
		share_free_here(share);
	else
		share_close_in_module(share);
}

/* Make the table of a share, with a number that no other share of the process has. */
static int make_table(struct cosy_share *share)
{
	const bool here = cosy_options().executor == COSY_EXECUTOR_USER ||
			  cosy_options().executor == COSY_EXECUTOR_NATIVE;
	int err;

	/* The module gives numbers in turn, also to other processes. So the next one may be free here. */
	for (unsigned int i = 0; i <= COSY_SHARE_ID_MASK; i++) {
		err = here ? -ENODEV : cosy_share_in_module(share);
		if (err == -ENODEV)
			err = cosy_share_here(share);
		if (err || share_list(share))
			return err;
		share_end(share, false);
		free_table(share);
		share->fd = -1;
		share->ended = false;
	}
	return -EMFILE;
}

COSY_EXPORT int cosy_share_create(struct cosy_share **result,
				  const struct cosy_share_options *options)
{
	struct cosy_share_options known;
	struct cosy_share *share;
	int err = cosy_extensible_copy(&known, sizeof(known), options);

	if (err)
		return err;
	if (!known.max)
		known.max = DEFAULT_MAX;
	if (known.max > COSY_SHARE_MAX)
		return -EINVAL;
	share = aligned_alloc(64, (sizeof(*share) + 63) & ~(size_t)63);
	if (!share)
		return -ENOMEM;
	memset(share, 0, sizeof(*share));
	share->fd = -1;
	share->max = known.max;
	err = make_table(share);
	if (err) {
		free(share);
		return err;
	}
	share->owner = cosy_sys(SYS_getpid, 0, 0, 0);
	*result = share;
	return 0;
}

void share_end(struct cosy_share *share, bool used)
{
	if (share->fd < 0)
		share_end_here(share);
	else if (used)
		share_end_in_module(share);
}

void share_free(struct cosy_share *share)
{
	free_table(share);
	free(share);
}

/* A child in another PID namespace may have the number of its parent. */
static bool is_own(const struct cosy_share *share)
{
	return share->owner == cosy_sys(SYS_getpid, 0, 0, 0) &&
	       !(share->fd < 0 ? share->forked : share_is_of_parent_in_module(share));
}

COSY_EXPORT void cosy_share_destroy(struct cosy_share *share)
{
	if (!share)
		return;
	if (is_own(share)) {
		share_unlist(share);
	} else {
		/* In a child there are no loops, and no threads that use the share. */
		share_unlist_in_child(share);
		share_end(share, false);
		share_free(share);
	}
}

static long call_in(struct cosy_share *share, long nr, const uint64_t *args)
{
	const struct share_kind kind = { makes[nr], cosy_fd_mask(nr) };

	return share->fd >= 0 ? cosy_share_call_in_module(share, &kind, nr, args) :
				cosy_share_call_here(share, &kind, nr, args);
}

COSY_EXPORT long cosy_share_syscall(struct cosy_share *share, long nr, const uint64_t args[6])
{
	return share_makes(nr, args) ? call_in(share, nr, args) : -EINVAL;
}

#define CALL_IN(share, nr, ...) call_in(share, nr, (const uint64_t[6]){ __VA_ARGS__ })

static uint64_t number_of(const void *address)
{
	return (uint64_t)(uintptr_t)address;
}

COSY_EXPORT int cosy_share_open(struct cosy_share *share, int dir, const char *path, int flags,
				mode_t mode)
{
	return (int)CALL_IN(share, SYS_openat, (uint64_t)dir, number_of(path), (uint64_t)flags, mode);
}

COSY_EXPORT int cosy_share_socket(struct cosy_share *share, int domain, int type, int protocol)
{
	return (int)CALL_IN(share, SYS_socket, (uint64_t)domain, (uint64_t)type,
			    (uint64_t)protocol);
}

COSY_EXPORT int cosy_share_accept(struct cosy_share *share, int fd, struct sockaddr *address,
				  socklen_t *size, int flags)
{
	return (int)CALL_IN(share, SYS_accept4, (uint64_t)fd, number_of(address), number_of(size),
			    (uint64_t)flags);
}

COSY_EXPORT int cosy_share_pipe(struct cosy_share *share, int fds[2], int flags)
{
	return (int)CALL_IN(share, SYS_pipe2, number_of(fds), (uint64_t)flags);
}

COSY_EXPORT int cosy_share_dup(struct cosy_share *share, int fd)
{
	if (share->fd >= 0 && fd & (int)COSY_SHARE_FD) {
		const long ret = share_short_call(share, SYS_dup, fd);

		if (share_done(ret))
			return (int)ret;
	}
	return (int)CALL_IN(share, SYS_dup, (uint64_t)fd);
}

COSY_EXPORT int cosy_share_close(struct cosy_share *share, int fd)
{
	if (share->fd >= 0) {
		const long ret = share_short_call(share, SYS_close, fd);

		if (share_done(ret))
			return (int)ret;
	}
	return (int)CALL_IN(share, SYS_close, (uint64_t)fd);
}

COSY_EXPORT ssize_t cosy_share_read(struct cosy_share *share, int fd, void *data, size_t size)
{
	return CALL_IN(share, SYS_read, (uint64_t)fd, number_of(data), size);
}

COSY_EXPORT ssize_t cosy_share_write(struct cosy_share *share, int fd, const void *data,
				     size_t size)
{
	return CALL_IN(share, SYS_write, (uint64_t)fd, number_of(data), size);
}

COSY_EXPORT ssize_t cosy_share_recv(struct cosy_share *share, int fd, void *data, size_t size,
				    int flags)
{
	return CALL_IN(share, SYS_recvfrom, (uint64_t)fd, number_of(data), size, (uint64_t)flags);
}

COSY_EXPORT ssize_t cosy_share_send(struct cosy_share *share, int fd, const void *data, size_t size,
				    int flags)
{
	return CALL_IN(share, SYS_sendto, (uint64_t)fd, number_of(data), size, (uint64_t)flags);
}

COSY_EXPORT int cosy_share_give(struct cosy_share *share, int fd, struct cosy_share *to)
{
	/* Shares of one process are all of one kind, unless the module has come or gone meanwhile. */
	if ((share->fd < 0) != (to->fd < 0))
		return -EINVAL;
	if (share->fd < 0)
		return cosy_share_give_here(share, fd, to);
	return cosy_share_give_in_module(share, fd, to);
}

COSY_EXPORT int cosy_share_install(struct cosy_share *share, int fd, int flags)
{
	if (flags & ~O_CLOEXEC)
		return -EINVAL;
	if (share->fd < 0)
		return cosy_share_install_here(share, fd, flags);
	return cosy_share_install_in_module(share, fd, flags);
}

COSY_EXPORT void cosy_share_info(struct cosy_share *share, struct cosy_share_info *info, size_t size)
{
	struct cosy_share_info found = { .max = share->max, .kernel = share->fd >= 0 };

	if (found.kernel)
		found.open = cosy_share_count_in_module(share);
	else
		found.open = __atomic_load_n(&share->open, __ATOMIC_RELAXED);
	cosy_extensible_give(info, size, &found, sizeof(found));
}
