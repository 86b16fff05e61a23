/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ring.h - rings of loops without libcosy: a ring is mapped, calls and receives are written,
 * the loop is entered, and completions are collected.
 */
#ifndef RING_H
#define RING_H

#include "../../../kernel/loop.h"

#include <linux/cosy_ring.h>

/* A loop with a ring in the process. */
struct ring {
	struct loop loop;
	size_t size;
	struct cosy_ring_page *page;
	struct cosy_ring_entry *calls, *receives;
	struct cosy_ring_done *done;
	uint32_t calls_tail, receives_tail, head;
};

/* Map the ring of ring->loop. Return 0 or -errno. */
static inline int ring_map(struct ring *ring)
{
	ring->size = COSY_RING_SIZE(ring->loop.n);
	ring->page = mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->loop.fd,
			  COSY_RING_OFFSET);
	if (ring->page == MAP_FAILED)
		return -errno;
	ring->page->sleep_fd = -1;
	ring->page->sleep_ns = COSY_ASYNC_FOR_EVER;
	ring->calls = (void *)((char *)ring->page + ring->page->calls);
	ring->receives = (void *)((char *)ring->page + ring->page->receives);
	ring->done = (void *)((char *)ring->page + ring->page->done);
	return 0;
}

static inline int ring_create(struct ring *ring, unsigned int n)
{
	int err;

	memset(ring, 0, sizeof(*ring));
	err = create(&ring->loop, n);
	return err ? err : ring_map(ring);
}

static inline void ring_destroy(struct ring *ring)
{
	munmap(ring->page, ring->size);
	destroy(&ring->loop);
}

static inline void ring_call(struct ring *ring, uint64_t op, uint32_t nr, uint64_t a, uint64_t b,
			     uint64_t c, uint64_t d)
{
	ring->calls[ring->calls_tail++ % ring->loop.n] = (struct cosy_ring_entry){
		.nr = nr,
		.op = op,
		.args = { a, b, c, d },
	};
	__atomic_store_n(&ring->page->calls_tail, ring->calls_tail, __ATOMIC_RELEASE);
}

static inline void ring_receive(struct ring *ring, uint64_t op, int fd, void *buffer, size_t size)
{
	ring->receives[ring->receives_tail++ % ring->loop.n] = (struct cosy_ring_entry){
		.nr = SYS_recvfrom,
		.op = op,
		.args = { (uint64_t)fd, (uintptr_t)buffer, size },
	};
	__atomic_store_n(&ring->page->receives_tail, ring->receives_tail, __ATOMIC_RELEASE);
}

static inline long long ring_command(const struct ring *ring, uint64_t what)
{
	return enter_loop(&ring->loop, COSY_ASYNC_RING_ENTER | what);
}

/*
 * Enter until no call is left, and nothing completes or is given back. Return the number of
 * completions, or -errno. Stops after entries were given back.
 */
static inline int ring_execute(const struct ring *ring)
{
	unsigned int done = 0, n;
	long long ret;

	do {
		ret = ring_command(ring, COSY_RING_MAX);
		if (ret < 0)
			return (int)ret;
		if ((unsigned long long)ret >> 32 != COSY_ASYNC_ENTERED >> 32)
			return -1000;
		n = (unsigned int)ret;
		done += n & ~COSY_ASYNC_MORE;
	} while (!ring->page->ngiven && (n || ring->page->calls_head != ring->calls_tail ||
					 ring->page->receives_head != ring->receives_tail));
	return (int)returned("ring_execute", done);
}

/* Take the next completion. Return its operation, or 0 if there is none. */
static inline uint64_t ring_collect(struct ring *ring, long long *result)
{
	const struct cosy_ring_done *done;

	if (ring->head == __atomic_load_n(&ring->page->done_tail, __ATOMIC_ACQUIRE))
		return (uint64_t)returned("ring_collect", 0);
	done = &ring->done[ring->head++ % ring->loop.n];
	*result = returned("result of the operation", done->result);
	return (uint64_t)returned("ring_collect", (long long)done->op);
}

/* Execute, and return true if exactly one operation completes, this one with this result. */
static inline bool ring_completes(struct ring *ring, uint64_t op, long long expected)
{
	long long result = -1000;

	return ring_execute(ring) == 1 && ring_collect(ring, &result) == op && result == expected;
}

/* Return true if one entry was given back, this one. */
static inline bool ring_gave(const struct ring *ring, uint64_t op, uint32_t nr, uint32_t flags)
{
	const struct cosy_ring_entry *given = ring->page->given;

	return returned("number given back", ring->page->ngiven) == 1 &&
	       returned("operation given back", (long long)given->op) == (long long)op &&
	       returned("its call", given->nr) == nr &&
	       returned("its flags", given->flags) == flags;
}

#endif /* RING_H */
