/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reserved.c - memory for regions: reserved when they are registered, filled
 * when they first run.
 *
 * A program may unmap memory, and later map the same range again. Nothing else may be
 * mapped there meanwhile, so libcosy maps nothing when a region runs. All memory that
 * the regions of a program or library can need is mapped when it is loaded, before its
 * own code runs. None of it is touched until a region runs. libcosy's .bss contains only
 * what a small program needs, so that it fits on the page of the program's variables.
 * More would need another mapping, even if all regions run natively.
 *
 * The thread that claims a region decodes it on the run path, perhaps in a signal
 * handler. Meanwhile other threads run the region natively. Regions without native code
 * are decoded when they are registered.
 *
 * Nothing here takes a lock: after fork() in a program with threads, no thread would
 * release it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/cosy.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "device/device.h"
#include "device/message.h"
#include "device/options.h"
#include "device/signals.h"
#include "device/sys.h"
#include "region/region.h"
#include "region/reserved.h"
#include "region/stats.h"

/* Enough for a region of 20 operations or two. */
#define BUILTIN_SIZE	((size_t)2 << 10)
/* Mapped first: enough for about 30 regions of 100 operations. */
#define FIRST_SIZE	((size_t)128 << 10)
/* The minimum size of further mappings. */
#define MAP_SIZE	((size_t)1 << 20)
#define ALIGNMENT	64
#define BLOCK_HEADER	ALIGNMENT

/**
 * struct block - free memory, or memory of regions that are retired
 * @next: next in its list
 * @size: size in bytes, a multiple of ALIGNMENT
 */
struct block {
	struct block *next;
	size_t size;
};

/**
 * struct mapping - describes a mapping; stored at its end
 * @next:  the previous mapping
 * @start: beginning of the mapping
 * @size:  size in bytes, including this structure
 */
struct mapping {
	struct mapping *next;
	void *start;
	size_t size;
};

static _Alignas(ALIGNMENT) char builtin[BUILTIN_SIZE];
static size_t builtin_used;
static char *first;			/* FIRST_SIZE bytes; NULL if not mapped */
static size_t first_used;

static struct block *unused;		/* blocks to be given out again */
static struct block *retired_blocks;	/* to become that */
static struct cosy_reserved *retired;	/* to be unloaded before */
static struct mapping *mappings;

static size_t round_up(size_t size, size_t to)
{
	return (size + to - 1) / to * to;
}

static void push(struct block **list, void *memory, size_t size)
{
	struct block *block = memory;

	block->size = size;
	block->next = __atomic_load_n(list, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(list, &block->next, block, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static void *map(size_t size)
{
	/* With the usual flags, so that the kernel merges it with a neighbouring mapping. */
	long ret = cosy_sys6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return ret < 0 && ret > -4096 ? NULL : (void *)ret;
}

static void unmap(void *memory, size_t size)
{
	cosy_sys(SYS_munmap, (long)memory, (long)size, 0);
}

/* Return the first mapping, which is created if necessary; NULL if there is no memory. */
static char *map_first(void)
{
	char *memory = __atomic_load_n(&first, __ATOMIC_ACQUIRE), *other = NULL;

	if (memory)
		return memory;
	memory = map(FIRST_SIZE);
	if (!memory ||
	    __atomic_compare_exchange_n(&first, &other, memory, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return memory;
	unmap(memory, FIRST_SIZE);
	return other;
}

/*
 * Take @size bytes from the @all bytes at @memory, of which @taken are taken. Return NULL
 * if too few are left.
 */
static void *take_from(char *memory, size_t all, size_t *taken, size_t size)
{
	size_t used = __atomic_load_n(taken, __ATOMIC_RELAXED);

	do {
		if (!memory || size > all - used)
			return NULL;
	} while (!__atomic_compare_exchange_n(taken, &used, used + size, true,
					      __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return memory + used;
}

/*
 * Take @size bytes that were used before. The whole list is removed meanwhile. Another
 * thread then finds nothing, and maps more.
 */
static void *take_unused(size_t size)
{
	struct block *block = __atomic_exchange_n(&unused, NULL,
						  __ATOMIC_ACQUIRE);
	void *found = NULL;

	while (block) {
		struct block *next = block->next;
		size_t rest = block->size - size;

		if (!found && block->size >= size) {
			found = block;
			if (rest)
				push(&unused, (char *)block + size, rest);
		} else {
			push(&unused, block, block->size);
		}
		block = next;
	}
	/* Cleared, like memory that was never used. */
	return found ? memset(found, 0, size) : NULL;
}

/* Map memory and take its first @size bytes. */
static void *take_mapped(size_t size)
{
	size_t all = round_up(size + sizeof(struct mapping), MAP_SIZE);
	size_t rest = (all - sizeof(struct mapping)) / ALIGNMENT * ALIGNMENT -
		      size;
	struct mapping *mapping;
	void *memory = map(all);

	if (!memory)
		return NULL;
	mapping = (struct mapping *)((char *)memory + all) - 1;
	mapping->start = memory;
	mapping->size = all;
	mapping->next = __atomic_load_n(&mappings, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&mappings, &mapping->next, mapping,
					    true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	if (rest)
		push(&unused, (char *)memory + size, rest);
	return memory;
}

bool cosy_reserved_any_mapped(void)
{
	return __atomic_load_n(&first, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&mappings, __ATOMIC_RELAXED);
}

void cosy_reserved_unmap(void)
{
	struct mapping *mapping = mappings;

	if (first)
		unmap(first, FIRST_SIZE);
	first = NULL;
	first_used = 0;
	mappings = NULL;
	unused = NULL;
	while (mapping) {
		struct mapping *next = mapping->next;

		unmap(mapping->start, mapping->size);
		mapping = next;
	}
}

/*
 * Reserve
 */

/* The maximum size of decoded code; an image that claims more is invalid. */
static size_t max_code_size(const struct cosy_region *region)
{
	const struct cosy_header *header = region->image;
	size_t nops = region->size / sizeof(struct cosy_op);

	/* A large image is mostly constants. A small one is not read yet. */
	if (region->size > 4096 && header->nops < nops)
		nops = header->nops;
	return cosy_code_size_of(nops);
}

size_t cosy_reserved_size(const struct cosy_region *region)
{
	size_t size = sizeof(struct cosy_reserved) + max_code_size(region);

	if (cosy_options().stats)
		size += sizeof(struct cosy_counts);
	return round_up(size, ALIGNMENT);
}

/* The memory that a region needs; 0 if it always runs natively. Returns the same each time. */
static size_t size_in_block(const struct cosy_region *region)
{
	return cosy_region_is_used(region) ? cosy_reserved_size(region) : 0;
}

/* The size of a block for regions, including its header, which is used when it is retired. */
static size_t size_of_block(const struct cosy_region *regions, size_t count)
{
	size_t size = 0;

	for (size_t i = 0; i < count; i++)
		size += size_in_block(&regions[i]);
	return size ? size + BLOCK_HEADER : 0;
}

void cosy_reserved_use(struct cosy_region *region, void *memory)
{
	region->handle = 0;
	region->state = memory ? (char *)memory + COSY_RESERVED_EMPTY : NULL;
}

void cosy_reserved_add(struct cosy_region *regions, size_t count)
{
	size_t size = size_of_block(regions, count);
	char *memory = NULL;

	if (size) {
		memory = take_unused(size);
		if (!memory)
			memory = take_from(builtin, BUILTIN_SIZE, &builtin_used,
					   size);
		if (!memory && size <= FIRST_SIZE)
			memory = take_from(map_first(), FIRST_SIZE, &first_used,
					   size);
		if (!memory)
			memory = take_mapped(size);
	}
	if (memory)
		memory += BLOCK_HEADER;
	for (size_t i = 0; i < count; i++) {
		size = size_in_block(&regions[i]);
		cosy_reserved_use(&regions[i], size ? memory : NULL);
		if (memory)
			memory += size;
	}
}

/* Return the block that cosy_reserved_add() has taken for these regions. */
static void *block_of(const struct cosy_region *regions, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uintptr_t state = (uintptr_t)regions[i].state;

		if (state)
			return (char *)(state & ~(uintptr_t)COSY_RESERVED_TAGS) -
			       BLOCK_HEADER;
	}
	return NULL;
}

void cosy_reserved_retire(struct cosy_region *regions, size_t count)
{
	void *block = block_of(regions, count);

	/* Counts stay in their list. */
	if (!block || cosy_options().stats)
		return;
	for (size_t i = 0; i < count; i++) {
		struct cosy_reserved *reserved = cosy_reserved_of(&regions[i]);

		if (!reserved)
			continue;
		reserved->handle = __atomic_load_n(&regions[i].handle,
						   __ATOMIC_RELAXED);
		reserved->next = __atomic_load_n(&retired, __ATOMIC_RELAXED);
		while (!__atomic_compare_exchange_n(&retired, &reserved->next,
						    reserved, true,
						    __ATOMIC_RELEASE,
						    __ATOMIC_RELAXED))
			;
	}
	push(&retired_blocks, block, size_of_block(regions, count));
}

/* If it was loaded into another file, the module does not find the handle: no two are the same. */
static void unload(uint64_t handle)
{
	int fd = cosy_device_file();

	/* What the parent process has loaded is still the parent's. */
	if (fd >= 0 && cosy_device_is_own(fd))
		cosy_sys(SYS_ioctl, fd, COSY_IOC_UNLOAD, (long)&handle);
}

static void unload_loaded(const struct cosy_reserved *reserved)
{
	if (reserved->handle)
		unload(reserved->handle - 1);
}

void cosy_reserved_unload(struct cosy_region *region)
{
	struct cosy_reserved *reserved = cosy_reserved_of(region);

	reserved->handle = region->handle;
	unload_loaded(reserved);
}

void cosy_reserved_free_retired(void)
{
	/* In this order: the regions of each block are in the second list. */
	struct block *block = __atomic_exchange_n(&retired_blocks, NULL,
						  __ATOMIC_ACQUIRE);
	struct cosy_reserved *reserved = __atomic_exchange_n(&retired, NULL,
							     __ATOMIC_ACQUIRE);

	for (; reserved; reserved = reserved->next)
		unload_loaded(reserved);
	while (block) {
		struct block *next = block->next;

		push(&unused, block, block->size);
		block = next;
	}
}

/*
 * Make
 */

/* Return true if the region's image is a compound, and was made for this region. */
static bool verify(const struct cosy_region *region, struct cosy_diag *diag)
{
	const struct cosy_header *header = region->image;

	if ((uintptr_t)region->image % 8) {
		diag->reason = "the image is not 8-byte aligned";
		diag->offset = 0;
		return false;
	}
	if (cosy_verify(region->image, region->size, diag))
		return false;
	if (header->nregs > region->nregs) {
		diag->reason = "more registers than the region provides";
		diag->offset = offsetof(struct cosy_header, nregs);
		return false;
	}
	if (header->nupcalls > region->nthunks) {
		diag->reason = "more up-calls than the region provides";
		diag->offset = offsetof(struct cosy_header, nupcalls);
		return false;
	}
	return true;
}

static void make(const struct cosy_region *region, void *memory,
		 uint32_t executor)
{
	struct cosy_reserved *reserved = memory;
	char *code = (char *)(reserved + 1);

	if (cosy_options().stats) {
		reserved->counts = (struct cosy_counts *)code;
		reserved->counts->counted.print = cosy_stats_print;
		reserved->counts->counted.data = region;
		code += sizeof(*reserved->counts);
	}
	reserved->executor = executor;
	if (executor == COSY_EXECUTOR_KERNEL && cosy_region_is_watched(region))
		cosy_verdict_init(&reserved->verdict, region->image,
				  cosy_options().plain,
				  region->flags & COSY_REGION_SINGLE_CALLS);
	reserved->code = (struct cosy_code *)code;
	cosy_decode(region->image, reserved->code,
		    region->flags & COSY_REGION_ASYNC ? COSY_DECODE_PARKS : 0,
		    NULL);
}

struct cosy_reserved *cosy_reserved_get(struct cosy_region *region,
					uint32_t executor,
					struct cosy_diag *diag)
{
	void *state = __atomic_load_n(&region->state, __ATOMIC_ACQUIRE);
	uintptr_t tag = (uintptr_t)state & COSY_RESERVED_TAGS;
	char *memory = (char *)state - COSY_RESERVED_EMPTY;
	struct cosy_reserved *reserved;

	uint64_t mask;
	bool valid;

	diag->reason = NULL;
	if (!tag)
		return state;
	/* A handler that leaves by siglongjmp() would leave the region claimed. */
	mask = cosy_signals_block(~0ull);
	if (tag != COSY_RESERVED_EMPTY ||
	    !__atomic_compare_exchange_n(&region->state, &state,
					 (void *)(memory + COSY_RESERVED_CLAIMED),
					 false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED)) {
		cosy_signals_restore(mask);
		return NULL;
	}
	/* If it is invalid, it stays claimed, and runs natively. */
	valid = verify(region, diag);
	if (valid) {
		make(region, memory, executor);
		__atomic_store_n(&region->state, (void *)memory,
				 __ATOMIC_RELEASE);
	}
	cosy_signals_restore(mask);
	if (!valid)
		return NULL;
	reserved = (struct cosy_reserved *)memory;
	/* Compounds come and go; compound.c prints their counts. */
	if (reserved->counts && region->function)
		cosy_stats_add(&reserved->counts->counted);
	return reserved;
}

/*
 * Load
 */

const char *cosy_reserved_limit(int error)
{
	switch (-error) {
	case ENOSPC:
		return "the process has too many compounds (the module's parameter max_loads)";
	case EDQUOT:
		return "the user's compounds take too much memory (the module's parameter user_memory)";
	default:
		return NULL;
	}
}

static const char *reason_not_loaded(int error, const struct cosy_load *load)
{
	const char *limit = cosy_reserved_limit(error);

	if (error == -EINVAL)
		return load->reason;
	return limit ? limit : strerrordesc_np(-error);
}

int cosy_reserved_load(struct cosy_region *region, uint64_t stale)
{
	struct cosy_load load = {
		.size = sizeof(load),
		.image = (uintptr_t)region->image,
		.image_size = region->size,
		.flags = (cosy_options().plain ? COSY_LOAD_PLAIN : 0) |
			 (region->flags & COSY_REGION_ASYNC ? COSY_LOAD_PARKS :
							      0),
	};
	struct cosy_number line;
	int fd = cosy_device_get_own();
	long ret;

	if (fd < 0)
		return fd;
	if (__atomic_load_n(&region->handle, __ATOMIC_ACQUIRE) != stale)
		return 0;

	ret = cosy_sys(SYS_ioctl, fd, COSY_IOC_LOAD, (long)&load);
	if (ret < 0) {
		if (cosy_options().debug)
			cosy_message(region->file, ":",
				     cosy_number(&line, region->line),
				     ": the module does not load the compound: ",
				     reason_not_loaded((int)ret, &load), NULL);
		return (int)ret;
	}
	if (!__atomic_compare_exchange_n(&region->handle, &stale,
					 load.handle + 1, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		unload(load.handle);
	return 0;
}
