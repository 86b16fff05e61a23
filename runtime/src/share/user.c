/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * user.c - shares whose tables are in this library, and whose files are in the process's table.
 *
 * A call uses an ordinary descriptor. That must refer to the file until the call has returned, also if
 * another thread closes the descriptor of the share meanwhile. Otherwise the call could get another file
 * of the program. So the last user closes the ordinary descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <linux/memfd.h>

#include "device/descriptor.h"
#include "device/sys.h"
#include "share/share.h"

/* Takes the place of a file that a call is about to make or to close. */
static struct share_file share_reserved;

/* All tables, so that a child can close their files. Taken before the lock of a share. */
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cosy_share *all;
static uint64_t sum_of_max;
static uint32_t made;

static void before_fork(void)
{
	pthread_mutex_lock(&all_lock);
	for (struct cosy_share *share = all; share; share = share->next)
		pthread_mutex_lock(&share->lock);
}

static void after_fork(void)
{
	for (struct cosy_share *share = all; share; share = share->next)
		pthread_mutex_unlock(&share->lock);
	pthread_mutex_unlock(&all_lock);
}

/* Files without users that a filter of their last user's thread has not let it close. */
static struct share_file *left;

/*
 * Return true if a filter of this thread has let a close() fail with @err, which has closed nothing. It does the same
 * with @no_file, for which the kernel itself returns EBADF.
 */
static bool is_refused(int no_file, long err)
{
	return err < 0 && err != -EBADF && cosy_sys(SYS_close, no_file, 0, 0) == err;
}

/* Close a file without users, or leave it to the next thread that closes one. */
static void close_file(struct share_file *file)
{
	if (!is_refused(-1, cosy_sys(SYS_close, file->fd, 0, 0))) {
		free(file);
		return;
	}
	file->next = __atomic_load_n(&left, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&left, &file->next, file, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

static void close_left(void)
{
	struct share_file *next, *file;

	if (!__atomic_load_n(&left, __ATOMIC_RELAXED))
		return;
	for (file = __atomic_exchange_n(&left, NULL, __ATOMIC_ACQUIRE); file; file = next) {
		next = file->next;
		close_file(file);
	}
}

static void put_file(struct share_file *file)
{
	if (__atomic_sub_fetch(&file->users, 1, __ATOMIC_ACQ_REL))
		return;
	close_left();
	close_file(file);
}

/* Put all files of a table. @forked: no call of the child uses them, whatever their counts say. */
static void close_files(struct share_file **files, uint32_t n, bool forked)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!files[i] || files[i] == &share_reserved)
			continue;
		if (forked)
			files[i]->users = 1;
		put_file(files[i]);
	}
	free(files);
}

/* Take all files out of a table. With the lock. */
static void empty_table(struct cosy_share *share)
{
	share->files = NULL;
	share->size = 0;
	share->open = 0;
}

static void after_fork_in_child(void)
{
	for (struct cosy_share *share = all; share; share = share->next) {
		close_files(share->files, share->size, true);
		empty_table(share);
		share->forked = true;
		sum_of_max -= share->max;
	}
	after_fork();
}

static bool count_descriptor(int fd, void *number)
{
	(void)fd;
	++*(uint64_t *)number;
	return false;
}

/* Count the descriptors of the process. Return 0 if /proc does not tell. */
static uint64_t count_open(void)
{
	uint64_t number = 0;

	cosy_descriptors_each(count_descriptor, &number);
	return number;
}

/*
 * Return the next number that no share has, with the lock. If all are in use, several shares have the
 * same.
 */
static uint32_t next_number(void)
{
	uint64_t used[(COSY_SHARE_ID_MASK + 1) / 64] = { 0 };
	uint32_t number = 0;

	for (const struct cosy_share *share = all; share; share = share->next)
		used[share->id / 64] |= 1ull << share->id % 64;
	for (uint32_t tries = 0; tries <= COSY_SHARE_ID_MASK; tries++) {
		number = ++made & COSY_SHARE_ID_MASK;
		if (!(used[number / 64] >> number % 64 & 1))
			break;
	}
	return number;
}

/* Return the number of descriptors of the process that are files of shares. With the lock. */
static uint64_t count_files(void)
{
	uint64_t n = 0;

	for (const struct cosy_share *share = all; share; share = share->next)
		n += __atomic_load_n(&share->open, __ATOMIC_RELAXED);
	return n;
}

/* Make an empty table. Return 0 or -errno. */
int cosy_share_here(struct cosy_share *share)
{
	static bool handlers;
	struct rlimit limit = { 0, 0 };
	uint64_t open, files;
	int err = 0;

	cosy_sys(SYS_getrlimit, RLIMIT_NOFILE, (long)&limit, 0);
	pthread_mutex_init(&share->lock, NULL);
	pthread_mutex_lock(&all_lock);
	if (!handlers && pthread_atfork(before_fork, after_fork, after_fork_in_child))
		err = -ENOMEM;
	open = count_open();
	files = count_files();
	/* The files of shares are a part of what their shares may hold. */
	if (!err && open - (files < open ? files : open) + sum_of_max + share->max > limit.rlim_cur)
		err = -EMFILE;
	handlers |= err != -ENOMEM;
	if (!err) {
		sum_of_max += share->max;
		share->id = next_number();
		share->next = all;
		share->previous = &all;
		if (all)
			all->previous = &share->next;
		all = share;
	}
	pthread_mutex_unlock(&all_lock);
	return err;
}

/* Close all descriptors of a table. */
void share_end_here(struct cosy_share *share)
{
	struct share_file **files;
	uint32_t n;

	pthread_mutex_lock(&all_lock);
	*share->previous = share->next;
	if (share->next)
		share->next->previous = share->previous;
	if (!share->forked)
		sum_of_max -= share->max;
	pthread_mutex_lock(&share->lock);
	share->ended = true;
	files = share->files;
	n = share->size;
	empty_table(share);
	pthread_mutex_unlock(&share->lock);
	pthread_mutex_unlock(&all_lock);
	close_files(files, n, false);
}

void share_free_here(struct cosy_share *share)
{
	pthread_mutex_destroy(&share->lock);
}

/* Return the file of a descriptor, or NULL. With the lock. */
static struct share_file *find(const struct cosy_share *share, int fd)
{
	const int number = share_number(share, fd);
	struct share_file *file = NULL;

	if (number >= 0 && (uint32_t)number < share->size)
		file = share->files[number];
	return file == &share_reserved ? NULL : file;
}

/* Empty a place of the table. With the lock. */
static void empty(struct cosy_share *share, uint32_t number)
{
	share->files[number] = NULL;
	__atomic_store_n(&share->open, share->open - 1, __ATOMIC_RELAXED);
	if (number < share->first)
		share->first = number;
}

/* Return the file of a descriptor, to be put by put_file(), or NULL. */
static struct share_file *get_file(struct cosy_share *share, int fd)
{
	struct share_file *file;

	pthread_mutex_lock(&share->lock);
	file = find(share, fd);
	if (file)
		__atomic_fetch_add(&file->users, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&share->lock);
	return file;
}

/* The same, and take it out of the table, if it is @only. */
static struct share_file *take_file(struct cosy_share *share, int fd,
				    const struct share_file *only)
{
	struct share_file *file;

	pthread_mutex_lock(&share->lock);
	file = find(share, fd);
	if (file != only)
		file = NULL;
	if (file)
		empty(share, (uint32_t)share_number(share, fd));
	pthread_mutex_unlock(&share->lock);
	return file;
}

static int grow(struct cosy_share *share)
{
	uint32_t size = share->size ? share->size * 2 : 64;
	struct share_file **files;

	if (size > share->max)
		size = share->max;
	files = realloc(share->files, size * sizeof(struct share_file *));
	if (!files)
		return -ENOMEM;
	memset(files + share->size, 0, (size - share->size) * sizeof(struct share_file *));
	share->files = files;
	share->size = size;
	return 0;
}

/* Reserve the lowest number that is free. Return it or -errno. */
static int reserve(struct cosy_share *share)
{
	struct rlimit limit = { 0, 0 };
	uint32_t number;
	int ret = -EMFILE;

	cosy_sys(SYS_getrlimit, RLIMIT_NOFILE, (long)&limit, 0);
	pthread_mutex_lock(&share->lock);
	for (number = share->first; number < share->size && share->files[number]; number++)
		;
	if (share->ended)
		ret = -EBADF;
	else if (number < share->max && number < limit.rlim_cur)
		ret = number < share->size ? 0 : grow(share);
	if (!ret) {
		share->files[number] = &share_reserved;
		share->first = number + 1;
		__atomic_store_n(&share->open, share->open + 1, __ATOMIC_RELAXED);
		ret = (int)number;
	}
	pthread_mutex_unlock(&share->lock);
	return ret;
}

/* End a reservation, by a file or NULL. Return the descriptor; -EBADF: the share has ended. */
static int fill(struct cosy_share *share, int number, struct share_file *file)
{
	bool ended;

	pthread_mutex_lock(&share->lock);
	ended = share->ended;
	if (!ended && file)
		share->files[number] = file;
	else if (!ended)
		empty(share, (uint32_t)number);
	pthread_mutex_unlock(&share->lock);
	if (ended && file)
		put_file(file);
	return ended ? -EBADF : share_descriptor(share, (uint32_t)number);
}

/* The same with a new ordinary descriptor. */
static int fill_fd(struct cosy_share *share, int number, int fd)
{
	struct share_file *file = malloc(sizeof(*file));

	if (!file) {
		cosy_sys(SYS_close, fd, 0, 0);
		fill(share, number, NULL);
		return -ENOMEM;
	}
	file->fd = fd;
	file->users = 1;
	return fill(share, number, file);
}

/* exec() closes the descriptors of a share: make the call so that it does. */
static long make(long nr, uint64_t *args)
{
	switch (nr) {
	case SYS_dup:
		return cosy_sys(SYS_fcntl, (long)args[0], F_DUPFD_CLOEXEC, 0);
	case SYS_accept:
		args[3] = 0;
		nr = SYS_accept4;
		/* fallthrough */
	case SYS_accept4:
		args[3] |= SOCK_CLOEXEC;
		break;
	case SYS_openat:
		args[2] |= O_CLOEXEC;
		break;
	case SYS_memfd_create:
		args[1] |= MFD_CLOEXEC;
		break;
	case SYS_epoll_create1:
		args[0] |= O_CLOEXEC;
		break;
	/* All of these have the same flag. */
	case SYS_socket:
	case SYS_socketpair:
	case SYS_pipe2:
	case SYS_eventfd2:
	case SYS_timerfd_create:
		args[1] |= O_CLOEXEC;
		break;
	default:
		break;
	}
	return cosy_sys_args(nr, args);
}

static long fill_pair(struct cosy_share *share, const int *numbers, int *fds)
{
	for (int i = 0; i < 2; i++)
		fds[i] = fill_fd(share, numbers[i], fds[i]);
	if (fds[0] >= 0 && fds[1] >= 0)
		return 0;
	for (int i = 0; i < 2; i++) {
		if (fds[i] >= 0)
			cosy_share_close(share, fds[i]);
	}
	return fds[0] < 0 ? fds[0] : fds[1];
}

/* Make a call that makes @n descriptors. */
static long make_new(struct cosy_share *share, const struct share_kind *kind, long nr,
		     uint64_t *args)
{
	const uint32_t n = share_count_made(kind);
	uint32_t reserved = 0;
	int numbers[2];
	long ret = 0;

	while (reserved < n && ret >= 0) {
		ret = reserve(share);
		if (ret >= 0)
			numbers[reserved++] = (int)ret;
	}
	if (ret >= 0)
		ret = make(nr, args);
	if (ret >= 0 && n == 1)
		return fill_fd(share, numbers[0], (int)ret);
	if (ret >= 0 && n == 2)
		return fill_pair(share, numbers,
				 (int *)(uintptr_t)args[kind->makes - SHARE_PAIR]);
	while (reserved)
		fill(share, numbers[--reserved], NULL);
	return ret;
}

/*
 * Give the table's reference up, and close the file if it is the last one. Return 0 or -errno; @refused: a filter has
 * let it fail, and the table still has the reference. Until the call, only the table gives references out.
 */
static long close_reference(struct share_file *file, int fd, bool *refused)
{
	long ret;

	/* Another thread uses the file, and will close it. This one's filter decides, nevertheless. */
	if (__atomic_load_n(&file->users, __ATOMIC_ACQUIRE) > 1) {
		ret = cosy_sys(SYS_close, fd, 0, 0);
		*refused = ret != -EBADF;
		if (*refused)
			return ret;
	}
	if (__atomic_sub_fetch(&file->users, 1, __ATOMIC_ACQ_REL))
		return 0;
	ret = cosy_sys(SYS_close, file->fd, 0, 0);
	*refused = is_refused(fd, ret);
	if (*refused)
		file->users = 1;
	else
		free(file);
	return ret;
}

/* Close a descriptor. It stays open if a filter lets that fail. */
static long close_descriptor(struct cosy_share *share, int fd)
{
	const int number = share_number(share, fd);
	struct share_file *file;
	bool refused = false;
	long ret;

	pthread_mutex_lock(&share->lock);
	file = find(share, fd);
	/* No other file gets the number before the result is known. */
	if (file)
		share->files[number] = &share_reserved;
	pthread_mutex_unlock(&share->lock);
	if (!file)
		return -EBADF;
	close_left();
	ret = close_reference(file, fd, &refused);
	fill(share, number, refused ? file : NULL);
	return ret;
}

/* Make a call. Return its result or -errno. */
long cosy_share_call_here(struct cosy_share *share, const struct share_kind *kind, long nr,
			  const uint64_t *args)
{
	struct share_file *files[6] = { NULL };
	uint64_t given[6];
	long ret = 0;

	if (share->forked)
		return -EPERM;
	if (nr == SYS_close)
		return close_descriptor(share, (int)args[0]);
	for (int i = 0; i < 6 && !ret; i++) {
		given[i] = args[i];
		if (!share_translates(kind, nr, args, i))
			continue;
		files[i] = get_file(share, (int)args[i]);
		if (files[i])
			given[i] = (uint64_t)files[i]->fd;
		else
			ret = -EBADF;
	}
	if (!ret)
		ret = make_new(share, kind, nr, given);
	for (int i = 0; i < 6; i++) {
		if (files[i])
			put_file(files[i]);
	}
	return ret;
}

/* Give a descriptor to another table. Return the new one or -errno. */
int cosy_share_give_here(struct cosy_share *share, int fd, struct cosy_share *to)
{
	struct share_file *file, *taken = NULL;
	int number;

	if (share->forked || to->forked)
		return -EPERM;
	if (share_number(share, fd) < 0)
		return -EBADF;
	number = reserve(to);
	if (number < 0)
		return number;
	file = get_file(share, fd);
	if (file) {
		/* Only now, because it may have failed, and before another file has the number. */
		share_forget(fd);
		taken = take_file(share, fd, file);
		put_file(file);
	}
	number = fill(to, number, taken);
	return taken ? number : -EBADF;
}

/* Install a descriptor in the table of the process. Return the new one or -errno. */
int cosy_share_install_here(struct cosy_share *share, int fd, int flags)
{
	struct share_file *file;
	long ret;

	if (share->forked)
		return -EPERM;
	file = get_file(share, fd);
	if (!file)
		return -EBADF;
	/* Duplicate it: calls may still use the old number, and the program expects the lowest free one. */
	ret = cosy_sys(SYS_fcntl, file->fd, flags ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
	/* As in cosy_share_give_here() */
	if (ret >= 0)
		share_forget(fd);
	if (ret >= 0 && !take_file(share, fd, file)) {
		cosy_sys(SYS_close, ret, 0, 0);
		ret = -EBADF;
	} else if (ret >= 0) {
		/* Put the reference of the table. */
		put_file(file);
	}
	put_file(file);
	return (int)ret;
}

/* Call a function with the ordinary descriptor of a file. */
long share_lend_here(struct cosy_share *share, int fd, long (*use)(int copy, void *arg), void *arg)
{
	struct share_file *file = share->forked ? NULL : get_file(share, fd);
	long ret;

	if (!file)
		return -EBADF;
	ret = use(file->fd, arg);
	put_file(file);
	return ret;
}
