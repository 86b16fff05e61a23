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
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "device/sys.h"
#include "loop.h"

#define FAILED	((uint32_t)(EPOLLERR | EPOLLHUP))

static bool grow(struct cosy_loop *loop, uint32_t nchunks)
{
	struct cosy_descriptor **chunks =
		realloc(loop->chunks, nchunks * sizeof(*chunks));

	if (!chunks)
		return false;
	memset(chunks + loop->nchunks, 0,
	       (nchunks - loop->nchunks) * sizeof(*chunks));
	loop->chunks = chunks;
	loop->nchunks = nchunks;
	return true;
}

struct cosy_descriptor *cosy_descriptor(struct cosy_loop *loop, int fd)
{
	uint32_t chunk = (uint32_t)fd / COSY_CHUNK;
	struct cosy_descriptor *d = cosy_descriptor_find(loop, fd);

	if (d || fd < 0 || (uint32_t)fd >= COSY_MAX_FD)
		return d;
	if (chunk >= loop->nchunks && !grow(loop, chunk + 1))
		return NULL;
	d = malloc(COSY_CHUNK * sizeof(*d));
	if (!d)
		return NULL;
	for (uint32_t i = 0; i < COSY_CHUNK; i++) {
		d[i] = (struct cosy_descriptor){ 0 };
		for (int list = 0; list < COSY_LISTS; list++)
			d[i].head[list] = d[i].tail[list] = COSY_NO_SLOT;
	}
	loop->chunks[chunk] = d;
	return &d[(uint32_t)fd % COSY_CHUNK];
}

int cosy_descriptors_create(struct cosy_loop *loop)
{
	/* The kernel may read it at any time, so it never moves. Untouched pages take no memory. */
	loop->used = calloc(COSY_MAX_FD / 8, 1);
	return loop->used ? 0 : -ENOMEM;
}

void cosy_descriptors_destroy(struct cosy_loop *loop)
{
	for (uint32_t i = 0; i < loop->nchunks; i++)
		free(loop->chunks[i]);
	free(loop->chunks);
	free(loop->unwanted);
	free(loop->used);
}

void cosy_descriptor_use(struct cosy_loop *loop, int fd)
{
	if (fd < 0)
		return;
	if (cosy_descriptor(loop, fd)) {
		uint8_t bit = (uint8_t)(1u << fd % 8);

		if (loop->used[fd / 8] & bit)
			return;
		loop->used[fd / 8] |= bit;
		cosy_module_sync(loop);
	} else {
		cosy_descriptors_use_all(loop);
	}
}

void cosy_descriptors_use_all(struct cosy_loop *loop)
{
	if (loop->all_used)
		return;
	loop->all_used = true;
	cosy_module_tell_used(loop);
	cosy_module_sync(loop);
}

/* Return true for /dev/zero. With RWF_NOWAIT it returns less if the thread should reschedule. */
static bool is_zero(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 5);
}

int cosy_socket_option(int fd, int option)
{
	int value = 0;
	socklen_t size = sizeof(value);

	cosy_sys6(SYS_getsockopt, fd, SOL_SOCKET, option, (long)&value, (long)&size, 0);
	return value;
}

int cosy_descriptor_look(struct cosy_descriptor *d, int fd)
{
	struct stat st;
	long err;

	err = cosy_sys(SYS_fstat, fd, (long)&st, 0);
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

/* Return true if calls that transfer data need not come after an entry of a list. */
static bool only_watches(const struct cosy_slot *s)
{
	return s->how == COSY_HOW_ACCEPT || s->how == COSY_HOW_POLL || s->how == COSY_HOW_SIGNAL;
}

void cosy_descriptor_append(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_slot *s = &loop->slots[slot];
	struct cosy_descriptor *d = cosy_descriptor_find(loop, s->fd);

	s->next = COSY_NO_SLOT;
	s->prev = d->tail[s->list];
	if (s->prev == COSY_NO_SLOT)
		d->head[s->list] = slot;
	else
		loop->slots[s->prev].next = slot;
	d->tail[s->list] = slot;
	loop->watching += only_watches(s);
	loop->info.waiting++;
}

/* List a descriptor, for which nothing waits any more. */
static void list_unwanted(struct cosy_loop *loop, struct cosy_descriptor *d, int fd)
{
	uint32_t max = loop->max_unwanted ? 2 * loop->max_unwanted : 64;
	int *unwanted = loop->unwanted;

	if (loop->nunwanted == loop->max_unwanted) {
		unwanted = realloc(unwanted, max * sizeof(*unwanted));
		/* Then its events only cost time. */
		if (!unwanted)
			return;
		loop->unwanted = unwanted;
		loop->max_unwanted = max;
	}
	unwanted[loop->nunwanted++] = fd;
	d->listed = true;
}

static bool is_unused(const struct cosy_descriptor *d)
{
	for (int list = 0; list < COSY_LISTS; list++)
		if (d->head[list] != COSY_NO_SLOT)
			return false;
	return true;
}

void cosy_descriptor_remove(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_slot *s = &loop->slots[slot];
	struct cosy_descriptor *d = cosy_descriptor_find(loop, s->fd);

	if (s->prev == COSY_NO_SLOT)
		d->head[s->list] = s->next;
	else
		loop->slots[s->prev].next = s->next;
	if (s->next == COSY_NO_SLOT)
		d->tail[s->list] = s->prev;
	else
		loop->slots[s->next].prev = s->prev;
	s->list = COSY_LIST_NONE;
	loop->watching -= only_watches(s);
	loop->info.waiting--;
	if (d->added && !d->listed && is_unused(d))
		list_unwanted(loop, d, s->fd);
}

static bool waits(const struct cosy_loop *loop, uint32_t slot)
{
	return slot != COSY_NO_SLOT &&
	       loop->slots[slot].state == COSY_SLOT_WAITING;
}

/* Return the events for the first entry that reads. Urgent data ends a call that has received some. */
static uint32_t input(const struct cosy_loop *loop, const struct cosy_descriptor *d)
{
	return loop->slots[d->head[COSY_LIST_IN]].done ? EPOLLIN | EPOLLPRI : EPOLLIN;
}

/* Return the events for which entries wait. */
static uint32_t wanted(const struct cosy_loop *loop,
		       const struct cosy_descriptor *d)
{
	uint32_t events = 0;

	if (waits(loop, d->head[COSY_LIST_IN]))
		events |= input(loop, d);
	if (waits(loop, d->head[COSY_LIST_OUT]))
		events |= EPOLLOUT;
	for (uint32_t slot = d->head[COSY_LIST_POLL]; slot != COSY_NO_SLOT;
	     slot = loop->slots[slot].next)
		events |= (uint32_t)loop->slots[slot].done | FAILED;
	return events;
}

static long control(const struct cosy_loop *loop, int op, int fd,
		    uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	return cosy_sys6(SYS_epoll_ctl, loop->epoll, op, fd, (long)&event, 0,
			 0);
}

/* @changes: let epoll report only changes. */
static int set_events(struct cosy_loop *loop, struct cosy_descriptor *d, int fd,
		      uint32_t events, bool changes)
{
	uint32_t set = changes ? events | EPOLLET : events;
	long err = control(loop, d->added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, set);

	/* The program has closed the descriptor, and may have opened it again. */
	if (err == -ENOENT)
		err = control(loop, EPOLL_CTL_ADD, fd, set);
	else if (err == -EEXIST)
		err = control(loop, EPOLL_CTL_MOD, fd, set);
	cosy_descriptor_set_added(loop, d, err == 0);
	d->armed = err || changes ? 0 : (uint16_t)events;
	d->changes = err || !changes ? 0 : (uint16_t)events;
	return (int)err;
}

/*
 * Return true if an entry waits although its event was reported, and forget that. A
 * socket may not report any change of its room: the queue of another socket may be full.
 */
static bool would_block(const struct cosy_loop *loop, const struct cosy_descriptor *d)
{
	bool would = false;

	for (int list = COSY_LIST_IN; list <= COSY_LIST_OUT; list++) {
		uint32_t slot = d->head[list];

		if (!waits(loop, slot) || !loop->slots[slot].reported ||
		    (list == COSY_LIST_OUT && d->kind == COSY_KIND_SOCKET))
			continue;
		loop->slots[slot].reported = false;
		would = true;
	}
	return would;
}

int cosy_descriptor_arm(struct cosy_loop *loop, int fd)
{
	struct cosy_descriptor *d = cosy_descriptor_find(loop, fd);
	uint32_t events = wanted(loop, d), set = (uint32_t)d->armed | d->changes;
	bool changes = d->changes, blocks = would_block(loop, d);
	int err;

	if (d->added && !(events & ~set)) {
		/* Setting the events again reports those that are present. */
		if (blocks == changes)
			return 0;
		changes = true;
	}
	err = set_events(loop, d, fd, events | set, changes);
	/* The events of a file without poll() never change: entries that poll wait for ever. */
	if (err == -EPERM && !waits(loop, d->head[COSY_LIST_IN]) &&
	    !waits(loop, d->head[COSY_LIST_OUT]))
		return 0;
	return err;
}

bool cosy_descriptor_is_stale(struct cosy_loop *loop, int fd)
{
	const struct cosy_descriptor *d = cosy_descriptor_find(loop, fd);
	uint32_t events = d->changes ? (uint32_t)d->changes | EPOLLET : d->armed;
	long err = d->added ? control(loop, EPOLL_CTL_MOD, fd, events) : 0;

	return err == -EBADF || err == -ENOENT;
}

static void disarm(struct cosy_loop *loop, struct cosy_descriptor *d, int fd)
{
	uint32_t events = wanted(loop, d);

	/* epoll always reports errors, so with no events the descriptor is removed. */
	if (events) {
		set_events(loop, d, fd, events, d->changes);
		return;
	}
	control(loop, EPOLL_CTL_DEL, fd, 0);
	cosy_descriptor_set_added(loop, d, false);
	d->armed = d->changes = 0;
}

void cosy_descriptors_disarm(struct cosy_loop *loop)
{
	while (loop->nunwanted) {
		int fd = loop->unwanted[--loop->nunwanted];
		struct cosy_descriptor *d = cosy_descriptor_find(loop, fd);

		d->listed = false;
		if (d->added && is_unused(d))
			disarm(loop, d, fd);
	}
}

/* Make the calls of entries that poll again, without waiting. */
static void poll_again(struct cosy_loop *loop, struct cosy_descriptor *d)
{
	uint32_t slot = d->head[COSY_LIST_POLL], next;

	for (; slot != COSY_NO_SLOT; slot = next) {
		long ready = cosy_sys(SYS_poll, (long)loop->entries[slot].args[0],
				      1, 0);

		next = loop->slots[slot].next;
		if (ready)
			cosy_end(loop, slot, ready);
	}
}

/* Begin with the first entry of a list; return true if a thread has it now. */
static bool start_first(struct cosy_loop *loop, struct cosy_descriptor *d,
			enum cosy_list list, uint32_t events)
{
	uint32_t slot = d->head[list];

	if (!waits(loop, slot))
		return false;
	cosy_start_ready(loop, slot, events);
	return loop->slots[slot].state == COSY_SLOT_QUEUED || loop->slots[slot].lent;
}

void cosy_descriptor_event(struct cosy_loop *loop, int fd, uint32_t events)
{
	struct cosy_descriptor *d = cosy_descriptor_find(loop, fd);
	uint32_t want;
	bool stale;

	if (!d || !d->added)
		return;
	want = wanted(loop, d);
	stale = !want || events & ~(want | FAILED);
	poll_again(loop, d);
	if (events & (EPOLLIN | EPOLLPRI | FAILED))
		stale |= start_first(loop, d, COSY_LIST_IN, events);
	if (events & (EPOLLOUT | FAILED))
		stale |= start_first(loop, d, COSY_LIST_OUT, events);
	/* Disable it. Otherwise epoll would report it again and again. */
	if (stale && d->added)
		disarm(loop, d, fd);
}

void cosy_descriptor_forget(struct cosy_loop *loop, int fd)
{
	struct cosy_descriptor *d = cosy_descriptor_find(loop, fd);

	if (!d)
		return;
	if (d->added)
		control(loop, EPOLL_CTL_DEL, fd, 0);
	cosy_descriptor_set_added(loop, d, false);
	d->armed = d->changes = 0;
	d->kind = COSY_KIND_UNKNOWN;
	d->opened = false;
	loop->used[fd / 8] &= (uint8_t)~(1u << fd % 8);
}
