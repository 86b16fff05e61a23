/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * segment.c - segments: 4 GiB of addresses that a user function can reach.
 *
 * A segment's addresses are reserved as a whole, without access. They are made accessible from the
 * lower end as its heap grows. Those of an arena are accessible from the beginning, and memory is
 * allocated where it is touched. When the program has user
 * functions and the privilege to load them, the memory is a BPF arena, which
 * the kernel sees too; otherwise it is ordinary memory, and the functions run
 * natively.
 *
 * The kernel can access pages of an arena only after they have been touched from user
 * mode. It does not allocate them itself. So each page of a block is touched when the
 * block is allocated.
 *
 * A child process does not inherit its parent's arenas. So the parent copies them during
 * fork(), and the child moves the copy to the same addresses. The child's segment is
 * private memory, not an arena.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/descriptor.h"
#include "device/device.h"
#include "device/export.h"
#include "device/message.h"
#include "device/options.h"
#include "function/bpf.h"
#include "function/segment.h"

#define PAGE		4096u
#define PAGES		(COSY_SEGMENT_SPAN / PAGE)
#define BLOCKS		(COSY_SEGMENT_SPAN / COSY_BLOCK_ALIGNMENT)
/* The usable bytes, between the guards. */
#define SPACE		(COSY_SEGMENT_SPAN - 2 * COSY_SEGMENT_GUARD)

/* The heap grows by at least this much, and by a fraction of what it has. */
#define GROW		((size_t)1 << 20)
#define GROW_FRACTION	4

/* User addresses have 47 bits. */
#define NSEGMENTS	(1u << (47 - 32))

/* Indexed by the upper half of their addresses. */
static struct cosy_segment *segments[NSEGMENTS];

/* The numbers of all segments that there have been are from the first to before the second. */
static unsigned int first_number = NSEGMENTS, end_number;

/*
 * Those that are not in the table: threads are making or destroying them. A child process does not have these
 * threads, and gives them back.
 */
static struct cosy_segment *unlisted;

/* Protects changes to the table and that list; held while the process forks. */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static struct cosy_segment *shared;	/* by all threads that chose no other */
static _Thread_local COSY_TLS struct cosy_segment *chosen;

static bool want_arenas;

void (*cosy_segment_prepare)(void);
void (*cosy_segment_made)(struct cosy_segment *segment);
void (*cosy_segment_forget)(struct cosy_segment *segment);
void (*cosy_segment_lock_functions)(bool lock);

struct cosy_segment *cosy_segment_of(const void *p)
{
	uintptr_t number = (uintptr_t)p / COSY_SEGMENT_SPAN;

	if (number >= NSEGMENTS)
		return NULL;
	return __atomic_load_n(&segments[number], __ATOMIC_ACQUIRE);
}

void cosy_segment_want_arenas(void)
{
	__atomic_store_n(&want_arenas, true, __ATOMIC_RELAXED);
}

/* Reserve the addresses of a segment, without access. */
static char *reserve(void)
{
	const size_t span = COSY_SEGMENT_SPAN;
	char *any, *base;

	any = mmap(NULL, 2 * span, PROT_NONE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (any == MAP_FAILED)
		return NULL;
	base = (char *)(((uintptr_t)any + span - 1) / span * span);
	if (base > any)
		munmap(any, (size_t)(base - any));
	munmap(base + span, span - (size_t)(base - any));
	return base;
}

/*
 * The mapping of an arena cannot be split, so all of it is accessible. The guards are outside it.
 *
 * Return: the descriptor of an arena in the segment at @base, or -errno; -EOPNOTSUPP if the kernel
 * has no arenas.
 */
static int map_arena(char *base)
{
	char *start = base + COSY_SEGMENT_GUARD;
	struct cosy_bpf_map attr;
	int fd, token;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = COSY_BPF_MAP_TYPE_ARENA;
	attr.map_flags = BPF_F_MMAPABLE;
	attr.max_entries = SPACE / PAGE;
	attr.map_extra = (uintptr_t)start;
	memcpy(attr.map_name, "cosy_segment", sizeof("cosy_segment"));
	token = cosy_bpf_token();
	fd = cosy_bpf(BPF_MAP_CREATE, &attr, sizeof(attr), &attr.map_flags,
		      &attr.token_fd, token);
	if (token >= 0)
		close(token);
	if (fd < 0)
		return fd == -EINVAL ? -EOPNOTSUPP : fd;
	fd = cosy_descriptor_hide(fd);
	if (mmap(start, SPACE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 fd, 0) != MAP_FAILED)
		return fd;
	close(fd);
	/* If the range was unmapped, it must not become available to others. */
	mmap(start, SPACE, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	return -ENOMEM;
}

static bool arena_wanted(void)
{
	enum cosy_functions functions = cosy_options().functions;

	return __atomic_load_n(&want_arenas, __ATOMIC_RELAXED) &&
	       functions != COSY_FUNCTIONS_NATIVE &&
	       cosy_device_available(functions == COSY_FUNCTIONS_KERNEL) &&
	       !cosy_device_is_in_vfork();
}

/* Make the bits in segment->blocks usable up to the address @end. */
static bool extend_blocks(const struct cosy_segment *segment, const char *end)
{
	size_t bits = (size_t)(end - segment->base) / COSY_BLOCK_ALIGNMENT;

	return !mprotect(segment->blocks, (bits / 8 + PAGE) / PAGE * PAGE,
			 PROT_READ | PROT_WRITE);
}

/* Make @size more bytes accessible for the heap. */
static bool extend(struct cosy_segment *segment, size_t size)
{
	if (size > (size_t)(segment->limit - segment->end) ||
	    !extend_blocks(segment, segment->end + size))
		return false;
	if (segment->map < 0 &&
	    mprotect(segment->end, size, PROT_READ | PROT_WRITE))
		return false;
	segment->end += size;
	return true;
}

/* Grow the heap for a block that did not fit. */
static bool grow(struct cosy_segment *segment, size_t size, size_t alignment)
{
	size_t has = (size_t)(segment->end - segment->base);
	size_t left = (size_t)(segment->limit - segment->end);
	size_t need = size + alignment + COSY_HEAP_OVERHEAD;
	size_t want;

	need = (need + PAGE - 1) / PAGE * PAGE;
	/* Free memory at the end of the heap counts, other free memory does not. */
	if (size > left + cosy_heap_unused(segment->heap))
		return false;
	if (need > left)
		need = left;
	want = need > has / GROW_FRACTION ? need : has / GROW_FRACTION;
	want = (want + GROW - 1) / GROW * GROW;
	if (want > left)
		want = need;
	if (!want || !extend(segment, want))
		return false;
	cosy_heap_grow(segment->heap, want);
	return true;
}

static bool is_present(const struct cosy_segment *segment, uint64_t page)
{
	return segment->present[page / 64] >> page % 64 & 1;
}

/* Allocate the pages of a block, which is not in use yet. */
static bool populate(struct cosy_segment *segment, char *block, size_t size)
{
	uint64_t first = (uint64_t)(block - segment->base) / PAGE;
	uint64_t last = (uint64_t)(block - segment->base + size - 1) / PAGE;

	if (segment->map < 0)
		return true;
	while (first <= last) {
		uint64_t n = 0;

		while (first + n <= last && !is_present(segment, first + n))
			n++;
		/* Fails where a touch would be a SIGSEGV: there is no memory. */
		if (n && madvise(segment->base + first * PAGE, n * PAGE,
				 MADV_POPULATE_WRITE))
			return false;
		for (; n; n--, first++)
			segment->present[first / 64] |= (uint64_t)1 << first % 64;
		while (first <= last && is_present(segment, first))
			first++;
	}
	return true;
}

static size_t block_number(const struct cosy_segment *segment,
			   const void *block)
{
	return (size_t)((const char *)block - segment->base) /
	       COSY_BLOCK_ALIGNMENT;
}

static uint64_t *block_word(const struct cosy_segment *segment,
			    const void *block)
{
	return &segment->blocks[block_number(segment, block) / 64];
}

static uint64_t block_bit(const struct cosy_segment *segment, const void *block)
{
	return (uint64_t)1 << block_number(segment, block) % 64;
}

/* Return true if a block begins at @block. The caller has locked the segment. */
static bool has_block(const struct cosy_segment *segment, const void *block)
{
	return (uintptr_t)block % COSY_BLOCK_ALIGNMENT == 0 &&
	       (const char *)block < segment->end &&
	       *block_word(segment, block) & block_bit(segment, block);
}

bool cosy_segment_has(struct cosy_segment *segment, const void *block)
{
	bool has;

	pthread_mutex_lock(&segment->lock);
	has = has_block(segment, block);
	pthread_mutex_unlock(&segment->lock);
	return has;
}

void *cosy_segment_alloc(struct cosy_segment *segment, size_t size,
			 size_t alignment)
{
	void *block = NULL;

	if (!size)
		size = 1;
	if (size > COSY_SEGMENT_SPAN || alignment > COSY_SEGMENT_SPAN)
		return NULL;
	pthread_mutex_lock(&segment->lock);
	do
		block = cosy_heap_alloc(segment->heap, size, alignment);
	while (!block && grow(segment, size, alignment));
	if (block && !populate(segment, block,
			       cosy_heap_size(segment->heap, block))) {
		cosy_heap_free(segment->heap, block);
		block = NULL;
	}
	if (block)
		*block_word(segment, block) |= block_bit(segment, block);
	pthread_mutex_unlock(&segment->lock);
	return block;
}

bool cosy_segment_resize(struct cosy_segment *segment, void *block, size_t size)
{
	bool fits = false;

	if (size > COSY_SEGMENT_SPAN)
		return false;
	pthread_mutex_lock(&segment->lock);
	if (cosy_heap_size(segment->heap, block) >= size)
		fits = true;
	else if (cosy_heap_expand(segment->heap, block, size))
		fits = populate(segment, block,
				cosy_heap_size(segment->heap, block));
	pthread_mutex_unlock(&segment->lock);
	return fits;
}

size_t cosy_segment_size(struct cosy_segment *segment, const void *block)
{
	size_t size;

	/* What the heap knows of a block is beside what it knows of the next. */
	pthread_mutex_lock(&segment->lock);
	size = cosy_heap_size(segment->heap, block);
	pthread_mutex_unlock(&segment->lock);
	return size;
}

bool cosy_segment_free(struct cosy_segment *segment, void *block)
{
	bool has;

	pthread_mutex_lock(&segment->lock);
	has = has_block(segment, block);
	if (has) {
		*block_word(segment, block) &= ~block_bit(segment, block);
		cosy_heap_free(segment->heap, block);
	}
	pthread_mutex_unlock(&segment->lock);
	return has;
}

/*
 * Fork
 */

/* The memory of a segment that is copied. */
static size_t size_of_copy(const struct cosy_segment *segment)
{
	return (size_t)(segment->end - segment->base) - COSY_SEGMENT_GUARD;
}

/* Copy @n pages that are present. Allocate all at once, and fail if there is no memory. */
static bool copy_pages(char *to, const char *from, size_t n)
{
	if (n && madvise(to, n * PAGE, MADV_POPULATE_WRITE))
		return false;
	memcpy(to, from, n * PAGE);
	return true;
}

/* Copy the present pages of up to @max at @from. Return their number with those that are not, or 0. */
static size_t copy_present(char *to, const char *from, size_t max)
{
	unsigned char resident[256];
	size_t count = max < sizeof(resident) ? max : sizeof(resident), n;

	if (mincore((void *)from, count * PAGE, resident))
		memset(resident, 1, sizeof(resident));
	for (size_t i = 0; i < count; i += n + 1) {
		for (n = 0; i + n < count && resident[i + n] & 1; n++)
			;
		/* A page that was never touched is 0 in the copy, too. */
		if (!copy_pages(to + i * PAGE, from + i * PAGE, n))
			return 0;
	}
	return count;
}

/*
 * Copy a segment to memory that needs no descriptor. It may be there twice until the process has forked, but is
 * not charged to it in advance. Return NULL without memory.
 */
static char *copy_of(const struct cosy_segment *segment)
{
	const char *from = segment->base + COSY_SEGMENT_GUARD;
	const size_t size = size_of_copy(segment), pages = size / PAGE;
	char *copy = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (copy == MAP_FAILED)
		return NULL;
	for (size_t done = 0, n; done < pages; done += n) {
		n = copy_present(copy + done * PAGE, from + done * PAGE, pages - done);
		if (!n) {
			munmap(copy, size);
			return NULL;
		}
	}
	return copy;
}

static void before_fork(void)
{
	pthread_mutex_lock(&table_lock);
	if (cosy_segment_lock_functions)
		cosy_segment_lock_functions(true);
	for (unsigned int i = first_number; i < end_number; i++) {
		if (!segments[i])
			continue;
		pthread_mutex_lock(&segments[i]->lock);
		if (segments[i]->map >= 0)
			segments[i]->copy = copy_of(segments[i]);
	}
}

static void unlock_all(void)
{
	for (unsigned int i = first_number; i < end_number; i++)
		if (segments[i])
			pthread_mutex_unlock(&segments[i]->lock);
	if (cosy_segment_lock_functions)
		cosy_segment_lock_functions(false);
	pthread_mutex_unlock(&table_lock);
}

static void after_fork_in_parent(void)
{
	for (unsigned int i = first_number; i < end_number; i++) {
		if (!segments[i] || segments[i]->map < 0)
			continue;
		if (segments[i]->copy)
			munmap(segments[i]->copy, size_of_copy(segments[i]));
		segments[i]->copy = NULL;
	}
	unlock_all();
}

/* Move the copy to the place of the arena, which is missing in the child. */
static void take_copy(struct cosy_segment *segment)
{
	size_t size = size_of_copy(segment);

	if (!segment->copy ||
	    mmap(segment->base, COSY_SEGMENT_SPAN, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		 0) == MAP_FAILED ||
	    mremap(segment->copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
		   segment->base + COSY_SEGMENT_GUARD) == MAP_FAILED) {
		cosy_message("no memory for a copy of a segment in a child "
			     "process", NULL);
		abort();
	}
	cosy_descriptor_close(segment->map, cosy_segment_mark(segment));
	segment->copy = NULL;
	segment->map = -1;
}

static void give_back(struct cosy_segment *segment)
{
	munmap(segment->base, COSY_SEGMENT_SPAN);
	cosy_descriptor_close(segment->map, cosy_segment_mark(segment));
	if (segment->present)
		munmap(segment->present, PAGES / 8);
	if (segment->blocks)
		munmap(segment->blocks, BLOCKS / 8);
	free(segment);
}

/* Functions have programs for the segments that are being destroyed. */
static void give_back_unlisted(void)
{
	struct cosy_segment *segment;

	while ((segment = unlisted)) {
		unlisted = segment->next;
		if (cosy_segment_forget)
			cosy_segment_forget(segment);
		give_back(segment);
	}
}

static void after_fork_in_child(void)
{
	for (unsigned int i = first_number; i < end_number; i++)
		if (segments[i] && segments[i]->map >= 0)
			take_copy(segments[i]);
	unlock_all();
	give_back_unlisted();
}

/*
 * Segments come and go
 */

static bool handle_forks(void)
{
	static bool handled;

	if (!handled)
		handled = !pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
	return handled;
}

/* The caller has locked the table. */
static void list_as_unlisted(struct cosy_segment *segment)
{
	segment->next = unlisted;
	unlisted = segment;
}

static void take_from_unlisted(const struct cosy_segment *segment)
{
	struct cosy_segment **at = &unlisted;

	while (*at != segment)
		at = &(*at)->next;
	*at = segment->next;
}

/* Give a segment back that is not in the table. The caller holds no lock. */
static void give_back_locked(struct cosy_segment *segment)
{
	pthread_mutex_lock(&table_lock);
	take_from_unlisted(segment);
	give_back(segment);
	pthread_mutex_unlock(&table_lock);
}

static struct cosy_segment *make(size_t size)
{
	struct cosy_segment *segment = calloc(1, sizeof(*segment));
	void *bits;

	if (!segment)
		return NULL;
	pthread_mutex_init(&segment->lock, NULL);
	segment->map = -1;
	segment->base = reserve();
	if (!segment->base) {
		free(segment);
		return NULL;
	}
	if (arena_wanted()) {
		segment->map = map_arena(segment->base);
		if (segment->map < 0)
			segment->error = segment->map;
		else
			cosy_descriptor_mark(segment->map, cosy_segment_mark(segment));
	}
	if (segment->map >= 0) {
		bits = mmap(NULL, PAGES / 8, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (bits == MAP_FAILED) {
			give_back(segment);
			return NULL;
		}
		segment->present = bits;
	}
	bits = mmap(NULL, BLOCKS / 8, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bits == MAP_FAILED) {
		give_back(segment);
		return NULL;
	}
	segment->blocks = bits;
	segment->end = segment->base + COSY_SEGMENT_GUARD;
	segment->limit = segment->end + size;
	if (!extend(segment, size < GROW ? size : GROW)) {
		give_back(segment);
		return NULL;
	}
	segment->heap = cosy_heap_init(segment->base + COSY_SEGMENT_GUARD,
				       (size_t)(segment->end - segment->base) -
				       COSY_SEGMENT_GUARD);
	return segment;
}

/* Make a segment that is not in the table. The caller holds no lock. Return NULL without memory. */
static struct cosy_segment *create(size_t size)
{
	struct cosy_segment *segment = NULL;

	pthread_mutex_lock(&table_lock);
	if (handle_forks())
		segment = make(size);
	if (segment)
		list_as_unlisted(segment);
	pthread_mutex_unlock(&table_lock);
	if (segment && segment->map >= 0 && cosy_segment_prepare)
		cosy_segment_prepare();
	return segment;
}

/* Enter a segment of create() into the table, which is locked. */
static void enter(struct cosy_segment *segment)
{
	const unsigned int number = (unsigned int)((uintptr_t)segment->base / COSY_SEGMENT_SPAN);

	take_from_unlisted(segment);
	if (cosy_segment_made)
		cosy_segment_made(segment);
	__atomic_store_n(&segments[number], segment, __ATOMIC_RELEASE);
	if (number < first_number)
		first_number = number;
	if (number >= end_number)
		end_number = number + 1;
}

COSY_EXPORT struct cosy_segment *cosy_segment_create(size_t size)
{
	struct cosy_segment *segment;

	if (!size)
		size = SPACE;
	size = (size + PAGE - 1) / PAGE * PAGE;
	if (!size || size > SPACE) {
		errno = EINVAL;
		return NULL;
	}
	segment = create(size);
	if (!segment) {
		errno = ENOMEM;
		return NULL;
	}
	pthread_mutex_lock(&table_lock);
	enter(segment);
	pthread_mutex_unlock(&table_lock);
	return segment;
}

COSY_EXPORT void cosy_segment_destroy(struct cosy_segment *segment)
{
	if (!segment)
		return;
	if (chosen == segment)
		chosen = NULL;
	if (shared == segment)
		shared = NULL;
	/* First, so that no function is loaded for it any more. */
	pthread_mutex_lock(&table_lock);
	__atomic_store_n(&segments[(uintptr_t)segment->base / COSY_SEGMENT_SPAN],
			 NULL, __ATOMIC_RELEASE);
	list_as_unlisted(segment);
	pthread_mutex_unlock(&table_lock);
	/* In a child process it has no arena, but its functions may have their parent's programs. */
	if (cosy_segment_forget)
		cosy_segment_forget(segment);
	pthread_mutex_destroy(&segment->lock);
	give_back_locked(segment);
}

COSY_EXPORT struct cosy_segment *cosy_segment_use(struct cosy_segment *segment)
{
	struct cosy_segment *before = chosen;

	chosen = segment;
	return before;
}

static bool has_blocks(const struct cosy_segment *segment)
{
	const size_t words = block_number(segment, segment->end) / 64;

	for (size_t i = 0; i < words; i++)
		if (segment->blocks[i])
			return true;
	return false;
}

void cosy_segments_unload(void)
{
	for (unsigned int i = first_number; i < end_number; i++) {
		struct cosy_segment *segment = segments[i];

		if (segment && has_blocks(segment))
			cosy_descriptor_close(segment->map, cosy_segment_mark(segment));
		else if (segment)
			cosy_segment_destroy(segment);
	}
}

void cosy_segment_each(void (*visit)(struct cosy_segment *segment, void *data),
		       void *data)
{
	pthread_mutex_lock(&table_lock);
	for (unsigned int i = first_number; i < end_number; i++)
		if (segments[i])
			visit(segments[i], data);
	pthread_mutex_unlock(&table_lock);
}

struct cosy_segment *cosy_segment_current(void)
{
	struct cosy_segment *segment = chosen, *made;

	if (segment)
		return segment;
	segment = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
	if (segment)
		return segment;
	made = create(SPACE);
	pthread_mutex_lock(&table_lock);
	segment = shared;
	if (!segment && made) {
		enter(made);
		segment = made;
		made = NULL;
		__atomic_store_n(&shared, segment, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&table_lock);
	/* Another thread was faster. */
	if (made)
		give_back_locked(made);
	return segment;
}
