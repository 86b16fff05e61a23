/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * descriptor.c - entries that wait for descriptors.
 *
 * Each descriptor has a list of entries that read, one of entries that write, and one of entries
 * that poll. Only the first entry of the first two lists is executed. epoll reports,
 * level-triggered, the events for which the first entries wait. An event for which no entry waits
 * is disabled only when it is reported. So it is still enabled for a server's next recv().
 *
 * Some events last although the calls would block: the error queue of a socket has messages, or an
 * eventfd has room, but not enough. Then epoll reports only changes, edge-triggered, until nothing
 * waits for the descriptor.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include <linux/magic.h>
#include <linux/stat.h>

#include "device/sys.h"
#include "calls.h"
#include "descriptor.h"
#include "slot.h"

/* The C library's headers have these for GNU sources only. */
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif
#ifndef AT_STATX_DONT_SYNC
#define AT_STATX_DONT_SYNC 0x4000
#endif

/* Make room for a chunk in a table of @nchunks. */
static bool grow(struct cosy_descriptor ***table, uint32_t *nchunks, uint32_t chunk)
{
	struct cosy_descriptor **chunks;

	if (chunk < *nchunks)
		return true;
	chunks = realloc(*table, (chunk + 1) * sizeof(*chunks));
	if (!chunks)
		return false;
	memset(chunks + *nchunks, 0, (chunk + 1 - *nchunks) * sizeof(*chunks));
	*table = chunks;
	*nchunks = chunk + 1;
	return true;
}

static uint32_t number_in_share(uint32_t fd)
{
	return fd & ((1u << COSY_OF_SHARE_SHIFT) - 1);
}

struct cosy_descriptor *cosy_descriptor_of_share(const struct cosy_descriptors *fds, int fd)
{
	const uint32_t number = number_in_share((uint32_t)fd), chunk = number / COSY_CHUNK;
	const struct cosy_share_descriptors *share;

	if (!fds->shares)
		return NULL;
	share = &fds->shares[cosy_share_of((uint32_t)fd)];
	return chunk < share->nchunks && share->chunks[chunk] ?
		       &share->chunks[chunk][number % COSY_CHUNK] : NULL;
}

uint32_t cosy_descriptors_end(const struct cosy_descriptors *fds, uint32_t fd)
{
	if (!cosy_is_of_share((int)fd))
		return fds->nchunks * COSY_CHUNK;
	if (!fds->shares)
		return 0;
	return cosy_share_first(cosy_share_of(fd)) + fds->shares[cosy_share_of(fd)].nchunks * COSY_CHUNK;
}

struct cosy_descriptor *cosy_descriptors_next(const struct cosy_descriptors *fds, uint32_t *fd,
					      uint32_t last)
{
	const uint32_t end = cosy_descriptors_end(fds, *fd);
	struct cosy_descriptor *d;

	for (; *fd <= last && *fd < end; *fd = (*fd | (COSY_CHUNK - 1)) + 1) {
		d = cosy_descriptor_find(fds, (int)*fd);
		if (d)
			return d;
	}
	return NULL;
}

/* Return the place of a descriptor's chunk. Return NULL without memory, or for an invalid number. */
static struct cosy_descriptor **place_of_chunk(struct cosy_descriptors *fds, int fd)
{
	const uint32_t chunk = (uint32_t)fd / COSY_CHUNK;
	struct cosy_share_descriptors *share;

	if (fd < 0)
		return NULL;
	if (!cosy_is_of_share(fd))
		return (uint32_t)fd < COSY_MAX_FD && grow(&fds->chunks, &fds->nchunks, chunk) ?
			       &fds->chunks[chunk] : NULL;
	if (!fds->shares)
		fds->shares = calloc(COSY_SHARES_MAX, sizeof(*fds->shares));
	if (!fds->shares)
		return NULL;
	share = &fds->shares[cosy_share_of((uint32_t)fd)];
	return grow(&share->chunks, &share->nchunks, number_in_share((uint32_t)fd) / COSY_CHUNK) ?
		       &share->chunks[number_in_share((uint32_t)fd) / COSY_CHUNK] : NULL;
}

struct cosy_descriptor *cosy_descriptor(struct cosy_descriptors *fds, int fd)
{
	struct cosy_descriptor *d = cosy_descriptor_find(fds, fd), **place;

	if (d)
		return d;
	place = place_of_chunk(fds, fd);
	d = place ? malloc(COSY_CHUNK * sizeof(*d)) : NULL;
	if (!d)
		return NULL;
	for (uint32_t i = 0; i < COSY_CHUNK; i++) {
		d[i] = (struct cosy_descriptor){ 0 };
		for (int list = 0; list < COSY_LISTS; list++)
			d[i].head[list] = d[i].tail[list] = COSY_NO_SLOT;
	}
	*place = d;
	return &d[(uint32_t)fd % COSY_CHUNK];
}

int cosy_descriptors_create(struct cosy_descriptors *fds, struct cosy_slot *slots)
{
	fds->slots = slots;
	/* The kernel may read it at any time, so it never moves. Untouched pages take no memory. */
	fds->used = calloc(COSY_MAX_FD / 8, 1);
	return fds->used ? 0 : -ENOMEM;
}

static void free_chunks(struct cosy_descriptor **chunks, uint32_t nchunks)
{
	for (uint32_t i = 0; i < nchunks; i++)
		free(chunks[i]);
	free(chunks);
}

void cosy_descriptors_destroy(struct cosy_descriptors *fds)
{
	free_chunks(fds->chunks, fds->nchunks);
	for (uint32_t i = 0; fds->shares && i < COSY_SHARES_MAX; i++)
		free_chunks(fds->shares[i].chunks, fds->shares[i].nchunks);
	free(fds->shares);
	while (fds->questions)
		cosy_question_end(fds, fds->questions);
	free(fds->unwanted);
	free(fds->used);
}

bool cosy_descriptor_use(struct cosy_descriptors *fds, int fd)
{
	uint8_t bit = (uint8_t)(1u << fd % 8);

	if (fds->used[fd / 8] & bit)
		return false;
	fds->used[fd / 8] |= bit;
	return true;
}

/* Return true for /dev/zero. With RWF_NOWAIT it returns less if the thread should reschedule. */
static bool is_zero(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 5);
}

/* Get the type and the size of a file. A server of the file system, such as FUSE's, may be slow: it is not asked. */
static long get_type(int fd, struct stat *st)
{
	struct statx stx;
	long err = cosy_fd_call(SYS_statx, fd, (long)"", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
				STATX_TYPE | STATX_SIZE, (long)&stx, 0);

	/* statx() is not made in shares, because it has a path. A filter of an old program may refuse it, too. */
	if (err < 0)
		return cosy_fd_call(SYS_fstat, fd, (long)st, 0, 0, 0, 0);
	st->st_mode = stx.stx_mode;
	st->st_size = (off_t)stx.stx_size;
	st->st_dev = makedev(stx.stx_dev_major, stx.stx_dev_minor);
	st->st_rdev = makedev(stx.stx_rdev_major, stx.stx_rdev_minor);
	return 0;
}

int cosy_socket_option(int fd, int option)
{
	int value = 0;
	socklen_t size = sizeof(value);

	cosy_fd_call(SYS_getsockopt, fd, SOL_SOCKET, option, (long)&value, (long)&size, 0);
	return value;
}

/* Return true if a file is on the file system that is mounted at @path, and that has the number @magic. */
static bool is_on(const struct stat *st, const char *path, long magic)
{
	struct statfs fs;
	struct stat root;

	return !cosy_sys(SYS_stat, (long)path, (long)&root, 0) && root.st_dev == st->st_dev &&
	       !cosy_sys(SYS_statfs, (long)path, (long)&fs, 0) && fs.f_type == magic;
}

/*
 * Return true for a file of the kernel without a size that is not always ready, such as /proc/kmsg: a call on it
 * may wait for ever, and not for a disk. Others are not polled, because that may ask a server.
 */
static bool is_polled_file(int fd, const struct stat *st)
{
	/* The events of a file that cannot be polled. */
	const short always = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;
	struct pollfd poll = { .fd = fd, .events = always };

	return !st->st_size && !major(st->st_dev) &&
	       (is_on(st, "/proc", PROC_SUPER_MAGIC) || is_on(st, "/sys/kernel/tracing", TRACEFS_MAGIC)) &&
	       cosy_fd_poll(&poll) >= 0 && poll.revents != always;
}

int cosy_descriptor_look(struct cosy_descriptor *d, int fd)
{
	struct stat st;
	long err;

	err = get_type(fd, &st);
	if (err < 0)
		return (int)err;
	d->polled = 0;
	d->receives = false;
	switch (st.st_mode & S_IFMT) {
	case S_IFSOCK:
		d->type = (uint8_t)cosy_socket_option(fd, SO_TYPE);
		d->kind = COSY_KIND_SOCKET;
		break;
	case S_IFREG:
		d->kind = is_polled_file(fd, &st) ? COSY_KIND_NOWAIT : COSY_KIND_DISK;
		break;
	case S_IFDIR:
	case S_IFBLK:
		d->kind = COSY_KIND_DISK;
		break;
	case S_IFIFO:
		d->kind = COSY_KIND_PIPE;
		break;
	default:
		d->kind = is_zero(&st) ? COSY_KIND_DISK : COSY_KIND_NOWAIT;
		break;
	}
	return 0;
}

/* Return true if calls that transfer data may overtake an entry of a list. */
static bool only_watches(const struct cosy_slot *s)
{
	return s->how == COSY_HOW_ACCEPT || s->how == COSY_HOW_POLL || s->how == COSY_HOW_SIGNAL;
}

void cosy_descriptor_append(struct cosy_descriptors *fds, uint32_t slot)
{
	struct cosy_slot *s = &fds->slots[slot];
	struct cosy_descriptor *d = cosy_descriptor_find(fds, s->fd);

	s->next = COSY_NO_SLOT;
	s->prev = d->tail[s->list];
	if (s->prev == COSY_NO_SLOT)
		d->head[s->list] = slot;
	else
		fds->slots[s->prev].next = slot;
	d->tail[s->list] = slot;
	fds->watching += only_watches(s);
	fds->waiting++;
}

/* List a descriptor, for which nothing waits any more. */
static void list_unwanted(struct cosy_descriptors *fds, struct cosy_descriptor *d, int fd)
{
	uint32_t max = fds->max_unwanted ? 2 * fds->max_unwanted : 64;
	int *unwanted = fds->unwanted;

	if (fds->nunwanted == fds->max_unwanted) {
		unwanted = realloc(unwanted, max * sizeof(*unwanted));
		/* Without memory the descriptor stays enabled. Its events only cost time. */
		if (!unwanted)
			return;
		fds->unwanted = unwanted;
		fds->max_unwanted = max;
	}
	unwanted[fds->nunwanted++] = fd;
	d->listed = true;
}

static bool is_unused(const struct cosy_descriptor *d)
{
	for (int list = 0; list < COSY_LISTS; list++)
		if (d->head[list] != COSY_NO_SLOT)
			return false;
	return true;
}

void cosy_descriptor_remove(struct cosy_descriptors *fds, uint32_t slot)
{
	struct cosy_slot *s = &fds->slots[slot];
	struct cosy_descriptor *d = cosy_descriptor_find(fds, s->fd);

	if (s->prev == COSY_NO_SLOT)
		d->head[s->list] = s->next;
	else
		fds->slots[s->prev].next = s->next;
	if (s->next == COSY_NO_SLOT)
		d->tail[s->list] = s->prev;
	else
		fds->slots[s->next].prev = s->prev;
	s->list = COSY_LIST_NONE;
	fds->watching -= only_watches(s);
	fds->waiting--;
	if (d->added && !d->listed && is_unused(d))
		list_unwanted(fds, d, s->fd);
}

/* Return the events for the first entry that reads. Urgent data ends a call that has received some. */
static uint32_t input(const struct cosy_descriptors *fds, const struct cosy_descriptor *d)
{
	return fds->slots[d->head[COSY_LIST_IN]].done ? EPOLLIN | EPOLLPRI : EPOLLIN;
}

uint32_t cosy_descriptor_wanted(const struct cosy_descriptors *fds,
				const struct cosy_descriptor *d)
{
	uint32_t events = 0;

	if (cosy_slot_waits(fds->slots, d->head[COSY_LIST_IN]))
		events |= input(fds, d);
	if (cosy_slot_waits(fds->slots, d->head[COSY_LIST_OUT]))
		events |= EPOLLOUT;
	for (uint32_t slot = d->head[COSY_LIST_POLL]; slot != COSY_NO_SLOT;
	     slot = fds->slots[slot].next)
		events |= (uint32_t)fds->slots[slot].done | COSY_EVENTS_FAILED;
	return events;
}

static long control(const struct cosy_descriptors *fds, int op, int fd,
		    uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	return cosy_fd_control(fds->epoll, op, fd, &event);
}

/* Set the events that epoll reports for a descriptor. @changes: report only changes. */
static int set_events(struct cosy_descriptors *fds, struct cosy_descriptor *d, int fd,
		      uint32_t events, bool changes)
{
	uint32_t set = changes ? events | EPOLLET : events;
	long err = control(fds, d->added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, set);

	/*
	 * The program has closed the descriptor, and may have opened it again. epoll identifies a descriptor by
	 * its file and its number. So in a share, -EEXIST may be due to the same file with the same number in
	 * another share, whose events must not change.
	 */
	if (err == -ENOENT)
		err = control(fds, EPOLL_CTL_ADD, fd, set);
	else if (err == -EEXIST && !cosy_is_of_share(fd))
		err = control(fds, EPOLL_CTL_MOD, fd, set);
	cosy_descriptor_set_added(fds, d, err == 0);
	d->armed = err || changes ? 0 : (uint16_t)events;
	d->changes = err || !changes ? 0 : (uint16_t)events;
	return (int)err;
}

/*
 * Return true if an entry waits although its event was reported, and clear the mark. Sends on sockets do
 * not count: if the queue of the other socket is full, a socket may not report any change.
 */
static bool would_block(const struct cosy_descriptors *fds, const struct cosy_descriptor *d)
{
	bool would = false;

	for (int list = COSY_LIST_IN; list <= COSY_LIST_OUT; list++) {
		uint32_t slot = d->head[list];

		if (!cosy_slot_waits(fds->slots, slot) || !fds->slots[slot].reported ||
		    (list == COSY_LIST_OUT && d->kind == COSY_KIND_SOCKET))
			continue;
		fds->slots[slot].reported = false;
		would = true;
	}
	return would;
}

int cosy_descriptor_arm(struct cosy_descriptors *fds, int fd)
{
	struct cosy_descriptor *d = cosy_descriptor_find(fds, fd);
	uint32_t events = cosy_descriptor_wanted(fds, d), set = (uint32_t)d->armed | d->changes;
	bool changes = d->changes, blocks = would_block(fds, d);
	int err;

	if (d->added && !(events & ~set)) {
		/* If epoll reports only changes, set the events again: then it reports those that are present. */
		if (blocks == changes)
			return 0;
		changes = true;
	}
	err = set_events(fds, d, fd, events | set, changes);
	/* The events of a file without poll() never change: entries that poll wait for ever. */
	if (err == -EPERM && !cosy_slot_waits(fds->slots, d->head[COSY_LIST_IN]) &&
	    !cosy_slot_waits(fds->slots, d->head[COSY_LIST_OUT]))
		return 0;
	return err;
}

bool cosy_descriptor_is_stale(struct cosy_descriptors *fds, int fd)
{
	const struct cosy_descriptor *d = cosy_descriptor_find(fds, fd);
	uint32_t events = d->changes ? (uint32_t)d->changes | EPOLLET : d->armed;
	long err = d->added ? control(fds, EPOLL_CTL_MOD, fd, events) : 0;

	/* The number of the descriptor now refers to a file that cannot be polled, or a filter forbids the call. */
	if (err == -EPERM)
		return control(fds, EPOLL_CTL_MOD, fds->epoll, 0) != -EPERM;
	return err == -EBADF || err == -ENOENT;
}

void cosy_descriptor_disarm(struct cosy_descriptors *fds, struct cosy_descriptor *d, int fd)
{
	uint32_t events = cosy_descriptor_wanted(fds, d);

	/* epoll always reports errors, so with no events the descriptor is removed. */
	if (events) {
		set_events(fds, d, fd, events, d->changes);
		return;
	}
	/*
	 * While the process is traced, a call in a share needs a copy of the descriptor in the process's
	 * table, which may be full. Then epoll goes on to report the descriptor.
	 */
	if (control(fds, EPOLL_CTL_DEL, fd, 0) == -EMFILE)
		return;
	cosy_descriptor_set_added(fds, d, false);
	d->armed = d->changes = 0;
}

void cosy_descriptors_disarm(struct cosy_descriptors *fds)
{
	while (fds->nunwanted) {
		int fd = fds->unwanted[--fds->nunwanted];
		struct cosy_descriptor *d = cosy_descriptor_find(fds, fd);

		d->listed = false;
		if (d->added && is_unused(d))
			cosy_descriptor_disarm(fds, d, fd);
	}
}

void cosy_descriptor_leave(const struct cosy_descriptors *fds, int fd)
{
	control(fds, EPOLL_CTL_DEL, fd, 0);
}

void cosy_descriptor_forget(struct cosy_descriptors *fds, int fd)
{
	struct cosy_descriptor *d = cosy_descriptor_find(fds, fd);

	if (!d)
		return;
	if (d->added)
		control(fds, EPOLL_CTL_DEL, fd, 0);
	cosy_descriptor_set_added(fds, d, false);
	d->armed = d->changes = 0;
	d->kind = COSY_KIND_UNKNOWN;
	d->opened = false;
	if (!cosy_is_of_share(fd))
		fds->used[fd / 8] &= (uint8_t)~(1u << fd % 8);
}
